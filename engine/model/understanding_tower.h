#pragma once

#include "engine/model/rotary.h"
#include "engine/model/tower_layer.h"
#include "engine/runtime/rank_context.h"
#include "engine/weights/weight_loader.h"

#include <ATen/core/Tensor.h>

#include <vector>

namespace engine {

// Keys and values of one prompt for every layer, [tokens, keyValueHeads, headDim]: the keys as the generation tower
// attends to them (after norm and rotary embedding). They depend on nothing but the prompt: made once, used by all
// steps.
struct UndCache {
    std::vector<at::Tensor> keys;
    std::vector<at::Tensor> values;
    [[nodiscard]] std::int64_t tokens() const { return keys.front().size(0); }
};

// The causal language model over the prompt. Immutable; one thread at a time.
class UnderstandingTower {
public:
    UnderstandingTower(const TransformerConfig &config, const WeightLoader &load);

    // hidden: token embeddings [tokens, hidden]; rotary: of the text positions.
    [[nodiscard]] UndCache run(at::Tensor hidden, const RotaryTensors &rotary, const RankContext &context,
                               const Probe &probe = {}) const;

private:
    HeadShape m_shape;
    std::vector<TowerLayer> m_layers;
};

} // namespace engine
