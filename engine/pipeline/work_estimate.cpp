#include "engine/pipeline/work_estimate.h"

namespace engine {

namespace {

constexpr double kMultiplyAdd = 2;
constexpr double kKernel3d = 27;
constexpr double kKernel2d = 9;
constexpr double kKernelTime = 3;

} // namespace

double generationPassFlops(const TransformerConfig &config, const LatentGeometry &geometry, std::int64_t undTokens)
{
    const auto hidden = static_cast<double>(config.hiddenSize);
    const auto queryWidth = static_cast<double>(config.heads * config.headDim);
    const auto keyWidth = static_cast<double>(config.keyValueHeads * config.headDim);
    const double mlpMatrices = config.mlp == MlpKind::SwiGlu ? 3 : 2;
    const double weights = hidden * (2 * queryWidth + 2 * keyWidth) +
                           mlpMatrices * hidden * static_cast<double>(config.intermediateSize);
    const auto tokens = static_cast<double>(geometry.tokens());
    const double attention = 2 * tokens * (tokens + static_cast<double>(undTokens)) * queryWidth;
    return kMultiplyAdd * static_cast<double>(config.layers) * (tokens * weights + attention);
}

double decodeFrameFlops(const VaeConfig &config, const LatentGeometry &geometry)
{
    const auto stages = config.dimMult.size();
    auto positions = static_cast<double>(geometry.height * geometry.width); // times frames, growing stage by stage
    auto channels = static_cast<double>(config.decoderBaseDim * config.dimMult.back());
    double products = positions * kKernel3d * channels * (static_cast<double>(config.zDim) + 4 * channels);
    for (std::size_t stage = 0; stage < stages; ++stage) {
        const auto out = static_cast<double>(config.decoderBaseDim * config.dimMult[stages - 1 - stage]);
        const auto blocks = static_cast<double>(config.resBlocks + 1);
        products += positions * kKernel3d * (channels * out + (2 * blocks - 1) * out * out);
        channels = out;
        if (stage + 1 == stages)
            break;
        if (config.temporalDownsample[stages - 2 - stage]) {
            products += positions * kKernelTime * 2 * out * out;
            positions *= 2;
        }
        positions *= 4;
        products += positions * kKernel2d * out * out;
    }
    products += positions * kKernel3d * channels * static_cast<double>(config.outChannels);
    return kMultiplyAdd * products;
}

} // namespace engine
