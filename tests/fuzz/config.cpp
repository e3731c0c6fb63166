#include "engine/checkpoint/expected_weights.h"
#include "engine/checkpoint/model_config.h"
#include "tests/fuzz/fuzz_support.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

namespace {

// What a configuration that was accepted calls for must be countable: no size wraps around.
void checkCountable(const std::vector<engine::ExpectedWeight> &weights)
{
    for (const auto &weight : weights) {
        std::int64_t elements = 1;
        for (const auto extent : weight.shape) {
            if (extent < 1 || __builtin_mul_overflow(elements, extent, &elements))
                std::abort();
        }
    }
}

} // namespace

// The first byte picks the reader, the rest is the JSON text.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
    if (size == 0)
        return 0;
    const auto json = fuzz::text(data + 1, size - 1);
    fuzz::run([&] {
        switch (data[0]) {
        case 't': {
            const auto config = engine::readTransformerConfig(json, "config.json");
            if (config.layers <= 8) // more of the same only takes time
                checkCountable(engine::expectedTransformerWeights(config));
            break;
        }
        case 'v': {
            const auto config = engine::readVaeConfig(json, "config.json");
            checkCountable(engine::expectedVaeDecoderWeights(config));
            checkCountable(engine::expectedVaeEncoderWeights(config));
            if (config.spatialFactor() < 1 || config.temporalFactor() < 1)
                std::abort();
            break;
        }
        case 's':
            checkCountable(engine::expectedSoundDecoderWeights(engine::readSoundConfig(json, "config.json")));
            break;
        case 'c':
            static_cast<void>(engine::readSchedulerConfig(json, "config.json"));
            break;
        default:
            break;
        }
    });
    return 0;
}
