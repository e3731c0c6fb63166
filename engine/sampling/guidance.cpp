#include "engine/sampling/guidance.h"

#include <ATen/ops/sub.h>

namespace engine {

at::Tensor guide(const at::Tensor &positive, const at::Tensor &negative, double scale)
{
    auto difference = at::sub(positive, negative);
    // By way of fp32: the CPU's product of a bf16 tensor and a number would round the number first, a GPU's does not.
    auto scaled = difference.to(at::kFloat).mul_(scale).to(difference.scalar_type());
    return scaled.add_(negative);
}

} // namespace engine
