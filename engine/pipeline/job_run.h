#pragma once

#include "engine/api/engine.h"
#include "engine/pipeline/denoise_loop.h"
#include "engine/pipeline/loaded_model.h"
#include "engine/runtime/frame_channel.h"
#include "engine/runtime/phase_clock.h"
#include "engine/runtime/step_gate.h"
#include "engine/runtime/step_timer.h"

#include <functional>
#include <memory>
#include <optional>

namespace engine {

// One job's way through the engine: load, text, denoise, decode. run() is a rank's task; drain() is the calling
// thread's, which hands results to the sink while later chunks decode.
class JobRun {
public:
    struct Place {
        const EngineConfig &config;
        const DeviceChoice &device;
        std::shared_ptr<const CheckpointFiles> files;
        std::unique_ptr<LoadedModel> &model; // loaded here when it is not yet
        std::int64_t &loadedBytes;
    };

    JobRun(const ResolvedRequest &request, Place place, GenerationObserver &observer, const StopTokens &stop);

    // On the rank's thread. `loadOnly`: the weights and nothing else.
    void run(int rank, bool loadOnly);
    // On the calling thread, until the results end: the sink's error, or nothing.
    FrameSink::Result drain(FrameSink &sink);
    // Wakes whoever waits; from any thread.
    void abort() noexcept;

    [[nodiscard]] const std::optional<Cancelled> &cancelled() const { return m_cancelled; }
    [[nodiscard]] Video result() const;

private:
    using SinkTask = std::function<FrameSink::Result(FrameSink &)>;

    void load();
    void prepare();
    void denoise();
    void decode();
    void decodeSound();
    void proceedOrStop(); // meets the other ranks; throws when the job is cancelled
    void enter(Phase phase, int steps);
    void report(int step);
    [[nodiscard]] std::vector<double> workOfSteps() const;

    const ResolvedRequest &m_request;
    Place m_place;
    GenerationObserver &m_observer;
    StopTokens m_stop;
    RankContext m_context;
    StepGate m_gate;
    FrameChannel<SinkTask> m_results;
    PhaseClock m_clock;
    Phase m_phase = Phase::Load;
    int m_step = 0;
    int m_steps = 0;
    std::optional<StepTimer> m_timer;
    std::optional<PreparedJob> m_job;
    std::optional<DenoiseLoop> m_loop;
    Latents m_latents;
    std::vector<double> m_stepSeconds;
    std::optional<Cancelled> m_cancelled;
};

} // namespace engine
