#pragma once

#include <cstdint>

namespace engine {

// Shapes of one clip on its way through the model. Odd latent sides are padded to whole patches by a zero row at the
// bottom and a zero column at the right, cropped after the network.
struct LatentGeometry {
    std::int64_t channels = 48;
    std::int64_t frames = 1; // latent frames: 1 + (pixel frames - 1) / temporal factor
    std::int64_t height = 0; // latent rows
    std::int64_t width = 0;
    std::int64_t patch = 2;
    std::int64_t soundTokens = 0;

    [[nodiscard]] std::int64_t gridHeight() const { return (height + patch - 1) / patch; } // token rows
    [[nodiscard]] std::int64_t gridWidth() const { return (width + patch - 1) / patch; }
    [[nodiscard]] std::int64_t visionTokens() const { return frames * gridHeight() * gridWidth(); }
    [[nodiscard]] std::int64_t tokens() const { return visionTokens() + soundTokens; }
};

// Pixel sizes must be multiples of spatialFactor, frames 1 + a multiple of temporalFactor; throws
// EngineFailure(InvalidRequest) otherwise. Channels, patch and sound tokens are left to the caller.
LatentGeometry latentGeometry(std::int64_t width, std::int64_t height, std::int64_t frames, std::int64_t spatialFactor,
                              std::int64_t temporalFactor);

// Sound latent count of a clip: ceil(int(frames / fps * sampleRate) / hop) (the framework's rule, cosmos3 reference
// 11).
std::int64_t soundTokenCount(std::int64_t frames, double fps, int sampleRate, int hopSize);

} // namespace engine
