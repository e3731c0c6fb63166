#pragma once

#include "engine/api/outcome.h"
#include "engine/comm/loopback_communicator.h"
#include "engine/runtime/rank_group.h"

#include <array>
#include <functional>
#include <memory>
#include <stop_token>

// The real pipeline's threads with arithmetic in the place of the model: ranks that meet at the gate and exchange at
// every step, rank 0 decoding into the channel, the calling thread encoding. It stands in under ThreadSanitizer, where
// torch cannot.
class ToyPipeline {
public:
    struct Hooks {
        std::function<void(int rank, int step)> onStep;
        std::function<void(int frame)> onFrame;
    };
    struct Job {
        int steps = 0;
        int frames = 24;
    };
    using Latents = std::array<float, 64>;

    explicit ToyPipeline(int ranks, Hooks hooks = {});
    engine::Outcome generate(Job job, engine::GenerationObserver &observer, std::stop_token cancel);
    // Rank 0's latents of the last job that was not cancelled and did not fail.
    [[nodiscard]] const Latents &latents() const { return m_latents; }

private:
    struct Run; // what the threads of one job share
    void onRank(int rank, Run &run);
    bool denoise(int rank, Run &run, Latents &latents);
    void decode(Run &run);

    std::shared_ptr<engine::LoopbackHub> m_hub;
    Hooks m_hooks;
    Latents m_latents{};
    engine::RankGroup m_ranks; // last: its threads use the rest
};
