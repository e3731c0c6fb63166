#include "engine/text/split_pattern.h"

#include "engine/api/outcome.h"
#include "engine/text/tokenizer_parts.h"
#include "engine/text/unicode_text.h"
#include "engine/text/unicode_versions.h"

#include <array>
#include <utility>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

namespace engine {

namespace {

constexpr std::size_t kMaxExpressionBytes = 16'384;
// Backtracking is linear in the text for the published expressions; these bounds stop one that explodes.
constexpr std::uint32_t kMatchLimit = 20'000'000;
constexpr std::uint32_t kHeapLimitKiB = 256 * 1024;
constexpr std::size_t kJitStackStart = std::size_t{32} * 1024;
constexpr std::size_t kJitStackLimit = std::size_t{64} * 1024 * 1024;

template <auto Free>
struct Deleter {
    template <typename T>
    void operator()(T *pointer) const
    {
        Free(pointer);
    }
};
using Code = std::unique_ptr<pcre2_code, Deleter<pcre2_code_free>>;
using CompileContext = std::unique_ptr<pcre2_compile_context, Deleter<pcre2_compile_context_free>>;
using MatchContext = std::unique_ptr<pcre2_match_context, Deleter<pcre2_match_context_free>>;
using MatchData = std::unique_ptr<pcre2_match_data, Deleter<pcre2_match_data_free>>;
using JitStack = std::unique_ptr<pcre2_jit_stack, Deleter<pcre2_jit_stack_free>>;

std::string errorText(int code)
{
    std::array<PCRE2_UCHAR, 256> text{};
    pcre2_get_error_message(code, text.data(), text.size());
    std::string message;
    for (std::size_t i = 0; i < text.size() && text.at(i) != 0; ++i)
        message.push_back(static_cast<char>(text.at(i)));
    return message;
}

// The first construct that Oniguruma and PCRE2 read differently, or "". Both agree on the general categories, \s, \d,
// plain control escapes, look-around, groups and quantifiers; they differ in \w, \b, \h, scripts, anchors at line ends,
// quantifiers such as {,2} and {2}+, classes inside classes and && between them.
std::string ambiguousConstruct(std::string_view expression)
{
    constexpr std::string_view kSameEscapes = "sSdDrntf";
    constexpr std::string_view kMajorCategories = "LMNPSZC";
    bool inClass = false;
    for (std::size_t i = 0; i < expression.size(); ++i) {
        const char c = expression[i];
        const auto next = i + 1 < expression.size() ? expression[i + 1] : '\0';
        if (c == '\\') {
            ++i;
            const bool letter = (next >= 'a' && next <= 'z') || (next >= 'A' && next <= 'Z');
            const bool digit = next >= '0' && next <= '9';
            if (next == 'p' || next == 'P' || next == 'x') {
                const auto end = expression.find('}', i);
                if (i + 1 >= expression.size() || expression[i + 1] != '{' || end == std::string_view::npos)
                    return std::string(expression.substr(i - 1, 2));
                const auto name = expression.substr(i + 2, end - i - 2);
                if (next != 'x' &&
                    (name.empty() || name.size() > 2 || kMajorCategories.find(name[0]) == std::string_view::npos))
                    return std::string(expression.substr(i - 1, end - i + 2));
                i = end;
            } else if (digit || (letter && kSameEscapes.find(next) == std::string_view::npos)) {
                return std::string(expression.substr(i - 1, 2));
            }
        } else if (inClass) {
            if (c == '[' || (c == '&' && next == '&'))
                return std::string(expression.substr(i, 2)) + " inside a class";
            inClass = c != ']';
        } else if (c == '[') {
            inClass = true;
            i += next == '^' ? 1 : 0;
        } else if ((c == '{' && next == ',') || (c == '}' && (next == '+' || next == '?'))) {
            return std::string(expression.substr(i, 2));
        } else if (c == '^' || c == '$') {
            return std::string(1, c);
        } else if (c == '(' && (next == '*' || next == '?')) {
            // Of the groups with flags only case-insensitive ones mean the same.
            const auto kind = i + 2 < expression.size() ? expression[i + 2] : '\0';
            if (next == '*' || std::string_view(":=!<>i").find(kind) == std::string_view::npos)
                return std::string(expression.substr(i, 3));
        }
    }
    return {};
}

} // namespace

struct SplitPattern::Compiled {
    Code code;
    MatchContext context;
    std::string fileName;

