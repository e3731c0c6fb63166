#pragma once

#include "engine/pipeline/denoise_loop.h"
#include "engine/vae/wan_encoder.h"

#include <cstdint>

namespace engine {

// Whether resized pictures are rounded to whole levels: the framework does so for images, not for clips.
enum class PixelRounding { Whole, None };

// Cover resize (bilinear with antialiasing, sides rounded up) and centre crop (half to even), as the framework prepares
// a picture (cosmos3 reference 10). pixels: [F, H, W, 3], 0..255 in any type -> [F, height, width, 3] fp32, 0..255.
at::Tensor coverResize(const at::Tensor &pixels, std::int64_t width, std::int64_t height, PixelRounding rounding);

// The first latent frames of a clip encoded as a condition; the rest stays noise. pixels: [F, H, W, 3], 0..255, already
// of the clip's size, F = 1 + a multiple of temporalFactor: only the frames the condition needs.
Condition encodeCondition(const WanEncoder &encoder, const at::Tensor &pixels, const LatentGeometry &geometry,
                          at::ScalarType type, const RankContext &context);

} // namespace engine
