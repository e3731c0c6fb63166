#include "engine/text/byte_alphabet.h"

#include "engine/text/unicode_text.h"

#include <array>

namespace engine {

namespace {

struct Alphabet {
    std::array<char32_t, 256> letters{}; // by byte
    std::array<int, 256 + 68> bytes{};   // by letter, -1: not of the alphabet
};

constexpr Alphabet makeAlphabet()
{
    Alphabet alphabet;
    alphabet.bytes.fill(-1);
    char32_t next = 256;
    for (unsigned byte = 0; byte < 256; ++byte) {
        const bool printable = (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
        const char32_t letter = printable ? byte : next++;
        alphabet.letters.at(byte) = letter;
        alphabet.bytes.at(letter) = static_cast<int>(byte);
    }
    return alphabet;
}

constexpr Alphabet kAlphabet = makeAlphabet();

} // namespace

std::string spellBytes(std::string_view bytes)
{
    std::string token;
    token.reserve(2 * bytes.size());
    for (const char byte : bytes)
        appendUtf8(token, kAlphabet.letters.at(static_cast<unsigned char>(byte)));
    return token;
}

std::optional<std::string> spelledBytes(std::string_view token)
{
    std::string bytes;
    for (std::size_t offset = 0; offset < token.size();) {
        const auto letter = decodeUtf8(token, offset);
        if (!letter.valid || letter.codePoint >= kAlphabet.bytes.size() || kAlphabet.bytes.at(letter.codePoint) < 0)
            return std::nullopt;
        bytes.push_back(static_cast<char>(kAlphabet.bytes.at(letter.codePoint)));
        offset += letter.length;
    }
    return bytes;
}

} // namespace engine
