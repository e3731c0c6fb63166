#pragma once

#include "engine/api/generation_request.h"

#include <vector>

namespace engine {

// Noise levels of a run: steps + 1 sigmas (fp32, the last is 0) and the timestep the network sees at each step, a whole
// number except for a fixed list.
struct SigmaSchedule {
    std::vector<float> sigmas;
    std::vector<double> timesteps; // 0..1000
    [[nodiscard]] int steps() const { return static_cast<int>(timesteps.size()); }
};

struct KarrasRange {
    double sigmaMin = 0.147;
    double sigmaMax = 200;
};

// The framework's native grid: N+1 even points from float32(0.999) to 0 in float64, last dropped, shifted by
// s*b/(1+(s-1)*b), stored as fp32, 0 appended; timesteps are 1000*sigma (float64) truncated (cosmos3 reference 4.2).
SigmaSchedule nativeSchedule(int steps, double shift);
// diffusers' flow grid: N+1 points from 1 to 0.001, last dropped, shifted, the first lowered by 1e-6.
SigmaSchedule diffusersFlowSchedule(int steps, double shift);
// The published scheduler files of Nano and Super: rho = 7 between the two sigmas, then sigma/(sigma+1). Ignores shift.
SigmaSchedule karrasSchedule(int steps, KarrasRange range);
// A fixed list (distilled checkpoints): sigmas given without the final 0, timesteps 1000*sigma, not truncated (cosmos3
// reference 14).
SigmaSchedule explicitSchedule(const std::vector<double> &sigmas);
// steps >= 1, shift > 0.
SigmaSchedule sigmaSchedule(SigmaGrid grid, int steps, double shift, KarrasRange range);

// Guidance of every step: the request's scale where the step's timestep lies strictly inside the interval, else 1.
// Throws EngineFailure(InvalidRequest) unless the request has one scale per step.
std::vector<double> guidancePerStep(const ResolvedRequest &request, const SigmaSchedule &schedule);

} // namespace engine
