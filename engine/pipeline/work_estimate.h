#pragma once

#include "engine/checkpoint/model_config.h"
#include "engine/sequence/latent_geometry.h"

namespace engine {

// Floating point operations of one pass of the generation tower: linear layers, and attention over the prompt's
// undTokens and its own tokens.
double generationPassFlops(const TransformerConfig &config, const LatentGeometry &geometry, std::int64_t undTokens);

// Floating point operations of decoding one latent frame after the first (the first costs about a third).
double decodeFrameFlops(const VaeConfig &config, const LatentGeometry &geometry);

} // namespace engine
