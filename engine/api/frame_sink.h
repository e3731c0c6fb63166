#pragma once

#include "engine/api/outcome.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace engine {

struct VideoFormat {
    int width = 0;
    int height = 0;
    int frames = 0;
    double fps = 24;
    int soundRate = 0; // samples a second, 0 without sound
    int soundChannels = 0;
};

// Where a run's results go; the engine knows no file format. All calls come from the thread that called
// generate(), in this order: open, latents (once per tensor), frames (in order, any count at a time), sound.
// A returned error ends the run with that reason.
class FrameSink {
public:
    using Result = std::optional<EngineError>; // nothing: all is well

    virtual ~FrameSink() = default;
    virtual Result open(const VideoFormat &format) = 0;
    // rgb: [count, height, width, 3], 8 bits a channel. Valid during the call.
    virtual Result frames(std::span<const std::uint8_t> rgb, int count) = 0;
    // samples: [channels, samples], -1..1, planar. Valid during the call.
    virtual Result sound(std::span<const float> samples, int channels) = 0;
    // Final latents before decoding: "latents" [C,T,H,W], "sound_latents" [C,S]. Valid during the call.
    virtual Result latents(std::string_view name, std::span<const float> values,
                           std::span<const std::int64_t> shape) = 0;
};

} // namespace engine
