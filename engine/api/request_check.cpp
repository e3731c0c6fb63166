#include "engine/api/request_check.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>

namespace engine {

namespace {

constexpr std::size_t kMaxPromptBytes = 1 << 20;
constexpr int kMaxSide = 4096;
// One position a token: max_position_embeddings of the published models (cosmos3 reference 2.1).
constexpr std::int64_t kMaxTokens = 262144;
constexpr int kMaxSteps = 200; // as the published HTTP API allows
constexpr double kMaxFps = 240;
constexpr double kMaxGuidance = 20;
constexpr double kMaxShift = 100;
constexpr double kMaxTimestep = 1000;
constexpr std::int64_t kMaxSeed = std::numeric_limits<std::uint32_t>::max();
constexpr std::array kAspectRatios{AspectRatio{1, 1}, AspectRatio{4, 3}, AspectRatio{3, 4}, AspectRatio{16, 9},
                                   AspectRatio{9, 16}};

std::string toText(PixelSize size)
{
    return std::to_string(size.width) + "x" + std::to_string(size.height);
}

// Shortest form: "6", "29.97", "nan".
std::string toText(double value)
{
    if (!std::isfinite(value))
        return std::to_string(value);
    if (value == std::trunc(value) && std::abs(value) < 1e15)
        return std::to_string(static_cast<std::int64_t>(value));
    return nlohmann::json(value).dump();
}

std::string toText(AspectRatio ratio)
{
    return std::to_string(ratio.width) + "," + std::to_string(ratio.height);
}

// The JSON library refuses to write anything else.
bool isUtf8(const std::string &text)
{
    try {
        static_cast<void>(nlohmann::json(text).dump());
        return true;
    } catch (const nlohmann::json::exception &) {
        return false;
    }
}

AspectRatio nearestRatio(PixelSize size)
{
    const auto distance = [&](AspectRatio ratio) {
        return std::abs(std::log(static_cast<double>(size.width) * ratio.height /
                                 (static_cast<double>(size.height) * ratio.width)));
    };
    return *std::ranges::min_element(kAspectRatios, {}, distance);
}

// The checks of one request, field by field, in the order of the request. Each fills its part of the result.
class RequestChecker {
public:
    RequestChecker(const GenerationRequest &request, const ModelProfile &profile)
        : m_request(request), m_profile(profile), m_defaults(profile.defaults(request.mode))
    {
    }

    CheckedRequest check(const RankLayout &layout)
    {
        m_result.resolved.mode = m_request.mode;
        m_result.resolved.grid = m_request.grid;
        m_result.resolved.dataType = m_request.dataType;
        checkPrompts();
        checkSize();
        checkFrames();
        checkFps();
        checkSteps();
        checkGuidance();
        checkInterval();
        checkShift();
        checkSeed();
        checkSound();
        checkLayout(layout);
        return std::move(m_result);
    }

private:
    void refuse(std::string field, std::string message)
    {
        m_result.problems.push_back({std::move(field), std::move(message)});
    }
    void note(std::string text) { m_result.notes.push_back(std::move(text)); }
    [[nodiscard]] bool isImage() const { return m_request.mode == Mode::TextToImage; }

    void checkText(const std::string &field, const std::string &thing, const std::string &text)
    {
        if (text.size() > kMaxPromptBytes)
            refuse(field, thing + " has " + std::to_string(text.size()) + " bytes: shorten it to at most " +
                              std::to_string(kMaxPromptBytes) + ".");
        else if (!isUtf8(text))
            refuse(field, thing + " is not valid UTF-8: save it as UTF-8 text and try again.");
    }

    void checkPrompts()
    {
        auto &resolved = m_result.resolved;
        const auto &modelDefault = isImage() ? m_profile.defaultImageNegativePrompt : m_profile.defaultNegativePrompt;
        resolved.prompt = m_request.prompt;
        resolved.negativePrompt = m_request.negativePrompt.value_or(modelDefault);
        resolved.negativeIsModelDefault = resolved.negativePrompt == modelDefault;
        checkText("prompt", "The prompt", resolved.prompt);
        checkText("negative_prompt", "The negative prompt", resolved.negativePrompt);
        if (!m_request.negativePrompt && !isImage() && !m_profile.defaultNegativeNote.empty())
            note(m_profile.defaultNegativeNote);
    }

