#include "engine/vae/resampling.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

namespace engine {

Upsampler::Upsampler(const BlockLoader &load, bool temporal) : m_space(load, "resample.1", {.padding = {0, 1, 1}})
{
    if (temporal) {
        m_time = VideoConv(load, "time_conv", {});
        m_slot = load.slots++;
    }
}

at::Tensor Upsampler::doubleFrames(const at::Tensor &video, ChunkCache &cache) const
{
    auto &history = cache.slot(m_slot); // zeros after the first chunk: its frame is no part of the history
    const auto padded = at::cat({history, video}, 0);
    history = padded.narrow(0, padded.size(0) - 2, 2).clone();
    return m_time(padded);
}

at::Tensor Upsampler::operator()(const at::Tensor &video, ChunkCache &cache) const
{
    const auto frames = video.size(0);
    const auto height = video.size(1);
    const auto width = video.size(2);
    const auto channels = video.size(3);
    std::int64_t copies = 1; // frames out of each frame
    auto source = video;
    if (m_time.isDefined() && cache.isFirstChunk()) {
        auto shape = video.sizes().vec();
        shape[0] = 2;
        cache.slot(m_slot) = at::zeros(shape, video.options());
    } else if (m_time.isDefined()) {
        source = doubleFrames(video, cache);
        copies = 2;
    }
    // Channel halves to frames and nearest neighbours in one copy.
    const auto doubled = source.view({frames, height, 1, width, 1, copies, channels})
                             .permute({0, 5, 1, 2, 3, 4, 6})
                             .expand({frames, copies, height, 2, width, 2, channels})
                             .reshape({frames * copies, height * 2, width * 2, channels});
    return m_space(doubled);
}

Downsampler::Downsampler(const BlockLoader &load, bool temporal) : m_space(load, "resample.1", {.stride = {1, 2, 2}})
{
    if (temporal) {
        m_time = VideoConv(load, "time_conv", {.stride = {2, 1, 1}});
        m_slot = load.slots++;
    }
}

at::Tensor Downsampler::operator()(const at::Tensor &video, ChunkCache &cache) const
{
    const auto smaller = m_space(at::constant_pad_nd(video, {0, 0, 0, 1, 0, 1}));
    if (!m_time.isDefined())
        return smaller;
    auto &last = cache.slot(m_slot);
    const auto result = last.defined() ? m_time(at::cat({last, smaller}, 0)) : smaller;
    last = smaller.narrow(0, smaller.size(0) - 1, 1).clone();
    return result;
}

at::Tensor duplicateUp(const at::Tensor &video, std::int64_t outChannels, ResampleFactors factors, bool isFirstChunk)
{
    const auto frames = video.size(0);
    const auto height = video.size(1);
    const auto width = video.size(2);
    const auto [time, space] = factors;
    const auto repeats = outChannels * factors.volume() / video.size(3);
    // Expanded channel e = (out, time, row, column) comes from channel e / repeats.
    std::vector<std::int64_t> sources;
    for (std::int64_t e = 0; e < outChannels * factors.volume(); ++e)
        sources.push_back(e / repeats);
    const auto expanded = video.index_select(3, at::tensor(sources, video.options().dtype(at::kLong)));
    const auto result = expanded.view({frames, height, width, outChannels, time, space, space})
                            .permute({0, 4, 1, 5, 2, 6, 3})
                            .reshape({frames * time, height * space, width * space, outChannels});
    return isFirstChunk ? result.narrow(0, time - 1, result.size(0) - (time - 1)) : result;
}

at::Tensor averageDown(const at::Tensor &video, std::int64_t outChannels, ResampleFactors factors)
{
    const auto [time, space] = factors;
    const auto missing = (time - video.size(0) % time) % time;
    const auto padded = missing == 0 ? video : at::constant_pad_nd(video, {0, 0, 0, 0, 0, 0, missing, 0});
    const auto frames = padded.size(0) / time;
    const auto height = padded.size(1) / space;
    const auto width = padded.size(2) / space;
    const auto group = video.size(3) * factors.volume() / outChannels;
    return padded.view({frames, time, height, space, width, space, video.size(3)})
        .permute({0, 2, 4, 6, 1, 3, 5}) // channel, then time, row, column: the order of the reference's groups
        .reshape({frames, height, width, outChannels, group})
        .mean(-1);
}

} // namespace engine
