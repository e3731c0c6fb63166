#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace engine {

struct DecodedCharacter {
    char32_t codePoint = 0;
    std::size_t length = 1; // bytes; of a broken sequence: those that one U+FFFD stands for (its maximal valid prefix)
    bool valid = false;
};

// The character that starts at `offset` < text.size(): well-formed UTF-8 by table 3-7 of the Unicode standard.
DecodedCharacter decodeUtf8(std::string_view text, std::size_t offset);
// `codePoint` is a Unicode scalar value.
void appendUtf8(std::string &text, char32_t codePoint);

// The Unicode property White_Space.
bool isWhiteSpace(char32_t codePoint);

// Throws EngineFailure(InvalidRequest) naming `what` and the first bad byte.
void requireUtf8(std::string_view text, std::string_view what);
// Every broken sequence becomes one U+FFFD.
std::string replaceInvalidUtf8(std::string_view bytes);

} // namespace engine
