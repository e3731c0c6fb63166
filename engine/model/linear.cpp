#include "engine/model/linear.h"

#include "engine/kernels/cpu_rows.h"

#include <ATen/Context.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/linear.h>

#include <optional>
#include <string_view>

namespace engine {

namespace {

// oneDNN's operators are registered by libtorch without a C++ function of their own: they are called by name.
using Reorder = at::Tensor(const at::Tensor &weight, std::optional<c10::SymInt> batchSize);
using Pointwise = at::Tensor(const at::Tensor &input, const at::Tensor &weight, const std::optional<at::Tensor> &bias,
                             std::string_view attribute, c10::List<std::optional<at::Scalar>> scalars,
                             std::optional<std::string_view> algorithm);

// Rows the packed layout is chosen for; other counts work as well.
constexpr std::int64_t kTypicalRows = 512;

at::Tensor reorder(const at::Tensor &weight)
{
    static const auto op =
        c10::Dispatcher::singleton().findSchemaOrThrow("mkldnn::_reorder_linear_weight", "").typed<Reorder>();
    return op.call(weight, c10::SymInt(kTypicalRows));
}

at::Tensor pointwise(const at::Tensor &x, const at::Tensor &weight, const std::optional<at::Tensor> &bias)
{
    static const auto op =
        c10::Dispatcher::singleton().findSchemaOrThrow("mkldnn::_linear_pointwise", "").typed<Pointwise>();
    return op.call(x, weight, bias, "none", c10::List<std::optional<at::Scalar>>(), "");
}

bool oneDnnTakes(const at::Tensor &weight)
{
    if (!weight.device().is_cpu() || !at::globalContext().userEnabledMkldnn())
        return false;
    return weight.scalar_type() == at::kFloat || (weight.scalar_type() == at::kBFloat16 && kernels::cpuHasAvx512());
}

} // namespace

Linear::Linear(const at::Tensor &weight, const at::Tensor &bias) : m_bias(bias)
{
    m_packed = oneDnnTakes(weight);
    m_weight = m_packed ? reorder(weight.contiguous()) : weight;
}

at::Tensor Linear::operator()(const at::Tensor &x) const
{
    if (m_packed)
        return pointwise(x, m_weight, m_bias.defined() ? std::optional(m_bias) : std::nullopt);
    return at::linear(x, m_weight, m_bias.defined() ? std::optional(m_bias) : std::nullopt);
}

at::Tensor matmulTransposed(const at::Tensor &x, const at::Tensor &w)
{
    return oneDnnTakes(w) ? pointwise(x, w, std::nullopt) : at::linear(x, w);
}

} // namespace engine
