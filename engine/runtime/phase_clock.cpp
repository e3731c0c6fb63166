#include "engine/runtime/phase_clock.h"

#include "engine/runtime/process_memory.h"

#include <algorithm>

namespace engine {

void PhaseClock::enter(Phase phase)
{
    stop();
    resetPeakResidentBytes();
    m_current = phase;
    m_begin = std::chrono::steady_clock::now();
}

void PhaseClock::stop()
{
    if (!m_current)
        return;
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - m_begin;
    auto found = std::find_if(m_timings.begin(), m_timings.end(),
                              [this](const PhaseTiming &timing) { return timing.phase == *m_current; });
    if (found == m_timings.end())
        found = m_timings.insert(found, {.phase = *m_current});
    found->seconds += spent.count();
    found->peakBytes = std::max(found->peakBytes, peakResidentBytes());
    m_current.reset();
}

} // namespace engine
