#pragma once

#include <string>
#include <string_view>

namespace engine {

// The reference (Hugging Face `tokenizers` 0.23) splits with Unicode 16 and normalises with Unicode 9; the system's
// PCRE2 and utf8proc know other versions. These two functions make the results equal whatever versions those are.

// `text` (valid UTF-8) with every character that PCRE2's Unicode 14 classifies otherwise than Unicode 16 replaced by an
// old one of the new class and the same number of bytes, so that match offsets hold for `text`.
std::string withOldCharacters(std::string_view text);
// True when Unicode 9 knows neither a combining class nor a composition for the character, but a later version does.
bool isInertInNormalization(char32_t codePoint);

} // namespace engine
