#pragma once

#include "engine/checkpoint/model_config.h"
#include "engine/runtime/rank_context.h"
#include "engine/weights/weight_loader.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// The building blocks of the Wan 2.2 autoencoder. Videos inside it are [T, H, W, C] tensors, contiguous, so that a
// channel norm works on rows, time slices are contiguous and convolutions run channels-last. A clip goes through in
// chunks; what a layer remembers of earlier chunks lies in a ChunkCache, so that memory does not grow with the clip.
namespace engine {

// Sees a block's output by name, as [T, H, W, C]: how tests compare with the reference. Empty in normal runs.
using BlockProbe = std::function<void(std::string_view name, const at::Tensor &value)>;

// What the layers of one pass remember from chunk to chunk, one slot a layer. A new one starts a new clip.
class ChunkCache {
public:
    explicit ChunkCache(std::size_t slots) : m_slots(slots) {}
    at::Tensor &slot(std::size_t index) { return m_slots.at(index); }
    [[nodiscard]] bool isFirstChunk() const { return m_first; }
    void finishChunk() { m_first = false; }

private:
    std::vector<at::Tensor> m_slots;
    bool m_first = true;
};

// Gives every layer that remembers something its slot, in construction order.
using SlotCounter = std::size_t;

struct BlockLoader {
    const WeightLoader &load;
    SlotCounter &slots;
    std::string prefix; // "decoder.up_blocks.0."
    [[nodiscard]] BlockLoader below(const std::string &name) const { return {load, slots, prefix + name + "."}; }
    [[nodiscard]] at::Tensor operator()(const std::string &name) const { return load(prefix + name); }
};

// Convolution over a [T, H, W, C] video, without padding in time.
class VideoConv {
public:
    VideoConv() = default;
    struct Geometry {
        std::vector<std::int64_t> stride{1, 1, 1};
        std::vector<std::int64_t> padding{0, 0, 0};
    };
    VideoConv(const BlockLoader &load, const std::string &name, Geometry geometry);
    [[nodiscard]] at::Tensor operator()(const at::Tensor &video) const;
    [[nodiscard]] bool isDefined() const { return m_weight.defined(); }

private:
    at::Tensor m_weight; // [out, in, kT, kH, kW], channels last; kT = 1 for two-dimensional kernels
    at::Tensor m_bias;
    Geometry m_geometry;
};

// L2 norm over the channels times sqrt(C) * gamma, optionally with SiLU behind it.
class ChannelNorm {
public:
    ChannelNorm() = default;
    ChannelNorm(const BlockLoader &load, const std::string &name);
    // Writes to `out`, a contiguous tensor of the video's shape.
    void apply(const at::Tensor &video, at::Tensor out, bool silu) const;
    [[nodiscard]] at::Tensor operator()(const at::Tensor &video, bool silu) const;

private:
    at::Tensor m_gamma;
};

// A 3x3x3 convolution that sees two earlier frames, zeros before the first; with a channel norm and SiLU in front of it
// when `norm` is given (written straight into the padded input).
class CausalConv {
public:
    CausalConv() = default;
    CausalConv(const BlockLoader &load, const std::string &name);
    CausalConv(const BlockLoader &load, const std::string &name, const std::string &normName);
    [[nodiscard]] at::Tensor operator()(const at::Tensor &video, ChunkCache &cache) const;

private:
    VideoConv m_conv;
    std::optional<ChannelNorm> m_norm;
    std::size_t m_slot = 0;
};

class ResidualBlock {
public:
    explicit ResidualBlock(const BlockLoader &load);
    [[nodiscard]] at::Tensor operator()(const at::Tensor &video, ChunkCache &cache) const;

private:
    CausalConv m_first;
    CausalConv m_second;
    VideoConv m_shortcut;
};

// Residual block, single-head attention inside each frame, residual block.
class MidBlock {
public:
    explicit MidBlock(const BlockLoader &load);
    [[nodiscard]] at::Tensor operator()(const at::Tensor &video, ChunkCache &cache) const;

private:
    [[nodiscard]] at::Tensor attend(const at::Tensor &video) const;

    ResidualBlock m_before;
    ChannelNorm m_norm;
    VideoConv m_qkv;
    VideoConv m_projection;
    ResidualBlock m_after;
};

} // namespace engine
