#pragma once

#include "engine/checkpoint/model_config.h"
#include "engine/sound/sound_layers.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <vector>

namespace engine {

// A waveform to sound latents: the spectrogram and ConvNeXt encoder of the sound tokenizer (cosmos3 reference 6).
// Immutable after construction, so any thread may encode.
class SoundEncoder {
public:
    // Reads the weights once and keeps them in `type` (fp32 or bf16), the norms' in fp32. Throws
    // EngineFailure(ModelFiles) when the configuration has no encoder, or naming a weight that is missing or of a shape
    // the configuration does not give.
    SoundEncoder(const SoundConfig &config, const SoundWeights &weights, at::ScalarType type);

    // waveform [channels, samples] of any level, at the configured rate, on the weights' device -> the most likely
    // latents [latentDim, ceil(samples / hopSize)], fp32. Throws EngineFailure(InvalidRequest) for no samples or
    // another number of channels.
    [[nodiscard]] at::Tensor encode(const at::Tensor &waveform) const;

private:
    [[nodiscard]] at::Tensor spectrogram(const at::Tensor &waveform) const;

    SoundEncoderConfig m_config;
    std::int64_t m_latentDim;
    std::int64_t m_hopSize;
    at::ScalarType m_type;
    std::vector<std::function<at::Tensor(const at::Tensor &)>> m_layers;
};

} // namespace engine
