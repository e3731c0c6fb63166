#include "engine/text/python_json.h"

#include "engine/api/outcome.h"
#include "engine/text/unicode_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

namespace engine {

namespace {

// CPython 3.11: json.loads and json.dumps stop at 994 levels of an otherwise empty stack (sys.getrecursionlimit() is
// 1000), and int() refuses more than 4300 digits (sys.get_int_max_str_digits()).
constexpr int kMaxDepth = 994;
constexpr std::size_t kMaxIntegerDigits = 4300;

void appendCodeUnit(std::string &text, unsigned unit)
{
    constexpr std::string_view kHexadecimal = "0123456789abcdef";
    text += "\\u";
    for (const unsigned shift : {12U, 8U, 4U, 0U})
        text.push_back(kHexadecimal[(unit >> shift) & 0xFU]);
}

// Code points may be surrogates: a \ud83d\ude00 in a text is written as it came.
void appendEscaped(std::string &text, char32_t codePoint)
{
    constexpr std::string_view kEscaped = "\"\\\n\r\t\f\b";
    constexpr std::string_view kLetters = "\"\\nrtfb";
    const auto place = codePoint < 0x80 ? kEscaped.find(static_cast<char>(codePoint)) : std::string_view::npos;
    if (place != std::string_view::npos) {
        text.push_back('\\');
        text.push_back(kLetters[place]);
    } else if (codePoint >= 0x20 && codePoint < 0x7F) {
        text.push_back(static_cast<char>(codePoint));
    } else if (codePoint < 0x10000) {
        appendCodeUnit(text, codePoint);
    } else {
        appendCodeUnit(text, 0xD800U + ((codePoint - 0x10000U) >> 10U));
        appendCodeUnit(text, 0xDC00U + ((codePoint - 0x10000U) & 0x3FFU));
    }
}

// Whether a JSON number outside the range of a double is too large for it, not too small.
bool isAboveOne(std::string_view number)
{
    const auto mantissa = number.substr(0, number.find_first_of("eE"));
    const auto point = static_cast<long long>(std::min(mantissa.find('.'), mantissa.size()));
    const auto first = static_cast<long long>(mantissa.find_first_of("123456789"));
    long long exponent = 0;
    if (mantissa.size() < number.size()) {
        auto digits = number.substr(mantissa.size() + 1);
        digits.remove_prefix(digits.starts_with('+') ? 1 : 0);
        if (std::from_chars(digits.data(), digits.data() + digits.size(), exponent).ec != std::errc())
            exponent = (digits.starts_with('-') ? -1 : 1) * (std::numeric_limits<long long>::max() / 2);
    }
    return point - first + exponent > 0;
}

} // namespace

std::string pythonString(std::string_view utf8)
{
    std::string text = "\"";
    for (std::size_t offset = 0; offset < utf8.size();) {
        const auto character = decodeUtf8(utf8, offset);
        appendEscaped(text, character.codePoint);
        offset += character.length;
    }
    return text + '"';
}

std::string pythonFloat(double value)
{
    if (std::isnan(value))
        return "NaN";
    if (std::isinf(value))
        return value < 0 ? "-Infinity" : "Infinity";
    // Python writes an exponent below 1e-4 and from 1e16 on (float_repr_style 'short'), and otherwise a point.
    constexpr double kSmallest = 1e-4;
    constexpr double kLargest = 1e16;
    const double magnitude = std::abs(value);
    const bool fixed = value == 0 || (magnitude >= kSmallest && magnitude < kLargest);
    std::array<char, 64> buffer{};
    const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                   fixed ? std::chars_format::fixed : std::chars_format::scientific);
    std::string text(buffer.data(), end.ptr);
    return fixed && text.find('.') == std::string::npos ? text + ".0" : text;
}

// A recursive-descent parser that writes down what json.dumps would make of what it reads. Each method returns false
// where json.loads would raise a ValueError.
class PythonJsonParser {
public:
    explicit PythonJsonParser(std::string_view text) : m_text(text) {}

    bool wholeObject(PythonJsonObject &object)
    {
        skipSpace();
        if (!readObject(object))
            return false;
        skipSpace();
        return m_offset == m_text.size();
    }

private:
    [[nodiscard]] char peek() const { return m_offset < m_text.size() ? m_text[m_offset] : '\0'; }
    void skipSpace() { m_offset = std::min(m_text.find_first_not_of(" \t\n\r", m_offset), m_text.size()); }
    bool take(std::string_view word)
    {
        const bool here = m_text.substr(m_offset, word.size()) == word;
        m_offset += here ? word.size() : 0;
        return here;
    }
    bool takeAfterSpace(std::string_view word)
    {
        skipSpace();
        return take(word);
    }

    void enter()
    {
        if (++m_depth > kMaxDepth) {
            throw EngineFailure(ErrorCode::InvalidRequest, "The JSON prompt is nested more than " +
                                                               std::to_string(kMaxDepth) +
                                                               " levels deep; make it flatter.");
        }
    }

    bool readObject(PythonJsonObject &object);
    bool readArray(std::string &dumped);
    bool readString(std::string &dumped);
    bool readEscape(std::string &dumped);
    bool readNumber(std::string &dumped);
    bool readValue(std::string &dumped);
    std::size_t skipDigits();

    std::string_view m_text;
    std::size_t m_offset = 0;
    int m_depth = 0;
};

