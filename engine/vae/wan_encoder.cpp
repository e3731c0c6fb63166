#include "engine/vae/wan_encoder.h"

#include "engine/vae/wan_decoder.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>

#include <algorithm>
#include <string>

namespace engine {

WanEncoder::WanEncoder(const VaeConfig &config, const WeightLoader &load)
    : m_config(config), m_options(at::TensorOptions(load.device()).dtype(load.type())), m_scaling(config, m_options)
{
    const BlockLoader root{load, m_slots, ""};
    const auto encoder = root.below("encoder");
    m_convIn.emplace(encoder, "conv_in");
    const auto stages = config.dimMult.size();
    for (std::size_t stage = 0; stage < stages; ++stage) {
        const auto block = encoder.below("down_blocks." + std::to_string(stage));
        DownStage down;
        down.outChannels = config.baseDim * config.dimMult[stage];
        for (std::int64_t index = 0; index < config.resBlocks; ++index)
            down.blocks.emplace_back(block.below("resnets." + std::to_string(index)));
        if (stage + 1 < stages) { // the last stage keeps its size; its shortcut only averages channels
            const bool temporal = config.temporalDownsample[stage];
            down.downsampler.emplace(block.below("downsampler"), temporal);
            down.factors = {.time = temporal ? 2 : 1, .space = 2};
        }
        m_stages.push_back(std::move(down));
    }
    m_mid.emplace(encoder.below("mid_block"));
    m_convOut.emplace(encoder, "conv_out", "norm_out");
    m_quant = VideoConv(root, "quant_conv", {});
}

at::Tensor WanEncoder::encodeChunk(const at::Tensor &pixels, ChunkCache &cache, const BlockProbe &probe) const
{
    const auto look = [&](const std::string &name, const at::Tensor &value) {
        if (probe)
            probe(name, value);
    };
    auto video = (*m_convIn)(packPixels(pixels, m_config.patchSize), cache);
    look("conv_in", video);
    for (std::size_t index = 0; index < m_stages.size(); ++index) {
        const auto &stage = m_stages[index];
        const auto shortcut = averageDown(video, stage.outChannels, stage.factors);
        for (const auto &block : stage.blocks)
            video = block(video, cache);
        if (stage.downsampler)
            video = (*stage.downsampler)(video, cache);
        video = video + shortcut;
        look("down_block" + std::to_string(index), video);
    }
    video = (*m_mid)(video, cache);
    look("mid_block", video);
    video = m_quant((*m_convOut)(video, cache));
    cache.finishChunk();
    return video.narrow(3, 0, m_config.zDim); // mean | log variance
}

at::Tensor WanEncoder::encode(const at::Tensor &pixels, const RankContext &context, const BlockProbe &probe) const
{
    const auto input = pixels.to(m_options);
    const auto chunk = m_config.temporalFactor();
    ChunkCache cache(m_slots);
    std::vector<at::Tensor> latents;
    for (std::int64_t first = 0; first < input.size(0);) {
        context.check();
        const auto count = first == 0 ? 1 : std::min(chunk, input.size(0) - first);
        latents.push_back(encodeChunk(input.narrow(0, first, count), cache, probe));
        first += count;
    }
    return m_scaling.normalise(at::cat(latents, 0)).permute({3, 0, 1, 2}).to(at::kFloat).contiguous();
}

} // namespace engine
