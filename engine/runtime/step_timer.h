#pragma once

#include <chrono>
#include <optional>
#include <utility>
#include <vector>

namespace engine {

// How long the steps of a run took, and so how long the rest will take. Used by one thread.
class StepTimer {
public:
    using Seconds = std::chrono::duration<double>;

    // The work of every step relative to the others: 2 where both branches of guidance run, 1 where one does, and what
    // decoding costs as further steps.
    explicit StepTimer(std::vector<double> work) : m_work(std::move(work)) {}

    void add(Seconds spent) { m_spent.push_back(spent.count()); }
    [[nodiscard]] const std::vector<double> &seconds() const { return m_spent; }
    // Nothing before the first step is measured. The first step also warms up caches and is left out once there is a
    // second.
    [[nodiscard]] std::optional<Seconds> timeLeft() const;

private:
    std::vector<double> m_work;
    std::vector<double> m_spent;
};

} // namespace engine
