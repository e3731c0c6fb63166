#pragma once

#include "engine/media/image_file.h"

#include <filesystem>

// libpng behind exceptions. libpng leaves a failed call by longjmp, so the functions that it may leave hold nothing
// that needs a destructor; all of that is inside png_codec.cpp. Internal to engine/media.
namespace engine::png {

// Throws EngineFailure(InvalidRequest) naming `file`.
Picture read(const std::filesystem::path &file, int largestSide);
// Throws EngineFailure(Output) naming `target`, the name that the file will have.
void write(const std::filesystem::path &file, const Picture &picture, const std::filesystem::path &target);

} // namespace engine::png
