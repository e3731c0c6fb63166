#include "engine/pipeline/job_run.h"

#include "engine/api/log.h"
#include "engine/pipeline/cpu_allocator.h"
#include "engine/pipeline/torch_failure.h"
#include "engine/pipeline/work_estimate.h"
#include "engine/runtime/process_memory.h"

#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <string>
#include <utility>

namespace engine {

namespace {

// Thrown where a rank meets a cancel request, caught in run().
struct JobCancelled {};

constexpr std::size_t kResultsInFlight = 2; // decoded chunks waiting for the sink

// Between phases: what the one before needed does not stay.
void releaseMemory()
{
    releaseCpuBlocks();
    releaseFreedMemory();
}

std::span<const float> floats(const at::Tensor &tensor)
{
    return {tensor.data_ptr<float>(), static_cast<std::size_t>(tensor.numel())};
}

} // namespace

JobRun::JobRun(const ResolvedRequest &request, Place place, GenerationObserver &observer, const StopTokens &stop)
    : m_request(request), m_place(std::move(place)), m_observer(observer),
      m_stop(stop), m_context{.rank = 0, .force = stop.force}, m_gate(m_place.config.layout.ranks(), stop.cancel),
      m_results(kResultsInFlight)
{
}

void JobRun::run(int /*rank*/, bool loadOnly)
{
    const c10::InferenceMode inference;
    if (m_place.config.threads > 0)
        at::set_num_threads(m_place.config.threads);
    try {
        load();
        if (!loadOnly) {
            prepare();
            denoise();
            decode();
        }
    } catch (const JobCancelled &) {
        m_cancelled = Cancelled{m_phase, m_step};
    } catch (const ForcedStop &) {
        m_cancelled = Cancelled{m_phase, m_step};
    } catch (const std::exception &failure) {
        throwTranslated(failure, m_place.device);
    }
    m_clock.stop();
    m_results.close();
}

FrameSink::Result JobRun::drain(FrameSink &sink)
{
    while (auto task = m_results.pop())
        if (auto error = (*task)(sink)) {
            m_results.close();
            return error;
        }
    return std::nullopt;
}

void JobRun::abort() noexcept
{
    m_gate.fail();
    m_results.close();
}

void JobRun::proceedOrStop()
{
    switch (m_gate.arrive()) {
    case Verdict::Proceed:
        return;
    case Verdict::Cancelled:
        throw JobCancelled{};
    case Verdict::Failed:
        throw EngineFailure(ErrorCode::Communication, "Another part of the job has failed.");
    }
}

void JobRun::enter(Phase phase, int steps)
{
    m_phase = phase;
    m_steps = steps;
    m_clock.enter(phase);
    report(0);
}

void JobRun::report(int step)
{
    m_step = step;
    m_observer.onProgress(
        {.phase = m_phase, .step = step, .steps = m_steps, .timeLeft = m_timer ? m_timer->timeLeft() : std::nullopt});
}

void JobRun::load()
{
    if (m_place.model)
        return;
    enter(Phase::Load, 0);
    log(LogLevel::Info, "loading " + m_place.files->folder.string() + " on " + m_place.device.description + ", " +
                            dataTypeName(m_place.device.dataType) + " (" + m_place.device.reason + ")");
    m_place.model = std::make_unique<LoadedModel>(m_place.files, m_place.device, [this](int tensors, int all) {
        m_context.check();
        if (m_stop.cancel.stop_requested()) // ranks load on their own: no meeting here
            throw JobCancelled{};
        m_steps = all;
        report(tensors);
    });
    releaseMemory();
    m_place.loadedBytes = residentBytes();
}

std::vector<double> JobRun::workOfSteps() const
{
    const auto &files = *m_place.files;
    const auto &geometry = m_job->layout.geometry;
    const auto pass = [&](const BranchText &text) {
        return generationPassFlops(files.transformer, geometry, static_cast<std::int64_t>(text.tokenIds.size()));
    };
    std::vector<double> work;
    for (const double scale : m_job->guidance)
        work.push_back(pass(m_job->tokens.positive) + (scale == 1 ? 0 : pass(m_job->tokens.negative)));
    const double decodeWork = decodeFrameFlops(files.vae, geometry);
    for (std::int64_t frame = 0; frame < geometry.frames; ++frame)
        work.push_back(frame == 0 ? decodeWork / 3 : decodeWork);
    return work;
}

void JobRun::prepare()
{
    enter(Phase::Text, 0);
    proceedOrStop();
    m_job = prepareJob(*m_place.files, m_request);
    m_timer.emplace(workOfSteps());
    m_loop.emplace(m_place.model->transformer, *m_job, initialNoise(*m_job, m_place.files->transformer), std::nullopt,
                   m_context);
}

void JobRun::denoise()
{
    enter(Phase::Denoise, m_job->schedule.steps());
    while (!m_loop->done()) {
        proceedOrStop();
        const auto begin = std::chrono::steady_clock::now();
        m_loop->advance();
        const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
        m_stepSeconds.push_back(spent.count());
        m_timer->add(spent);
        report(m_loop->step());
    }
    m_latents = m_loop->latents();
    m_loop.reset(); // the branches' keys, tables and the solver's history are not needed for decoding
    releaseMemory();
}

void JobRun::decode()
{
    WanDecoder::Session session(m_place.model->decoder, m_latents.vision);
    enter(Phase::Decode, static_cast<int>(session.latentFrames()));
    const auto &sound = m_place.files->sound;
    const VideoFormat format{.width = m_request.size.width,
                             .height = m_request.size.height,
                             .frames = m_request.frames,
                             .fps = m_request.fps,
                             .soundRate = m_request.sound ? sound->sampleRate : 0,
                             .soundChannels = m_request.sound ? static_cast<int>(sound->outChannels) : 0};
    m_results.push([format](FrameSink &sink) { return sink.open(format); });
    const auto pushLatents = [this](const char *name, const at::Tensor &latents) {
        const auto values = latents.to(at::kCPU).contiguous();
        m_results.push([name, values](FrameSink &sink) { return sink.latents(name, floats(values), values.sizes()); });
    };
    pushLatents("latents", m_latents.vision);
    if (m_latents.sound.defined())
        pushLatents("sound_latents", m_latents.sound);
    m_latents.vision.reset();
    while (!session.done()) {
        proceedOrStop();
        const auto begin = std::chrono::steady_clock::now();
        const auto bytes = toBytes(session.next(m_context));
        m_timer->add(std::chrono::steady_clock::now() - begin);
        m_results.push([bytes](FrameSink &sink) {
            return sink.frames({bytes.data_ptr<std::uint8_t>(), static_cast<std::size_t>(bytes.numel())},
                               static_cast<int>(bytes.size(0)));
        });
        report(m_step + 1);
    }
    decodeSound();
    releaseCpuBlocks();
}

void JobRun::decodeSound()
{
    if (!m_latents.sound.defined())
        return;
    proceedOrStop();
    const auto waveform = m_place.model->soundDecoder->decode(m_latents.sound).to(at::kCPU).contiguous();
    m_results.push(
        [waveform](FrameSink &sink) { return sink.sound(floats(waveform), static_cast<int>(waveform.size(0))); });
}

Video JobRun::result() const
{
    Video video;
    video.frames = m_request.frames;
    auto &report = video.report;
    report.phases = m_clock.timings();
    report.stepSeconds = m_stepSeconds;
    report.sigmas.assign(m_job->schedule.sigmas.begin(), m_job->schedule.sigmas.end());
    report.timesteps.assign(m_job->schedule.timesteps.begin(), m_job->schedule.timesteps.end());
    report.guidance = m_job->guidance;
    report.promptTokenIds = m_job->tokens.positive.tokenIds;
    report.negativeTokenIds = m_job->tokens.negative.tokenIds;
    report.dataType = m_place.device.dataType;
    report.device = m_place.device.description;
    report.attention = generationAttentionName(m_place.device.device);
    report.linear = m_place.device.device.is_cpu() ? "oneDNN" : "ATen";
    report.loadedBytes = m_place.loadedBytes;
    for (const auto &phase : report.phases)
        if (phase.phase != Phase::Load)
            report.peakBytes = std::max(report.peakBytes, phase.peakBytes);
    return video;
}

} // namespace engine
