#include "tests/support/toy_pipeline.h"

#include "engine/runtime/failure.h"
#include "engine/runtime/frame_channel.h"
#include "engine/runtime/step_gate.h"
#include "engine/runtime/step_timer.h"

#include <cmath>
#include <optional>
#include <utility>

using engine::Phase;
using engine::Verdict;

struct ToyPipeline::Run {
    Job job;
    engine::GenerationObserver &observer;
    std::stop_token cancel;
    engine::StepGate gate;
    engine::FrameChannel<int> frames{4};
    engine::StepTimer timer;
    std::optional<engine::Cancelled> cancelled; // written by rank 0, read after all ranks have finished
};

ToyPipeline::ToyPipeline(int ranks, Hooks hooks)
    : m_hub(std::make_shared<engine::LoopbackHub>(ranks)), m_hooks(std::move(hooks)), m_ranks(ranks)
{
}

bool ToyPipeline::denoise(int rank, Run &run, Latents &latents)
{
    engine::LoopbackCommunicator communicator(m_hub, rank);
    for (int step = 0; step < run.job.steps; ++step) {
        const auto begin = std::chrono::steady_clock::now();
        switch (run.gate.arrive()) {
        case Verdict::Failed:
            throw engine::CommunicationAborted();
        case Verdict::Cancelled:
            if (rank == 0)
                run.cancelled = {Phase::Denoise, step};
            return false;
        case Verdict::Proceed:
            break;
        }
        if (m_hooks.onStep)
            m_hooks.onStep(rank, step);
        Latents velocity;
        for (std::size_t i = 0; i < velocity.size(); ++i)
            velocity[i] = std::sin(latents[i] + static_cast<float>(rank + 1) * static_cast<float>(step));
        communicator.allReduceSum(velocity);
        for (std::size_t i = 0; i < latents.size(); ++i)
            latents[i] -= 0.1F * velocity[i];
        if (rank == 0) {
            run.timer.add(std::chrono::steady_clock::now() - begin);
            run.observer.onProgress({Phase::Denoise, step + 1, run.job.steps, run.timer.timeLeft()});
        }
    }
    return true;
}

void ToyPipeline::decode(Run &run)
{
    for (int frame = 0; frame < run.job.frames; ++frame) {
        if (run.cancel.stop_requested()) {
            run.cancelled = {Phase::Decode, frame};
            return;
        }
        run.frames.push(frame);
    }
}

void ToyPipeline::onRank(int rank, Run &run)
{
    Latents latents;
    latents.fill(1.0F);
    const bool isFinished = denoise(rank, run, latents);
    if (rank != 0)
        return;
    if (isFinished) {
        m_latents = latents;
        decode(run);
    }
    run.frames.close();
}

engine::Outcome ToyPipeline::generate(Job job, engine::GenerationObserver &observer, std::stop_token cancel)
{
    m_hub->reset();
    Run run{.job = job,
            .observer = observer,
            .cancel = cancel,
            .gate{m_ranks.size(), cancel},
            .timer = engine::StepTimer(std::vector<double>(static_cast<std::size_t>(job.steps), 1.0)),
            .cancelled{}};
    m_ranks.start([&](int rank) { onRank(rank, run); },
                  [&] {
                      run.gate.fail();
                      m_hub->abort();
                      run.frames.close();
                  });
    int encoded = 0;
    try { // on this thread, while rank 0 decodes
        while (const auto frame = run.frames.pop()) {
            if (m_hooks.onFrame)
                m_hooks.onFrame(*frame);
            ++encoded;
        }
    } catch (...) {
        m_ranks.fail(engine::errorOf(std::current_exception()));
    }
    try {
        m_ranks.wait();
    } catch (const engine::EngineFailure &failure) {
        return failure.error();
    }
    if (run.cancelled)
        return *run.cancelled;
    engine::Video video{.frames = encoded, .report = {}};
    video.report.stepSeconds = run.timer.seconds();
    return video;
}
