#pragma once

#include <ATen/core/Tensor.h>

namespace engine {

// Classifier-free guidance: negative + scale * (positive - negative), of equal shape and type (fp32 or bf16). Each of
// the three operations rounds to that type; the scale itself enters as fp32 and is not rounded (cosmos3 reference 4.4).
at::Tensor guide(const at::Tensor &positive, const at::Tensor &negative, double scale);

} // namespace engine
