#pragma once

#include "engine/api/outcome.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

namespace engine {

struct FrameRate {
    int numerator = 0;
    int denominator = 1;
    bool operator==(const FrameRate &) const = default;
};

struct ClipInfo {
    int width = 0;
    int height = 0;
    int frames = 0;    // counted, not taken from the header
    FrameRate rate;    // frames a second
    int soundRate = 0; // samples a second, 0 without sound
    int soundChannels = 0;
};

using RgbFrame = std::vector<std::uint8_t>; // [height, width, 3], full range

// Frames of a clip by index in the order they are shown, exactly, in any order; forward reading is fastest. Colours
// come back by the stream's own matrix and range. One thread at a time.
class VideoReader {
public:
    // Opens the file and lists its frames. The reason in one sentence (InvalidRequest) when it cannot be read.
    static std::variant<VideoReader, EngineError> open(const std::filesystem::path &file);
    ~VideoReader();
    VideoReader(VideoReader &&) noexcept;
    VideoReader &operator=(VideoReader &&) noexcept;

    [[nodiscard]] const ClipInfo &info() const;
    std::variant<RgbFrame, EngineError> frameAt(int index);
    // The frame after the last one read, the first at the start; no frame after the end.
    std::variant<std::optional<RgbFrame>, EngineError> next();

private:
    class Impl;
    explicit VideoReader(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> m_impl;
};

} // namespace engine
