#include "engine/api/outcome.h"
#include "engine/text/prompt_template.h"
#include "engine/text/tokenizer_files.h"
#include "tests/engine/text/reference.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace {

using engine::Branch;
using engine::ClipMetadata;
using testing::ElementsAre;
using testing::HasSubstr;
using Ids = std::vector<int>;
using Json = nlohmann::json;

constexpr int kNoCap = 1'000'000;

std::optional<engine::AspectRatio> aspectRatio(const std::string &text)
{
    const auto comma = text.find(',');
    return engine::AspectRatio{std::stoi(text.substr(0, comma)), std::stoi(text.substr(comma + 1))};
}

ClipMetadata metadata(const Json &item)
{
    ClipMetadata clip{.width = item.at("width"),
                      .height = item.at("height"),
                      .frames = item.at("frames"),
                      .fps = item.at("fps"),
                      .aspectRatio = {}};
    if (const auto ratio = item.find("aspect_ratio"); ratio != item.end() && ratio->is_string())
        clip.aspectRatio = aspectRatio(*ratio);
    else if (ratio != item.end() && ratio->is_array())
        clip.aspectRatio = engine::AspectRatio{ratio->at(0), ratio->at(1)};
    return clip;
}

TEST(PromptTemplate, WritesTheFrameworksChatPromptsForTheQwenVocabulary)
{
    const auto tokenizer = reference::tokenizer("qwen");
    const auto cases = reference::table("tokenizer-qwen/cases").at("chat");
    ASSERT_EQ(cases.size(), 100U);
    for (const auto &item : cases) {
        const auto branch = item.at("side") == "positive" ? Branch::Positive : Branch::Negative;
        const auto text = engine::promptText(item.at("prompt").get<std::string>(), branch, metadata(item));
        EXPECT_EQ(text, item.at("text").get<std::string>());
        const auto chat = engine::chatTokens(*tokenizer, text, item.value("system_prompt", ""), kNoCap);
        EXPECT_EQ(chat.text, text);
        EXPECT_EQ(chat.tokenIds, item.at("ids").get<Ids>()) << text;
        EXPECT_FALSE(chat.truncated);
    }
    EXPECT_THAT(engine::chatTokens(*tokenizer, "", "", kNoCap).tokenIds,
                ElementsAre(151644, 872, 198, 151645, 198, 151644, 77091, 198, 151645, 151652));
}

TEST(PromptTemplate, WritesWhatTheFrameworksOwnFunctionsWrite)
{
    const auto cases = reference::table("text-more").at("prompts");
    ASSERT_EQ(cases.size(), 250U);
    for (const auto &item : cases) {
        const auto branch = item.at("negative") ? Branch::Negative : Branch::Positive;
        EXPECT_EQ(engine::promptText(item.at("prompt").get<std::string>(), branch, metadata(item)),
                  item.at("text").get<std::string>())
            << item;
    }
}

void expectBothBranches(const engine::BpeTokenizer &tokenizer, const Json &parameters, const Json &expected)
{
    for (const auto &[branch, name] : {std::pair{Branch::Positive, "positive"}, {Branch::Negative, "negative"}}) {
        const auto *prompt = branch == Branch::Positive ? "prompt" : "negative_prompt";
        const auto text = engine::promptText(parameters.at(prompt).get<std::string>(), branch, metadata(parameters));
        EXPECT_EQ(text, expected.at(std::string("text_") + name).get<std::string>());
        EXPECT_EQ(engine::chatTokens(tokenizer, text, "", kNoCap).tokenIds,
                  expected.at(std::string("ids_") + name).get<Ids>())
            << text;
    }
}

TEST(PromptTemplate, GivesTheReferenceRunsTheirTokens)
{
    int checked = 0;
    for (const char *topic : {"denoise", "conditioning"}) {
        const auto cases = reference::table(topic).at("cases");
        for (const auto &item : cases) {
            expectBothBranches(*reference::tokenizer(item.at("model")), item, item);
            ++checked;
        }
    }
    EXPECT_GE(checked, 14);
}

TEST(PromptTemplate, GivesTheDemoWorldsRunsTheirTokens)
{
    const auto tokenizer = reference::tokenizer("demo");
    for (const char *topic : {"demo/d1", "demo/d2", "demo/d3"}) {
        const auto run = reference::table(topic);
        expectBothBranches(*tokenizer, run.at("params"), run);
    }
}

TEST(PromptTemplate, CutsTheChatAndKeepsBothSuffixTokensWhenThePromptIsTooLong)
{
    const auto tokenizer = reference::tokenizer("demo");
    const auto whole = engine::chatTokens(*tokenizer, "a red ball on green grass", "", kNoCap).tokenIds;
    const int length = static_cast<int>(whole.size());
    EXPECT_FALSE(engine::chatTokens(*tokenizer, "a red ball on green grass", "", length).truncated);
    for (const int cap : {length - 1, 5, 2}) {
        const auto cut = engine::chatTokens(*tokenizer, "a red ball on green grass", "", cap);
        EXPECT_TRUE(cut.truncated);
        Ids expected(whole.begin(), whole.begin() + cap - 2);
        expected.insert(expected.end(), whole.end() - 2, whole.end());
        EXPECT_EQ(cut.tokenIds, expected) << cap;
    }
}

TEST(PromptTemplate, HasASystemPromptForEachMode)
{
    EXPECT_EQ(engine::systemPrompt(engine::Mode::TextToImage),
              "You are a helpful assistant who will generate images from a give prompt.");
    EXPECT_EQ(engine::systemPrompt(engine::Mode::TextToVideo),
              "You are a helpful assistant who will generate videos from a give prompt.");
}

TEST(PromptTemplate, RefusesPromptsThatAreNotUtf8SayingWhichOne)
{
    const auto message = [](Branch branch) -> std::string {
        try {
            return engine::promptText("ok \xFF", branch, ClipMetadata{});
        } catch (const engine::EngineFailure &failure) {
            EXPECT_EQ(failure.error().code, engine::ErrorCode::InvalidRequest);
            return failure.error().message;
        }
    };
    EXPECT_THAT(message(Branch::Positive), HasSubstr("The prompt is not valid UTF-8 at byte 3"));
    EXPECT_THAT(message(Branch::Negative), HasSubstr("The negative prompt is not valid UTF-8 at byte 3"));
}

TEST(PromptTemplate, RefusesATokenizerWithoutTheSuffixTokens)
{
    auto data = engine::readTokenizerFolder(reference::tokenizerFolder("demo"));
    std::erase_if(data.addedTokens, [](const auto &token) { return token.content == "<|vision_start|>"; });
    const engine::BpeTokenizer tokenizer(std::move(data));
    try {
        static_cast<void>(engine::chatTokens(tokenizer, "a ball", "", kNoCap));
        FAIL() << "accepted";
    } catch (const engine::EngineFailure &failure) {
        EXPECT_EQ(failure.error().code, engine::ErrorCode::ModelFiles);
        EXPECT_THAT(failure.error().message, HasSubstr("<|vision_start|>"));
    }
}

} // namespace
