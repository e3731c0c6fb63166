#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace engine {

// How the ranks of one job share the work: rank = tensor + T * (ulysses + U * cfg).
struct RankLayout {
    int cfg = 1;
    int ulysses = 1;
    int tensor = 1;

    [[nodiscard]] int ranks() const { return cfg * ulysses * tensor; }
    bool operator==(const RankLayout &) const = default;
};

// "cfg2 x ulysses2 x tensor1": the parts in that order.
std::string toText(const RankLayout &layout);
// Reads what toText writes, the parts in any order and any of them left out; nothing for other text.
std::optional<RankLayout> rankLayoutFromText(std::string_view text);

} // namespace engine
