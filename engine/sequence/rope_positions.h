#pragma once

#include "engine/sequence/latent_geometry.h"

#include <array>
#include <cstdint>
#include <vector>

namespace engine {

// Positions of a run of tokens on the three axes, fp32: axes[0] is T, [1] H, [2] W; one value a token.
struct Positions {
    std::array<std::vector<float>, 3> axes;
    [[nodiscard]] std::size_t size() const { return axes[0].size(); }
    void append(const Positions &other);
};

// The framework rounds fps to bf16 before it enters the positions (29.97 -> 30).
float positionFps(double fps);

struct PositionRules {
    double baseFps = 24;
    int temporalCompression = 4;
    int temporalMargin = 15000;
    bool fpsModulation = true;
    double soundLatentFps = 25;
};

Positions textPositions(std::int64_t tokens);
// Latent tokens in t, h, w order; `textTokens` includes both suffix tokens. Formed in fp32 as
// (i / (fps/4)) * (24/4) + offset, each operation rounded (cosmos3 reference 3.4).
Positions visionPositions(const LatentGeometry &geometry, std::int64_t textTokens, double fps,
                          const PositionRules &rules);
Positions soundPositions(std::int64_t tokens, std::int64_t textTokens, const PositionRules &rules);
// One action a pixel frame, the first belonging to pixel frame `firstFrame` (1: actions lead from frame to frame).
Positions actionPositions(std::int64_t tokens, std::int64_t textTokens, double fps, const PositionRules &rules,
                          std::int64_t firstFrame = 1);

// Inverse frequencies theta^(-2k/headDim), k < headDim/2, fp32.
std::vector<float> inverseFrequencies(std::int64_t headDim, double theta);
// Which axis turns frequency k: H where k mod 3 = 1 and k < 3*section[1], W where k mod 3 = 2 and k < 3*section[2],
// else T.
std::vector<int> frequencyAxes(std::int64_t headDim, const std::vector<int> &mropeSection);

// cos and sin of fp32 angles, [tokens, headDim/2] each, row-major; the second half of a head repeats the first.
struct RotaryTable {
    std::int64_t tokens = 0;
    std::int64_t half = 0;
    std::vector<float> cos;
    std::vector<float> sin;
};
RotaryTable rotaryTable(const Positions &positions, std::int64_t headDim, double theta,
                        const std::vector<int> &mropeSection);

} // namespace engine
