#include "engine/api/rank_layout.h"

#include <cctype>
#include <charconv>

namespace engine {

namespace {

// "cfg2" -> 2 when `part` starts with `name` and the rest is a number above 0.
std::optional<int> degree(std::string_view part, std::string_view name)
{
    if (!part.starts_with(name))
        return std::nullopt;
    part.remove_prefix(name.size());
    int value = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
    if (error != std::errc{} || end != part.data() + part.size() || value < 1)
        return std::nullopt;
    return value;
}

} // namespace

std::string toText(const RankLayout &layout)
{
    return "cfg" + std::to_string(layout.cfg) + " x ulysses" + std::to_string(layout.ulysses) + " x tensor" +
           std::to_string(layout.tensor);
}

std::optional<RankLayout> rankLayoutFromText(std::string_view text)
{
    RankLayout layout;
    bool seenCfg = false;
    bool seenUlysses = false;
    bool seenTensor = false;
    const auto take = [](bool &seen, int &target, std::optional<int> value) {
        if (!value || seen)
            return false;
        seen = true;
        target = *value;
        return true;
    };
    bool wantsPart = true;
    while (!text.empty()) {
        const auto begin = text.find_first_not_of(' ');
        if (begin == std::string_view::npos)
            break;
        text.remove_prefix(begin);
        const auto part = text.substr(0, text.find(' '));
        text.remove_prefix(part.size());
        if (!wantsPart) {
            if (part != "x")
                return std::nullopt;
        } else if (!take(seenCfg, layout.cfg, degree(part, "cfg")) &&
                   !take(seenUlysses, layout.ulysses, degree(part, "ulysses")) &&
                   !take(seenTensor, layout.tensor, degree(part, "tensor"))) {
            return std::nullopt;
        }
        wantsPart = !wantsPart;
    }
    if (wantsPart) // nothing at all, or a trailing "x"
        return std::nullopt;
    return layout;
}

} // namespace engine
