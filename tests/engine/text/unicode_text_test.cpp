#include "engine/text/byte_alphabet.h"
#include "engine/text/unicode_text.h"

#include <gtest/gtest.h>

namespace {

using engine::replaceInvalidUtf8;

TEST(Utf8, WritesAndReadsEveryCodePoint)
{
    for (char32_t codePoint = 0; codePoint < 0x110000; ++codePoint) {
        if (codePoint >= 0xD800 && codePoint <= 0xDFFF)
            continue;
        std::string text;
        engine::appendUtf8(text, codePoint);
        const auto character = engine::decodeUtf8(text, 0);
        ASSERT_TRUE(character.valid && character.codePoint == codePoint && character.length == text.size())
            << static_cast<std::uint32_t>(codePoint);
    }
}

// The expected texts are what the Unicode standard recommends (chapter 3, "U+FFFD substitution of maximal subparts").
TEST(Utf8, ReplacesEachMaximalBrokenSequenceOnce)
{
    EXPECT_EQ(replaceInvalidUtf8("a\xF0\x9F\x98"), "a\uFFFD");
    EXPECT_EQ(replaceInvalidUtf8("\xC0\xAF\xE0\x80\xBF"), "\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD"); // overlong
    EXPECT_EQ(replaceInvalidUtf8("\xED\xA0\x80"), "\uFFFD\uFFFD\uFFFD");                     // a surrogate
    EXPECT_EQ(replaceInvalidUtf8("\xF4\x90\x80\x80"), "\uFFFD\uFFFD\uFFFD\uFFFD");           // over 10FFFF
    EXPECT_EQ(replaceInvalidUtf8("\xE2\x82z\x80"), "\uFFFDz\uFFFD");
    EXPECT_EQ(replaceInvalidUtf8("été"), "été");
}

TEST(ByteAlphabet, SpellsEveryByteWithALetterOfItsOwn)
{
    std::string bytes;
    for (int byte = 0; byte < 256; ++byte)
        bytes.push_back(static_cast<char>(byte));
    EXPECT_EQ(engine::spelledBytes(engine::spellBytes(bytes)), bytes);
    EXPECT_EQ(engine::spellBytes(" é\n"), "ĠÃ©Ċ");
    EXPECT_EQ(engine::spelledBytes("一"), std::nullopt);
}

} // namespace
