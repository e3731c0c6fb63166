#pragma once

#include "engine/checkpoint/model_config.h"

#include <ATen/core/Tensor.h>

namespace engine {

// The autoencoder's latent statistics. Normalised latents are (z - mean) * (1/std); mean, std and 1/std are each
// rounded to the network's type, as the framework keeps them.
class LatentScaling {
public:
    LatentScaling(const VaeConfig &config, const at::TensorOptions &options);

    // z: [T, H, W, C], in the network's type.
    [[nodiscard]] at::Tensor normalise(const at::Tensor &z) const;
    [[nodiscard]] at::Tensor restore(const at::Tensor &normalised) const; // normalised / (1/std) + mean
    [[nodiscard]] const at::Tensor &mean() const { return m_mean; }
    [[nodiscard]] const at::Tensor &inverseStd() const { return m_inverseStd; }

private:
    at::Tensor m_mean;
    at::Tensor m_inverseStd;
};

} // namespace engine
