#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace app {

// The name with the fewest edits (insert, delete, replace, swap of neighbours) to `text`, "" when even that is no
// plausible slip of the keyboard.
std::string nearestName(std::string_view text, const std::vector<std::string> &names);

// "; did you mean NAME?" for the nearest name, otherwise `otherwise`.
std::string didYouMean(std::string_view text, const std::vector<std::string> &names, std::string_view otherwise);

} // namespace app
