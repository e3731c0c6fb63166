#include "engine/vae/wan_decoder.h"

#include <ATen/TensorOperators.h>

#include <string>
#include <utility>

namespace engine {

WanDecoder::WanDecoder(const VaeConfig &config, const WeightLoader &load)
    : m_config(config), m_options(at::TensorOptions(load.device()).dtype(load.type())), m_scaling(config, m_options)
{
    const BlockLoader root{load, m_slots, ""};
    const auto decoder = root.below("decoder");
    m_postQuant = VideoConv(root, "post_quant_conv", {});
    m_convIn.emplace(decoder, "conv_in");
    m_mid.emplace(decoder.below("mid_block"));
    const auto stages = config.dimMult.size();
    for (std::size_t stage = 0; stage < stages; ++stage) {
        const auto block = decoder.below("up_blocks." + std::to_string(stage));
        UpStage up;
        up.outChannels = config.decoderBaseDim * config.dimMult[stages - 1 - stage];
        for (std::int64_t index = 0; index <= config.resBlocks; ++index)
            up.blocks.emplace_back(block.below("resnets." + std::to_string(index)));
        if (stage + 1 < stages) { // the last stage keeps its size and has no shortcut
            const bool temporal = config.temporalDownsample[stages - 2 - stage];
            up.upsampler.emplace(block.below("upsampler"), temporal);
            up.factors = {.time = temporal ? 2 : 1, .space = 2};
        }
        m_stages.push_back(std::move(up));
    }
    m_normOut.emplace(decoder, "norm_out");
    m_convOut.emplace(decoder, "conv_out", "norm_out");
}

at::Tensor WanDecoder::decodeFrame(const at::Tensor &latentFrame, ChunkCache &cache, const RankContext &context,
                                   const BlockProbe &probe) const
{
    const auto look = [&](const std::string &name, const at::Tensor &value) {
        if (probe)
            probe(name, value);
    };
    auto video = (*m_convIn)(latentFrame, cache);
    look("conv_in", video);
    video = (*m_mid)(video, cache);
    look("mid_block", video);
    for (std::size_t index = 0; index < m_stages.size(); ++index) {
        context.check();
        const auto &stage = m_stages[index];
        const auto before = video;
        for (const auto &block : stage.blocks)
            video = block(video, cache);
        if (stage.upsampler) {
            video = (*stage.upsampler)(video, cache);
            video.add_(duplicateUp(before, stage.outChannels, stage.factors, cache.isFirstChunk()));
        }
        look("up_block" + std::to_string(index), video);
    }
    if (probe)
        probe("norm_out", (*m_normOut)(video, /*silu=*/false));
    video = (*m_convOut)(video, cache);
    cache.finishChunk();
    return unpackPixels(video, m_config.patchSize);
}

WanDecoder::Session::Session(const WanDecoder &decoder, at::Tensor latents)
    : m_decoder(decoder), m_latents(std::move(latents)), m_cache(decoder.m_slots)
{
}

at::Tensor WanDecoder::Session::next(const RankContext &context, const BlockProbe &probe)
{
    const auto normalised = m_latents.narrow(1, m_next, 1).to(m_decoder.m_options).permute({1, 2, 3, 0}).contiguous();
    const auto frame = m_decoder.m_postQuant(m_decoder.m_scaling.restore(normalised));
    if (probe)
        probe("post_quant_conv", frame);
    auto pixels = m_decoder.decodeFrame(frame, m_cache, context, probe);
    ++m_next;
    return pixels;
}

at::Tensor unpackPixels(const at::Tensor &packed, std::int64_t patch)
{
    const auto frames = packed.size(0);
    const auto height = packed.size(1);
    const auto width = packed.size(2);
    const auto colours = packed.size(3) / (patch * patch);
    return packed.view({frames, height, width, colours, patch, patch})
        .permute({0, 1, 5, 2, 4, 3})
        .reshape({frames, height * patch, width * patch, colours});
}

at::Tensor packPixels(const at::Tensor &pixels, std::int64_t patch)
{
    const auto frames = pixels.size(0);
    const auto height = pixels.size(1) / patch;
    const auto width = pixels.size(2) / patch;
    const auto colours = pixels.size(3);
    return pixels.reshape({frames, height, patch, width, patch, colours})
        .permute({0, 1, 3, 5, 4, 2})
        .reshape({frames, height, width, colours * patch * patch});
}

at::Tensor toBytes(const at::Tensor &pixels)
{
    return ((pixels.to(at::kFloat) + 1) / 2).clamp_(0, 1).mul_(255).to(at::kByte).to(at::kCPU);
}

} // namespace engine
