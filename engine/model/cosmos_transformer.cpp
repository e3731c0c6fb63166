#include "engine/model/cosmos_transformer.h"

#include "engine/api/outcome.h"
#include "engine/sequence/rope_positions.h"

#include <ATen/ops/tensor.h>

#include <string>

namespace engine {

CosmosTransformer::CosmosTransformer(const TransformerConfig &config, const WeightLoader &load)
    : m_config(config), m_options(at::TensorOptions(load.device()).dtype(load.type())),
      m_embedding(load.stored("embed_tokens.weight")), m_understanding(config, load), m_generation(config, load),
      m_projection(config, load)
{
}

BranchState CosmosTransformer::prepareBranch(const std::vector<int> &tokenIds, const SequenceLayout &layout,
                                             const RankContext &context, const Probe &probe) const
{
    for (const int id : tokenIds)
        if (id < 0 || id >= m_embedding.size(0))
            throw EngineFailure(ErrorCode::ModelFiles,
                                "The tokenizer gives token " + std::to_string(id) + ", the network knows " +
                                    std::to_string(m_embedding.size(0)) + "; the two belong to different models.");
    const PositionRules rules{.baseFps = m_config.baseFps,
                              .temporalCompression = m_config.temporalCompression,
                              .temporalMargin = m_config.temporalMargin,
                              .fpsModulation = m_config.fpsModulation,
                              .soundLatentFps = m_config.soundLatentFps};
    const auto table = [&](const Positions &positions) {
        return rotaryTensors(rotaryTable(positions, m_config.headDim, m_config.ropeTheta, m_config.mropeSection),
                             m_options);
    };
    const auto tokens = static_cast<std::int64_t>(tokenIds.size());
    auto positions = visionPositions(layout.geometry, tokens, layout.fps, rules);
    if (layout.geometry.soundTokens > 0)
        positions.append(soundPositions(layout.geometry.soundTokens, tokens, rules));
    if (layout.actionTokens > 0)
        positions.append(actionPositions(layout.actionTokens, tokens, layout.fps, rules, layout.actionFrameOffset));

    const auto hidden = m_embedding.index_select(0, at::tensor(tokenIds, at::kInt)).to(m_options);
    return {m_understanding.run(hidden, table(textPositions(tokens)), context, probe), table(positions)};
}

Velocity CosmosTransformer::velocity(const BranchState &branch, const LatentInput &input, const RankContext &context,
                                     const Probe &probe) const
{
    auto hidden = m_projection.embed(input);
    if (probe)
        probe("gen_in", 0, hidden);
    m_generation.run(hidden, branch.und, branch.rotary, context, probe);
    return m_projection.project(hidden, input);
}

} // namespace engine
