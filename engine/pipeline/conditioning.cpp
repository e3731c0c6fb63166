#include "engine/pipeline/conditioning.h"

#include <ATen/ops/_upsample_bilinear2d_aa.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>

namespace engine {

at::Tensor coverResize(const at::Tensor &pixels, std::int64_t width, std::int64_t height, PixelRounding rounding)
{
    const auto sourceHeight = pixels.size(1);
    const auto sourceWidth = pixels.size(2);
    const double scale = std::max(static_cast<double>(width) / static_cast<double>(sourceWidth),
                                  static_cast<double>(height) / static_cast<double>(sourceHeight));
    const auto covered = [scale](std::int64_t side) {
        return static_cast<std::int64_t>(std::ceil(scale * static_cast<double>(side)));
    };
    const auto resizedHeight = covered(sourceHeight);
    const auto resizedWidth = covered(sourceWidth);
    const auto input = pixels.to(at::kFloat).permute({0, 3, 1, 2}).contiguous();
    auto resized = at::_upsample_bilinear2d_aa(input, {resizedHeight, resizedWidth}, false);
    if (rounding == PixelRounding::Whole)
        resized = resized.round().clamp(0, 255);
    const auto margin = [](std::int64_t extent, std::int64_t wanted) { // half to even
        return static_cast<std::int64_t>(std::nearbyint(static_cast<double>(extent - wanted) / 2));
    };
    return resized.narrow(2, margin(resizedHeight, height), height)
        .narrow(3, margin(resizedWidth, width), width)
        .permute({0, 2, 3, 1})
        .contiguous();
}

Condition encodeCondition(const WanEncoder &encoder, const at::Tensor &pixels, const LatentGeometry &geometry,
                          at::ScalarType type, const RankContext &context)
{
    const auto scaled = pixels.to(at::kFloat).div(127.5).sub(1).to(type);
    const auto encoded = encoder.encode(scaled, context);
    Condition condition;
    condition.cleanLatents = at::zeros({geometry.channels, geometry.frames, geometry.height, geometry.width}, at::kFloat);
    condition.cleanLatents.narrow(1, 0, encoded.size(1)).copy_(encoded);
    for (std::int64_t frame = 0; frame < encoded.size(1); ++frame)
        condition.cleanFrames.push_back(frame);
    return condition;
}

} // namespace engine
