#include "engine/sequence/latent_geometry.h"

#include "engine/api/outcome.h"

#include <string>

namespace engine {

namespace {

void requireMultiple(std::int64_t pixels, std::int64_t factor, const char *side)
{
    if (pixels >= factor && pixels % factor == 0)
        return;
    throw EngineFailure(ErrorCode::InvalidRequest, "The " + std::string(side) + " is " + std::to_string(pixels) +
                                                       " pixels, choose a positive multiple of " +
                                                       std::to_string(factor) + ".");
}

} // namespace

LatentGeometry latentGeometry(std::int64_t width, std::int64_t height, std::int64_t frames, std::int64_t spatialFactor,
                              std::int64_t temporalFactor)
{
    requireMultiple(width, spatialFactor, "width");
    requireMultiple(height, spatialFactor, "height");
    if (frames < 1 || (frames - 1) % temporalFactor != 0) {
        throw EngineFailure(ErrorCode::InvalidRequest, "The clip has " + std::to_string(frames) +
                                                           " frames, choose 1 plus a multiple of " +
                                                           std::to_string(temporalFactor) + ".");
    }
    LatentGeometry geometry;
    geometry.frames = 1 + (frames - 1) / temporalFactor;
    geometry.height = height / spatialFactor;
    geometry.width = width / spatialFactor;
    return geometry;
}

std::int64_t soundTokenCount(std::int64_t frames, double fps, int sampleRate, int hopSize)
{
    // The samples are truncated, as the framework does: rounding would give other counts for fps such as 23.976.
    const auto samples = static_cast<std::int64_t>(static_cast<double>(frames) / fps * sampleRate);
    return (samples + hopSize - 1) / hopSize;
}

} // namespace engine
