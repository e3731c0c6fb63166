#pragma once

#include "engine/model/understanding_tower.h"

namespace engine {

// The denoising tower: full attention of latent tokens over the prompt's keys and their own. Layers work on runs of
// tokens, so that temporaries do not grow with the clip. Immutable; one thread at a time.
class GenerationTower {
public:
    GenerationTower(const TransformerConfig &config, const WeightLoader &load);

    // hidden: [tokens, hidden], changed in place to the residual stream after the last layer, before the final norm.
    void run(at::Tensor &hidden, const UndCache &und, const RotaryTensors &rotary, const RankContext &context,
             const Probe &probe = {}) const;

private:
    HeadShape m_shape;
    std::vector<TowerLayer> m_layers;
};

} // namespace engine
