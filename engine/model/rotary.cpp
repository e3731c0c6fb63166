#include "engine/model/rotary.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/from_blob.h>

namespace engine {

RotaryTensors RotaryTensors::narrow(std::int64_t first, std::int64_t count) const
{
    return {cos.narrow(0, first, count), sin.narrow(0, first, count)};
}

RotaryTensors rotaryTensors(const RotaryTable &table, const at::TensorOptions &options)
{
    const auto copy = [&](const std::vector<float> &values) {
        return at::from_blob(const_cast<float *>(values.data()), {table.tokens, table.half}, at::kFloat)
            .to(options, /*non_blocking=*/false, /*copy=*/true);
    };
    return {copy(table.cos), copy(table.sin)};
}

at::Tensor applyRotary(const at::Tensor &x, const RotaryTensors &rotary)
{
    const auto half = x.size(-1) / 2;
    const auto first = x.narrow(-1, 0, half);
    const auto second = x.narrow(-1, half, half);
    const auto cos = rotary.cos.unsqueeze(1);
    const auto sin = rotary.sin.unsqueeze(1);
    return at::cat({first * cos - second * sin, second * cos + first * sin}, -1);
}

} // namespace engine
