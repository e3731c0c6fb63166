#include "app/cli/progress_line.h"

#include <cmath>
#include <cstdio>

namespace app {

namespace {

using namespace std::chrono_literals;

struct PhaseWords {
    const char *doing;
    const char *unit; // what Progress::step counts
};

PhaseWords wordsFor(engine::Phase phase)
{
    switch (phase) {
    case engine::Phase::Load:
        return {"Loading the weights", "tensor"};
    case engine::Phase::Text:
        return {"Reading the prompts", "prompt"};
    case engine::Phase::Denoise:
        return {"Denoising", "step"};
    case engine::Phase::Decode:
        return {"Decoding", "latent frame"};
    case engine::Phase::Write:
        return {"Writing", "file"};
    }
    return {"", ""};
}

} // namespace

std::string durationText(std::chrono::duration<double> duration)
{
    const auto seconds = std::llround(std::max(duration.count(), 0.0));
    if (seconds < 60)
        return std::to_string(seconds) + " s";
    if (seconds < 3600)
        return std::to_string(seconds / 60) + " min " + std::to_string(seconds % 60) + " s";
    return std::to_string(seconds / 3600) + " h " + std::to_string(seconds / 60 % 60) + " min";
}

std::string progressText(const engine::Progress &progress)
{
    const auto words = wordsFor(progress.phase);
    std::string text = words.doing;
    if (progress.steps > 0)
        text += std::string(": ") + words.unit + " " + std::to_string(progress.step) + " of " +
                std::to_string(progress.steps);
    if (progress.timeLeft)
        text += ", " + durationText(*progress.timeLeft) + " left";
    return text;
}

bool ProgressLine::isDue(const engine::Progress &progress, Clock::time_point now) const
{
    if (!m_hasStarted || progress.phase != m_phase)
        return true;
    return now - m_last >= (m_style == ProgressStyle::Live ? 100ms : 10s);
}

void ProgressLine::onProgress(const engine::Progress &progress) noexcept
{
    const std::lock_guard lock(m_mutex);
    const auto now = Clock::now();
    if (m_style == ProgressStyle::Silent || !isDue(progress, now))
        return;
    m_hasStarted = true;
    m_phase = progress.phase;
    m_last = now;
    const auto text = progressText(progress);
    if (m_style == ProgressStyle::Live) {
        std::fprintf(stderr, "\r\x1b[K%s", text.c_str()); // \x1b[K: erase to the end of the line
        std::fflush(stderr);
        m_isShown = true;
    } else {
        std::fprintf(stderr, "%s\n", text.c_str());
    }
}

void ProgressLine::clear() noexcept
{
    const std::lock_guard lock(m_mutex);
    if (!m_isShown)
        return;
    std::fputs("\r\x1b[K", stderr);
    std::fflush(stderr);
    m_isShown = false;
}

} // namespace app
