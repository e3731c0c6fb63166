#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace app {

// The first words of a text as part of a file name: lower case, joined by hyphens, letters of every script kept.
std::string fileNameWords(const std::string &text);

// A name for a result in the current folder that no file has yet: "parallax-20261130-a-red-ball-42.mp4".
std::filesystem::path freshOutputName(const std::string &prompt, std::uint32_t seed, const std::string &extension);

} // namespace app
