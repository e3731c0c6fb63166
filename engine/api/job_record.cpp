#include "engine/api/job_record.h"

#include "engine/api/job_record_names.h"

#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <random>

namespace engine {

namespace {

using Json = nlohmann::json;

using Milliseconds = std::chrono::sys_time<std::chrono::milliseconds>;

Milliseconds now()
{
    return std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
}

// A ULID: 48 bits of milliseconds and 80 random bits, 5 bits a character in Crockford's alphabet.
std::string idOf(Milliseconds time)
{
    constexpr std::string_view alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
    auto milliseconds = time.time_since_epoch().count();
    std::string id(26, '0');
    for (std::size_t i = 10; i-- > 0; milliseconds /= 32)
        id[i] = alphabet[static_cast<std::size_t>(milliseconds % 32)];
    std::random_device random;
    for (std::size_t i = 10; i < id.size(); ++i)
        id[i] = alphabet[random() % 32];
    return id;
}

std::string isoTime(Milliseconds time)
{
    using namespace std::chrono;
    const auto day = floor<days>(time);
    const year_month_day date(day);
    const hh_mm_ss clock(time - day);
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02d.%03dZ", static_cast<int>(date.year()),
                  static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                  static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
                  static_cast<int>(clock.seconds().count()), static_cast<int>(clock.subseconds().count()));
    return text.data();
}

Json toJson(const TimestepInterval &interval)
{
    return Json::array({interval.low, interval.high});
}

Json toJson(const AspectRatio &ratio)
{
    return Json::array({ratio.width, ratio.height});
}

Json toJson(const RankLayout &layout)
{
    return {{"cfg", layout.cfg}, {"ulysses", layout.ulysses}, {"tensor", layout.tensor}};
}

template <typename Value>
void put(Json &json, const char *key, const std::optional<Value> &value)
{
    if (value)
        json[key] = *value;
}

// Only what was asked; a field that is left out means the model's default.
Json toJson(const GenerationRequest &request)
{
    Json json{{"mode", recordName(kModeNames, request.mode)},
              {"prompt", request.prompt},
              {"grid", recordName(kGridNames, request.grid)},
              {"sound", request.sound},
              {"dtype", recordName(kDataTypeNames, request.dataType)}};
    put(json, "negative_prompt", request.negativePrompt);
    if (request.size) {
        json["width"] = request.size->width;
        json["height"] = request.size->height;
    }
    if (request.aspectRatio)
        json["aspect_ratio"] = toJson(*request.aspectRatio);
    put(json, "frames", request.frames);
    put(json, "fps", request.fps);
    put(json, "steps", request.steps);
    put(json, "guidance", request.guidanceScale);
    if (!request.guidanceCurve.empty())
        json["guidance_curve"] = request.guidanceCurve;
    if (request.guidanceInterval)
        json["guidance_interval"] = toJson(*request.guidanceInterval);
    put(json, "shift", request.flowShift);
    put(json, "seed", request.seed);
    return json;
}

Json toJson(const ResolvedRequest &request)
{
    Json json{{"mode", recordName(kModeNames, request.mode)},
              {"prompt", request.prompt},
              {"negative_prompt", request.negativePrompt},
              {"negative_is_model_default", request.negativeIsModelDefault},
              {"width", request.size.width},
              {"height", request.size.height},
              {"frames", request.frames},
              {"fps", request.fps},
              {"steps", request.steps},
              {"guidance", request.guidance},
              {"shift", request.flowShift},
              {"grid", recordName(kGridNames, request.grid)},
              {"seed", request.seed},
              {"sound", request.sound},
              {"dtype", recordName(kDataTypeNames, request.dataType)}};
    if (request.aspectRatio)
        json["aspect_ratio"] = toJson(*request.aspectRatio);
    if (request.guidanceInterval)
        json["guidance_interval"] = toJson(*request.guidanceInterval);
    return json;
}

void addTokens(Json &resolved, const std::string &branch, const BranchText &text)
{
    resolved[branch + "_tokens"] = text.tokenIds.size();
    resolved[branch + "_token_ids"] = text.tokenIds;
    resolved[branch + "_text"] = text.text;
    resolved[branch + "_truncated"] = text.truncated;
}

// What the run found out about the request.
void addFindings(Json &json, const RunReport &report)
{
    auto &engine = json["engine"];
    engine["precision"] = recordName(kDataTypeNames, report.dataType);
    engine["device"] = report.device;
    engine["attention"] = report.attention;
    engine["linear"] = report.linear;
    auto &resolved = json["resolved"];
    resolved["sigmas"] = report.sigmas;
    resolved["timesteps"] = report.timesteps;
    resolved["guidance_used"] = report.guidance;
    resolved["prompt_token_ids"] = report.promptTokenIds;
    resolved["prompt_tokens"] = report.promptTokenIds.size();
    resolved["negative_token_ids"] = report.negativeTokenIds;
    resolved["negative_tokens"] = report.negativeTokenIds.size();
}

// What it cost.
void addMeasurements(Json &json, const RunReport &report)
{
    json["phases"] = Json::array();
    for (const auto &phase : report.phases)
        json["phases"].push_back(
            {{"name", phaseName(phase.phase)}, {"seconds", phase.seconds}, {"peak_bytes", phase.peakBytes}});
    json["step_seconds"] = report.stepSeconds;
    json["memory"] = {{"loaded_bytes", report.loadedBytes},
                      {"peak_bytes", report.peakBytes},
                      {"peak_over_loaded_bytes", report.peakBytes - report.loadedBytes}};
}

Json toJson(const OutputFile &output)
{
    return {{"role", output.role}, {"file", output.path.string()}, {"bytes", output.bytes}, {"video", output.video}};
}

Json toJson(const EngineError &problem)
{
    return {{"code", recordName(kErrorCodeNames, problem.code)},
            {"message", problem.message},
            {"detail", problem.detail},
            {"rank", problem.rank},
            {"needs_restart", problem.needsRestart}};
}

// What only the full record says.
void addRunOfItsOwn(Json &json, const JobRecord &record)
{
    json["id"] = record.id;
    json["created"] = record.created;
    json["started"] = record.started;
    json["finished"] = record.finished;
    if (!record.modelFolder.empty())
        json["model"]["folder"] = record.modelFolder.string();
    if (record.report)
        addMeasurements(json, *record.report);
    json["outputs"] = Json::array();
    for (const auto &output : record.outputs)
        json["outputs"].push_back(toJson(output));
    json["problem"] = record.problem ? toJson(*record.problem) : Json();
}

// Adds what `known` lacks, object by object.
void addUnknown(Json &known, const Json &unknown)
{
    for (const auto &[key, value] : unknown.items()) {
        if (!known.contains(key))
            known[key] = value;
        else if (known[key].is_object() && value.is_object())
            addUnknown(known[key], value);
    }
}

} // namespace

