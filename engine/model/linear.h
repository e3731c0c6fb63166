#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace engine {

// y = x Wᵀ + b. On the CPU the weight is repacked once for oneDNN, whose kernels use what the CPU has (AVX-512, bf16
// dot products); the unpacked weight is not kept. Immutable after construction.
class Linear {
public:
    Linear() = default;
    // weight: [out, in]; bias: [out], or undefined.
    explicit Linear(const at::Tensor &weight, const at::Tensor &bias = {});

    // x: [rows, in] -> [rows, out], in the weight's type.
    [[nodiscard]] at::Tensor operator()(const at::Tensor &x) const;
    [[nodiscard]] bool isDefined() const { return m_weight.defined(); }

private:
    at::Tensor m_weight;
    at::Tensor m_bias;
    bool m_packed = false;
};

// x Wᵀ for a matrix that changes with every call, such as keys: [rows, in] x [out, in] -> [rows, out]. fp32 on the
// CPU goes through oneDNN, which is two to three times as fast as the BLAS behind ATen on many CPUs.
at::Tensor matmulTransposed(const at::Tensor &x, const at::Tensor &w);

} // namespace engine
