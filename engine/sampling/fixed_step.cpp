#include "engine/sampling/fixed_step.h"

#include <cstddef>

namespace engine {

std::vector<FixedStep> fixedSteps(const std::vector<float> &sigmas)
{
    std::vector<FixedStep> steps;
    for (std::size_t i = 1; i < sigmas.size(); ++i)
        steps.push_back({.denoised = 1 - static_cast<double>(sigmas[i]), .noise = static_cast<double>(sigmas[i])});
    return steps;
}

} // namespace engine
