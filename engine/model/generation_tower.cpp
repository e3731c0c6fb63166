#include "engine/model/generation_tower.h"

#include <algorithm>

namespace engine {

GenerationTower::GenerationTower(const TransformerConfig &config, const WeightLoader &load) : m_shape(headShape(config))
{
    for (std::int64_t index = 0; index < config.layers; ++index)
        m_layers.push_back(loadTowerLayer(config, load, Tower::Generation, index, /*keysOnly=*/false));
}

void GenerationTower::run(at::Tensor &hidden, const UndCache &und, const RotaryTensors &rotary,
                          const RankContext &context, const Probe &probe) const
{
    const auto tokens = hidden.size(0);
    const auto attention = makeGenerationAttention(m_shape, und.tokens(), rotary);
    const auto chunk = attention->chunkTokens();
    for (std::size_t index = 0; index < m_layers.size(); ++index) {
        context.check();
        const auto &layer = m_layers[index];
        attention->setUnderstanding(und.keys[index], und.values[index]);
        attention->setNorms(layer.queryNorm, layer.keyNorm);
        for (std::int64_t first = 0; first < tokens; first += chunk)
            attention->addTokens(layer.qkv(layer.inputNorm(hidden.narrow(0, first, std::min(chunk, tokens - first)))),
                                 first);
        for (std::int64_t first = 0; first < tokens; first += chunk) {
            const auto count = std::min(chunk, tokens - first);
            auto part = hidden.narrow(0, first, count);
            part.add_(layer.out(attention->attend(first, count)));
            part.copy_(layer.addMlp(part));
        }
        if (probe)
            probe("gen_hidden", static_cast<std::int64_t>(index), hidden);
    }
}

} // namespace engine
