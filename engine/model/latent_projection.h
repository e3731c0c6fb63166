#pragma once

#include "engine/checkpoint/model_config.h"
#include "engine/model/linear.h"
#include "engine/model/norms.h"
#include "engine/weights/weight_loader.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace engine {

// One denoising step's input: latents in the network's type. Undefined tensors are absent modalities.
struct LatentInput {
    at::Tensor vision;                     // [C, T, H, W]
    at::Tensor sound;                      // [soundDim, S]
    at::Tensor action;                     // [L, actionDim]
    std::int64_t actionDomain = 0;         // embodiment
    std::vector<std::int64_t> cleanFrames; // latent frames given as a condition: no time embedding, velocity 0
    std::int64_t cleanActions = 0;         // leading action rows given as a condition
    double timestep = 0;                   // of the schedule, 0..1000
};

struct Velocity {
    at::Tensor vision; // shapes of the input
    at::Tensor sound;
    at::Tensor action;
};

// From latents to tokens of the generation tower and back. Token order: vision (t, h, w), sound, action; inside a
// vision token (patch row, patch column, channel), channel fastest. Immutable.
class LatentProjection {
public:
    LatentProjection(const TransformerConfig &config, const WeightLoader &load);

    // -> [tokens, hidden], the time embedding added to noisy tokens.
    [[nodiscard]] at::Tensor embed(const LatentInput &input) const;
    // hidden: [tokens, hidden] after the last layer -> velocities; 0 on clean frames.
    [[nodiscard]] Velocity project(const at::Tensor &hidden, const LatentInput &input) const;

private:
    [[nodiscard]] at::Tensor timeEmbedding(double timestep) const; // [hidden]
    [[nodiscard]] at::Tensor domainLinear(const at::Tensor &x, const at::Tensor &weights, const at::Tensor &biases,
                                          std::int64_t domain) const;

    TransformerConfig m_config;
    Linear m_projIn, m_projOut;
    at::Tensor m_time1Weight, m_time1Bias, m_time2Weight, m_time2Bias; // fp32: the embedder is never rounded inside
    RmsNorm m_finalNorm;
    Linear m_soundIn, m_soundOut;
    at::Tensor m_soundModality;
    at::Tensor m_actionInWeights, m_actionInBiases, m_actionOutWeights, m_actionOutBiases, m_actionModality;
};

// [C, T, H, W] -> [T * H/p * W/p, p * p * C], odd sides padded by zeros at the bottom and the right.
at::Tensor patchify(const at::Tensor &latents, std::int64_t patch);
// The inverse, cropped to height and width.
at::Tensor unpatchify(const at::Tensor &tokens, const std::vector<std::int64_t> &latentShape, std::int64_t patch);

} // namespace engine
