#include "engine/pipeline/local_engine.h"

#include "engine/pipeline/cpu_allocator.h"
#include "engine/runtime/failure.h"

#include <utility>

namespace engine {

namespace {

// For load(): nothing is written.
class NoSink final : public FrameSink {
public:
    Result open(const VideoFormat & /*format*/) override { return std::nullopt; }
    Result frames(std::span<const std::uint8_t> /*rgb*/, int /*count*/) override { return std::nullopt; }
    Result sound(std::span<const float> /*samples*/, int /*channels*/) override { return std::nullopt; }
    Result latents(std::string_view /*name*/, std::span<const float> /*values*/,
                   std::span<const std::int64_t> /*shape*/) override
    {
        return std::nullopt;
    }
};

// Runs the job on the ranks while this thread serves the sink; throws the first failure.
void runOnRanks(RankGroup &ranks, JobRun &job, FrameSink &sink, bool loadOnly)
{
    ranks.start([&job, loadOnly](int rank) { job.run(rank, loadOnly); }, [&job] { job.abort(); });
    if (auto error = job.drain(sink))
        ranks.fail(std::move(*error));
    ranks.wait();
}

} // namespace

LocalEngine::LocalEngine(EngineConfig config)
    : m_config(std::move(config)), m_files(openCheckpoint(m_config.model)), m_device(chooseDevice(m_config)),
      m_ranks(m_config.layout.ranks())
{
    installCpuAllocator();
    if (m_files->refusal)
        throw EngineFailure(*m_files->refusal);
    if (m_config.layout.ranks() != 1)
        throw EngineFailure(ErrorCode::InvalidRequest,
                            "This version runs a job on one device; use a layout of " + toText(RankLayout{}) + ".");
}

LocalEngine::~LocalEngine()
{
    // Device objects die on the thread that made them.
    m_ranks.start([this](int) { m_model.reset(); }, [] {});
    try {
        m_ranks.wait();
    } catch (...) { // nothing is left to tell it to
    }
}

JobRun::Place LocalEngine::place()
{
    return {m_config, m_device, m_files, m_model, m_loadedBytes};
}

Outcome LocalEngine::generate(const ResolvedRequest &request, FrameSink &sink, GenerationObserver &observer,
                              StopTokens stop)
{
    try {
        JobRun job(request, place(), observer, stop);
        runOnRanks(m_ranks, job, sink, /*loadOnly=*/false);
        if (job.cancelled())
            return *job.cancelled();
        return job.result();
    } catch (...) {
        return errorOf(std::current_exception());
    }
}

std::optional<EngineError> LocalEngine::load(GenerationObserver &observer, StopTokens stop)
{
    try {
        const ResolvedRequest nothing;
        NoSink sink;
        JobRun job(nothing, place(), observer, stop);
        runOnRanks(m_ranks, job, sink, /*loadOnly=*/true);
        return std::nullopt;
    } catch (...) {
        return errorOf(std::current_exception());
    }
}

} // namespace engine
