#pragma once

#include <vector>

namespace engine {

// One UniPC (order 2, bh2, data prediction) step as sums of tensors; which step it is comes from a counter, never from
// looking a timestep up (cosmos3 reference 4.3). m_i = x - sigma_i * v from the uncorrected sample.
struct UniPcStep {
    // Corrector, for steps after the first: x = keep*lastSample + previous*m[i-1] + older*m[i-2] + current*m[i].
    bool corrects = false;
    double keep = 0, previous = 0, older = 0, current = 0;
    // Predictor: next = predictKeep*x + predictCurrent*m[i] + predictPrevious*m[i-1].
    double predictKeep = 0, predictCurrent = 0, predictPrevious = 0;
    bool usesOlder = false;    // the corrector reads m[i-2]
    bool usesPrevious = false; // the predictor reads m[i-1]
};

// sigmas: steps + 1 values, falling, the last may be 0. One entry per step.
std::vector<UniPcStep> unipcSteps(const std::vector<float> &sigmas);

} // namespace engine
