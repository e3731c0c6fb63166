#pragma once

#include "engine/vae/causal_blocks.h"
#include "engine/vae/latent_scaling.h"
#include "engine/vae/resampling.h"

#include <optional>
#include <vector>

namespace engine {

// From pixels to latents, in chunks: the first frame alone, then temporalFactor frames at a time. Gives the mode of the
// posterior, never a sample. Immutable.
class WanEncoder {
public:
    WanEncoder(const VaeConfig &config, const WeightLoader &load);

    // pixels: [F, H, W, 3] in -1..1 with F = 1 + a multiple of temporalFactor and sides a multiple of spatialFactor
    // -> normalised latents [C, T, H, W] in fp32.
    [[nodiscard]] at::Tensor encode(const at::Tensor &pixels, const RankContext &context,
                                    const BlockProbe &probe = {}) const;

private:
    struct DownStage {
        std::vector<ResidualBlock> blocks;
        std::optional<Downsampler> downsampler;
        std::int64_t outChannels = 0;
        ResampleFactors factors;
    };
    [[nodiscard]] at::Tensor encodeChunk(const at::Tensor &pixels, ChunkCache &cache, const BlockProbe &probe) const;

    VaeConfig m_config;
    at::TensorOptions m_options;
    LatentScaling m_scaling;
    SlotCounter m_slots = 0;
    std::optional<CausalConv> m_convIn;
    std::vector<DownStage> m_stages;
    std::optional<MidBlock> m_mid;
    std::optional<CausalConv> m_convOut;
    VideoConv m_quant;
};

} // namespace engine
