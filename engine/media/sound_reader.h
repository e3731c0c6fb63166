#pragma once

#include "engine/api/outcome.h"

#include <filesystem>
#include <variant>
#include <vector>

namespace engine {

struct Sound {
    int rate = 0; // samples a second, 0 without sound
    int channels = 0;
    std::vector<float> samples; // [channels, samples], planar
};

// All sound of a clip, without the encoder's padding at either end. The reason in one sentence (InvalidRequest) when
// the file cannot be read; a clip without sound is no error.
std::variant<Sound, EngineError> readSound(const std::filesystem::path &file);

} // namespace engine
