#pragma once

#include "engine/api/checkpoint.h"
#include "engine/api/generation_request.h"
#include "engine/api/outcome.h"
#include "engine/api/rank_layout.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace engine {

struct OutputFile {
    std::string role; // "master", "latents", "frames"
    std::filesystem::path path;
    std::int64_t bytes = 0;
    std::string video; // "h264 yuv420p bt709 tv", "png", or ""
};

// One job's account: what was asked, what that resolved to, and what happened. Schema parallax.job/1; fields this
// version does not know are kept when a record is read and written again.
struct JobRecord {
    std::string id;      // 26 characters, sorts by time (ULID)
    std::string created; // UTC, ISO 8601, milliseconds
    std::string started;
    std::string finished;
    std::string state; // "checked", "finished", "failed", "cancelled"
    std::string modelName;
    std::filesystem::path modelFolder; // left out of the embedded copy
    GenerationRequest asked;
    ResolvedRequest resolved;
    RankLayout layout;
    std::optional<PromptTokens> tokens;
    std::optional<RunReport> report;
    std::vector<OutputFile> outputs;
    std::optional<EngineError> problem;
    std::vector<std::string> notes;
    std::string unknownFields; // a JSON object, "" when there are none
};

// A new record with an id and the time of its creation.
JobRecord newJobRecord();
std::string utcNow();

// The embedded copy goes into clips. It names no folder, host, user or UUID, and nothing that two runs of one request
// differ in (id, times, memory, files), so that equal requests give equal files.
enum class RecordCopy { Full, Embedded };

// Compact UTF-8 JSON on one line.
std::string toJson(const JobRecord &record, RecordCopy copy);
// Reads a record; an unusable one comes back as one sentence. `origin` names the file in that sentence.
std::variant<JobRecord, EngineError> jobRecordFromJson(std::string_view json, std::string_view origin);

} // namespace engine
