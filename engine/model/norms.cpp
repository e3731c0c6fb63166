#include "engine/model/norms.h"

#include "engine/kernels/rms_norm.h"

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/silu.h>
#include <c10/util/Exception.h>

#ifdef PARALLAX_CUDA
    #include <c10/cuda/CUDAStream.h>
#endif

#include <utility>

namespace engine {

namespace {

constexpr std::int64_t kRowsPerTask = 16;

std::byte *rowPointer(const at::Tensor &tensor, std::int64_t row, std::int64_t width)
{
    return static_cast<std::byte *>(tensor.data_ptr()) + row * width * static_cast<std::int64_t>(tensor.element_size());
}

#ifdef PARALLAX_CUDA
at::Tensor normOnGpu(const kernels::RmsNormRows &norm, const at::Tensor &x)
{
    auto out = at::empty_like(x);
    const int error = kernels::rmsNormCuda(norm, x.data_ptr(), out.data_ptr(), x.numel() / norm.width,
                                           c10::cuda::getCurrentCUDAStream(x.device().index()).stream());
    TORCH_CHECK(error == 0, "rms norm kernel: CUDA error ", error);
    return out;
}
#else
at::Tensor normOnGpu(const kernels::RmsNormRows & /*norm*/, const at::Tensor & /*x*/)
{
    TORCH_CHECK(false, "this build has no CUDA code");
}
#endif

} // namespace

kernels::RowType rowType(const at::Tensor &tensor)
{
    return tensor.scalar_type() == at::kFloat ? kernels::RowType::Float32 : kernels::RowType::BFloat16;
}

RmsNorm::RmsNorm(at::Tensor weight, double epsilon, kernels::NormRounding rounding)
    : m_weight(weight.clone()), m_epsilon(epsilon), m_rounding(rounding)
{
}

kernels::RmsNormRows RmsNorm::rows() const
{
    return {.type = m_weight.defined() ? rowType(m_weight) : kernels::RowType::Float32,
            .rounding = m_rounding,
            .width = m_weight.defined() ? m_weight.numel() : 0,
            .epsilon = static_cast<float>(m_epsilon),
            .weight = m_weight.defined() ? m_weight.data_ptr() : nullptr};
}

at::Tensor RmsNorm::operator()(const at::Tensor &x) const
{
    if (x.device().is_cuda())
        return normOnGpu(rows(), x.contiguous());
    const auto input = x.contiguous();
    auto out = at::empty_like(input);
    const auto norm = rows();
    const auto width = norm.width;
    at::parallel_for(0, input.numel() / width, kRowsPerTask, [&](std::int64_t begin, std::int64_t end) {
        kernels::rmsNorm(norm, rowPointer(input, begin, width), rowPointer(out, begin, width), end - begin);
    });
    return out;
}

at::Tensor swiGlu(const at::Tensor &gateUp)
{
    const auto width = gateUp.size(-1) / 2;
    if (!gateUp.device().is_cpu())
        return at::silu(gateUp.narrow(-1, 0, width)) * gateUp.narrow(-1, width, width);
    auto out = at::empty({gateUp.size(0), width}, gateUp.options());
    at::parallel_for(0, gateUp.size(0), kRowsPerTask, [&](std::int64_t begin, std::int64_t end) {
        kernels::siluTimesUp(rowType(gateUp), rowPointer(gateUp, begin, 2 * width), rowPointer(out, begin, width),
                             end - begin, width);
    });
    return out;
}

at::Tensor squaredRelu(const at::Tensor &up)
{
    if (!up.device().is_cpu())
        return at::relu(up).square();
    auto out = at::empty_like(up);
    const auto width = up.size(-1);
    at::parallel_for(0, up.size(0), kRowsPerTask, [&](std::int64_t begin, std::int64_t end) {
        kernels::squaredRelu(rowType(up), rowPointer(up, begin, width), rowPointer(out, begin, width), end - begin,
                             width);
    });
    return out;
}

} // namespace engine
