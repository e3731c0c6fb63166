#pragma once

#include "engine/model/generation_tower.h"
#include "engine/model/latent_projection.h"
#include "engine/model/understanding_tower.h"
#include "engine/sequence/latent_geometry.h"
#include "engine/weights/weight_loader.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace engine {

// What one guidance branch keeps through all steps: its prompt's keys and values, and the rotary table of the
// generation tokens, which starts after its own prompt and so differs from branch to branch.
struct BranchState {
    UndCache und;
    RotaryTensors rotary;
};

// Shapes the generation sequence is made of, besides the latents' own.
struct SequenceLayout {
    LatentGeometry geometry;
    double fps = 24;
    std::int64_t actionTokens = 0;
    std::int64_t actionFrameOffset = 1; // action_start_frame_offset (cosmos3 reference 3.4)
};

// The two-tower network of one checkpoint on one device. Immutable after loading; one thread at a time.
class CosmosTransformer {
public:
    // `load` gives the network's type and device; its WeightIndex must outlive the transformer (embedding rows are read
    // from the file when a prompt needs them).
    CosmosTransformer(const TransformerConfig &config, const WeightLoader &load);

    [[nodiscard]] BranchState prepareBranch(const std::vector<int> &tokenIds, const SequenceLayout &layout,
                                            const RankContext &context, const Probe &probe = {}) const;
    [[nodiscard]] Velocity velocity(const BranchState &branch, const LatentInput &input, const RankContext &context,
                                    const Probe &probe = {}) const;
    [[nodiscard]] at::TensorOptions options() const { return m_options; }

private:
    TransformerConfig m_config;
    at::TensorOptions m_options;
    at::Tensor m_embedding; // [vocabulary, hidden], a view of the file
    UnderstandingTower m_understanding;
    GenerationTower m_generation;
    LatentProjection m_projection;
};

} // namespace engine
