#pragma once

#include <vector>

namespace engine {

// One step of the distilled checkpoints' stochastic sampler: next = denoised*m + noise*epsilon with m = x - sigma*v and
// fresh Gaussian noise epsilon (cosmos3 reference 14).
struct FixedStep {
    double denoised = 1; // 1 - the next sigma
    double noise = 0;    // the next sigma; 0 at the last step, which takes no noise
};

// sigmas: steps + 1 values, falling, the last is 0. One entry per step.
std::vector<FixedStep> fixedSteps(const std::vector<float> &sigmas);

} // namespace engine
