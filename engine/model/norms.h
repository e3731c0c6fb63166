#pragma once

#include "engine/kernels/cpu_rows.h"

#include <ATen/core/Tensor.h>

namespace engine {

// RMS norm over the last dimension, as the backbone rounds it (cosmos3 reference 3.1). Immutable.
class RmsNorm {
public:
    RmsNorm() = default;
    RmsNorm(at::Tensor weight, double epsilon, kernels::NormRounding rounding);

    // x: [rows, width] -> the same shape and type.
    [[nodiscard]] at::Tensor operator()(const at::Tensor &x) const;
    [[nodiscard]] bool isDefined() const { return m_weight.defined(); }
    // x itself where the model has no such norm.
    [[nodiscard]] at::Tensor orSame(const at::Tensor &x) const { return isDefined() ? (*this)(x) : x; }
    // For kernels that apply the norm together with something else.
    [[nodiscard]] kernels::RmsNormRows rows() const;

private:
    at::Tensor m_weight;
    double m_epsilon = 0;
    kernels::NormRounding m_rounding = kernels::NormRounding::BeforeWeight;
};

kernels::RowType rowType(const at::Tensor &tensor);

// silu(gate) * up for the SwiGLU rows [rows, 2 * width] (gate first), or relu(up)² for [rows, width].
at::Tensor swiGlu(const at::Tensor &gateUp);
at::Tensor squaredRelu(const at::Tensor &up);

} // namespace engine
