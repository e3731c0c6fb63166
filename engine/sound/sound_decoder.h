#pragma once

#include "engine/checkpoint/model_config.h"
#include "engine/sound/sound_layers.h"

#include <ATen/core/Tensor.h>

#include <functional>
#include <string>
#include <vector>

namespace engine {

// Sound latents to a waveform: the Oobleck decoder of the sound tokenizer (cosmos3 reference 6). Immutable after
// construction, so any thread may decode.
class SoundDecoder {
public:
    // One part of the network, [1, channels, length] to [1, channels', length * stride].
    struct Stage {
        std::string name; // "conv1", "block0", …, "snake1", "conv2"
        std::function<at::Tensor(const at::Tensor &)> run;
    };

    // Reads the weights once, folds the weight norm in fp32 and keeps the result in `type` (fp32 or bf16). A weight is
    // taken as weight_g and weight_v, as parametrizations.weight.original0 and 1, or folded as weight. Throws
    // EngineFailure(ModelFiles) naming the one that is missing.
    SoundDecoder(const SoundConfig &config, const SoundWeights &weights, at::ScalarType type);

    // latents [latentDim, tokens] -> waveform [outChannels, tokens * hopSize], fp32 within -1..1.
    [[nodiscard]] at::Tensor decode(const at::Tensor &latents) const;
    [[nodiscard]] const std::vector<Stage> &stages() const { return m_stages; }

private:
    at::ScalarType m_type;
    std::vector<Stage> m_stages;
};

} // namespace engine