std::string utcNow()
{
    return isoTime(now());
}

JobRecord newJobRecord()
{
    const auto time = now();
    JobRecord record;
    record.id = idOf(time);
    record.created = isoTime(time);
    return record;
}

std::string toJson(const JobRecord &record, RecordCopy copy)
{
    Json json{{"schema", kRecordSchema},
              {"state", record.state},
              {"engine", {{"version", PARALLAX_VERSION}, {"noise", "mt19937"}}},
              {"model", {{"name", record.modelName}}},
              {"asked", toJson(record.asked)},
              {"resolved", toJson(record.resolved)},
              {"layout", toJson(record.layout)},
              {"notes", record.notes}};
    if (record.report)
        addFindings(json, *record.report);
    if (record.tokens) {
        addTokens(json["resolved"], "prompt", record.tokens->positive);
        addTokens(json["resolved"], "negative", record.tokens->negative);
    }
    if (copy == RecordCopy::Full) {
        addRunOfItsOwn(json, record);
        // Not in the other copy: nobody can tell whether an unknown field names a folder or a person.
        if (const auto unknown = Json::parse(record.unknownFields, nullptr, false); unknown.is_object())
            addUnknown(json, unknown);
    }
    // Paths of other encodings are shown with replacement characters rather than refused.
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

} // namespace engine
