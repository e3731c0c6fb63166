#include "engine/api/job_record.h"
#include "engine/api/job_record_fields.h"
#include "engine/api/job_record_names.h"

#include <nlohmann/json.hpp>

namespace engine {

namespace {

using Json = nlohmann::json;

constexpr int kMaxDepth = 64;
constexpr std::size_t kMaxBytes = 64U << 20U;

std::optional<AspectRatio> readAspectRatio(const RecordFields &fields)
{
    std::vector<int> sides;
    fields.read("aspect_ratio", sides);
    if (fields.find("aspect_ratio") == nullptr)
        return std::nullopt;
    if (sides.size() != 2)
        fields.fail("aspect_ratio", "a list of two numbers");
    return AspectRatio{sides[0], sides[1]};
}

std::optional<TimestepInterval> readInterval(const RecordFields &fields)
{
    std::vector<double> limits;
    fields.read("guidance_interval", limits);
    if (fields.find("guidance_interval") == nullptr)
        return std::nullopt;
    if (limits.size() != 2)
        fields.fail("guidance_interval", "a list of two numbers");
    return TimestepInterval{limits[0], limits[1]};
}

GenerationRequest readAsked(const RecordFields &fields)
{
    GenerationRequest asked;
    fields.read("mode", asked.mode, kModeNames);
    fields.read("prompt", asked.prompt);
    fields.read("negative_prompt", asked.negativePrompt);
    if (fields.find("width") != nullptr || fields.find("height") != nullptr) {
        asked.size.emplace();
        fields.read("width", asked.size->width);
        fields.read("height", asked.size->height);
    }
    asked.aspectRatio = readAspectRatio(fields);
    fields.read("frames", asked.frames);
    fields.read("fps", asked.fps);
    fields.read("steps", asked.steps);
    fields.read("guidance", asked.guidanceScale);
    fields.read("guidance_curve", asked.guidanceCurve);
    asked.guidanceInterval = readInterval(fields);
    fields.read("shift", asked.flowShift);
    fields.read("grid", asked.grid, kGridNames);
    fields.read("seed", asked.seed);
    fields.read("sound", asked.sound);
    fields.read("dtype", asked.dataType, kDataTypeNames);
    return asked;
}

ResolvedRequest readResolved(const RecordFields &fields)
{
    ResolvedRequest resolved;
    fields.read("mode", resolved.mode, kModeNames);
    fields.read("prompt", resolved.prompt);
    fields.read("negative_prompt", resolved.negativePrompt);
    fields.read("negative_is_model_default", resolved.negativeIsModelDefault);
    fields.read("width", resolved.size.width);
    fields.read("height", resolved.size.height);
    resolved.aspectRatio = readAspectRatio(fields);
    fields.read("frames", resolved.frames);
    fields.read("fps", resolved.fps);
    fields.read("steps", resolved.steps);
    fields.read("guidance", resolved.guidance);
    resolved.guidanceInterval = readInterval(fields);
    fields.read("shift", resolved.flowShift);
    fields.read("grid", resolved.grid, kGridNames);
    fields.read("seed", resolved.seed);
    fields.read("sound", resolved.sound);
    fields.read("dtype", resolved.dataType, kDataTypeNames);
    return resolved;
}

BranchText readBranch(const RecordFields &resolved, const std::string &branch)
{
    BranchText text;
    resolved.read(branch + "_text", text.text);
    resolved.read(branch + "_token_ids", text.tokenIds);
    resolved.read(branch + "_truncated", text.truncated);
    return text;
}

std::optional<PromptTokens> readTokens(const RecordFields &resolved)
{
    if (resolved.find("prompt_text") == nullptr)
        return std::nullopt;
    return PromptTokens{readBranch(resolved, "prompt"), readBranch(resolved, "negative")};
}

std::optional<RunReport> readReport(const RecordFields &record, const RecordFields &resolved)
{
    const auto engine = record.object("engine");
    if (!engine || engine->find("precision") == nullptr)
        return std::nullopt;
    RunReport report;
    engine->read("precision", report.dataType, kDataTypeNames);
    engine->read("device", report.device);
    engine->read("attention", report.attention);
    engine->read("linear", report.linear);
    resolved.read("sigmas", report.sigmas);
    resolved.read("timesteps", report.timesteps);
    resolved.read("guidance_used", report.guidance);
    resolved.read("prompt_token_ids", report.promptTokenIds);
    resolved.read("negative_token_ids", report.negativeTokenIds);
    for (const auto &fields : record.list("phases")) {
        auto &phase = report.phases.emplace_back();
        fields.read("name", phase.phase, kPhaseNames);
        fields.read("seconds", phase.seconds);
        fields.read("peak_bytes", phase.peakBytes);
    }
    record.read("step_seconds", report.stepSeconds);
    if (const auto memory = record.object("memory")) {
        memory->read("loaded_bytes", report.loadedBytes);
        memory->read("peak_bytes", report.peakBytes);
        if (report.loadedBytes < 0 || report.peakBytes < 0)
            record.fail("memory", "bytes, not below 0");
    }
    return report;
}

std::optional<EngineError> readProblem(const RecordFields &record)
{
    const auto fields = record.object("problem");
    if (!fields)
        return std::nullopt;
    EngineError problem;
    fields->read("code", problem.code, kErrorCodeNames);
    fields->read("message", problem.message);
    fields->read("detail", problem.detail);
    fields->read("rank", problem.rank);
    fields->read("needs_restart", problem.needsRestart);
    return problem;
}

// What `json` has and `known` has not, object by object.
Json unknownPart(const Json &json, const Json &known)
{
    Json unknown = Json::object();
    for (const auto &[key, value] : json.items()) {
        const auto found = known.find(key);
        if (found == known.end()) {
            unknown[key] = value;
        } else if (value.is_object() && found->is_object()) {
            if (auto part = unknownPart(value, *found); !part.empty())
                unknown[key] = std::move(part);
        }
    }
    return unknown;
}

// Both functions that follow nested values call themselves, so the depth is limited while parsing.
Json parse(std::string_view text, std::string_view origin)
{
    if (text.size() > kMaxBytes)
        throw EngineFailure(ErrorCode::InvalidRequest,
                            std::string(origin) + " is too large for a job record; choose a file this program wrote.");
    const auto guard = [origin](int depth, Json::parse_event_t, Json &) {
        if (depth > kMaxDepth)
            throw EngineFailure(ErrorCode::InvalidRequest, std::string(origin) +
                                                               " is nested too deeply for a job record; choose a file "
                                                               "this program wrote.");
        return true;
    };
    try {
        return Json::parse(text, guard);
    } catch (const Json::exception &error) {
        throw EngineFailure(ErrorCode::InvalidRequest,
                            std::string(origin) +
                                " is no job record: it is not valid JSON; choose a file this program wrote.",
                            error.what());
    }
}

JobRecord readRecord(const Json &json, std::string_view origin)
{
    const RecordFields fields(json, origin, {});
    JobRecord record;
    std::string schema;
    fields.read("schema", schema);
    if (schema != kRecordSchema)
        fields.fail("schema", "\"" + std::string(kRecordSchema) + "\"");
    fields.read("id", record.id);
    fields.read("created", record.created);
    fields.read("started", record.started);
    fields.read("finished", record.finished);
    fields.read("state", record.state);
    if (const auto model = fields.object("model")) {
        model->read("name", record.modelName);
        model->read("folder", record.modelFolder);
    }
    record.asked = readAsked(fields.required("asked"));
    const auto resolved = fields.required("resolved");
    record.resolved = readResolved(resolved);
    if (const auto layout = fields.object("layout")) {
        layout->read("cfg", record.layout.cfg);
        layout->read("ulysses", record.layout.ulysses);
        layout->read("tensor", record.layout.tensor);
    }
    record.tokens = readTokens(resolved);
    record.report = readReport(fields, resolved);
    for (const auto &item : fields.list("outputs")) {
        auto &output = record.outputs.emplace_back();
        item.read("role", output.role);
        item.read("file", output.path);
        item.read("bytes", output.bytes);
        item.read("video", output.video);
    }
    record.problem = readProblem(fields);
    fields.read("notes", record.notes);
    if (const auto unknown = unknownPart(json, Json::parse(toJson(record, RecordCopy::Full))); !unknown.empty())
        record.unknownFields = unknown.dump();
    return record;
}

} // namespace

std::variant<JobRecord, EngineError> jobRecordFromJson(std::string_view json, std::string_view origin)
{
    try {
        return readRecord(parse(json, origin), origin);
    } catch (const EngineFailure &failure) {
        return failure.error();
    }
}

} // namespace engine
