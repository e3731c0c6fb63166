#include "engine/text/unicode_text.h"

#include "engine/api/outcome.h"

namespace engine {

namespace {

constexpr char32_t kReplacement = 0xFFFD;

struct LeadByte {
    std::size_t length = 0; // 0: no character starts with this byte
    unsigned payload = 0;
    unsigned secondLow = 0x80; // the second byte's range excludes overlong forms, surrogates and values over 10FFFF
    unsigned secondHigh = 0xBF;
};

LeadByte leadByte(unsigned byte)
{
    if (byte < 0x80)
        return {.length = 1, .payload = byte};
    if (byte >= 0xC2 && byte <= 0xDF)
        return {.length = 2, .payload = byte & 0x1FU};
    if (byte >= 0xE0 && byte <= 0xEF) {
        return {.length = 3,
                .payload = byte & 0x0FU,
                .secondLow = byte == 0xE0 ? 0xA0U : 0x80U,
                .secondHigh = byte == 0xED ? 0x9FU : 0xBFU};
    }
    if (byte >= 0xF0 && byte <= 0xF4) {
        return {.length = 4,
                .payload = byte & 0x07U,
                .secondLow = byte == 0xF0 ? 0x90U : 0x80U,
                .secondHigh = byte == 0xF4 ? 0x8FU : 0xBFU};
    }
    return {};
}

} // namespace

DecodedCharacter decodeUtf8(std::string_view text, std::size_t offset)
{
    const auto byteAt = [&](std::size_t i) { return static_cast<unsigned>(static_cast<unsigned char>(text[i])); };
    const auto lead = leadByte(byteAt(offset));
    char32_t codePoint = lead.payload;
    for (std::size_t i = 1; i < lead.length; ++i) {
        const unsigned low = i == 1 ? lead.secondLow : 0x80U;
        const unsigned high = i == 1 ? lead.secondHigh : 0xBFU;
        if (offset + i >= text.size() || byteAt(offset + i) < low || byteAt(offset + i) > high)
            return {.codePoint = kReplacement, .length = i, .valid = false};
        codePoint = (codePoint << 6U) | (byteAt(offset + i) & 0x3FU);
    }
    if (lead.length == 0)
        return {.codePoint = kReplacement, .length = 1, .valid = false};
    return {.codePoint = codePoint, .length = lead.length, .valid = true};
}

void appendUtf8(std::string &text, char32_t codePoint)
{
    const auto put = [&text](char32_t byte) { text.push_back(static_cast<char>(byte)); };
    const auto tail = [&](unsigned shift) { put(0x80U | ((codePoint >> shift) & 0x3FU)); };
    if (codePoint < 0x80) {
        put(codePoint);
    } else if (codePoint < 0x800) {
        put(0xC0U | (codePoint >> 6U));
        tail(0);
    } else if (codePoint < 0x10000) {
        put(0xE0U | (codePoint >> 12U));
        tail(6);
        tail(0);
    } else {
        put(0xF0U | (codePoint >> 18U));
        tail(12);
        tail(6);
        tail(0);
    }
}

bool isWhiteSpace(char32_t codePoint)
{
    return (codePoint >= 0x09 && codePoint <= 0x0D) || codePoint == 0x20 || codePoint == 0x85 || codePoint == 0xA0 ||
           codePoint == 0x1680 || (codePoint >= 0x2000 && codePoint <= 0x200A) || codePoint == 0x2028 ||
           codePoint == 0x2029 || codePoint == 0x202F || codePoint == 0x205F || codePoint == 0x3000;
}

void requireUtf8(std::string_view text, std::string_view what)
{
    for (std::size_t offset = 0; offset < text.size();) {
        const auto character = decodeUtf8(text, offset);
        if (!character.valid)
            throw EngineFailure(ErrorCode::InvalidRequest, std::string(what) + " is not valid UTF-8 at byte " +
                                                               std::to_string(offset) + "; save it as UTF-8.");
        offset += character.length;
    }
}

std::string replaceInvalidUtf8(std::string_view bytes)
{
    std::string text;
    text.reserve(bytes.size());
    for (std::size_t offset = 0; offset < bytes.size();) {
        const auto character = decodeUtf8(bytes, offset);
        if (character.valid)
            text.append(bytes.substr(offset, character.length));
        else
            appendUtf8(text, kReplacement);
        offset += character.length;
    }
    return text;
}

} // namespace engine
