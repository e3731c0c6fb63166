#pragma once

#include "engine/model/cosmos_transformer.h"
#include "engine/pipeline/prepared_job.h"
#include "engine/sampling/solver_state.h"

#include <functional>
#include <optional>
#include <vector>

namespace engine {

// The clip's latents in fp32: [C, T, H, W], and [soundDim, S] where there is sound.
struct Latents {
    at::Tensor vision;
    at::Tensor sound;
};

// Frames given as a condition, and what they hold: the velocity of clean frames is 0, so they stay what they are.
struct Condition {
    at::Tensor cleanLatents; // [C, T, H, W] fp32, 0 in noisy frames
    std::vector<std::int64_t> cleanFrames;
};

// Noise of a job: every modality its own stream from the seed, over its tensor in row-major order.
Latents initialNoise(const PreparedJob &job, const TransformerConfig &config);

// The sampling loop of one job: velocities of the branches, guidance, solver step. Used on the rank's thread.
class DenoiseLoop {
public:
    // Builds both branches' keys and values (the negative one only where a step needs it).
    DenoiseLoop(const CosmosTransformer &transformer, const PreparedJob &job, Latents noise,
                const std::optional<Condition> &condition, const RankContext &context);

    [[nodiscard]] bool done() const { return m_vision.done(); }
    [[nodiscard]] int step() const { return m_vision.step(); } // finished steps
    // One step. Throws EngineFailure(Internal) when the velocity is not finite.
    void advance();
    [[nodiscard]] Latents latents() const;
    [[nodiscard]] const Velocity &lastVelocity() const { return m_lastVelocity; } // guided

private:
    [[nodiscard]] Velocity guidedVelocity(const LatentInput &input, double scale) const;

    const CosmosTransformer &m_transformer;
    const PreparedJob &m_job;
    RankContext m_context;
    std::vector<std::int64_t> m_cleanFrames;
    BranchState m_positive;
    std::optional<BranchState> m_negative;
    SolverState m_vision;
    std::optional<SolverState> m_sound;
    Velocity m_lastVelocity;
};

} // namespace engine
