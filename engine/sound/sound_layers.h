#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <string>

// What the two halves of the sound tokenizer share: how a layer finds its weights, the activation, the convolution.
namespace engine {

// A tensor of the sound tokenizer by its name there, of any float type, on the device to compute on; an undefined
// tensor when the checkpoint has none of that name.
using SoundWeights = std::function<at::Tensor(const std::string &name)>;

// Where the layers take their weights from: names checked, weight norm folded, in the type to compute in. Its
// functions throw EngineFailure(ModelFiles) naming the tensor that is missing.
class SoundWeightReader {
public:
    SoundWeightReader(const SoundWeights &weights, at::ScalarType type) : m_weights(weights), m_type(type) {}

    [[nodiscard]] at::Tensor needed(const std::string &name) const;
    [[nodiscard]] at::Tensor plain(const std::string &name) const { return needed(name).to(m_type); }
    // g * v / |v|, the norm over all axes but the first, in fp32. Stored as weight_g and weight_v, as
    // parametrizations.weight.original0 and 1, or folded as weight.
    [[nodiscard]] at::Tensor folded(const std::string &layer) const;

private:
    const SoundWeights &m_weights;
    at::ScalarType m_type;
};

// x + sin²(a*x) / b with a = e^alpha and b = e^beta + 1e-9, a channel each.
struct Snake {
    at::Tensor frequency; // a: [1, channels, 1]
    at::Tensor amplitude; // 1/b

    Snake(const SoundWeightReader &reader, const std::string &name);
    at::Tensor operator()(const at::Tensor &x) const;
};

// A convolution that keeps the length.
struct Conv {
    at::Tensor weight; // [out, in / groups, kernel]
    at::Tensor bias;   // undefined: none
    std::int64_t dilation = 1;
    std::int64_t groups = 1;

    at::Tensor operator()(const at::Tensor &x) const;
};

} // namespace engine