    // The size of the default size's tier that has the wanted shape.
    [[nodiscard]] std::optional<PixelSize> sizeOfShape(AspectRatio ratio) const
    {
        for (const auto &tier : m_profile.tiers) {
            if (std::ranges::find(tier.sizes, m_defaults.size) == tier.sizes.end())
                continue;
            for (const auto size : tier.sizes)
                if (nearestRatio(size) == ratio)
                    return size;
        }
        return std::nullopt;
    }

    // The size when only the shape was named; the default where that shape cannot be had.
    PixelSize sizeFromAspectRatio(AspectRatio ratio)
    {
        if (std::ranges::find(kAspectRatios, ratio) == kAspectRatios.end()) {
            refuse(
                "aspect_ratio",
                "Aspect ratio " + toText(ratio) +
                    " is not one of 1,1 4,3 3,4 16,9 9,16: choose one of them, the nearest is " +
                    (ratio.width > 0 && ratio.height > 0 ? toText(nearestRatio({ratio.width, ratio.height})) : "1,1") +
                    ", or give a size.");
            return m_defaults.size;
        }
        const auto size = sizeOfShape(ratio);
        if (!size)
            refuse("aspect_ratio", "Aspect ratio " + toText(ratio) + " is none that " + m_profile.name +
                                       " has a size for: give a size instead, its own is " + toText(m_defaults.size) +
                                       ".");
        return size.value_or(m_defaults.size);
    }

    void checkSize()
    {
        auto &size = m_result.resolved.size;
        m_result.resolved.aspectRatio = m_request.aspectRatio;
        if (m_request.size)
            size = *m_request.size;
        else
            size = m_request.aspectRatio ? sizeFromAspectRatio(*m_request.aspectRatio) : m_defaults.size;
        if (m_request.size && m_request.aspectRatio &&
            (m_request.aspectRatio->width < 1 || m_request.aspectRatio->height < 1))
            refuse("aspect_ratio", "Aspect ratio " + toText(*m_request.aspectRatio) +
                                       " is impossible: give two positive numbers such as 16,9.");

        const int factor = m_profile.spatialFactor;
        const auto nearest = [factor](int side) {
            const int limited = std::clamp(side, factor, kMaxSide / factor * factor);
            return (limited + factor / 2) / factor * factor;
        };
        const PixelSize legal{nearest(size.width), nearest(size.height)};
        if (size != legal)
            refuse("size", "Size " + toText(size) + " cannot be made: both sides must be multiples of " +
                               std::to_string(factor) + " from " + std::to_string(factor) + " to " +
                               std::to_string(kMaxSide) + ", the nearest size is " + toText(legal) + ".");
        else if (m_profile.isKnown && tierOf(size) == nullptr)
            note(m_profile.name + " was not made for " + toText(size) + "; the nearest size it was made for is " +
                 toText(nearestPublished(size)) + ".");
    }

    [[nodiscard]] const SizeTier *tierOf(PixelSize size) const
    {
        for (const auto &tier : m_profile.tiers)
            if (std::ranges::find(tier.sizes, size) != tier.sizes.end())
                return &tier;
        return nullptr;
    }

    [[nodiscard]] PixelSize nearestPublished(PixelSize size) const
    {
        std::vector<PixelSize> sizes;
        for (const auto &tier : m_profile.tiers)
            sizes.insert(sizes.end(), tier.sizes.begin(), tier.sizes.end());
        const auto distance = [size](PixelSize s) {
            return std::abs(s.width - size.width) + std::abs(s.height - size.height);
        };
        return sizes.empty() ? m_defaults.size : *std::ranges::min_element(sizes, {}, distance);
    }

