#include "engine/api/job_record.h"
#include "engine/api/request_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace engine {

namespace {

using Json = nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

GenerationRequest askedRequest()
{
    GenerationRequest asked;
    asked.prompt = "ein Hafen, 港 \"quoted\"\n";
    asked.negativePrompt = "";
    asked.size = PixelSize{320, 192};
    asked.aspectRatio = AspectRatio{16, 9};
    asked.frames = 25;
    asked.fps = 29.97;
    asked.steps = 3;
    asked.guidanceCurve = {7.5, 0.1, 1};
    asked.guidanceInterval = TimestepInterval{400, 1000};
    asked.flowShift = 10;
    asked.seed = 4294967295;
    asked.dataType = DataType::BFloat16;
    return asked;
}

RunReport report()
{
    RunReport report;
    report.phases = {{Phase::Load, 1.5, 1000}, {Phase::Denoise, 2.25, 3000}};
    report.stepSeconds = {0.5, 0.75, 1};
    report.sigmas = {0.9999, 0.5, 0.25, 0};
    report.timesteps = {999, 500, 250};
    report.guidance = {7.5, 1, 1};
    report.promptTokenIds = {1, 2, 3};
    report.negativeTokenIds = {4};
    report.dataType = DataType::BFloat16;
    report.device = "cpu, 2 threads";
    report.attention = "math";
    report.linear = "onednn";
    report.loadedBytes = 1000;
    report.peakBytes = 3500;
    return report;
}

JobRecord fullRecord()
{
    auto record = newJobRecord();
    record.started = utcNow();
    record.finished = utcNow();
    record.state = "finished";
    record.modelName = "Cosmos3-Nano";
    record.modelFolder = "/home/somebody/models/nano";
    record.asked = askedRequest();
    ModelProfile profile;
    record.resolved = checkRequest(record.asked, profile).resolved;
    record.tokens = PromptTokens{{"a harbour. The video is …", {1, 2, 3}, false}, {"", {4}, true}};
    record.report = report();
    record.outputs = {{"master", "/home/somebody/clips/harbour.mp4", 12345, "h264 yuv420p bt709 tv"}};
    record.notes = {"Frames 24 was rounded up to 25."};
    return record;
}

JobRecord reread(const std::string &json)
{
    const auto result = jobRecordFromJson(json, "test.json");
    if (const auto *problem = std::get_if<EngineError>(&result))
        throw std::runtime_error(problem->message);
    return std::get<JobRecord>(result);
}

std::string refusal(const std::string &json)
{
    const auto result = jobRecordFromJson(json, "clip.json");
    return std::holds_alternative<EngineError>(result) ? std::get<EngineError>(result).message : "";
}

// A good record in which one field is replaced.
std::string refusalWith(const std::string &pointer, const Json &value)
{
    auto json = Json::parse(toJson(fullRecord(), RecordCopy::Full));
    json[Json::json_pointer(pointer)] = value;
    return refusal(json.dump());
}

} // namespace

TEST(JobRecord, ReadsBackEqualInAskedAndResolved)
{
    const auto record = fullRecord();
    const auto copy = reread(toJson(record, RecordCopy::Full));
    EXPECT_EQ(copy.asked, record.asked);
    EXPECT_EQ(copy.resolved, record.resolved);
    EXPECT_EQ(reread(toJson(newJobRecord(), RecordCopy::Full)).asked, GenerationRequest{});
}

TEST(JobRecord, WritesTheSameTextAgainAfterReading)
{
    auto record = fullRecord();
    const auto text = toJson(record, RecordCopy::Full);
    EXPECT_EQ(toJson(reread(text), RecordCopy::Full), text);
    record.report.reset();
    record.state = "failed";
    record.problem = EngineError{ErrorCode::OutOfMemory, "No room.", "cudaMalloc", 3, true};
    const auto failed = toJson(record, RecordCopy::Full);
    EXPECT_EQ(toJson(reread(failed), RecordCopy::Full), failed);
}

