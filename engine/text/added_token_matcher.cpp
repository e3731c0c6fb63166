#include "engine/text/added_token_matcher.h"

#include "engine/text/unicode_text.h"
#include "engine/text/unicode_versions.h"

#include <algorithm>
#include <array>
#include <utf8proc.h>

namespace engine {

namespace {

// \w of Unicode regular expressions (UTS 18): Alphabetic, marks, decimal digits, connector punctuation, joiners.
bool isWordCharacter(std::string_view character)
{
    const auto old = withOldCharacters(character);
    const auto codePoint = decodeUtf8(old, 0).codePoint;
    constexpr char32_t kZeroWidthNonJoiner = 0x200C;
    constexpr char32_t kZeroWidthJoiner = 0x200D;
    if (codePoint == kZeroWidthNonJoiner || codePoint == kZeroWidthJoiner)
        return true;
    // Symbols that are Alphabetic: circled and squared letters.
    struct Range {
        char32_t first;
        char32_t last;
    };
    constexpr std::array kAlphabeticSymbols{Range{0x24B6, 0x24E9}, Range{0x1F130, 0x1F149}, Range{0x1F150, 0x1F169},
                                            Range{0x1F170, 0x1F189}};
    if (std::any_of(kAlphabeticSymbols.begin(), kAlphabeticSymbols.end(),
                    [&](const Range &range) { return codePoint >= range.first && codePoint <= range.last; }))
        return true;
    switch (utf8proc_category(static_cast<utf8proc_int32_t>(codePoint))) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_PC:
        return true;
    default:
        return false;
    }
}

// The character that ends at `end` > 0.
std::string_view characterBefore(std::string_view text, std::size_t end)
{
    std::size_t start = end - 1;
    while (start > 0 && (static_cast<unsigned char>(text[start]) & 0xC0U) == 0x80U)
        --start;
    return text.substr(start, end - start);
}

std::string_view characterAt(std::string_view text, std::size_t start)
{
    return text.substr(start, decodeUtf8(text, start).length);
}

bool isSpace(std::string_view character)
{
    return isWhiteSpace(decodeUtf8(character, 0).codePoint);
}

} // namespace

bool AddedTokenMatcher::add(std::string_view spelling, const AddedToken &token)
{
    std::size_t node = 0;
    for (const char byte : spelling) {
        const auto found = m_nodes[node].next.find(byte);
        if (found != m_nodes[node].next.end()) {
            node = found->second;
        } else {
            m_nodes[node].next.emplace(byte, m_nodes.size());
            node = m_nodes.size();
            m_nodes.emplace_back();
        }
    }
    if (m_nodes[node].token != nullptr)
        return false;
    m_nodes[node].token = &token;
    return true;
}

AddedTokenMatcher::Match AddedTokenMatcher::longestAt(std::string_view text, std::size_t offset) const
{
    Match match;
    std::size_t node = 0;
    for (std::size_t end = offset; end < text.size();) {
        const auto next = m_nodes[node].next.find(text[end]);
        if (next == m_nodes[node].next.end())
            break;
        node = next->second;
        ++end;
        if (m_nodes[node].token != nullptr)
            match = {.token = m_nodes[node].token, .length = end - offset};
    }
    return match;
}

std::vector<TextSpan> AddedTokenMatcher::split(std::string_view text) const
{
    std::vector<TextSpan> spans;
    std::size_t done = 0; // everything before it lies in `spans`
    for (std::size_t offset = 0; offset < text.size();) {
        const auto match = longestAt(text, offset);
        if (match.token == nullptr) {
            ++offset;
            continue;
        }
        auto start = offset;
        auto end = offset + match.length;
        offset = end;
        if (match.token->singleWord && ((start > 0 && isWordCharacter(characterBefore(text, start))) ||
                                        (end < text.size() && isWordCharacter(characterAt(text, end)))))
            continue;
        // The token before may have taken white space that belongs to this one; as in the reference that hides this
        // one only where nothing but taken white space is left of it.
        if (match.token->stripLeft)
            start = std::max(start, done);
        while (match.token->stripLeft && start > done && isSpace(characterBefore(text, start)))
            start -= characterBefore(text, start).size();
        while (match.token->stripRight && end < text.size() && isSpace(characterAt(text, end)))
            end += characterAt(text, end).size();
        if (start > done)
            spans.push_back({.text = text.substr(done, start - done)});
        if (end > start)
            spans.push_back({.text = text.substr(start, end - start), .token = match.token});
        done = end;
    }
    if (done < text.size())
        spans.push_back({.text = text.substr(done)});
    return spans;
}

} // namespace engine
