#include "app/cli/generate_command.h"

#include "app/cli/exit_codes.h"
#include "app/cli/generate_plan.h"
#include "app/cli/progress_line.h"
#include "app/cli/stop_signal.h"
#include "engine/api/engine_loader.h"
#include "engine/api/log.h"

#include <chrono>
#include <iostream>
#include <spdlog/spdlog.h>
#include <unistd.h>

namespace app {

namespace {

ProgressStyle progressStyle(const GenerateOptions &options)
{
    if (options.quiet)
        return ProgressStyle::Silent;
    return isatty(STDERR_FILENO) == 1 ? ProgressStyle::Live : ProgressStyle::Lines;
}

void forwardEngineLog(ProgressLine &progress)
{
    engine::setLogFunction([&progress](engine::LogLevel level, std::string_view text) {
        constexpr std::array levels{spdlog::level::debug, spdlog::level::info, spdlog::level::warn, spdlog::level::err};
        progress.clear();
        spdlog::log(levels.at(static_cast<std::size_t>(level)), "{}", text);
    });
}

// One run from the loaded engine to the named files. The record says how it ended.
class Run {
public:
    Run(const GenerateOptions &options, const GeneratePlan &plan, engine::JobRecord &record)
        : m_options(options), m_plan(plan), m_record(record), m_progress(progressStyle(options))
    {
        forwardEngineLog(m_progress);
    }
    ~Run() { engine::setLogFunction({}); }
    Run(const Run &) = delete;
    Run &operator=(const Run &) = delete;

    int run()
    {
        const StopSignal stop;
        m_record.started = engine::utcNow();
        auto made = engine::createEngine({.model = m_plan.model,
                                          .dataType = m_record.resolved.dataType,
                                          .device = deviceKind(),
                                          .devices = m_options.devices,
                                          .layout = m_options.layout,
                                          .threads = 0});
        if (const auto *error = std::get_if<engine::EngineError>(&made))
            throw engine::EngineFailure(*error);
        RunSinks sinks(m_plan.outputs);
        const auto outcome = std::get<std::unique_ptr<engine::Engine>>(made)->generate(m_record.resolved, sinks,
                                                                                       m_progress, stop.tokens());
        m_progress.clear();
        m_record.finished = engine::utcNow();
        if (const auto *error = std::get_if<engine::EngineError>(&outcome))
            throw engine::EngineFailure(*error);
        if (std::holds_alternative<engine::Cancelled>(outcome) || stop.tokens().cancel.stop_requested()) {
            m_record.state = "cancelled";
            spdlog::warn("Stopped; nothing was written.");
            return kExitStopped;
        }
        finish(std::get<engine::Video>(outcome), sinks);
        return kExitDone;
    }

private:
    [[nodiscard]] engine::DeviceKind deviceKind() const
    {
        const bool namesGpus = !m_options.devices.empty();
        return m_options.device.value_or(namesGpus ? engine::DeviceKind::Cuda : engine::DeviceKind::Automatic);
    }

    void finish(const engine::Video &video, RunSinks &sinks)
    {
        m_record.report = video.report;
        m_record.state = "finished";
        const auto begin = std::chrono::steady_clock::now();
        if (const auto problem = sinks.finish(toJson(m_record, engine::RecordCopy::Embedded)))
            throw engine::EngineFailure(*problem);
        const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
        m_record.report->phases.push_back({engine::Phase::Write, seconds.count(), video.report.peakBytes});
        m_record.outputs = sinks.outputs();
        m_record.finished = engine::utcNow();
    }

    const GenerateOptions &m_options;
    const GeneratePlan &m_plan;
    engine::JobRecord &m_record;
    ProgressLine m_progress;
};

void showSummary(const engine::JobRecord &record)
{
    double seconds = 0;
    std::string parts;
    for (const auto &phase : record.report->phases) {
        seconds += phase.seconds;
        parts += fmt::format("{}{} {:.1f} s", parts.empty() ? "" : ", ", engine::phaseName(phase.phase), phase.seconds);
    }
    const auto megabytes = [](std::int64_t bytes) { return static_cast<double>(bytes) / 1e6; };
    spdlog::info("Done in {:.1f} s ({}); memory {:.0f} MB after loading, at most {:.0f} MB more during the run",
                 seconds, parts, megabytes(record.report->loadedBytes),
                 megabytes(record.report->peakBytes - record.report->loadedBytes));
}

int generate(const GenerateOptions &options, engine::JobRecord &record)
{
    const auto plan = planGenerate(options, record);
    for (const auto &note : record.notes)
        spdlog::warn("{}", note);
    if (options.dryRun) {
        record.state = "checked";
        if (!options.json)
            std::cout << planText(plan, record);
        return kExitDone;
    }
    spdlog::info("{}: {}x{}, {} frames, {} steps, seed {}", record.modelName, record.resolved.size.width,
                 record.resolved.size.height, record.resolved.frames, record.resolved.steps, record.resolved.seed);
    const int exit = Run(options, plan, record).run();
    if (exit == kExitDone)
        showSummary(record);
    if (exit == kExitDone && !options.json)
        std::cout << plan.outputs.master.string() << "\n";
    return exit;
}

} // namespace

int runGenerate(const GenerateOptions &options)
{
    if (options.quiet)
        spdlog::set_level(spdlog::level::err);
    auto record = engine::newJobRecord();
    int exit = kExitDone;
    try {
        exit = generate(options, record);
    } catch (const engine::EngineFailure &failure) {
        record.state = "failed";
        record.problem = failure.error();
        spdlog::error("{}", failure.error().message);
        if (!failure.error().detail.empty())
            spdlog::debug("{}", failure.error().detail);
        const bool wasRefused = record.started.empty();
        exit = wasRefused ? kExitRefused : exitCode(failure.error().code);
    }
    if (options.json)
        std::cout << toJson(record, engine::RecordCopy::Full) << "\n";
    return exit;
}

} // namespace app