TEST(JobRecord, AsksForTheSameClipAgain)
{
    const auto record = reread(toJson(fullRecord(), RecordCopy::Embedded));
    const ModelProfile profile;
    EXPECT_EQ(checkRequest(toRequest(record.resolved), profile).resolved, record.resolved);
}

TEST(JobRecord, ReportsTokensSigmasMemoryAndPhases)
{
    const auto json = Json::parse(toJson(fullRecord(), RecordCopy::Full));
    EXPECT_EQ(json["schema"], "parallax.job/1");
    EXPECT_EQ(json["resolved"]["prompt_tokens"], 3);
    EXPECT_EQ(json["resolved"]["prompt_token_ids"], Json({1, 2, 3}));
    EXPECT_EQ(json["resolved"]["negative_tokens"], 1);
    EXPECT_EQ(json["resolved"]["sigmas"].size(), 4U);
    EXPECT_EQ(json["memory"]["peak_over_loaded_bytes"], 2500);
    EXPECT_EQ(json["phases"][1]["name"], "denoise");
    EXPECT_EQ(json["engine"]["precision"], "bfloat16");
    EXPECT_EQ(json["engine"]["noise"], "mt19937");
}

TEST(JobRecord, IsOneLineOfUtf8)
{
    const auto text = toJson(fullRecord(), RecordCopy::Full);
    EXPECT_EQ(text.find('\n'), std::string::npos);
    EXPECT_NE(text.find("港"), std::string::npos);
}

TEST(JobRecord, NamesNoFolderAndNoUnknownFieldInTheEmbeddedCopy)
{
    auto record = fullRecord();
    record.unknownFields = R"({"user": {"note": "mine"}})";
    record.problem = EngineError{ErrorCode::Output, "The disk is full.", "/home/somebody/clips"};
    EXPECT_THAT(toJson(record, RecordCopy::Embedded), AllOf(Not(HasSubstr("somebody")), Not(HasSubstr("mine"))));
}

TEST(JobRecord, HasTheSameEmbeddedCopyForTwoRunsOfOneRequest)
{
    const auto first = fullRecord();
    auto second = fullRecord();
    second.started = "2030-01-01T00:00:00.000Z";
    second.finished = "2030-01-01T00:01:00.000Z";
    second.modelFolder = "/elsewhere";
    second.outputs = {{"master", "other.mp4", 1, "h264 yuv420p bt709 tv"}};
    second.report->phases.clear();
    second.report->stepSeconds = {9, 9, 9};
    second.report->peakBytes = 1;
    EXPECT_NE(toJson(first, RecordCopy::Full), toJson(second, RecordCopy::Full));
    EXPECT_EQ(toJson(first, RecordCopy::Embedded), toJson(second, RecordCopy::Embedded));
}

TEST(JobRecord, TellsTheUsedPrecisionFromTheEmbeddedCopy)
{
    const auto copy = reread(toJson(fullRecord(), RecordCopy::Embedded));
    ASSERT_TRUE(copy.report);
    EXPECT_EQ(copy.report->dataType, DataType::BFloat16);
    EXPECT_EQ(copy.report->sigmas, report().sigmas);
    EXPECT_EQ(copy.unknownFields, "");
}

TEST(JobRecord, KeepsFieldsItDoesNotKnow)
{
    auto json = Json::parse(toJson(fullRecord(), RecordCopy::Full));
    json["user"] = {{"rating", 4}};
    json["resolved"]["keep_latents"] = 2;
    json["engine"]["cache"] = {{"method", "off"}};
    auto record = reread(json.dump());
    record.state = "cancelled";
    json["state"] = "cancelled";
    EXPECT_EQ(Json::parse(toJson(record, RecordCopy::Full)), json);
}

