#include "engine/model/understanding_tower.h"

#include <ATen/TensorOperators.h>

#include <utility>

namespace engine {

UnderstandingTower::UnderstandingTower(const TransformerConfig &config, const WeightLoader &load)
    : m_shape(headShape(config))
{
    for (std::int64_t index = 0; index < config.layers; ++index)
        m_layers.push_back(
            loadTowerLayer(config, load, Tower::Understanding, index, /*keysOnly=*/index == config.layers - 1));
}

UndCache UnderstandingTower::run(at::Tensor hidden, const RotaryTensors &rotary, const RankContext &context,
                                 const Probe &probe) const
{
    UndCache cache;
    const auto tokens = hidden.size(0);
    for (std::size_t index = 0; index < m_layers.size(); ++index) {
        context.check();
        const auto &layer = m_layers[index];
        const bool keysOnly = index + 1 == m_layers.size();
        const auto qkv = layer.qkv(layer.inputNorm(hidden));
        const auto queryWidth = keysOnly ? 0 : m_shape.queryWidth();
        const auto heads = [&](std::int64_t offset, std::int64_t count) {
            return qkv.narrow(1, offset, count * m_shape.headDim).reshape({tokens, count, m_shape.headDim});
        };
        const auto rawKeys = heads(queryWidth, m_shape.keyValueHeads);
        const auto values = heads(queryWidth + m_shape.keyWidth(), m_shape.keyValueHeads);
        const auto keys = applyRotary(layer.keyNorm.orSame(rawKeys), rotary);
        // Some models (Edge) let the text attend to its raw keys and the generation tower to normalised ones.
        cache.keys.push_back(layer.undKeyNormForGen.isDefined() ? applyRotary(layer.undKeyNormForGen(rawKeys), rotary)
                                                                : keys);
        cache.values.push_back(values);
        if (keysOnly)
            break;
        const auto queries = applyRotary(layer.queryNorm.orSame(heads(0, m_shape.heads)), rotary);
        hidden = layer.addMlp(hidden + layer.out(causalAttention(queries, keys, values)));
        if (probe)
            probe("und_hidden", static_cast<std::int64_t>(index), hidden);
    }
    return cache;
}

} // namespace engine
