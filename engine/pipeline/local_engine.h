#pragma once

#include "engine/pipeline/job_run.h"
#include "engine/runtime/rank_group.h"

namespace engine {

// The engine in this process. Construction and destruction, load() and generate() belong to one thread; the networks
// live on the rank's thread.
class LocalEngine final : public Engine {
public:
    // Opens and checks the checkpoint and the device; loads no weights. Throws EngineFailure.
    explicit LocalEngine(EngineConfig config);
    ~LocalEngine() override;
    LocalEngine(const LocalEngine &) = delete;
    LocalEngine &operator=(const LocalEngine &) = delete;

    Outcome generate(const ResolvedRequest &request, FrameSink &sink, GenerationObserver &observer,
                     StopTokens stop) override;
    std::optional<EngineError> load(GenerationObserver &observer, StopTokens stop) override;

private:
    [[nodiscard]] JobRun::Place place();

    EngineConfig m_config;
    std::shared_ptr<const CheckpointFiles> m_files;
    DeviceChoice m_device;
    std::unique_ptr<LoadedModel> m_model;
    std::int64_t m_loadedBytes = 0;
    RankGroup m_ranks;
};

} // namespace engine
