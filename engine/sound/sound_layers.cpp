#include "engine/sound/sound_layers.h"

#include "engine/api/outcome.h"

#include <ATen/ops/_weight_norm.h>
#include <ATen/ops/conv1d.h>
#include <ATen/ops/mul.h>

#include <optional>

namespace engine {

at::Tensor SoundWeightReader::needed(const std::string &name) const
{
    auto tensor = m_weights(name);
    if (!tensor.defined())
        throw EngineFailure(ErrorCode::ModelFiles, "The sound tokenizer has no weight " + name +
                                                       ": fetch the folder sound_tokenizer of the model again.");
    return tensor;
}

at::Tensor SoundWeightReader::folded(const std::string &layer) const
{
    if (const auto weight = m_weights(layer + ".weight"); weight.defined())
        return weight.to(m_type);
    const auto parametrized = layer + ".parametrizations.weight.original";
    const bool isParametrized = m_weights(parametrized + "0").defined();
    const auto magnitude = needed(isParametrized ? parametrized + "0" : layer + ".weight_g").to(at::kFloat);
    const auto direction = needed(isParametrized ? parametrized + "1" : layer + ".weight_v").to(at::kFloat);
    return at::_weight_norm(direction, magnitude, 0).to(m_type);
}

Snake::Snake(const SoundWeightReader &reader, const std::string &name)
    : frequency(reader.plain(name + ".alpha").exp()),
      amplitude(reader.plain(name + ".beta").exp().add_(1e-9).reciprocal_())
{
}

at::Tensor Snake::operator()(const at::Tensor &x) const
{
    return at::mul(x, frequency).sin_().square_().mul_(amplitude).add_(x);
}

at::Tensor Conv::operator()(const at::Tensor &x) const
{
    const std::int64_t padding = (weight.size(2) - 1) * dilation / 2;
    const auto optionalBias = bias.defined() ? std::optional(bias) : std::nullopt;
    return at::conv1d(x, weight, optionalBias, 1, padding, dilation, groups);
}

} // namespace engine