    // The next match at or after `start`; false when there is none.
    bool match(std::string_view text, std::size_t start, pcre2_match_data *data, pcre2_match_context *limits) const
    {
        // PCRE2's bytes are unsigned char.
        const auto *subject = static_cast<PCRE2_SPTR>(static_cast<const void *>(text.data()));
        const int result = pcre2_match(code.get(), subject, text.size(), start, PCRE2_NO_UTF_CHECK, data, limits);
        if (result == PCRE2_ERROR_NOMATCH)
            return false;
        if (result < 0) {
            throw EngineFailure(ErrorCode::ModelFiles,
                                fileName + " has a pre-tokenizer expression that needs too many steps for this text; "
                                           "shorten the text, or use another checkpoint's tokenizer files.",
                                errorText(result));
        }
        return true;
    }
};

SplitPattern::SplitPattern(const std::string &expression, std::string_view fileName)
{
    const auto refuse = [&](const std::string &why) {
        throw EngineFailure(ErrorCode::ModelFiles,
                            std::string(fileName) + " has a pre-tokenizer expression that cannot be used (" + why +
                                "); use tokenizer files as the model's publisher ships them.",
                            expression);
    };
    if (expression.size() > kMaxExpressionBytes)
        refuse("it is longer than " + std::to_string(kMaxExpressionBytes) + " bytes");
    if (const auto construct = ambiguousConstruct(expression); !construct.empty())
        refuse("it uses " + quotedToken(construct) + ", which is not supported");

    int error = 0;
    PCRE2_SIZE offset = 0;
    const auto *text = static_cast<PCRE2_SPTR>(static_cast<const void *>(expression.data()));
    Code code(pcre2_compile(text, expression.size(), PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C, &error, &offset,
                            nullptr));
    if (!code)
        refuse(errorText(error) + " at byte " + std::to_string(offset));
    MatchContext context(pcre2_match_context_create(nullptr));
    if (!context)
        throw std::bad_alloc();
    pcre2_set_match_limit(context.get(), kMatchLimit);
    pcre2_set_heap_limit(context.get(), kHeapLimitKiB);
    // Without a JIT compiler on this machine the interpreter gives the same matches.
    pcre2_jit_compile(code.get(), PCRE2_JIT_COMPLETE);
    m_compiled = std::make_unique<const Compiled>(
        Compiled{.code = std::move(code), .context = std::move(context), .fileName = std::string(fileName)});
}

SplitPattern::~SplitPattern() = default;
SplitPattern::SplitPattern(SplitPattern &&other) noexcept = default;
SplitPattern &SplitPattern::operator=(SplitPattern &&other) noexcept = default;

void SplitPattern::split(std::string_view text, std::vector<std::string_view> &pieces) const
{
    const auto subject = withOldCharacters(text); // same offsets as `text`
    const MatchData data(pcre2_match_data_create_from_pattern(m_compiled->code.get(), nullptr));
    const MatchContext limits(pcre2_match_context_copy(m_compiled->context.get()));
    const JitStack stack(pcre2_jit_stack_create(kJitStackStart, kJitStackLimit, nullptr));
    if (!data || !limits)
        throw std::bad_alloc();
    pcre2_jit_stack_assign(limits.get(), nullptr, stack.get());

    std::size_t pieceStart = 0;
    const auto cutAt = [&](std::size_t end) {
        if (end > pieceStart)
            pieces.push_back(text.substr(pieceStart, end - pieceStart));
        pieceStart = end;
    };
    for (std::size_t searchStart = 0; searchStart < subject.size();) {
        if (!m_compiled->match(subject, searchStart, data.get(), limits.get()))
            break;
        const auto *ends = pcre2_get_ovector_pointer(data.get());
        const auto first = ends[0];
        const auto last = ends[1];
        cutAt(first);
        cutAt(last);
        searchStart = last;
        if (first >= last && last < subject.size()) // an empty match: look on behind the next character
            searchStart += decodeUtf8(subject, last).length;
    }
    cutAt(text.size());
}

} // namespace engine