TEST(JobRecord, HasAnIdThatSortsByTime)
{
    const auto first = newJobRecord();
    EXPECT_THAT(first.id, testing::MatchesRegex("[0-9A-HJKMNP-TV-Z]+"));
    EXPECT_EQ(first.id.size(), 26U);
    auto later = newJobRecord();
    while (later.created == first.created)
        later = newJobRecord();
    EXPECT_LT(first.id, later.id);
    EXPECT_THAT(first.created, testing::MatchesRegex("20..-..-..T..:..:......Z"));
}

TEST(JobRecord, WritesPathsOfOtherEncodingsWithoutFailing)
{
    auto record = fullRecord();
    record.modelFolder = "/models/\xff";
    EXPECT_THAT(toJson(record, RecordCopy::Full), HasSubstr("/models/\xef\xbf\xbd"));
}

TEST(JobRecord, RefusesWhatIsNoJson)
{
    for (const std::string text : {"", "{", "nonsense", "{\"a\": 1e999}", "\xff\xfe", "{\"prompt\": \"\xff\"}"})
        EXPECT_THAT(refusal(text), AllOf(HasSubstr("clip.json"), HasSubstr("not valid JSON"))) << text;
}

TEST(JobRecord, RefusesJsonThatIsNoRecord)
{
    EXPECT_THAT(refusal("[1, 2]"), HasSubstr("must be an object"));
    EXPECT_THAT(refusal("{}"), HasSubstr("\"schema\" must be \"parallax.job/1\""));
    EXPECT_THAT(refusal(R"({"schema": "parallax.job/2"})"), HasSubstr("schema"));
    EXPECT_THAT(refusal(R"({"schema": "parallax.job/1"})"), HasSubstr("\"asked\" must be there"));
    EXPECT_THAT(refusal(R"({"schema": "parallax.job/1", "asked": {}, "resolved": 3})"), HasSubstr("\"resolved\""));
}

TEST(JobRecord, NamesTheFieldThatHasTheWrongTypeOrRange)
{
    EXPECT_THAT(refusalWith("/resolved/frames", "many"), HasSubstr("\"resolved.frames\" must be a whole number"));
    EXPECT_THAT(refusalWith("/resolved/frames", 25.5), HasSubstr("resolved.frames"));
    EXPECT_THAT(refusalWith("/resolved/frames", 1LL << 40), HasSubstr("2147483647"));
    EXPECT_THAT(refusalWith("/resolved/seed", -1), HasSubstr("from 0 to 4294967295"));
    EXPECT_THAT(refusalWith("/resolved/guidance", 3), HasSubstr("a list"));
    EXPECT_THAT(refusalWith("/resolved/guidance", Json::array({"x"})), HasSubstr("numbers"));
    EXPECT_THAT(refusalWith("/resolved/mode", "image_to_video"), HasSubstr("text_to_video, text_to_image"));
    EXPECT_THAT(refusalWith("/asked/aspect_ratio", Json::array({1, 2, 3})), HasSubstr("asked.aspect_ratio"));
    EXPECT_THAT(refusalWith("/asked/guidance_interval", Json::array({1})), HasSubstr("guidance_interval"));
    EXPECT_THAT(refusalWith("/asked/sound", "yes"), HasSubstr("true or false"));
    EXPECT_THAT(refusalWith("/outputs", 3), HasSubstr("outputs"));
    EXPECT_THAT(refusalWith("/outputs/0/file", 3), HasSubstr("outputs.file"));
    EXPECT_THAT(refusalWith("/memory/peak_bytes", -5), HasSubstr("memory"));
    EXPECT_THAT(refusalWith("/problem", "it broke"), HasSubstr("problem"));
}

TEST(JobRecord, RefusesAbsurdNesting)
{
    const std::string deep = std::string(100000, '[') + std::string(100000, ']');
    EXPECT_THAT(refusal(R"({"schema": "parallax.job/1", "x": )" + deep + "}"), HasSubstr("nested too deeply"));
    EXPECT_THAT(refusal(std::string(100000, '[')), HasSubstr("nested too deeply"));
}

} // namespace engine
