#include "app/cli/run_sinks.h"
#include "tests/app/program.h"
#include "tests/support/golden.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace {

using Json = nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

Json inspected(const std::string &target)
{
    const auto result = program::run({"inspect", target, "--json"});
    EXPECT_EQ(result.exit, 0) << result.err;
    return Json::parse(result.out);
}

} // namespace

TEST(Inspect, DescribesTheDemoWorld)
{
    const auto json = inspected("demo");
    EXPECT_EQ(json["name"], "demo world");
    EXPECT_EQ(json["known"], true);
    EXPECT_EQ(json["layers"], 8);
    EXPECT_EQ(json["hidden_size"], 384);
    EXPECT_EQ(json["heads"], 6);
    EXPECT_EQ(json["key_value_heads"], 2);
    EXPECT_EQ(json["head_dim"], 64);
    EXPECT_EQ(json["spatial_factor"], 8);
    EXPECT_EQ(json["sound"], false);
    EXPECT_EQ(json["refusal"], Json());
    EXPECT_EQ(json["defaults"]["video"]["frames"], 25);
    EXPECT_EQ(json["memory_bytes"]["float32"].get<std::int64_t>(),
              2 * json["memory_bytes"]["bfloat16"].get<std::int64_t>());
}

TEST(Inspect, DescribesEachTinyCheckpoint)
{
    EXPECT_EQ(inspected(golden::checkpoint("tiny-nano").string())["sound"], true);
    const auto super = inspected(golden::checkpoint("tiny-super").string());
    EXPECT_EQ(super["sound"], false);
    EXPECT_EQ(super["head_dim"], 128);
    EXPECT_THAT(inspected(golden::checkpoint("tiny-edge").string())["variant"].get<std::string>(), HasSubstr("Edge"));
}

TEST(Inspect, ShowsATableToAPerson)
{
    const auto result = program::run({"inspect", golden::checkpoint("tiny-super").string()});
    EXPECT_EQ(result.exit, 0) << result.err;
    EXPECT_THAT(result.out, AllOf(HasSubstr("16 query and 8 key/value heads of 128"), HasSubstr("sound_tokenizer"),
                                  HasSubstr("It can generate.")));
}

TEST(Inspect, SaysWhyACheckpointCannotGenerate)
{
    const auto folder = program::freshFolder() / "model";
    std::filesystem::copy(golden::checkpoint("tiny-edge"), folder, std::filesystem::copy_options::recursive);
    std::filesystem::remove_all(folder / "vae");
    const auto inspection = program::run({"inspect", folder.string()});
    const auto generation = program::run({"generate", "--model", folder.string(), "--prompt", "a"});
    EXPECT_EQ(generation.exit, 2);
    EXPECT_THAT(inspection.out + inspection.err, HasSubstr("vae"));
    EXPECT_THAT(generation.err, HasSubstr("vae"));
}

TEST(Inspect, ShowsTheRecordInAClipAndGenerateTakesItUp)
{
    const auto folder = program::freshFolder();
    const auto dry =
        program::run({"generate", "--model", "demo", "--prompt", "A red ball.", "--dry-run", "--json"}, folder);
    {
        app::RunSinks sinks({.master = folder / "clip.mp4", .latents = {}, .framesRaw = {}, .overwrite = false});
        ASSERT_FALSE(sinks.open({.width = 16, .height = 16, .frames = 1, .fps = 12}));
        ASSERT_FALSE(sinks.frames(std::vector<std::uint8_t>(16 * 16 * 3, 90), 1));
        ASSERT_FALSE(sinks.finish(dry.out));
    }
    const auto shown = program::run({"inspect", "clip.mp4"}, folder);
    EXPECT_EQ(shown.exit, 0) << shown.err;
    EXPECT_THAT(shown.out, HasSubstr("A red ball."));
    EXPECT_EQ(Json::parse(program::run({"inspect", "clip.mp4", "--json"}, folder).out), Json::parse(dry.out));
    const auto again = program::run({"generate", "--record", "clip.mp4", "--dry-run", "--json"}, folder);
    EXPECT_EQ(Json::parse(again.out)["resolved"], Json::parse(dry.out)["resolved"]);
}
