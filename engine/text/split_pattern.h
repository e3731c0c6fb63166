#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

// A pre-tokenizer's regular expression, compiled once. Immutable; safe from several threads.
class SplitPattern {
public:
    // Throws EngineFailure(ModelFiles) naming the file for an expression that PCRE2 refuses, or that it would read
    // differently from Oniguruma, for which tokenizer files are written.
    SplitPattern(const std::string &expression, std::string_view fileName);
    ~SplitPattern();
    SplitPattern(SplitPattern &&other) noexcept;
    SplitPattern &operator=(SplitPattern &&other) noexcept;
    SplitPattern(const SplitPattern &) = delete;
    SplitPattern &operator=(const SplitPattern &) = delete;

    // Appends the parts of `text` (valid UTF-8) to `pieces`: each match and each stretch between matches, none empty.
    // Throws EngineFailure(ModelFiles) when the expression needs too many steps on this text.
    void split(std::string_view text, std::vector<std::string_view> &pieces) const;

private:
    struct Compiled;
    std::unique_ptr<const Compiled> m_compiled;
};

} // namespace engine
