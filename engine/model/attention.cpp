#include "engine/model/attention.h"

#include "engine/kernels/cpu_rows.h"
#include "engine/model/linear.h"

#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/scaled_dot_product_attention.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace engine {

namespace {

// fp32 attention in chunks of queries: two matrix products through oneDNN and a softmax in place. bf16 queries, keys
// and values are widened, so nothing is rounded inside; the result is rounded once.
class CpuAttention final : public GenerationAttention {
public:
    CpuAttention(const HeadShape &shape, std::int64_t undTokens, RotaryTensors rotary)
        : m_shape(shape), m_und(undTokens), m_rotary(std::move(rotary)), m_tokens(m_rotary.cos.size(0)),
          m_queries(at::empty({shape.keyValueHeads, m_tokens * shape.group(), shape.headDim}, at::kFloat)),
          m_keys(at::empty({shape.keyValueHeads, undTokens + m_tokens, shape.headDim}, at::kFloat)),
          m_values(at::empty_like(m_keys))
    {
    }

    void setUnderstanding(const at::Tensor &keys, const at::Tensor &values) override
    {
        m_keys.narrow(1, 0, m_und).copy_(keys.permute({1, 0, 2}));
        m_values.narrow(1, 0, m_und).copy_(values.permute({1, 0, 2}));
    }

    void addTokens(const at::Tensor &qkv, std::int64_t first) override
    {
        const auto count = qkv.size(0);
        const auto [heads, keyValueHeads, headDim] = m_shape;
        const auto group = m_shape.group();
        const auto rotary = m_rotary.narrow(first, count);
        // Softmax wants q·k/√d: the factor goes onto the queries.
        kernels::RotaryHeads query = rotaryHeads(*m_queryNorm, rotary, qkv);
        query.heads = group;
        query.outTokenStride = group * headDim;
        query.outHeadStride = headDim;
        query.outScale = static_cast<float>(1.0 / std::sqrt(static_cast<double>(headDim)));
        kernels::RotaryHeads key = rotaryHeads(*m_keyNorm, rotary, qkv);
        key.heads = keyValueHeads;
        key.outTokenStride = headDim;
        key.outHeadStride = m_keys.stride(0);
        const auto *rows = static_cast<const std::byte *>(qkv.data_ptr());
        const auto element = static_cast<std::int64_t>(qkv.element_size());
        at::parallel_for(0, count, kTokensPerTask, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t h = 0; h < keyValueHeads; ++h)
                kernels::rotaryHeads(query, rows + h * group * headDim * element,
                                     m_queries.data_ptr<float>() + h * m_queries.stride(0) + first * group * headDim,
                                     begin, end - begin);
            kernels::rotaryHeads(key, rows + heads * headDim * element,
                                 m_keys.data_ptr<float>() + (m_und + first) * headDim, begin, end - begin);
        });
        const auto values = qkv.narrow(1, m_shape.queryWidth() + m_shape.keyWidth(), m_shape.keyWidth());
        m_values.narrow(1, m_und + first, count).copy_(values.view({count, keyValueHeads, headDim}).permute({1, 0, 2}));
    }

    at::Tensor attend(std::int64_t first, std::int64_t count) override
    {
        const auto [heads, keyValueHeads, headDim] = m_shape;
        const auto group = m_shape.group();
        auto out = at::empty({count, keyValueHeads, group * headDim}, m_rotary.cos.options());
        for (std::int64_t h = 0; h < keyValueHeads; ++h) {
            const auto queries = m_queries[h].narrow(0, first * group, count * group);
            auto scores = matmulTransposed(queries, m_keys[h]); // [count * group, keys]
            const auto width = scores.size(1);
            at::parallel_for(0, scores.size(0), kTokensPerTask, [&](std::int64_t begin, std::int64_t end) {
                kernels::softmax(scores.data_ptr<float>() + begin * width, end - begin, width);
            });
            const auto mixed = matmulTransposed(scores, m_values[h].t()); // [count * group, headDim]
            out.select(1, h).copy_(mixed.view({count, group * headDim}));
        }
        return out.view({count, heads * headDim});
    }

    [[nodiscard]] std::int64_t chunkTokens() const override
    {
        const auto bytesPerToken = m_shape.group() * (m_und + m_tokens) * static_cast<std::int64_t>(sizeof(float));
        return std::clamp<std::int64_t>(kScoreBytes / bytesPerToken, 16, 256);
    }

