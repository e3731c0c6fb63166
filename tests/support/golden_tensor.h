#pragma once

#include "tests/support/golden.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/from_blob.h>

#include <span>
#include <string>
#include <vector>

// Reference numbers as tensors, for the tests that link torch.
namespace golden {

// A copy in the stored shape: bf16 stays bf16, every other float type becomes fp32.
inline at::Tensor tensor(const Table &table, const std::string &name)
{
    auto values = table.floats(name);
    const auto shape = table.shape(name);
    const auto isBf16 = table.file().header().tensors.find(name)->second.type == engine::TensorType::BFloat16;
    return at::from_blob(values.data(), shape, at::kFloat).to(isBf16 ? at::kBFloat16 : at::kFloat, false, true);
}

inline std::vector<float> floats(const at::Tensor &values)
{
    const auto flat = values.detach().to(at::kCPU, at::kFloat).contiguous();
    const std::span<const float> span(flat.const_data_ptr<float>(), static_cast<std::size_t>(flat.numel()));
    return {span.begin(), span.end()};
}

inline double relativeError(const at::Tensor &values, const at::Tensor &reference)
{
    return relativeError(floats(values), floats(reference));
}

} // namespace golden
