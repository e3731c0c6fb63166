#include "engine/api/job_record.h"

#include "tests/fuzz/fuzz_support.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <variant>

// The input is a record as JSON. One that is accepted must be written in a form that is accepted again.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
    const auto read = engine::jobRecordFromJson(fuzz::text(data, size), "job.json");
    if (const auto *error = std::get_if<engine::EngineError>(&read)) {
        fuzz::checkSentence(*error);
        return 0;
    }
    const auto &record = std::get<engine::JobRecord>(read);
    for (const auto copy : {engine::RecordCopy::Full, engine::RecordCopy::Embedded}) {
        const auto written = engine::toJson(record, copy);
        const auto again = engine::jobRecordFromJson(written, "job.json");
        if (!std::holds_alternative<engine::JobRecord>(again))
            std::abort();
        if (engine::toJson(std::get<engine::JobRecord>(again), copy) != written)
            std::abort();
    }
    return 0;
}
