#include "engine/vae/causal_blocks.h"

#include "engine/kernels/cpu_rows.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/convolution.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/mkldnn_convolution.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <ATen/ops/silu.h>

#include <cmath>
#include <utility>

namespace engine {

namespace {

constexpr std::int64_t kRowsPerTask = 64;
constexpr std::int64_t kHistory = 2; // frames a kernel of three looks back

// oneDNN's own operator: ATen's choice is up to ten times slower for fp32 (see docs/measurements).
bool oneDnnTakes(const at::Tensor &video)
{
    return video.device().is_cpu() && at::globalContext().userEnabledMkldnn() &&
           (video.scalar_type() == at::kFloat || (video.scalar_type() == at::kBFloat16 && kernels::cpuHasAvx512()));
}

} // namespace

VideoConv::VideoConv(const BlockLoader &load, const std::string &name, Geometry geometry)
    : m_weight(load(name + ".weight")), m_bias(load(name + ".bias").clone()), m_geometry(std::move(geometry))
{
    if (m_weight.dim() == 4)
        m_weight = m_weight.unsqueeze(2);
    m_weight = m_weight.clone().contiguous(at::MemoryFormat::ChannelsLast3d);
}

at::Tensor VideoConv::operator()(const at::Tensor &video) const
{
    const auto input = video.permute({3, 0, 1, 2}).unsqueeze(0); // [1, C, T, H, W], channels last in memory
    const auto &[stride, padding] = m_geometry;
    const std::vector<std::int64_t> dilation{1, 1, 1};
    const auto output = oneDnnTakes(video)
                            ? at::mkldnn_convolution(input, m_weight, m_bias, padding, stride, dilation, 1)
                            : at::convolution(input, m_weight, m_bias, stride, padding, dilation, false, {0, 0, 0}, 1);
    return output.squeeze(0).permute({1, 2, 3, 0}).contiguous();
}

ChannelNorm::ChannelNorm(const BlockLoader &load, const std::string &name)
    : m_gamma(load(name + ".gamma").clone().flatten())
{
}

void ChannelNorm::apply(const at::Tensor &video, at::Tensor out, bool silu) const
{
    if (!video.device().is_cpu()) {
        const auto length = at::linalg_vector_norm(video, 2, at::IntArrayRef{-1}, true).clamp_min(1e-12);
        const auto scaled = video / length * std::sqrt(static_cast<double>(video.size(-1))) * m_gamma;
        out.copy_(silu ? at::silu(scaled) : scaled);
        return;
    }
    const auto width = video.size(-1);
    const kernels::ChannelNormRows norm{.type = video.scalar_type() == at::kFloat ? kernels::RowType::Float32
                                                                                  : kernels::RowType::BFloat16,
                                        .width = width,
                                        .gamma = m_gamma.data_ptr(),
                                        .silu = silu};
    const auto input = video.contiguous();
    const auto bytes = width * static_cast<std::int64_t>(video.element_size());
    const auto *from = static_cast<const std::byte *>(input.data_ptr());
    auto *to = static_cast<std::byte *>(out.data_ptr());
    at::parallel_for(0, input.numel() / width, kRowsPerTask, [&](std::int64_t begin, std::int64_t end) {
        kernels::channelNorm(norm, from + begin * bytes, to + begin * bytes, end - begin);
    });
}

at::Tensor ChannelNorm::operator()(const at::Tensor &video, bool silu) const
{
    auto out = at::empty_like(video, video.options(), at::MemoryFormat::Contiguous);
    apply(video, out, silu);
    return out;
}

CausalConv::CausalConv(const BlockLoader &load, const std::string &name)
    : m_conv(load, name, {.padding = {0, 1, 1}}), m_slot(load.slots++)
{
}

CausalConv::CausalConv(const BlockLoader &load, const std::string &name, const std::string &normName)
    : CausalConv(load, name)
{
    m_norm.emplace(load, normName);
}

at::Tensor CausalConv::operator()(const at::Tensor &video, ChunkCache &cache) const
{
    auto shape = video.sizes().vec();
    const auto frames = shape[0];
    shape[0] += kHistory;
    auto padded = at::empty(shape, video.options());
    auto &history = cache.slot(m_slot);
    auto past = padded.narrow(0, 0, kHistory);
    if (history.defined())
        past.copy_(history);
    else
        past.zero_();
    auto present = padded.narrow(0, kHistory, frames);
    if (m_norm)
        m_norm->apply(video, present, /*silu=*/true);
    else
        present.copy_(video);
    history = padded.narrow(0, frames, kHistory).clone();
    return m_conv(padded);
}

ResidualBlock::ResidualBlock(const BlockLoader &load)
    : m_first(load, "conv1", "norm1"), m_second(load, "conv2", "norm2")
{
    if (load.load.has(load.prefix + "conv_shortcut.weight"))
        m_shortcut = VideoConv(load, "conv_shortcut", {});
}

at::Tensor ResidualBlock::operator()(const at::Tensor &video, ChunkCache &cache) const
{
    auto result = m_second(m_first(video, cache), cache);
    return result.add_(m_shortcut.isDefined() ? m_shortcut(video) : video);
}

MidBlock::MidBlock(const BlockLoader &load)
    : m_before(load.below("resnets.0")), m_norm(load, "attentions.0.norm"), m_qkv(load, "attentions.0.to_qkv", {}),
      m_projection(load, "attentions.0.proj", {}), m_after(load.below("resnets.1"))
{
}

at::Tensor MidBlock::attend(const at::Tensor &video) const
{
    const auto frames = video.size(0);
    const auto channels = video.size(3);
    const auto qkv = m_qkv(m_norm(video, /*silu=*/false)).view({frames, 1, -1, 3 * channels});
    const auto part = [&](std::int64_t index) { return qkv.narrow(-1, index * channels, channels); };
    const auto mixed = at::scaled_dot_product_attention(part(0), part(1), part(2));
    return m_projection(mixed.reshape(video.sizes())).add_(video);
}

at::Tensor MidBlock::operator()(const at::Tensor &video, ChunkCache &cache) const
{
    return m_after(attend(m_before(video, cache)), cache);
}

} // namespace engine
