#include "engine/api/outcome.h"
#include "engine/text/split_pattern.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace {

using engine::SplitPattern;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string_view> pieces(const std::string &expression, std::string_view text)
{
    std::vector<std::string_view> result;
    SplitPattern(expression, "tokenizer.json").split(text, result);
    return result;
}

std::string refusal(const std::string &expression, std::string_view text = "")
{
    try {
        static_cast<void>(pieces(expression, text));
        return "accepted";
    } catch (const engine::EngineFailure &failure) {
        EXPECT_EQ(failure.error().code, engine::ErrorCode::ModelFiles);
        return failure.error().message;
    }
}

TEST(SplitPattern, KeepsMatchesAndWhatLiesBetweenThem)
{
    EXPECT_THAT(pieces(R"(\p{N}+)", "a12b3"), ElementsAre("a", "12", "b", "3"));
    EXPECT_THAT(pieces(R"(\p{N}+)", ""), ElementsAre());
    EXPECT_THAT(pieces("(?=[A-Z])", "aBéC"), ElementsAre("a", "Bé", "C"));
    EXPECT_THAT(pieces("x*", "axxé"), ElementsAre("a", "xx", "é"));
}

TEST(SplitPattern, ClassifiesCharactersAsUnicode16Does)
{
    // A capital, a small and two other letters, a digit and a mark, all newer than Unicode 14.
    EXPECT_THAT(pieces(R"(\p{Lu})", "\u1C89\u1C8A"), ElementsAre("\u1C89", "\u1C8A"));
    EXPECT_THAT(pieces(R"(\p{L}+)", "\U00031350\U000323AF!"), ElementsAre("\U00031350\U000323AF", "!"));
    EXPECT_THAT(pieces(R"(\p{Nd})", "a\U00010D40"), ElementsAre("a", "\U00010D40"));
    EXPECT_THAT(pieces(R"(\p{M})", "a\u0897"), ElementsAre("a", "\u0897"));
    // The vowel separator has not been white space for long, other spaces are.
    EXPECT_THAT(pieces(R"(\s)", "a\u180Eb\u0085\u3000"), ElementsAre("a\u180Eb", "\u0085", "\u3000"));
}

TEST(SplitPattern, RefusesExpressionsThatDoNotCompileOrMeanSomethingElseElsewhere)
{
    EXPECT_THAT(refusal("(a"), HasSubstr("missing closing parenthesis"));
    EXPECT_THAT(refusal(R"(\w+)"), HasSubstr("\\w"));
    EXPECT_THAT(refusal(R"(a\b)"), HasSubstr("\\b"));
    EXPECT_THAT(refusal(R"(\p{Han})"), HasSubstr("\\p{Han}"));
    EXPECT_THAT(refusal("^a"), HasSubstr("^"));
    EXPECT_THAT(refusal("[a[b]]"), HasSubstr("inside a class"));
    EXPECT_THAT(refusal("[a-z&&[^b]]"), HasSubstr("inside a class"));
    EXPECT_THAT(refusal("a{,2}"), HasSubstr("{,"));
    EXPECT_THAT(refusal("a{2}+"), HasSubstr("}+"));
    EXPECT_THAT(refusal("(?m:a.b)"), HasSubstr("(?m"));
    EXPECT_THAT(refusal(std::string(100'000, 'a')), HasSubstr("longer than"));
}

TEST(SplitPattern, StopsAnExpressionWhoseStepsExplode)
{
    EXPECT_THAT(refusal("(a+a+)+[bc]", std::string(200, 'a')), HasSubstr("too many steps"));
}

} // namespace
