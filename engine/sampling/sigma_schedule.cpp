#include "engine/sampling/sigma_schedule.h"

#include "engine/api/outcome.h"

#include <cmath>
#include <cstddef>
#include <string>

namespace engine {

namespace {

constexpr double kTrainTimesteps = 1000;

// Point i of steps + 1 even ones from `first` to `last`, with the roundings of numpy's linspace.
double evenPoint(int i, int steps, double first, double last)
{
    return i * ((last - first) / steps) + first;
}

double shifted(double point, double shift)
{
    return shift * point / (1 + (shift - 1) * point);
}

// The sigmas as fp32 with the final 0; the timesteps from the float64 values, `truncates` as integers.
SigmaSchedule scheduleOf(const std::vector<double> &sigmas, bool truncates)
{
    SigmaSchedule schedule;
    for (const double sigma : sigmas) {
        const double timestep = sigma * kTrainTimesteps;
        schedule.sigmas.push_back(static_cast<float>(sigma));
        schedule.timesteps.push_back(truncates ? std::trunc(timestep) : timestep);
    }
    schedule.sigmas.push_back(0.0F);
    return schedule;
}

} // namespace

SigmaSchedule nativeSchedule(int steps, double shift)
{
    constexpr double kFirst = 0.999F; // the framework starts at an fp32 value
    std::vector<double> sigmas;
    sigmas.reserve(static_cast<std::size_t>(steps));
    for (int i = 0; i < steps; ++i)
        sigmas.push_back(shifted(evenPoint(i, steps, kFirst, 0), shift));
    return scheduleOf(sigmas, true);
}

SigmaSchedule diffusersFlowSchedule(int steps, double shift)
{
    constexpr double kLowered = 1e-6; // keeps log(1 - sigma) finite
    std::vector<double> sigmas;
    sigmas.reserve(static_cast<std::size_t>(steps));
    for (int i = 0; i < steps; ++i)
        sigmas.push_back(shifted(evenPoint(i, steps, 1, 1 / kTrainTimesteps), shift));
    sigmas.front() -= kLowered;
    return scheduleOf(sigmas, true);
}

SigmaSchedule karrasSchedule(int steps, KarrasRange range)
{
    constexpr double kRho = 7; // Karras et al. 2022, equation 5
    const double first = std::pow(range.sigmaMax, 1 / kRho);
    const double last = std::pow(range.sigmaMin, 1 / kRho);
    std::vector<double> sigmas;
    sigmas.reserve(static_cast<std::size_t>(steps));
    for (int i = 0; i < steps; ++i) {
        const double ramp = steps == 1 ? 0 : evenPoint(i, steps - 1, 0, 1);
        const double sigma = std::pow(first + ramp * (last - first), kRho);
        sigmas.push_back(sigma / (sigma + 1)); // variance exploding to flow
    }
    return scheduleOf(sigmas, true);
}

SigmaSchedule explicitSchedule(const std::vector<double> &sigmas)
{
    return scheduleOf(sigmas, false);
}

SigmaSchedule sigmaSchedule(SigmaGrid grid, int steps, double shift, KarrasRange range)
{
    switch (grid) {
    case SigmaGrid::Native:
        return nativeSchedule(steps, shift);
    case SigmaGrid::DiffusersFlow:
        return diffusersFlowSchedule(steps, shift);
    case SigmaGrid::Karras:
        return karrasSchedule(steps, range);
    }
    throw EngineFailure(ErrorCode::Internal, "An unknown noise schedule was asked for.");
}

std::vector<double> guidancePerStep(const ResolvedRequest &request, const SigmaSchedule &schedule)
{
    auto guidance = request.guidance;
    if (guidance.size() != schedule.timesteps.size()) {
        throw EngineFailure(ErrorCode::InvalidRequest, "The guidance has " + std::to_string(guidance.size()) +
                                                           " values, give one for each of the " +
                                                           std::to_string(schedule.steps()) + " steps.");
    }
    if (!request.guidanceInterval)
        return guidance;
    for (std::size_t step = 0; step < guidance.size(); ++step) {
        const double timestep = schedule.timesteps[step];
        if (timestep <= request.guidanceInterval->low || timestep >= request.guidanceInterval->high)
            guidance[step] = 1;
    }
    return guidance;
}

} // namespace engine
