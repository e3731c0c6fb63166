#include "app/cli/nearest_name.h"

#include <algorithm>
#include <cstddef>

namespace app {

namespace {

// Optimal string alignment distance, by three rows of its table.
std::size_t distance(std::string_view a, std::string_view b)
{
    std::vector<std::size_t> before(b.size() + 1);
    std::vector<std::size_t> previous(b.size() + 1);
    std::vector<std::size_t> current(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j)
        previous[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        current[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t replaced = previous[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            current[j] = std::min({replaced, previous[j] + 1, current[j - 1] + 1});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                current[j] = std::min(current[j], before[j - 2] + 1);
        }
        std::swap(before, previous);
        std::swap(previous, current);
    }
    return previous[b.size()];
}

} // namespace

std::string nearestName(std::string_view text, const std::vector<std::string> &names)
{
    std::string best;
    std::size_t fewest = std::max<std::size_t>(text.size() / 3, 1) + 1;
    if (text.size() > 100) // no name is that long
        return best;
    for (const auto &name : names) {
        const bool isBeginning = text.size() > 3 && (name.starts_with(text) || text.starts_with(name));
        const auto edits = isBeginning ? 1 : distance(text, name);
        if (edits < fewest) {
            fewest = edits;
            best = name;
        }
    }
    return best;
}

std::string didYouMean(std::string_view text, const std::vector<std::string> &names, std::string_view otherwise)
{
    const auto nearest = nearestName(text, names);
    return nearest.empty() ? std::string(otherwise) : "; did you mean " + nearest + "?";
}

} // namespace app
