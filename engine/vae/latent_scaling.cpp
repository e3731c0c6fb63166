#include "engine/vae/latent_scaling.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/reciprocal.h>
#include <ATen/ops/tensor.h>

namespace engine {

LatentScaling::LatentScaling(const VaeConfig &config, const at::TensorOptions &options)
    : m_mean(at::tensor(config.latentsMean, at::kDouble).to(options)),
      m_inverseStd(at::reciprocal(at::tensor(config.latentsStd, at::kDouble).to(options)))
{
}

at::Tensor LatentScaling::normalise(const at::Tensor &z) const
{
    return (z - m_mean) * m_inverseStd;
}

at::Tensor LatentScaling::restore(const at::Tensor &normalised) const
{
    return normalised / m_inverseStd + m_mean;
}

} // namespace engine