bool PythonJsonParser::readObject(PythonJsonObject &object)
{
    if (!take("{"))
        return false;
    enter();
    if (!takeAfterSpace("}")) {
        do {
            std::string key;
            std::string dumped;
            skipSpace();
            if (!readString(key) || !takeAfterSpace(":"))
                return false;
            skipSpace();
            if (!readValue(dumped))
                return false;
            object.setDumped(std::move(key), std::move(dumped));
        } while (takeAfterSpace(","));
        if (!take("}"))
            return false;
    }
    --m_depth;
    return true;
}

bool PythonJsonParser::readArray(std::string &dumped)
{
    if (!take("["))
        return false;
    enter();
    dumped = "[";
    if (!takeAfterSpace("]")) {
        do {
            std::string item;
            skipSpace();
            if (!readValue(item))
                return false;
            dumped += (dumped.size() > 1 ? ", " : "") + item;
        } while (takeAfterSpace(","));
        if (!take("]"))
            return false;
    }
    dumped += ']';
    --m_depth;
    return true;
}

bool PythonJsonParser::readString(std::string &dumped)
{
    if (!take("\""))
        return false;
    dumped = "\"";
    while (m_offset < m_text.size()) {
        if (take("\"")) {
            dumped += '"';
            return true;
        }
        if (take("\\")) {
            if (!readEscape(dumped))
                return false;
            continue;
        }
        const auto character = decodeUtf8(m_text, m_offset);
        if (character.codePoint < 0x20)
            return false;
        appendEscaped(dumped, character.codePoint);
        m_offset += character.length;
    }
    return false;
}

bool PythonJsonParser::readEscape(std::string &dumped)
{
    if (take("u")) {
        unsigned unit = 0;
        const auto *first = m_text.data() + m_offset;
        const auto *last = m_text.data() + std::min(m_offset + 4, m_text.size());
        const auto end = std::from_chars(first, last, unit, 16).ptr;
        if (end != first + 4)
            return false;
        m_offset += 4;
        appendEscaped(dumped, unit);
        return true;
    }
    constexpr std::string_view kLetters = "\"\\/bfnrt";
    constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
    const auto place = kLetters.find(peek());
    if (place == std::string_view::npos)
        return false;
    ++m_offset;
    appendEscaped(dumped, static_cast<unsigned char>(kMeanings[place]));
    return true;
}

std::size_t PythonJsonParser::skipDigits()
{
    const auto start = m_offset;
    m_offset = std::min(m_text.find_first_not_of("0123456789", m_offset), m_text.size());
    return m_offset - start;
}

bool PythonJsonParser::readNumber(std::string &dumped)
{
    const auto start = m_offset;
    take("-");
    const auto integerDigits = take("0") ? 1 : skipDigits();
    if (integerDigits == 0)
        return false;
    const auto integerEnd = m_offset;
    // A fraction or an exponent without digits is left for the caller, who then finds something unexpected.
    if (take(".") && skipDigits() == 0)
        m_offset = integerEnd;
    const auto fractionEnd = m_offset;
    if (take("e") || take("E")) {
        if (!take("-"))
            take("+");
        if (skipDigits() == 0)
            m_offset = fractionEnd;
    }
    const auto text = m_text.substr(start, m_offset - start);
    if (m_offset == integerEnd) {
        dumped = text == "-0" ? "0" : text;
        return integerDigits <= kMaxIntegerDigits;
    }
    double number = 0;
    const auto result = std::from_chars(text.data(), text.data() + text.size(), number);
    if (result.ec == std::errc::result_out_of_range)
        number = std::copysign(isAboveOne(text) ? HUGE_VAL : 0.0, text.starts_with('-') ? -1.0 : 1.0);
    dumped = pythonFloat(number);
    return true;
}

bool PythonJsonParser::readValue(std::string &dumped)
{
    for (const std::string_view word : {"true", "false", "null", "NaN", "Infinity", "-Infinity"}) {
        if (take(word)) {
            dumped = word;
            return true;
        }
    }
    switch (peek()) {
    case '{': {
        PythonJsonObject object;
        if (!readObject(object))
            return false;
        dumped = object.dump();
        return true;
    }
    case '[':
        return readArray(dumped);
    case '"':
        return readString(dumped);
    default:
        return readNumber(dumped);
    }
}

std::optional<PythonJsonObject> PythonJsonObject::parse(std::string_view text)
{
    PythonJsonObject object;
    return PythonJsonParser(text).wholeObject(object) ? std::optional(std::move(object)) : std::nullopt;
}

void PythonJsonObject::setDumped(std::string key, std::string value)
{
    const auto [place, isNew] = m_places.emplace(key, m_members.size());
    if (isNew)
        m_members.push_back({.key = std::move(key), .value = std::move(value)});
    else
        m_members[place->second].value = std::move(value);
}

void PythonJsonObject::erase(std::string_view key)
{
    const auto found = m_places.find(pythonString(key));
    if (found == m_places.end())
        return;
    const auto gone = found->second;
    m_places.erase(found);
    m_members.erase(m_members.begin() + static_cast<std::ptrdiff_t>(gone));
    for (auto &[name, place] : m_places)
        place -= place > gone ? 1 : 0;
}

std::string PythonJsonObject::dump() const
{
    std::string text = "{";
    for (const auto &member : m_members)
        text += (text.size() > 1 ? ", " : "") + member.key + ": " + member.value;
    return text + '}';
}

} // namespace engine
