#include "tests/app/program.h"
#include "tests/support/golden.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace {

using Json = nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

Json dryRun(std::vector<std::string> arguments, const std::filesystem::path &folder = program::freshFolder(),
            const std::string &input = {})
{
    arguments.insert(arguments.begin(), "generate");
    arguments.insert(arguments.end(), {"--dry-run", "--json"});
    const auto result = program::run(arguments, folder, input);
    EXPECT_EQ(result.exit, 0) << result.err;
    return Json::parse(result.out);
}

} // namespace

class DemoCase : public testing::TestWithParam<const char *> {};

TEST_P(DemoCase, HasTheReferencesTextsAndTokenIdsByTheModelsDefaults)
{
    const auto reference = Json::parse(golden::json(std::string("demo/") + GetParam()));
    const auto &params = reference["params"];
    std::vector<std::string> arguments{"--model",        "demo",   "--prompt",
                                       params["prompt"], "--seed", params["seed"].dump()};
    if (params["frames"] == 1)
        arguments.insert(arguments.end(), {"--mode", "t2i"});
    const auto resolved = dryRun(arguments)["resolved"];
    EXPECT_EQ(resolved["prompt_text"], reference["text_positive"]);
    EXPECT_EQ(resolved["prompt_token_ids"], reference["ids_positive"]);
    EXPECT_EQ(resolved["negative_text"], reference["text_negative"]);
    EXPECT_EQ(resolved["negative_token_ids"], reference["ids_negative"]);
    EXPECT_EQ(resolved["prompt_tokens"], reference["ids_positive"].size());
    for (const auto *key : {"width", "height", "frames", "fps", "steps", "shift", "seed"})
        EXPECT_EQ(resolved[key], params[key]) << key;
    EXPECT_EQ(resolved["guidance"], Json(std::vector<double>(params["steps"].get<std::size_t>(), params["guidance"])));
}

INSTANTIATE_TEST_SUITE_P(DryRun, DemoCase, testing::Values("d1", "d3"));

TEST(DryRun, SaysThatAPromptWasCutAndWhichOne)
{
    std::string longText;
    for (int i = 0; i < 40000; ++i)
        longText += "a ";
    const auto tinyNano = golden::checkpoint("tiny-nano").string();
    const auto json = dryRun({"--model", tinyNano, "--prompt-file", "-", "--size", "48x48", "--frames", "5"},
                             program::freshFolder(), longText);
    EXPECT_EQ(json["resolved"]["prompt_truncated"], true);
    EXPECT_EQ(json["resolved"]["prompt_tokens"], 32768);
    EXPECT_THAT(json["notes"].dump(), AllOf(HasSubstr("The prompt is longer than the 32768 tokens"),
                                            Not(HasSubstr("The negative prompt is longer"))));
}

TEST(DryRun, OfAnUnknownModelTakesAnyLegalSize)
{
    const auto json = dryRun({"--model", golden::checkpoint("tiny-nano").string(), "--prompt", "", "--size", "48x80",
                              "--frames", "6", "--seed", "4294967295", "--sound"});
    EXPECT_EQ(json["state"], "checked");
    EXPECT_EQ(json["model"]["name"], "tiny-nano");
    EXPECT_EQ(json["resolved"]["frames"], 9);
    EXPECT_EQ(json["resolved"]["seed"], 4294967295);
    EXPECT_EQ(json["resolved"]["sound"], true);
    EXPECT_EQ(json["resolved"]["prompt"], "");
    EXPECT_GT(json["resolved"]["prompt_tokens"], 9);
    EXPECT_THAT(json["notes"][0].get<std::string>(), HasSubstr("rounded up to 9"));
    EXPECT_EQ(json["outputs"], Json::array());
    EXPECT_EQ(json["problem"], Json());
}

TEST(DryRun, ShowsThePlanToAPerson)
{
    const auto result =
        program::run({"generate", "--model", "demo", "--prompt", "A red ball.", "--seed", "7", "--dry-run"});
    EXPECT_EQ(result.exit, 0) << result.err;
    EXPECT_THAT(result.out,
                AllOf(HasSubstr("demo"), HasSubstr("224x128, 25 frames at 12 a second"),
                      HasSubstr("16 steps, guidance 3, flow shift 3, seed 7"), HasSubstr("-a-red-ball-7.mp4")));
}

TEST(DryRun, TakesAnEmptyNegativePromptInBothSpellings)
{
    for (const auto &arguments :
         {std::vector<std::string>{"--negative-prompt", ""}, std::vector<std::string>{"--negative-prompt="}}) {
        auto all = arguments;
        all.insert(all.end(), {"--model", "demo", "--prompt", "a"});
        const auto json = dryRun(all);
        EXPECT_EQ(json["asked"]["negative_prompt"], "");
        EXPECT_EQ(json["resolved"]["negative_prompt"], "");
    }
    EXPECT_FALSE(dryRun({"--model", "demo", "--prompt", "a"})["asked"].contains("negative_prompt"));
}