    // The longest clip of 4k + 1 frames whose tokens still have positions.
    [[nodiscard]] int mostFrames() const
    {
        const int pixels = m_profile.spatialFactor * m_profile.latentPatch;
        const auto size = m_result.resolved.size;
        const std::int64_t across = (size.width + pixels - 1) / pixels;
        const std::int64_t down = (size.height + pixels - 1) / pixels;
        return static_cast<int>(1 +
                                (kMaxTokens / std::max<std::int64_t>(across * down, 1) - 1) * m_profile.temporalFactor);
    }

    void checkFrames()
    {
        auto &frames = m_result.resolved.frames;
        if (isImage()) {
            frames = 1;
            if (m_request.frames.value_or(1) != 1)
                refuse("frames", "An image has one frame, not " + std::to_string(*m_request.frames) +
                                     ": leave frames out, or ask for a video.");
            return;
        }
        const int asked = m_request.frames.value_or(m_defaults.frames);
        if (asked < 1) {
            refuse("frames", "Frames " + std::to_string(asked) + " is too few: 1 is the least.");
            return;
        }
        if (!m_result.problems.empty()) // without a legal size there is no longest clip
            return;
        if (const int most = mostFrames(); asked > most) {
            refuse("frames", "Frames " + std::to_string(asked) + " is too many at " + toText(m_result.resolved.size) +
                                 ": " + std::to_string(most) + " is the most; ask for fewer or for a smaller size.");
            return;
        }
        const int factor = m_profile.temporalFactor;
        frames = (asked - 1 + factor - 1) / factor * factor + 1;
        if (frames != asked)
            note("Frames " + std::to_string(asked) + " was rounded up to " + std::to_string(frames) +
                 ": the model makes " + std::to_string(factor) + "k + 1 frames.");
        const auto *tier = tierOf(m_result.resolved.size);
        const auto trained = tier == nullptr ? m_profile.trainedFrames : tier->trainedFrames;
        if (m_profile.isKnown && !trained.contains(frames))
            note(m_profile.name + " was made for " + toText(trained.low) + " to " + toText(trained.high) +
                 " frames at this size, not for " + std::to_string(frames) + ".");
    }

    void checkFps()
    {
        const double fps = m_request.fps.value_or(m_defaults.fps);
        m_result.resolved.fps = fps;
        if (!std::isfinite(fps) || fps < 1 || fps > kMaxFps)
            refuse("fps", "Frame rate " + toText(fps) + " is out of range: " +
                              (fps > kMaxFps ? toText(kMaxFps) + " is the most." : "1 is the least."));
        else if (m_profile.isKnown && !isImage() && !m_profile.trainedFps.contains(fps))
            note(m_profile.name + " was made for " +
                 (m_profile.trainedFps.low == m_profile.trainedFps.high
                      ? toText(m_profile.trainedFps.low)
                      : toText(m_profile.trainedFps.low) + " to " + toText(m_profile.trainedFps.high)) +
                 " frames a second, not for " + toText(fps) + ".");
    }

    void checkSteps()
    {
        const int steps = m_request.steps.value_or(m_defaults.steps);
        m_result.resolved.steps = std::clamp(steps, 1, kMaxSteps);
        if (steps != m_result.resolved.steps)
            refuse("steps", "Steps " + std::to_string(steps) + " is out of range: the nearest legal value is " +
                                std::to_string(m_result.resolved.steps) + ".");
    }

    void checkScale(const std::string &thing, double scale)
    {
        if (!std::isfinite(scale))
            refuse("guidance", thing + " is not a number: " + toText(m_defaults.guidance) + " is the model's default.");
        else if (scale < 0 || scale > kMaxGuidance)
            refuse("guidance", thing + " " + toText(scale) + " is out of range: the nearest legal value is " +
                                   toText(std::clamp(scale, 0.0, kMaxGuidance)) + ".");
    }

    void checkGuidance()
    {
        const auto steps = static_cast<std::size_t>(m_result.resolved.steps);
        auto &guidance = m_result.resolved.guidance;
        if (m_request.guidanceCurve.empty()) {
            guidance.assign(steps, m_request.guidanceScale.value_or(m_defaults.guidance));
            checkScale("Guidance", guidance.front());
            return;
        }
        guidance = m_request.guidanceCurve;
        if (guidance.size() != steps)
            refuse("guidance", "The guidance curve has " + std::to_string(guidance.size()) + " values for " +
                                   std::to_string(steps) + " steps: give one value a step, or one scale for all.");
        const auto bad = std::ranges::find_if(guidance, [](double g) { return !(g >= 0 && g <= kMaxGuidance); });
        if (bad != guidance.end())
            checkScale("Guidance of step " + std::to_string(bad - guidance.begin() + 1), *bad);
    }

