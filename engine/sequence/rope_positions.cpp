#include "engine/sequence/rope_positions.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace engine {

namespace {

// T positions of `count` latents: (i + first) / rate * baseRate + offset, where rate is latents a second. Each of the
// operations rounds to fp32 by itself, as the reference's tensors do.
struct TemporalAxis {
    float rate = 1;
    float baseRate = 1;
    float offset = 0;
    std::int64_t first = 0;

    [[nodiscard]] float at(std::int64_t index) const
    {
        const float scaled = static_cast<float>(index + first) / rate;
        const float atBaseRate = scaled * baseRate;
        return atBaseRate + offset;
    }
};

TemporalAxis temporalAxis(double rate, double baseRate, std::int64_t textTokens, const PositionRules &rules)
{
    TemporalAxis axis{.offset = static_cast<float>(textTokens + rules.temporalMargin)};
    if (rules.fpsModulation) {
        axis.rate = static_cast<float>(rate);
        axis.baseRate = static_cast<float>(baseRate);
    }
    return axis;
}

// Latents without a place in the image: 0 on the H and W axes.
Positions placelessPositions(std::int64_t tokens, const TemporalAxis &axis)
{
    Positions positions;
    const auto count = static_cast<std::size_t>(tokens);
    positions.axes[0].reserve(count);
    for (std::int64_t i = 0; i < tokens; ++i)
        positions.axes[0].push_back(axis.at(i));
    positions.axes[1].assign(count, 0.0F);
    positions.axes[2].assign(count, 0.0F);
    return positions;
}

} // namespace

void Positions::append(const Positions &other)
{
    for (std::size_t axis = 0; axis < axes.size(); ++axis)
        axes.at(axis).insert(axes.at(axis).end(), other.axes.at(axis).begin(), other.axes.at(axis).end());
}

float positionFps(double fps)
{
    const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(fps));
    const std::uint32_t lastKept = (bits >> 16U) & 1U; // ties go to even
    return std::bit_cast<float>((bits + 0x7fffU + lastKept) & 0xffff0000U);
}

Positions textPositions(std::int64_t tokens)
{
    Positions positions;
    for (auto &axis : positions.axes) {
        axis.reserve(static_cast<std::size_t>(tokens));
        for (std::int64_t i = 0; i < tokens; ++i)
            axis.push_back(static_cast<float>(i));
    }
    return positions;
}

Positions visionPositions(const LatentGeometry &geometry, std::int64_t textTokens, double fps,
                          const PositionRules &rules)
{
    const double compression = rules.temporalCompression;
    const auto temporal = temporalAxis(positionFps(fps) / compression, rules.baseFps / compression, textTokens, rules);
    Positions positions;
    for (auto &axis : positions.axes)
        axis.reserve(static_cast<std::size_t>(geometry.visionTokens()));
    for (std::int64_t t = 0; t < geometry.frames; ++t) {
        for (std::int64_t h = 0; h < geometry.gridHeight(); ++h) {
            for (std::int64_t w = 0; w < geometry.gridWidth(); ++w) {
                positions.axes[0].push_back(temporal.at(t));
                positions.axes[1].push_back(static_cast<float>(h));
                positions.axes[2].push_back(static_cast<float>(w));
            }
        }
    }
    return positions;
}

Positions soundPositions(std::int64_t tokens, std::int64_t textTokens, const PositionRules &rules)
{
    return placelessPositions(tokens, temporalAxis(rules.soundLatentFps, rules.baseFps, textTokens, rules));
}

Positions actionPositions(std::int64_t tokens, std::int64_t textTokens, double fps, const PositionRules &rules,
                          std::int64_t firstFrame)
{
    auto axis = temporalAxis(positionFps(fps), rules.baseFps / rules.temporalCompression, textTokens, rules);
    axis.first = firstFrame;
    return placelessPositions(tokens, axis);
}

std::vector<float> inverseFrequencies(std::int64_t headDim, double theta)
{
    std::vector<float> frequencies;
    frequencies.reserve(static_cast<std::size_t>(headDim / 2));
    for (std::int64_t k = 0; k < headDim / 2; ++k) {
        // The reference takes the power of an fp32 exponent, then the reciprocal of the fp32 result.
        const float exponent = static_cast<float>(2 * k) / static_cast<float>(headDim);
        const auto power = static_cast<float>(std::pow(theta, static_cast<double>(exponent)));
        frequencies.push_back(1.0F / power);
    }
    return frequencies;
}

std::vector<int> frequencyAxes(std::int64_t headDim, const std::vector<int> &mropeSection)
{
    std::vector<int> axes(static_cast<std::size_t>(headDim / 2), 0);
    for (std::size_t axis = 1; axis < 3; ++axis) {
        const auto end = 3 * static_cast<std::size_t>(mropeSection.at(axis));
        for (std::size_t k = axis; k < std::min(end, axes.size()); k += 3)
            axes[k] = static_cast<int>(axis);
    }
    return axes;
}

RotaryTable rotaryTable(const Positions &positions, std::int64_t headDim, double theta,
                        const std::vector<int> &mropeSection)
{
    const auto frequencies = inverseFrequencies(headDim, theta);
    const auto axes = frequencyAxes(headDim, mropeSection);
    RotaryTable table;
    table.tokens = static_cast<std::int64_t>(positions.size());
    table.half = headDim / 2;
    table.cos.reserve(positions.size() * frequencies.size());
    table.sin.reserve(positions.size() * frequencies.size());
    for (std::size_t token = 0; token < positions.size(); ++token) {
        for (std::size_t k = 0; k < frequencies.size(); ++k) {
            const float position = positions.axes[static_cast<std::size_t>(axes[k])][token];
            const float angle = frequencies[k] * position;
            table.cos.push_back(static_cast<float>(std::cos(static_cast<double>(angle))));
            table.sin.push_back(static_cast<float>(std::sin(static_cast<double>(angle))));
        }
    }
    return table;
}

} // namespace engine