TEST(DryRun, TakesPromptsThatLookLikeSyntax)
{
    for (const std::string prompt : {"{}", "[a, b]", "--prompt", "-1", "%%", "a=b", "{\"subjects\": [\"a\"]}",
                                     "\"quoted\"", "'single'", "水", "a\nb", "-", "--"})
        EXPECT_EQ(dryRun({"--model", "demo", "--prompt", prompt})["resolved"]["prompt"], prompt);
}

TEST(DryRun, ReadsPromptsFromFilesAndStandardInput)
{
    const auto folder = program::freshFolder();
    program::write(folder / "prompt.txt", "\xef\xbb\xbf"
                                          "A red ball.\r\n");
    program::write(folder / "negative.txt", "blurry\n");
    const auto fromFile =
        dryRun({"--model", "demo", "--prompt-file", "prompt.txt", "--negative-prompt-file", "negative.txt"}, folder);
    EXPECT_EQ(fromFile["resolved"]["prompt"], "A red ball.");
    EXPECT_EQ(fromFile["resolved"]["negative_prompt"], "blurry");
    const auto fromInput = dryRun({"--model", "demo", "--prompt-file", "-"}, folder, "two\nlines\n");
    EXPECT_EQ(fromInput["resolved"]["prompt"], "two\nlines");
}

TEST(DryRun, TakesTheSettingsOfARecordAgainAndOverridesThem)
{
    const auto folder = program::freshFolder();
    const auto first = dryRun({"--model", "demo", "--prompt", "A red ball.", "--frames", "17", "--guidance-scale",
                               "2.5", "--guidance-interval", "100,900", "--steps", "9", "--dtype", "float32"});
    program::write(folder / "job.json", first.dump());
    const auto again = dryRun({"--record", "job.json"}, folder);
    EXPECT_EQ(again["resolved"], first["resolved"]);
    EXPECT_EQ(again["model"], first["model"]);

    const auto other = dryRun({"--record", "job.json", "--steps", "5", "--prompt", "A cube.", "--seed", "3",
                               "--negative-prompt", "noisy", "--fps", "10"},
                              folder);
    EXPECT_EQ(other["resolved"]["steps"], 5);
    EXPECT_EQ(other["resolved"]["guidance"], Json(std::vector<double>(5, 2.5)));
    EXPECT_EQ(other["resolved"]["prompt"], "A cube.");
    EXPECT_EQ(other["resolved"]["seed"], 3);
    EXPECT_EQ(other["resolved"]["frames"], 17);
    EXPECT_EQ(other["resolved"]["negative_prompt"], "noisy");

    const auto image = dryRun({"--record", "job.json", "--mode", "t2i"}, folder);
    EXPECT_EQ(image["resolved"]["frames"], 1);
    EXPECT_EQ(image["resolved"]["prompt"], "A red ball.");
    EXPECT_EQ(image["resolved"]["seed"], first["resolved"]["seed"]);
}

TEST(DryRun, FindsTheModelOfARecordByItsNameWhenItsFolderIsGone)
{
    const auto folder = program::freshFolder();
    auto record = dryRun({"--model", "demo", "--prompt", "A red ball."});
    record["model"].erase("folder");
    program::write(folder / "job.json", record.dump());
    EXPECT_EQ(dryRun({"--record", "job.json"}, folder)["resolved"], record["resolved"]);
}

TEST(DryRun, ChoosesAFreshNameEveryTime)
{
    const auto folder = program::freshFolder();
    const std::vector<std::string> arguments{"generate", "--model", "demo",      "--prompt", "A red ball.",
                                             "--seed",   "7",       "--dry-run", "--mode",   "t2i"};
    const auto first = program::run(arguments, folder).out;
    const auto begin = first.find("parallax-2");
    const auto name = first.substr(begin, first.find('\n', begin) - begin);
    EXPECT_TRUE(name.ends_with("-a-red-ball-7.png")) << name;
    program::write(folder / name, "taken");
    EXPECT_THAT(program::run(arguments, folder).out, HasSubstr("-a-red-ball-7-2.png"));
}

TEST(DryRun, IsQuietWhenAskedTo)
{
    const auto result =
        program::run({"generate", "--model", "demo", "--prompt", "a", "--frames", "24", "--dry-run", "--quiet"});
    EXPECT_EQ(result.err, "");
    EXPECT_THAT(program::run({"generate", "--model", "demo", "--prompt", "a", "--frames", "24", "--dry-run"}).err,
                HasSubstr("rounded up to 25"));
}

TEST(DryRun, TakesAnOutputThatExistsWhenItMayBeOverwritten)
{
    const auto folder = program::freshFolder();
    program::write(folder / "there.mp4", "old");
    const auto json = dryRun({"--model", "demo", "--prompt", "a", "--output", "there.mp4", "--overwrite"}, folder);
    EXPECT_EQ(json["state"], "checked");
    EXPECT_EQ(std::filesystem::file_size(folder / "there.mp4"), 3U);
}

TEST(DryRun, TakesTheLastOfAnOptionThatIsGivenTwice)
{
    const auto json = dryRun({"--model", "demo", "--prompt", "a", "--seed", "1", "--prompt", "b", "--seed", "2"});
    EXPECT_EQ(json["resolved"]["prompt"], "b");
    EXPECT_EQ(json["resolved"]["seed"], 2);
}
