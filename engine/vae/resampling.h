#pragma once

#include "engine/vae/causal_blocks.h"

namespace engine {

// Twice the height and width by nearest neighbours and a 3x3 convolution; in time, for stages that do, a causal
// convolution to twice the channels whose halves become two frames. The clip's first frame stays one frame and never
// enters the history.
class Upsampler {
public:
    Upsampler(const BlockLoader &load, bool temporal);
    [[nodiscard]] at::Tensor operator()(const at::Tensor &video, ChunkCache &cache) const;

private:
    [[nodiscard]] at::Tensor doubleFrames(const at::Tensor &video, ChunkCache &cache) const; // [T, H, W, 2C]

    VideoConv m_space;
    VideoConv m_time;
    std::size_t m_slot = 0;
};

// Half the height and width by a strided 3x3 convolution (zeros at the right and the bottom); in time, for stages that
// do, a strided causal convolution. The clip's first frame passes by itself.
class Downsampler {
public:
    Downsampler(const BlockLoader &load, bool temporal);
    [[nodiscard]] at::Tensor operator()(const at::Tensor &video, ChunkCache &cache) const;

private:
    VideoConv m_space;
    VideoConv m_time;
    std::size_t m_slot = 0;
};

struct ResampleFactors {
    std::int64_t time = 1;
    std::int64_t space = 1;
    [[nodiscard]] std::int64_t volume() const { return time * space * space; }
};

// The decoder's shortcut: channels repeated, then moved to time and space. On a clip's first chunk the frames before
// the first one are dropped. -> [T * time, H * space, W * space, outChannels]
at::Tensor duplicateUp(const at::Tensor &video, std::int64_t outChannels, ResampleFactors factors, bool isFirstChunk);

// The encoder's shortcut: time and space moved to channels (zero frames put in front up to a whole factor), then
// averaged over groups. -> [ceil(T / time), H / space, W / space, outChannels]
at::Tensor averageDown(const at::Tensor &video, std::int64_t outChannels, ResampleFactors factors);

} // namespace engine
