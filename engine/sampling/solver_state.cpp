#include "engine/sampling/solver_state.h"

#include <ATen/ops/empty_like.h>
#include <ATen/ops/sub.h>

#include <utility>

namespace engine {

SolverState::SolverState(at::Tensor start, const SigmaSchedule &schedule)
    : m_sigmas(schedule.sigmas), m_steps(unipcSteps(schedule.sigmas)), m_state(std::move(start)),
      m_corrected(at::empty_like(m_state)), m_models{at::empty_like(m_state), at::empty_like(m_state)}
{
}

// m = x - sigma*v
void SolverState::writeModelOutput(const at::Tensor &velocity, at::Tensor &output) const
{
    output.copy_(velocity).mul_(m_sigmas.at(static_cast<std::size_t>(m_step)));
    if (velocity.scalar_type() != at::kFloat)
        output.copy_(output.to(velocity.scalar_type()));
    at::sub_out(output, m_state, output);
}

void SolverState::advance(const at::Tensor &velocity)
{
    const auto &step = m_steps.at(static_cast<std::size_t>(m_step));
    auto &current = m_models.at(static_cast<std::size_t>(m_step % 2)); // holds the output of two steps before
    const auto &previous = m_models.at(static_cast<std::size_t>((m_step + 1) % 2));

    if (step.corrects) {
        m_corrected.mul_(step.keep);
        if (step.usesOlder)
            m_corrected.add_(current, step.older);
        writeModelOutput(velocity, current);
        m_corrected.add_(previous, step.previous).add_(current, step.current);
    } else {
        writeModelOutput(velocity, current);
        m_corrected.copy_(m_state);
    }

    m_state.copy_(m_corrected).mul_(step.predictKeep).add_(current, step.predictCurrent);
    if (step.usesPrevious)
        m_state.add_(previous, step.predictPrevious);
    ++m_step;
}

} // namespace engine
