#include "engine/runtime/step_timer.h"

#include <algorithm>
#include <numeric>

namespace engine {

std::optional<StepTimer::Seconds> StepTimer::timeLeft() const
{
    if (m_spent.empty())
        return std::nullopt;
    const auto measured = static_cast<std::ptrdiff_t>(std::min(m_spent.size(), m_work.size()));
    const std::ptrdiff_t skipped = measured > 1 ? 1 : 0;
    const double spent = std::accumulate(m_spent.begin() + skipped, m_spent.begin() + measured, 0.0);
    const double done = std::accumulate(m_work.begin() + skipped, m_work.begin() + measured, 0.0);
    const double left = std::accumulate(m_work.begin() + measured, m_work.end(), 0.0);
    return Seconds(done > 0 ? spent / done * left : 0);
}

} // namespace engine
