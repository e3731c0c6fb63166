#include "engine/checkpoint/expected_weights.h"
#include "engine/weights/weight_index.h"
#include "tests/support/golden.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <string>
#include <vector>

namespace {

using namespace engine;
namespace fs = std::filesystem;

std::string config(const fs::path &folder)
{
    return readTextFile(folder / "config.json");
}

std::vector<fs::path> checkpoints()
{
    return {golden::checkpoint("tiny-nano"), golden::checkpoint("tiny-super"), golden::checkpoint("tiny-edge"),
            golden::demoWorld() / "checkpoint"};
}

// Every expected tensor, the optional ones too: what an "exact" match means.
std::vector<ExpectedWeight> allNeeded(std::vector<ExpectedWeight> expected)
{
    for (auto &weight : expected)
        weight.optional = false;
    return expected;
}

void expectExact(const fs::path &folder, const std::vector<ExpectedWeight> &expected)
{
    SCOPED_TRACE(folder.string());
    const auto comparison = WeightIndex(folder).compare(allNeeded(expected));
    EXPECT_EQ(comparison.missing, std::vector<std::string>{});
    EXPECT_EQ(comparison.unknown, std::vector<std::string>{});
}

TEST(ExpectedWeights, NamesExactlyTheTensorsOfEveryTransformer)
{
    for (const auto &folder : checkpoints())
        expectExact(folder / "transformer",
                    expectedTransformerWeights(readTransformerConfig(config(folder / "transformer"), "config.json")));
}

TEST(ExpectedWeights, NamesExactlyTheTensorsOfEveryAutoencoder)
{
    for (const auto &folder : checkpoints()) {
        const auto vae = readVaeConfig(config(folder / "vae"), "config.json");
        auto expected = expectedVaeDecoderWeights(vae);
        const auto encoder = expectedVaeEncoderWeights(vae);
        EXPECT_TRUE(std::all_of(encoder.begin(), encoder.end(), [](const auto &weight) { return weight.optional; }));
        expected.insert(expected.end(), encoder.begin(), encoder.end());
        expectExact(folder / "vae", expected);
    }
}

TEST(ExpectedWeights, NamesExactlyTheTensorsOfTheSoundDecoder)
{
    const auto folder = golden::checkpoint("tiny-nano") / "sound_tokenizer";
    expectExact(folder, expectedSoundDecoderWeights(readSoundConfig(config(folder), "config.json")));
}

TEST(ExpectedWeights, NeedsOnlyKeysAndValuesOfTheLastUnderstandingLayer)
{
    const auto expected = expectedTransformerWeights(
        readTransformerConfig(config(golden::checkpoint("tiny-nano") / "transformer"), "config.json"));
    std::vector<std::string> needed;
    for (const auto &weight : expected) {
        const bool generation =
            weight.name.find("moe_gen") != std::string::npos || weight.name.find(".add_") != std::string::npos ||
            weight.name.find("added") != std::string::npos || weight.name.find("to_add_out") != std::string::npos;
        if (weight.name.starts_with("layers.2.") && !generation && !weight.optional)
            needed.push_back(weight.name.substr(9));
    }
    std::sort(needed.begin(), needed.end());
    EXPECT_EQ(needed, (std::vector<std::string>{"input_layernorm.weight", "self_attn.norm_k.weight",
                                                "self_attn.to_k.weight", "self_attn.to_v.weight"}));
}

} // namespace
