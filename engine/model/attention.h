#pragma once

#include "engine/model/norms.h"
#include "engine/model/rotary.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <string>

// The one place that picks an attention back end.
namespace engine {

struct HeadShape {
    std::int64_t heads = 0;
    std::int64_t keyValueHeads = 0;
    std::int64_t headDim = 0;

    [[nodiscard]] std::int64_t group() const { return heads / keyValueHeads; } // query heads per key head
    [[nodiscard]] std::int64_t queryWidth() const { return heads * headDim; }
    [[nodiscard]] std::int64_t keyWidth() const { return keyValueHeads * headDim; }
};

// Attention of a layer's generation tokens over [understanding keys | generation keys], no mask, grouped query heads.
// The buffers are made once per pass and used by all layers; memory grows with the tokens, never with their square.
class GenerationAttention {
public:
    virtual ~GenerationAttention() = default;
    // keys, values: [undTokens, keyValueHeads, headDim].
    virtual void setUnderstanding(const at::Tensor &keys, const at::Tensor &values) = 0;
    // qkv: [count, (heads + 2 keyValueHeads) * headDim] of tokens first…; norms and rotary are applied here.
    virtual void addTokens(const at::Tensor &qkv, std::int64_t first) = 0;
    // After all tokens were added: [count, heads * headDim] of tokens first….
    virtual at::Tensor attend(std::int64_t first, std::int64_t count) = 0;
    // Tokens per addTokens and attend call that suit the device and the length.
    [[nodiscard]] virtual std::int64_t chunkTokens() const = 0;

    // Norms of the layer that comes next; must outlive the calls.
    void setNorms(const RmsNorm &query, const RmsNorm &key)
    {
        m_queryNorm = &query;
        m_keyNorm = &key;
    }

protected:
    const RmsNorm *m_queryNorm = nullptr;
    const RmsNorm *m_keyNorm = nullptr;
};

// options: the network's type and device; rotary: of the generation tokens.
std::unique_ptr<GenerationAttention> makeGenerationAttention(const HeadShape &shape, std::int64_t undTokens,
                                                             const RotaryTensors &rotary);
// The back end's name, as logs and records write it.
std::string generationAttentionName(at::Device device);

// Causal self-attention of the understanding tower. q: [tokens, heads, headDim], k and v with keyValueHeads
// -> [tokens, heads * headDim].
at::Tensor causalAttention(const at::Tensor &q, const at::Tensor &k, const at::Tensor &v);

} // namespace engine
