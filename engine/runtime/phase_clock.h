#pragma once

#include "engine/api/outcome.h"

#include <chrono>
#include <optional>
#include <vector>

namespace engine {

// Measures how long each phase of a job takes and how much memory the process holds meanwhile. One a job, used by one
// thread; only one at a time in a process, since they share the kernel's high-water mark.
class PhaseClock {
public:
    // Ends the phase before and begins this one. A phase entered again adds to what it had.
    void enter(Phase phase);
    // Ends the phase that runs, if any.
    void stop();
    // The ended phases in the order of their first entry.
    [[nodiscard]] const std::vector<PhaseTiming> &timings() const { return m_timings; }

private:
    std::vector<PhaseTiming> m_timings;
    std::optional<Phase> m_current;
    std::chrono::steady_clock::time_point m_begin;
};

} // namespace engine
