#include "engine/text/unicode_versions.h"

#include "engine/text/unicode_text.h"

#include <algorithm>
#include <array>

namespace engine {

namespace {

// One old character for each general category, of three (Short) and of four bytes (Long) in UTF-8.
constexpr char32_t kLongCf = 0x1BCA0;
constexpr char32_t kLongLl = 0x10428;
constexpr char32_t kLongLm = 0x16B40;
constexpr char32_t kLongLo = 0x10000;
constexpr char32_t kLongLu = 0x10400;
constexpr char32_t kLongMc = 0x11000;
constexpr char32_t kLongMn = 0x101FD;
constexpr char32_t kLongNd = 0x104A0;
constexpr char32_t kLongNo = 0x10107;
constexpr char32_t kLongPd = 0x10EAD;
constexpr char32_t kLongPo = 0x10100;
constexpr char32_t kLongSm = 0x1D6C1;
constexpr char32_t kLongSo = 0x10137;
constexpr char32_t kShortCf = 0x200B;
constexpr char32_t kShortLl = 0x1E01;
constexpr char32_t kShortLu = 0x1E00;
constexpr char32_t kShortMc = 0x903;
constexpr char32_t kShortMn = 0x302A;
constexpr char32_t kShortPo = 0x2022;
constexpr char32_t kShortSo = 0x2603;

struct Reclassified {
    char32_t first;
    char32_t last;
    char32_t like; // an old character of the class that Unicode 16 gives the range
};

// Every character whose general category differs between Unicode 14 (PCRE2 10.42) and Unicode 16 (the reference's
// Oniguruma), found by asking both libraries about all of them; nearly all are new characters. U+180E is here because
// PCRE2's \s takes it, although it has not been white space since Unicode 6.3.
constexpr auto kReclassified = std::to_array<Reclassified>({
    // clang-format off
    {0x897, 0x897, kShortMn}, {0xCF3, 0xCF3, kShortMc}, {0xECE, 0xECE, kShortMn}, {0x180E, 0x180E, kShortCf},
    {0x1B4E, 0x1B4F, kShortPo}, {0x1B7F, 0x1B7F, kShortPo}, {0x1C89, 0x1C89, kShortLu}, {0x1C8A, 0x1C8A, kShortLl},
    {0x2427, 0x2429, kShortSo}, {0x2FFC, 0x2FFF, kShortSo}, {0x31E4, 0x31E5, kShortSo}, {0x31EF, 0x31EF, kShortSo},
    {0xA7CB, 0xA7CC, kShortLu}, {0xA7CD, 0xA7CD, kShortLl}, {0xA7DA, 0xA7DA, kShortLu}, {0xA7DB, 0xA7DB, kShortLl},
    {0xA7DC, 0xA7DC, kShortLu}, {0x105C0, 0x105F3, kLongLo}, {0x10D40, 0x10D49, kLongNd}, {0x10D4A, 0x10D4D, kLongLo},
    {0x10D4E, 0x10D4E, kLongLm}, {0x10D4F, 0x10D4F, kLongLo}, {0x10D50, 0x10D65, kLongLu},
    {0x10D69, 0x10D6D, kLongMn}, {0x10D6E, 0x10D6E, kLongPd}, {0x10D6F, 0x10D6F, kLongLm},
    {0x10D70, 0x10D85, kLongLl}, {0x10D8E, 0x10D8F, kLongSm}, {0x10EC2, 0x10EC4, kLongLo},
    {0x10EFC, 0x10EFF, kLongMn}, {0x1123F, 0x11240, kLongLo}, {0x11241, 0x11241, kLongMn},
    {0x11380, 0x11389, kLongLo}, {0x1138B, 0x1138B, kLongLo}, {0x1138E, 0x1138E, kLongLo},
    {0x11390, 0x113B5, kLongLo}, {0x113B7, 0x113B7, kLongLo}, {0x113B8, 0x113BA, kLongMc},
    {0x113BB, 0x113C0, kLongMn}, {0x113C2, 0x113C2, kLongMc}, {0x113C5, 0x113C5, kLongMc},
    {0x113C7, 0x113CA, kLongMc}, {0x113CC, 0x113CD, kLongMc}, {0x113CE, 0x113CE, kLongMn},
    {0x113CF, 0x113CF, kLongMc}, {0x113D0, 0x113D0, kLongMn}, {0x113D1, 0x113D1, kLongLo},
    {0x113D2, 0x113D2, kLongMn}, {0x113D3, 0x113D3, kLongLo}, {0x113D4, 0x113D5, kLongPo},
    {0x113D7, 0x113D8, kLongPo}, {0x113E1, 0x113E2, kLongMn}, {0x116D0, 0x116E3, kLongNd},
    {0x1171E, 0x1171E, kLongMc}, {0x11B00, 0x11B09, kLongPo}, {0x11BC0, 0x11BE0, kLongLo},
    {0x11BE1, 0x11BE1, kLongPo}, {0x11BF0, 0x11BF9, kLongNd}, {0x11F00, 0x11F01, kLongMn},
    {0x11F02, 0x11F02, kLongLo}, {0x11F03, 0x11F03, kLongMc}, {0x11F04, 0x11F10, kLongLo},
    {0x11F12, 0x11F33, kLongLo}, {0x11F34, 0x11F35, kLongMc}, {0x11F36, 0x11F3A, kLongMn},
    {0x11F3E, 0x11F3F, kLongMc}, {0x11F40, 0x11F40, kLongMn}, {0x11F41, 0x11F41, kLongMc},
    {0x11F42, 0x11F42, kLongMn}, {0x11F43, 0x11F4F, kLongPo}, {0x11F50, 0x11F59, kLongNd},
    {0x11F5A, 0x11F5A, kLongMn}, {0x1342F, 0x1342F, kLongLo}, {0x13439, 0x1343F, kLongCf},
    {0x13440, 0x13440, kLongMn}, {0x13441, 0x13446, kLongLo}, {0x13447, 0x13455, kLongMn},
    {0x13460, 0x143FA, kLongLo}, {0x16100, 0x1611D, kLongLo}, {0x1611E, 0x16129, kLongMn},
    {0x1612A, 0x1612C, kLongMc}, {0x1612D, 0x1612F, kLongMn}, {0x16130, 0x16139, kLongNd},
    {0x16D40, 0x16D42, kLongLm}, {0x16D43, 0x16D6A, kLongLo}, {0x16D6B, 0x16D6C, kLongLm},
    {0x16D6D, 0x16D6F, kLongPo}, {0x16D70, 0x16D79, kLongNd}, {0x18CFF, 0x18CFF, kLongLo},
    {0x1B132, 0x1B132, kLongLo}, {0x1B155, 0x1B155, kLongLo}, {0x1CC00, 0x1CCEF, kLongSo},
    {0x1CCF0, 0x1CCF9, kLongNd}, {0x1CD00, 0x1CEB3, kLongSo}, {0x1D2C0, 0x1D2D3, kLongNo},
    {0x1DF25, 0x1DF2A, kLongLl}, {0x1E030, 0x1E06D, kLongLm}, {0x1E08F, 0x1E08F, kLongMn},
    {0x1E4D0, 0x1E4EA, kLongLo}, {0x1E4EB, 0x1E4EB, kLongLm}, {0x1E4EC, 0x1E4EF, kLongMn},
    {0x1E4F0, 0x1E4F9, kLongNd}, {0x1E5D0, 0x1E5ED, kLongLo}, {0x1E5EE, 0x1E5EF, kLongMn},
    {0x1E5F0, 0x1E5F0, kLongLo}, {0x1E5F1, 0x1E5FA, kLongNd}, {0x1E5FF, 0x1E5FF, kLongPo},
    {0x1F6DC, 0x1F6DC, kLongSo}, {0x1F774, 0x1F776, kLongSo}, {0x1F77B, 0x1F77F, kLongSo},
    {0x1F7D9, 0x1F7D9, kLongSo}, {0x1F8B2, 0x1F8BB, kLongSo}, {0x1F8C0, 0x1F8C1, kLongSo},
    {0x1FA75, 0x1FA77, kLongSo}, {0x1FA87, 0x1FA89, kLongSo}, {0x1FA8F, 0x1FA8F, kLongSo},
    {0x1FAAD, 0x1FAAF, kLongSo}, {0x1FABB, 0x1FABF, kLongSo}, {0x1FAC6, 0x1FAC6, kLongSo},
    {0x1FACE, 0x1FACF, kLongSo}, {0x1FADA, 0x1FADC, kLongSo}, {0x1FADF, 0x1FADF, kLongSo},
    {0x1FAE8, 0x1FAE9, kLongSo}, {0x1FAF7, 0x1FAF8, kLongSo}, {0x1FBCB, 0x1FBEF, kLongSo},
    {0x2B739, 0x2B739, kLongLo}, {0x2EBF0, 0x2EE5D, kLongLo}, {0x31350, 0x323AF, kLongLo},
    // clang-format on
});

struct Range {
    char32_t first;
    char32_t last;
};

// Characters newer than Unicode 9 with a canonical combining class or a part in a canonical composition, and whole
// blocks of new scripts where some have.
constexpr auto kInert = std::to_array<Range>({
    // clang-format off
    {0x7FD, 0x7FD}, {0x897, 0x89F}, {0x8CA, 0x8D3}, {0x9FE, 0x9FE}, {0xC3C, 0xC3C}, {0xCF3, 0xCF3}, {0xD3B, 0xD3C},
    {0xEBA, 0xEBA}, {0xECE, 0xECE}, {0x1715, 0x1715}, {0x1ABF, 0x1ACE}, {0x1DF6, 0x1DFA}, {0xA82C, 0xA82C},
    {0x105C0, 0x105F3}, {0x10D24, 0x10D27}, {0x10D69, 0x10D6D}, {0x10EAB, 0x10EAC}, {0x10EFC, 0x10EFF},
    {0x10F46, 0x10F50}, {0x10F82, 0x10F85}, {0x11070, 0x11070}, {0x11241, 0x11241}, {0x1133B, 0x1133B},
    {0x11380, 0x113E2}, {0x1145E, 0x1145E}, {0x11839, 0x1183A}, {0x11930, 0x11938}, {0x1193D, 0x1193E},
    {0x11943, 0x11943}, {0x119E0, 0x119E0}, {0x11A34, 0x11A34}, {0x11A47, 0x11A47}, {0x11A99, 0x11A99},
    {0x11D42, 0x11D42}, {0x11D44, 0x11D45}, {0x11D97, 0x11D97}, {0x11F00, 0x11F01}, {0x11F03, 0x11F03},
    {0x11F34, 0x11F3A}, {0x11F3E, 0x11F42}, {0x11F5A, 0x11F5A}, {0x13440, 0x13440}, {0x13447, 0x13455},
    {0x16100, 0x1612F}, {0x16D40, 0x16D79}, {0x16FF0, 0x16FF1}, {0x1E08F, 0x1E08F}, {0x1E130, 0x1E136},
    {0x1E2AE, 0x1E2AE}, {0x1E2EC, 0x1E2EF}, {0x1E4EC, 0x1E4EF}, {0x1E5EE, 0x1E5EF},
    // clang-format on
});

// The row of a sorted table that holds the character, or nullptr.
template <typename Table>
auto find(const Table &table, char32_t codePoint) -> decltype(table.data())
{
    const auto *row = std::lower_bound(table.begin(), table.end(), codePoint,
                                       [](const auto &range, char32_t value) { return range.last < value; });
    return row != table.end() && row->first <= codePoint ? row : nullptr;
}

} // namespace

std::string withOldCharacters(std::string_view text)
{
    std::string old;
    old.reserve(text.size());
    for (std::size_t offset = 0; offset < text.size();) {
        const auto character = decodeUtf8(text, offset);
        if (const auto *row = find(kReclassified, character.codePoint))
            appendUtf8(old, row->like);
        else
            old.append(text.substr(offset, character.length));
        offset += character.length;
    }
    return old;
}

bool isInertInNormalization(char32_t codePoint)
{
    return find(kInert, codePoint) != nullptr;
}

} // namespace engine
