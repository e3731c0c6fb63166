#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

// A PNG picture's pixels, for the tests that do not link engine/media.
namespace png {

struct Pixels {
    int width = 0;
    int height = 0;
    std::vector<std::uint8_t> rgb; // [height, width, 3]
};

Pixels read(const std::filesystem::path &file); // throws std::runtime_error

} // namespace png
