#pragma once

#include "engine/api/progress.h"

#include <chrono>
#include <mutex>
#include <string>

namespace app {

enum class ProgressStyle {
    Silent,
    Lines, // a line at the start of each phase and every ten seconds, for files and pipes
    Live,  // one line that is written over, for a terminal
};

// "Denoising: step 5 of 16, 4 s left"
std::string progressText(const engine::Progress &progress);
// "4 s", "2 min 5 s", "1 h 3 min"
std::string durationText(std::chrono::duration<double> duration);

// Shows a run's progress on standard error. Any thread may call it.
class ProgressLine final : public engine::GenerationObserver {
public:
    explicit ProgressLine(ProgressStyle style) : m_style(style) {}
    ~ProgressLine() override { clear(); }

    void onProgress(const engine::Progress &progress) noexcept override;
    // Takes the live line away, so that something else can be printed; it comes back with the next progress.
    void clear() noexcept;

private:
    using Clock = std::chrono::steady_clock;
    [[nodiscard]] bool isDue(const engine::Progress &progress, Clock::time_point now) const;

    const ProgressStyle m_style;
    std::mutex m_mutex;
    // Guarded by m_mutex.
    bool m_isShown = false;
    bool m_hasStarted = false;
    engine::Phase m_phase = engine::Phase::Load;
    Clock::time_point m_last;
};

} // namespace app
