#pragma once

#include "tests/support/golden.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/from_blob.h>

#include <string_view>
#include <vector>

namespace golden {

// A reference tensor in fp32, owned.
inline at::Tensor tensor(const Table &table, std::string_view name)
{
    auto values = table.floats(name);
    return at::from_blob(values.data(), table.shape(name), at::kFloat).clone();
}

inline std::vector<float> values(const at::Tensor &tensor)
{
    const auto flat = tensor.to(at::kFloat).to(at::kCPU).contiguous();
    return {flat.data_ptr<float>(), flat.data_ptr<float>() + flat.numel()};
}

} // namespace golden