    void checkInterval()
    {
        m_result.resolved.guidanceInterval = m_request.guidanceInterval;
        if (!m_request.guidanceInterval)
            return;
        const auto [low, high] = *m_request.guidanceInterval;
        if (!(low >= 0 && low < high && high <= kMaxTimestep)) // also false for what is no number
            refuse("guidance_interval",
                   "Guidance interval " + toText(low) + "," + toText(high) +
                       " is impossible: give a lower and a higher time step from 0 to 1000, such as 400,1000.");
    }

    void checkShift()
    {
        const double shift = m_request.flowShift.value_or(m_defaults.flowShift);
        m_result.resolved.flowShift = shift;
        if (!std::isfinite(shift) || shift <= 0)
            refuse("shift", "Flow shift " + toText(shift) + " must be above 0: " + toText(m_defaults.flowShift) +
                                " is the model's default.");
        else if (shift > kMaxShift)
            refuse("shift", "Flow shift " + toText(shift) + " is out of range: " + toText(kMaxShift) + " is the most.");
    }

    void checkSeed()
    {
        if (!m_request.seed) {
            m_result.resolved.seed = std::random_device{}();
            return;
        }
        const auto nearest = std::clamp<std::int64_t>(*m_request.seed, 0, kMaxSeed);
        m_result.resolved.seed = static_cast<std::uint32_t>(nearest);
        if (nearest != *m_request.seed)
            refuse("seed", "Seed " + std::to_string(*m_request.seed) + " is out of range: the nearest legal value is " +
                               std::to_string(nearest) + ".");
    }

    void checkSound()
    {
        m_result.resolved.sound = m_request.sound;
        if (m_request.sound && isImage())
            refuse("sound", "An image has no sound: leave sound off, or ask for a video.");
        else if (m_request.sound && !m_profile.hasSound)
            refuse("sound", "This model (" + m_profile.name + ") has no sound: leave sound off.");
    }

    void checkLayout(const RankLayout &layout)
    {
        if (layout == RankLayout{})
            return;
        const bool isPossible = layout.cfg > 0 && layout.ulysses > 0 && layout.tensor > 0;
        refuse("layout", "Layout " + engine::toText(layout) +
                             (isPossible ? " needs several GPUs working together, which this version cannot do yet: "
                                         : " is impossible: ") +
                             "leave every degree at 1.");
    }

    const GenerationRequest &m_request;
    const ModelProfile &m_profile;
    const ModeDefaults &m_defaults;
    CheckedRequest m_result;
};

} // namespace

CheckedRequest checkRequest(const GenerationRequest &request, const ModelProfile &profile, const RankLayout &layout)
{
    return RequestChecker(request, profile).check(layout);
}

GenerationRequest toRequest(const ResolvedRequest &resolved)
{
    GenerationRequest request;
    request.mode = resolved.mode;
    request.prompt = resolved.prompt;
    request.negativePrompt = resolved.negativePrompt;
    request.size = resolved.size;
    request.aspectRatio = resolved.aspectRatio;
    request.frames = resolved.frames;
    request.fps = resolved.fps;
    request.steps = resolved.steps;
    const auto &guidance = resolved.guidance;
    if (!guidance.empty() && std::ranges::count(guidance, guidance.front()) == std::ssize(guidance))
        request.guidanceScale = guidance.front();
    else
        request.guidanceCurve = guidance;
    request.guidanceInterval = resolved.guidanceInterval;
    request.flowShift = resolved.flowShift;
    request.grid = resolved.grid;
    request.seed = resolved.seed;
    request.sound = resolved.sound;
    request.dataType = resolved.dataType;
    return request;
}

} // namespace engine
