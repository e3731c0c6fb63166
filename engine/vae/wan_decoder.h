#pragma once

#include "engine/vae/causal_blocks.h"
#include "engine/vae/latent_scaling.h"
#include "engine/vae/resampling.h"

#include <optional>
#include <vector>

namespace engine {

// From latents to pixels, one latent frame at a time: the first gives one frame, each later one temporalFactor frames.
// Driven by the configuration alone. Immutable; a clip's history lies in the Session.
class WanDecoder {
public:
    WanDecoder(const VaeConfig &config, const WeightLoader &load);

    // One clip's way through the decoder.
    class Session {
    public:
        // latents: normalised [C, T, H, W], any float type; kept until the session ends.
        Session(const WanDecoder &decoder, at::Tensor latents);
        [[nodiscard]] bool done() const { return m_next == m_latents.size(1); }
        [[nodiscard]] std::int64_t latentFrames() const { return m_latents.size(1); }
        // The next latent frame's pixels, [frames, H, W, 3] in the decoder's type, about -1..1, not clamped.
        at::Tensor next(const RankContext &context, const BlockProbe &probe = {});

    private:
        const WanDecoder &m_decoder;
        at::Tensor m_latents; // [C, T, H, W]
        std::int64_t m_next = 0;
        ChunkCache m_cache;
    };

    [[nodiscard]] const LatentScaling &scaling() const { return m_scaling; }

private:
    struct UpStage {
        std::vector<ResidualBlock> blocks;
        std::optional<Upsampler> upsampler;
        std::int64_t outChannels = 0;
        ResampleFactors factors;
    };
    [[nodiscard]] at::Tensor decodeFrame(const at::Tensor &latentFrame, ChunkCache &cache, const RankContext &context,
                                         const BlockProbe &probe) const;

    VaeConfig m_config;
    at::TensorOptions m_options;
    LatentScaling m_scaling;
    SlotCounter m_slots = 0;
    VideoConv m_postQuant;
    std::optional<CausalConv> m_convIn;
    std::optional<MidBlock> m_mid;
    std::vector<UpStage> m_stages;
    std::optional<ChannelNorm> m_normOut; // only looked at by probes; convOut applies it
    std::optional<CausalConv> m_convOut;
};

// [frames, H, W, patch² * 3] with channels (colour, column, row) -> [frames, H * patch, W * patch, 3].
at::Tensor unpackPixels(const at::Tensor &packed, std::int64_t patch);
at::Tensor packPixels(const at::Tensor &pixels, std::int64_t patch); // the inverse

// The framework's rule: ((1 + v) / 2) clamped to 0..1 in fp32, times 255, fraction dropped. -> uint8, same shape, on
// the CPU.
at::Tensor toBytes(const at::Tensor &pixels);

} // namespace engine
