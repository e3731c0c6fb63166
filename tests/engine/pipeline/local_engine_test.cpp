#include "engine/pipeline/local_engine.h"
#include "engine/runtime/process_memory.h"
#include "tests/engine/pipeline/pipeline_cases.h"
#include "tests/support/golden.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <fstream>
#include <thread>

namespace {

using pipeline_cases::Json;

// Keeps what a run gives.
class MemorySink : public engine::FrameSink {
public:
    Result open(const engine::VideoFormat &opened) override
    {
        format = opened;
        return std::nullopt;
    }
    Result frames(std::span<const std::uint8_t> values, int count) override
    {
        pixels.insert(pixels.end(), values.begin(), values.end());
        frameCount += count;
        return std::nullopt;
    }
    Result sound(std::span<const float> samples, int /*channels*/) override
    {
        waveform.assign(samples.begin(), samples.end());
        return std::nullopt;
    }
    Result latents(std::string_view name, std::span<const float> values,
                   std::span<const std::int64_t> /*shape*/) override
    {
        (name == "latents" ? visionLatents : soundLatents).assign(values.begin(), values.end());
        return std::nullopt;
    }

    engine::VideoFormat format;
    int frameCount = 0;
    std::vector<std::uint8_t> pixels;
    std::vector<float> waveform, visionLatents, soundLatents;
};

struct Recorder final : engine::GenerationObserver {
    void onProgress(const engine::Progress &progress) noexcept override
    {
        last = progress.step;
        if (progress.phase == stopIn && progress.step == stopAt)
            stop.request_stop();
        if (progress.phase == engine::Phase::Denoise && progress.timeLeft)
            sawTimeLeft = true;
    }
    std::stop_source stop;
    engine::Phase stopIn = engine::Phase::Write; // never reported by the engine
    int stopAt = -1;
    std::atomic<int> last{0};
    std::atomic<bool> sawTimeLeft{false};
};

engine::EngineConfig config(const std::string &model, engine::DataType type = engine::DataType::Float32)
{
    engine::EngineConfig config;
    config.model = pipeline_cases::folder(model);
    config.dataType = type;
    config.device = engine::DeviceKind::Cpu;
    return config;
}

// Bytes of a run's results, or the test fails.
MemorySink generate(engine::LocalEngine &engine, const engine::ResolvedRequest &request)
{
    MemorySink sink;
    Recorder recorder;
    const auto outcome = engine.generate(request, sink, recorder, {});
    if (const auto *error = std::get_if<engine::EngineError>(&outcome))
        ADD_FAILURE() << error->message << " " << error->detail;
    EXPECT_TRUE(std::holds_alternative<engine::Video>(outcome));
    return sink;
}

engine::ResolvedRequest tableCase(const std::string &id)
{
    const auto index = Json::parse(golden::json("denoise"));
    for (const auto &parameters : index["cases"])
        if (parameters["id"] == id)
            return pipeline_cases::request(parameters);
    throw std::out_of_range(id);
}

Json demoCase(const std::string &id)
{
    std::ifstream stream(golden::folder() / "demo" / (id + ".json"));
    return Json::parse(stream);
}

TEST(LocalEngine, TheDemoWorldGivesItsReferenceClips)
{
    engine::LocalEngine engine(config("demo"));
    for (const std::string id : {"d1", "d2", "d3"}) {
        const auto sink = generate(engine, pipeline_cases::request(demoCase(id)["params"]));
        const golden::Table table(golden::folder() / "demo" / (id + ".safetensors"));
        EXPECT_LE(golden::relativeError(sink.visionLatents, table.floats("latents")), golden::kFp32Chain) << id;
        pipeline_cases::expectSamePixels(sink.pixels, table.integers("frames"), id);
    }
}

TEST(LocalEngine, FinalFramesEqualTheReferenceTable)
{
    const golden::Table table("end_to_end");
    const auto index = Json::parse(golden::json("end_to_end"));
    for (const auto &entry : index["entries"]) {
        const auto name = entry["tensor"].get<std::string>(); // "n1.bf16.frames"
        const auto id = name.substr(0, 2);
        const std::string model = id[0] == 'n' ? "tiny-nano" : id[0] == 's' ? "tiny-super" : "tiny-edge";
        const bool isBf16 = name.find(".bf16.") != std::string::npos;
        engine::LocalEngine engine(config(model, isBf16 ? engine::DataType::BFloat16 : engine::DataType::Float32));
        const auto sink = generate(engine, tableCase(id));
        if (name.ends_with("waveform")) {
            EXPECT_LE(golden::relativeError(sink.waveform, table.floats(name)), golden::kFp32Chain) << name;
            EXPECT_EQ(sink.format.soundRate, 48000);
            continue;
        }
        const auto reference = table.integers(name);
        if (!isBf16) {
            pipeline_cases::expectSamePixels(sink.pixels, reference, name);
            continue;
        }
        ASSERT_EQ(sink.pixels.size(), reference.size());
        double sum = 0;
        for (std::size_t i = 0; i < reference.size(); ++i) {
            const auto difference = std::abs(static_cast<std::int64_t>(sink.pixels[i]) - reference[i]);
            ASSERT_LE(difference, 48) << name; // tolerance "pixel_bf16"
            sum += static_cast<double>(difference);
        }
        EXPECT_LE(sum / static_cast<double>(reference.size()), 3.0) << name;
    }
}

TEST(LocalEngine, TheSameRequestGivesTheSameBytes)
{
    const auto request = tableCase("n5");
    engine::LocalEngine first(config("tiny-nano", engine::DataType::BFloat16));
    engine::LocalEngine second(config("tiny-nano", engine::DataType::BFloat16));
    const auto a = generate(first, request);
    for (auto *engine : {&first, &second}) {
        const auto b = generate(*engine, request);
        EXPECT_EQ(a.visionLatents, b.visionLatents);
        EXPECT_EQ(a.soundLatents, b.soundLatents);
        EXPECT_EQ(a.pixels, b.pixels);
        EXPECT_EQ(a.waveform, b.waveform);
    }
}

TEST(LocalEngine, AnotherThreadCountStaysWithinAVelocitysRounding)
{
    auto request = tableCase("e1");
    request.steps = 1; // one velocity
    request.guidance.resize(1);
    auto oneThread = config("tiny-edge");
    oneThread.threads = 1;
    auto twoThreads = config("tiny-edge");
    twoThreads.threads = 2;
    engine::LocalEngine a(oneThread);
    engine::LocalEngine b(twoThreads);
    EXPECT_LE(golden::relativeError(generate(a, request).visionLatents, generate(b, request).visionLatents),
              golden::kFp32);
}

TEST(LocalEngine, StopsBetweenStepsAndRunsTheNextJobWithoutLoadingAgain)
{
    engine::LocalEngine engine(config("tiny-edge"));
    const auto request = tableCase("e1");
    MemorySink sink;
    Recorder recorder;
    recorder.stopIn = engine::Phase::Denoise;
    recorder.stopAt = 2;
    const auto outcome = engine.generate(request, sink, recorder, {recorder.stop.get_token(), {}});
    ASSERT_TRUE(std::holds_alternative<engine::Cancelled>(outcome));
    EXPECT_EQ(std::get<engine::Cancelled>(outcome).phase, engine::Phase::Denoise);
    EXPECT_LE(std::get<engine::Cancelled>(outcome).step, 3);
    EXPECT_EQ(sink.frameCount, 0);

    Recorder after;
    const auto next = engine.generate(request, sink, after, {});
    ASSERT_TRUE(std::holds_alternative<engine::Video>(next));
    for (const auto &phase : std::get<engine::Video>(next).report.phases)
        EXPECT_NE(phase.phase, engine::Phase::Load);
    EXPECT_TRUE(after.sawTimeLeft);
}

TEST(LocalEngine, StopsInEveryPhase)
{
    for (const auto phase : {engine::Phase::Load, engine::Phase::Text, engine::Phase::Denoise, engine::Phase::Decode}) {
        engine::LocalEngine engine(config("tiny-edge"));
        MemorySink sink;
        Recorder recorder;
        recorder.stopIn = phase;
        recorder.stopAt = phase == engine::Phase::Text ? 0 : 1;
        const auto outcome = engine.generate(tableCase("e1"), sink, recorder, {recorder.stop.get_token(), {}});
        EXPECT_TRUE(std::holds_alternative<engine::Cancelled>(outcome)) << engine::phaseName(phase);
    }
}

TEST(LocalEngine, AForcedStopEndsInsideAStep)
{
    engine::LocalEngine engine(config("tiny-edge"));
    MemorySink sink;
    Recorder recorder;
    std::stop_source force;
    force.request_stop();
    EXPECT_TRUE(std::holds_alternative<engine::Cancelled>(
        engine.generate(tableCase("e1"), sink, recorder, {{}, force.get_token()})));
}

TEST(LocalEngine, AFailingSinkEndsTheJobWithItsOwnReason)
{
    class FullDisk final : public MemorySink {
        Result frames(std::span<const std::uint8_t> /*values*/, int /*count*/) override
        {
            return engine::EngineError{engine::ErrorCode::Output, "The disk is full.", {}};
        }
    };
    engine::LocalEngine engine(config("tiny-edge"));
    for (int round = 0; round < 3; ++round) {
        FullDisk sink;
        Recorder recorder;
        const auto outcome = engine.generate(tableCase("e1"), sink, recorder, {});
        ASSERT_TRUE(std::holds_alternative<engine::EngineError>(outcome));
        EXPECT_EQ(std::get<engine::EngineError>(outcome).message, "The disk is full.");
    }
    generate(engine, tableCase("e1"));
}

TEST(LocalEngine, WeightsAreInMemoryOnce)
{
    engine::LocalEngine engine(config("demo"));
    MemorySink sink;
    Recorder recorder;
    auto request = pipeline_cases::request(demoCase("d3")["params"]);
    request.steps = 1;
    request.guidance.resize(1);
    const auto before = engine::residentBytes();
    ASSERT_FALSE(engine.load(recorder, {}).has_value());
    const auto files = engine::openCheckpoint(pipeline_cases::folder("demo"));
    // fp32 weights, and room for the libraries' own tables.
    EXPECT_LE(engine::residentBytes() - before, files->summary.memoryFloat32 * 5 / 4 + (32 << 20));
}

// Peak memory over the loaded model of a one-step clip whose frames nobody keeps.
std::int64_t peakOverLoaded(int frames)
{
    engine::LocalEngine engine(config("demo"));
    class Forgetful final : public MemorySink {
        Result frames(std::span<const std::uint8_t> /*values*/, int /*count*/) override { return std::nullopt; }
    };
    auto request = pipeline_cases::request(demoCase("d1")["params"]);
    request.frames = frames;
    request.steps = 1;
    request.guidance = {1.0};
    Forgetful sink;
    Recorder recorder;
    const auto outcome = engine.generate(request, sink, recorder, {});
    const auto &report = std::get<engine::Video>(outcome).report;
    return report.peakBytes - report.loadedBytes;
}

TEST(LocalEngine, MemoryDoesNotGrowWithTheLengthOfTheClip)
{
    peakOverLoaded(5); // what a process sets up once
    const auto brief = peakOverLoaded(33);
    const auto lengthy = peakOverLoaded(189);
    const std::int64_t latentBytes = 48 * 48 * 16 * 28 * 4; // the longer clip's own
    EXPECT_LE(lengthy, brief + brief / 20 + latentBytes);
}

TEST(LocalEngine, RefusesALayoutItCannotRun)
{
    auto two = config("tiny-edge");
    two.layout.cfg = 2;
    EXPECT_THROW(engine::LocalEngine{two}, engine::EngineFailure);
}

} // namespace
