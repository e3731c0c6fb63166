#include "engine/api/outcome.h"
#include "engine/text/bpe_tokenizer.h"
#include "engine/text/tokenizer_files.h"
#include "tests/engine/text/reference.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

namespace {

using engine::BpeTokenizer;
using testing::ElementsAre;
using testing::HasSubstr;
using Ids = std::vector<int>;

TEST(BpeTokenizer, GivesTheReferencesIdsAndTextsForTheQwenVocabulary)
{
    const auto tokenizer = reference::tokenizer("qwen");
    EXPECT_EQ(tokenizer->size(), 151'669);
    const auto cases = reference::table("tokenizer-qwen/cases").at("plain");
    ASSERT_EQ(cases.size(), 315U);
    for (const auto &item : cases) {
        const auto text = item.at("text").get<std::string>();
        const auto ids = item.at("ids").get<Ids>();
        EXPECT_EQ(tokenizer->encode(text), ids) << item.at("kind") << ": " << text;
        EXPECT_EQ(tokenizer->decode(ids), item.at("decoded").get<std::string>()) << text;
    }
    for (const auto &item : reference::table("text-more").at("tokenizer"))
        EXPECT_EQ(tokenizer->encode(item.at("text").get<std::string>()), item.at("qwen").get<Ids>()) << item;
}

TEST(BpeTokenizer, GivesTheReferencesIdsForTextsInManyScripts)
{
    const auto nano = reference::tokenizer("tiny-nano");
    const auto edge = reference::tokenizer("tiny-edge");
    const auto cases = reference::table("text-more").at("tokenizer");
    ASSERT_GE(cases.size(), 250U);
    for (const auto &item : cases) {
        const auto text = item.at("text").get<std::string>();
        EXPECT_EQ(nano->encode(text), item.at("nano").get<Ids>()) << text;
        EXPECT_EQ(edge->encode(text), item.at("edge").get<Ids>()) << text;
        EXPECT_EQ(edge->decode(item.at("edge").get<Ids>()), text); // without NFC nothing is lost
    }
}

TEST(BpeTokenizer, FollowsTheReferenceForOtherExpressionsAndAddedTokensOfEveryKind)
{
    const auto file = reference::fileText(reference::tokenizerFolder("tiny-nano") / "tokenizer.json");
    const auto variants = reference::table("text-more").at("variants");
    ASSERT_EQ(variants.size(), 24U);
    for (const auto &variant : variants) {
        auto data = engine::parseTokenizerJson(file, "tokenizer.json");
        data.normalizesToNfc = variant.at("normalizes_to_nfc");
        data.ignoresMerges = variant.at("ignores_merges");
        data.splitExpressions = variant.at("expressions").get<std::vector<std::string>>();
        for (const auto &token : variant.at("added_tokens"))
            data.addedTokens.push_back({.id = token.at("id"),
                                        .content = token.at("content"),
                                        .special = token.at("special"),
                                        .normalized = token.at("normalized"),
                                        .stripLeft = token.at("lstrip"),
                                        .stripRight = token.at("rstrip"),
                                        .singleWord = token.at("single_word")});
        const BpeTokenizer tokenizer(std::move(data));
        for (const auto &item : variant.at("cases"))
            EXPECT_EQ(tokenizer.encode(item.at("text").get<std::string>()), item.at("ids").get<Ids>())
                << item << " with " << variant.at("expressions") << variant.at("added_tokens");
    }
}

TEST(BpeTokenizer, ReadsTheSameTokenizerFromEitherKindOfFiles)
{
    const auto folder = reference::tokenizerFolder("tiny-nano");
    const auto vocabulary = reference::fileText(folder / "vocab.json");
    const auto merges = reference::fileText(folder / "merges.txt");
    const auto config = reference::fileText(folder / "tokenizer_config.json");
    const auto added = reference::fileText(folder / "added_tokens.json");
    const BpeTokenizer tokenizer(engine::parseVocabularyAndMerges(
        {.vocabulary = vocabulary, .merges = merges, .config = config, .addedTokens = added}, "text_tokenizer"));
    const auto whole = reference::tokenizer("tiny-nano");
    EXPECT_EQ(tokenizer.size(), whole->size());
    for (const auto &item : reference::table("text-more").at("tokenizer"))
        EXPECT_EQ(tokenizer.encode(item.at("text").get<std::string>()), item.at("nano").get<Ids>());
}

TEST(BpeTokenizer, FindsTokensByContentWhereverTheFileKeepsThem)
{
    const auto nano = reference::tokenizer("tiny-nano");
    EXPECT_EQ(nano->tokenId("<|vision_start|>"), 1033);
    EXPECT_EQ(nano->tokenId("!"), 0);
    EXPECT_EQ(nano->tokenId("no such token"), std::nullopt);
    const auto edge = reference::tokenizer("tiny-edge");
    EXPECT_EQ(edge->tokenId("<|vision_start|>"), 20);
    EXPECT_EQ(edge->size(), 1056);
}

TEST(BpeTokenizer, DecodesBrokenBytesAsReplacementCharactersAndLeavesUnknownIdsOut)
{
    const auto nano = reference::tokenizer("tiny-nano");
    auto ids = nano->encode("é<|im_end|>");
    ASSERT_EQ(nano->decode(ids), "é<|im_end|>");
    ids.push_back(1'000'000);
    ids.push_back(-1);
    EXPECT_EQ(nano->decode(ids), "é<|im_end|>");
    const auto emoji = nano->encode("😀");
    ASSERT_GT(emoji.size(), 1U);
    EXPECT_EQ(nano->decode({emoji.front()}), "\uFFFD");
}

TEST(BpeTokenizer, RefusesInvalidUtf8NamingTheByte)
{
    const auto nano = reference::tokenizer("tiny-nano");
    try {
        static_cast<void>(nano->encode("caf\xC3\xA9 \xED\xA0\x80"));
        FAIL() << "accepted";
    } catch (const engine::EngineFailure &failure) {
        EXPECT_EQ(failure.error().code, engine::ErrorCode::InvalidRequest);
        EXPECT_THAT(failure.error().message, HasSubstr("byte 6"));
    }
}

TEST(BpeTokenizer, EncodesAHundredThousandCharactersWithoutSpacesQuickly)
{
    const auto nano = reference::tokenizer("tiny-nano");
    const auto edge = reference::tokenizer("tiny-edge");
    for (const std::string unit : {"a", "A", "abcdefgh", " ", "\n ", "一", "!", "<|im_", "\xCC\x81"}) {
        std::string text;
        while (text.size() < 100'000)
            text += unit;
        const auto start = std::chrono::steady_clock::now();
        EXPECT_EQ(edge->decode(edge->encode(text)), text);
        EXPECT_FALSE(nano->encode(text).empty());
        // A quadratic merge loop needs minutes; this takes 0.05 s, and 0.5 s under the sanitizers.
        EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5)) << unit;
    }
}

} // namespace
