#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace engine {

// The printable alphabet in which byte-level vocabularies spell bytes (GPT-2): printable Latin-1 characters stand for
// themselves, the 68 other bytes, in order, for U+0100, U+0101 and so on.
std::string spellBytes(std::string_view bytes);
// The inverse; nothing when the token has a character outside the alphabet or is not UTF-8.
std::optional<std::string> spelledBytes(std::string_view token);

} // namespace engine
