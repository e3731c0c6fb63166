#pragma once

#include "engine/checkpoint/model_config.h"
#include "engine/model/attention.h"
#include "engine/model/linear.h"
#include "engine/model/norms.h"
#include "engine/weights/weight_loader.h"

#include <cstdint>
#include <functional>
#include <string_view>

namespace engine {

enum class Tower { Understanding, Generation };

// Sees a stage's tensor by name: how tests compare every stage with the reference. Empty in normal runs.
using Probe = std::function<void(std::string_view name, std::int64_t layer, const at::Tensor &value)>;

HeadShape headShape(const TransformerConfig &config);

// The weights of one transformer layer in one of the two towers, and the parts both towers compute alike.
struct TowerLayer {
    RmsNorm inputNorm;
    RmsNorm queryNorm; // undefined where the tower uses raw queries and keys
    RmsNorm keyNorm;
    RmsNorm undKeyNormForGen; // understanding tower of some models only
    Linear qkv;               // [q | k | v]
    Linear out;
    RmsNorm postNorm;
    Linear up; // SwiGLU: [gate | up]
    Linear down;
    MlpKind mlp = MlpKind::SwiGlu;

    // x: [tokens, hidden] after the attention residual -> x + MLP(norm(x)).
    [[nodiscard]] at::Tensor addMlp(const at::Tensor &x) const;
};

// keysOnly: the last understanding layer, of which only keys and values are needed.
TowerLayer loadTowerLayer(const TransformerConfig &config, const WeightLoader &load, Tower tower, std::int64_t index,
                          bool keysOnly);

} // namespace engine
