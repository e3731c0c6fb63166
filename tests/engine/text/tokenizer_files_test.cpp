#include "engine/api/outcome.h"
#include "engine/text/tokenizer_files.h"
#include "tests/engine/text/reference.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

namespace {

using engine::EngineFailure;
using engine::ErrorCode;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using Json = nlohmann::json;

// The sentence with which `read` is refused.
std::string refusal(const std::function<void()> &read)
{
    try {
        read();
        return "accepted";
    } catch (const EngineFailure &failure) {
        EXPECT_EQ(failure.error().code, ErrorCode::ModelFiles);
        EXPECT_THAT(failure.error().message, EndsWith("."));
        return failure.error().message;
    }
}

// tiny-nano's tokenizer.json after a change.
class TokenizerJson : public testing::Test {
protected:
    std::string refusedAfter(const std::function<void(Json &)> &change) const
    {
        auto file = m_file;
        change(file);
        return refusedText(file.dump());
    }
    static std::string refusedText(const std::string &text)
    {
        return refusal(
            [&] { engine::BpeTokenizer tokenizer(engine::parseTokenizerJson(text, "text_tokenizer/tokenizer.json")); });
    }

    Json m_file = Json::parse(reference::fileText(reference::tokenizerFolder("tiny-nano") / "tokenizer.json"));
};

TEST_F(TokenizerJson, IsAcceptedUnchangedAndInTheFormOfOlderFiles)
{
    EXPECT_EQ(refusedAfter([](Json &) {}), "accepted");
    EXPECT_EQ(refusedAfter([](Json &file) {
                  file["model"].erase("type");
                  for (auto &merge : file["model"]["merges"])
                      merge = merge[0].get<std::string>() + " " + merge[1].get<std::string>();
                  file["pre_tokenizer"] = {{"type", "ByteLevel"}, {"add_prefix_space", false}};
                  file["normalizer"] = nullptr;
              }),
              "accepted");
}

TEST_F(TokenizerJson, ThatIsNotJsonIsRefused)
{
    EXPECT_THAT(refusedText(""), HasSubstr("tokenizer.json is not valid JSON"));
    EXPECT_THAT(refusedText(m_file.dump().substr(0, 5000)), HasSubstr("is not valid JSON at byte 5001"));
    EXPECT_THAT(refusedText("[1, 2]"), HasSubstr("not an object"));
    EXPECT_THAT(refusedText("{\"a\": \"\xFF\"}"), HasSubstr("is not valid JSON"));
    EXPECT_THAT(refusedText(std::string(100'000, '[')), HasSubstr("is not valid JSON"));
    EXPECT_THAT(refusedText("{\"version\": 1e999}"), HasSubstr("a number that is too large"));
}

TEST_F(TokenizerJson, WithIdsOutOfRangeIsRefused)
{
    for (const Json &id : {Json(-1), Json(10'000'000), Json(18'446'744'073'709'551'615U), Json(1.5), Json("7"), Json()})
        EXPECT_THAT(refusedAfter([&](Json &file) { file["model"]["vocab"]["!"] = id; }),
                    AllOf(HasSubstr("the id of token \"!\""), HasSubstr("whole number")))
            << id;
    EXPECT_THAT(refusedAfter([](Json &file) { file["added_tokens"][0]["id"] = -5; }), HasSubstr("<|endoftext|>"));
}

TEST_F(TokenizerJson, WithOneIdForTwoTokensIsRefused)
{
    EXPECT_THAT(refusedAfter([](Json &file) { file["model"]["vocab"]["!"] = 1; }), HasSubstr("the same id 1"));
    EXPECT_THAT(refusedAfter([](Json &file) { file["added_tokens"][0]["id"] = 0; }), HasSubstr("the same id 0"));
    EXPECT_THAT(refusedAfter([](Json &file) { file["added_tokens"][0]["id"] = 1025; }), HasSubstr("the same id 1025"));
    EXPECT_THAT(refusedAfter([](Json &file) { file["added_tokens"][0]["content"] = "!"; }), HasSubstr("there twice"));
}

TEST_F(TokenizerJson, WithMergesOutsideTheVocabularyIsRefused)
{
    EXPECT_THAT(refusedAfter([](Json &file) {
                    file["model"]["merges"][0] = {"nosuch", "Ġ"};
                }),
                AllOf(HasSubstr("merge 1"), HasSubstr("\"nosuch\"")));
    EXPECT_THAT(refusedAfter([](Json &file) {
                    file["model"]["merges"][2] = {"!", "\""};
                }),
                AllOf(HasSubstr("merge 3"), HasSubstr("vocabulary lacks")));
    for (const Json &merge : {Json("one"), Json("a b c"), Json(7), Json{"a"}, Json{"a", 5}})
        EXPECT_THAT(refusedAfter([&](Json &file) { file["model"]["merges"][0] = merge; }), HasSubstr("is damaged"))
            << merge;
}

TEST_F(TokenizerJson, WithoutATokenForEveryByteIsRefused)
{
    EXPECT_THAT(refusedAfter([](Json &file) { file["model"]["vocab"].erase("!"); }), HasSubstr("byte 33"));
}

TEST_F(TokenizerJson, OfAnotherKindIsRefusedByName)
{
    const auto with = [&](const char *part, const Json &value) {
        return refusedAfter([&](Json &file) { file[part] = value; });
    };
    EXPECT_THAT(with("normalizer", {{"type", "NFKC"}}), HasSubstr("the normalizer \"NFKC\""));
    EXPECT_THAT(with("pre_tokenizer", {{"type", "Metaspace"}}), HasSubstr("the pre-tokenizer \"Metaspace\""));
    EXPECT_THAT(with("pre_tokenizer", nullptr), HasSubstr("no \"pre_tokenizer\""));
    EXPECT_THAT(with("model", {{"type", "Unigram"}}), HasSubstr("the model \"Unigram\""));
    const auto inModel = [&](const char *key, const Json &value) {
        return refusedAfter([&](Json &file) { file["model"][key] = value; });
    };
    EXPECT_THAT(inModel("continuing_subword_prefix", "##"), HasSubstr("continuing_subword_prefix"));
    EXPECT_THAT(inModel("dropout", 0.1), HasSubstr("dropout"));
    EXPECT_THAT(inModel("vocab", Json::array()), HasSubstr("vocabulary is not an object"));
    EXPECT_THAT(refusedAfter([](Json &file) { file["pre_tokenizer"]["pretokenizers"].erase(1); }),
                HasSubstr("without ByteLevel"));
    EXPECT_THAT(refusedAfter([](Json &file) { file["pre_tokenizer"]["pretokenizers"][0]["behavior"] = "Removed"; }),
                HasSubstr("the behavior \"Removed\""));
    EXPECT_THAT(refusedAfter([](Json &file) { file["pre_tokenizer"]["pretokenizers"][1]["add_prefix_space"] = true; }),
                HasSubstr("add_prefix_space"));
}

TEST_F(TokenizerJson, WithAnExpressionThatDoesNotCompileIsRefused)
{
    EXPECT_THAT(
        refusedAfter([](Json &file) { file["pre_tokenizer"]["pretokenizers"][0]["pattern"]["Regex"] = "[\\p{L}"; }),
        HasSubstr("cannot be used"));
}

TEST_F(TokenizerJson, WithBrokenAddedTokensIsRefused)
{
    EXPECT_THAT(refusedAfter([](Json &file) { file["added_tokens"] = "x"; }), HasSubstr("not a list"));
    EXPECT_THAT(refusedAfter([](Json &file) { file["added_tokens"][0].erase("content"); }), HasSubstr("no content"));
    EXPECT_THAT(refusedAfter([](Json &file) { file["added_tokens"][0]["special"] = "yes"; }), HasSubstr("\"special\""));
    EXPECT_THAT(refusedAfter([](Json &file) {
                    for (const auto &[place, content] : {std::pair{0, "\u00e9x"}, {1, "e\u0301x"}}) {
                        file["added_tokens"][place]["content"] = content;
                        file["added_tokens"][place]["normalized"] = true;
                    }
                }),
                HasSubstr("two added tokens that normalise to"));
}

class VocabularyAndMerges : public testing::Test {
protected:
    std::string refused() const
    {
        return refusal([this] {
            static_cast<void>(engine::parseVocabularyAndMerges({.vocabulary = m_vocabulary,
                                                                .merges = m_merges,
                                                                .config = m_config,
                                                                .addedTokens = m_added,
                                                                .specialTokensMap = m_special},
                                                               "text_tokenizer"));
        });
    }
    static std::string file(const char *name)
    {
        return reference::fileText(reference::tokenizerFolder("tiny-nano") / name);
    }

    std::string m_vocabulary = file("vocab.json");
    std::string m_merges = file("merges.txt");
    std::string m_config = file("tokenizer_config.json");
    std::string m_added = file("added_tokens.json");
    std::string m_special = file("special_tokens_map.json");
};

TEST_F(VocabularyAndMerges, AreAcceptedUnchanged)
{
    EXPECT_EQ(refused(), "accepted");
}

TEST_F(VocabularyAndMerges, WithABrokenMergesLineAreRefusedNamingTheLine)
{
    m_merges += "one two three\n";
    EXPECT_THAT(refused(), AllOf(HasSubstr("text_tokenizer/merges.txt"), HasSubstr("line 770")));
    m_merges = "#version: 0.2\nĠ nosuch\n";
    EXPECT_THAT(refused(), HasSubstr("\"nosuch\""));
}

TEST_F(VocabularyAndMerges, WithoutAKnownTokenizerClassAreRefused)
{
    m_config = R"({"tokenizer_class": "LlamaTokenizer"})";
    EXPECT_THAT(refused(), HasSubstr("names the tokenizer LlamaTokenizer"));
    m_config = "";
    EXPECT_THAT(refused(), HasSubstr("names no tokenizer_class"));
    m_config = "{";
    EXPECT_THAT(refused(), HasSubstr("text_tokenizer/tokenizer_config.json is not valid JSON"));
}

TEST_F(VocabularyAndMerges, WhoseFilesDisagreeAreRefused)
{
    m_added = R"({"<|im_end|>": 1027})";
    EXPECT_THAT(refused(), AllOf(HasSubstr("\"<|im_end|>\" the id 1027"), HasSubstr("1026")));
    m_added = R"({"<|new|>": 5})";
    EXPECT_THAT(refused(), HasSubstr("the same id 5"));
    m_added = "";
    m_special = R"({"eos_token": "<|unknown|>"})";
    EXPECT_THAT(refused(), AllOf(HasSubstr("special_tokens_map.json"), HasSubstr("<|unknown|>")));
    m_special = "";
    m_config = R"({"tokenizer_class": "Qwen2Tokenizer", "added_tokens_decoder": {"12x": {"content": "<|a|>"}}})";
    EXPECT_THAT(refused(), HasSubstr("the id of token \"<|a|>\""));
}

TEST(TokenizerFolder, WithoutTokenizerFilesIsRefused)
{
    EXPECT_THAT(refusal([] { static_cast<void>(engine::readTokenizerFolder(golden::folder() / "no-such-folder")); }),
                HasSubstr("no-such-folder has neither tokenizer.json nor vocab.json with merges.txt"));
}

TEST(TokenizerFolder, WithAFolderInTheFilesPlaceIsRefused)
{
    const auto folder = std::filesystem::path(testing::TempDir()) / "parallax-text-tokenizer";
    std::filesystem::create_directories(folder / "tokenizer.json");
    EXPECT_THAT(refusal([&] { static_cast<void>(engine::readTokenizerFolder(folder)); }),
                HasSubstr("tokenizer.json cannot be read"));
    std::filesystem::remove_all(folder);
}

} // namespace
