#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace engine {

enum class Phase { Load, Text, Denoise, Decode, Write };

// Lower-case English name, as logs and records write it: "load", "text", "denoise", "decode", "write".
constexpr const char *phaseName(Phase phase)
{
    switch (phase) {
    case Phase::Load:
        return "load";
    case Phase::Text:
        return "text";
    case Phase::Denoise:
        return "denoise";
    case Phase::Decode:
        return "decode";
    case Phase::Write:
        return "write";
    }
    return "";
}

struct Progress {
    Phase phase = Phase::Load;
    int step = 0;  // finished steps (denoise), latent frames (decode), tensors (load)
    int steps = 0; // 0 while unknown
    // To the end of the job, from the measured steps of this run; nothing before the first is measured.
    std::optional<std::chrono::duration<double>> timeLeft;
};

// Called from engine threads. Must return at once and must not throw.
class GenerationObserver {
public:
    virtual ~GenerationObserver() = default;
    virtual void onProgress(const Progress &progress) noexcept = 0;
};

} // namespace engine