private:
    static constexpr std::int64_t kTokensPerTask = 16;
    static constexpr std::int64_t kScoreBytes = 4 << 20; // scores of one chunk stay in the cache

    [[nodiscard]] kernels::RotaryHeads rotaryHeads(const RmsNorm &norm, const RotaryTensors &rotary,
                                                   const at::Tensor &qkv) const
    {
        kernels::RotaryHeads heads;
        heads.norm = norm.rows();
        heads.norm.type = rowType(qkv);
        heads.norm.width = m_shape.headDim;
        heads.xStride = qkv.stride(0);
        heads.cos = rotary.cos.data_ptr();
        heads.sin = rotary.sin.data_ptr();
        return heads;
    }

    const HeadShape m_shape;
    const std::int64_t m_und;
    const RotaryTensors m_rotary;
    const std::int64_t m_tokens;
    at::Tensor m_queries; // [keyValueHeads, tokens * group, headDim], scaled by 1/√headDim
    at::Tensor m_keys;    // [keyValueHeads, und + tokens, headDim]
    at::Tensor m_values;
};

// Everything at once through ATen's fused attention: on a GPU.
class FusedAttention final : public GenerationAttention {
public:
    FusedAttention(const HeadShape &shape, std::int64_t undTokens, RotaryTensors rotary)
        : m_shape(shape), m_und(undTokens), m_rotary(std::move(rotary)), m_tokens(m_rotary.cos.size(0))
    {
        const auto options = m_rotary.cos.options();
        m_queries = at::empty({m_tokens, shape.heads, shape.headDim}, options);
        m_keys = at::empty({undTokens + m_tokens, shape.keyValueHeads, shape.headDim}, options);
        m_values = at::empty_like(m_keys);
    }

    void setUnderstanding(const at::Tensor &keys, const at::Tensor &values) override
    {
        m_keys.narrow(0, 0, m_und).copy_(keys);
        m_values.narrow(0, 0, m_und).copy_(values);
    }

    void addTokens(const at::Tensor &qkv, std::int64_t first) override
    {
        const auto count = qkv.size(0);
        const auto [heads, keyValueHeads, headDim] = m_shape;
        const auto rotary = m_rotary.narrow(first, count);
        const auto q = qkv.narrow(1, 0, m_shape.queryWidth()).reshape({count, heads, headDim});
        const auto k = qkv.narrow(1, m_shape.queryWidth(), m_shape.keyWidth()).reshape({count, keyValueHeads, headDim});
        m_queries.narrow(0, first, count).copy_(applyRotary(m_queryNorm->orSame(q), rotary));
        m_keys.narrow(0, m_und + first, count).copy_(applyRotary(m_keyNorm->orSame(k), rotary));
        m_values.narrow(0, m_und + first, count)
            .copy_(qkv.narrow(1, m_shape.queryWidth() + m_shape.keyWidth(), m_shape.keyWidth())
                       .view({count, keyValueHeads, headDim}));
    }

    at::Tensor attend(std::int64_t first, std::int64_t count) override
    {
        const auto heads = [](const at::Tensor &x) { return x.permute({1, 0, 2}).unsqueeze(0); };
        const auto mixed = at::scaled_dot_product_attention(heads(m_queries.narrow(0, first, count)), heads(m_keys),
                                                            heads(m_values), {}, 0.0, false, {}, true);
        return mixed.squeeze(0).permute({1, 0, 2}).reshape({count, m_shape.queryWidth()});
    }

    [[nodiscard]] std::int64_t chunkTokens() const override { return m_tokens; }

private:
    const HeadShape m_shape;
    const std::int64_t m_und;
    const RotaryTensors m_rotary;
    const std::int64_t m_tokens;
    at::Tensor m_queries; // [tokens, heads, headDim]
    at::Tensor m_keys;    // [und + tokens, keyValueHeads, headDim]
    at::Tensor m_values;
};

} // namespace

std::unique_ptr<GenerationAttention> makeGenerationAttention(const HeadShape &shape, std::int64_t undTokens,
                                                             const RotaryTensors &rotary)
{
    if (rotary.cos.device().is_cpu())
        return std::make_unique<CpuAttention>(shape, undTokens, rotary);
    return std::make_unique<FusedAttention>(shape, undTokens, rotary);
}

std::string generationAttentionName(at::Device device)
{
    return device.is_cpu() ? "chunked fp32, oneDNN" : "ATen scaled dot product";
}

at::Tensor causalAttention(const at::Tensor &q, const at::Tensor &k, const at::Tensor &v)
{
    const auto heads = [](const at::Tensor &x) { return x.permute({1, 0, 2}).unsqueeze(0); };
    const auto mixed = at::scaled_dot_product_attention(heads(q), heads(k), heads(v), {}, 0.0, true, {}, true);
    return mixed.squeeze(0).permute({1, 0, 2}).reshape({q.size(0), q.size(1) * q.size(2)});
}

} // namespace engine
