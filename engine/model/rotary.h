#pragma once

#include "engine/sequence/rope_positions.h"

#include <ATen/core/Tensor.h>

namespace engine {

// cos and sin of a run of tokens, [tokens, headDim/2], in the network's type: made in fp32 and rounded once.
struct RotaryTensors {
    at::Tensor cos;
    at::Tensor sin;
    [[nodiscard]] RotaryTensors narrow(std::int64_t first, std::int64_t count) const;
};

RotaryTensors rotaryTensors(const RotaryTable &table, const at::TensorOptions &options);

// x: [tokens, heads, headDim] -> x * cos + rotateHalf(x) * sin, every operation rounded to x's type.
at::Tensor applyRotary(const at::Tensor &x, const RotaryTensors &rotary);

} // namespace engine
