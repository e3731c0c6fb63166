#include "tests/support/toy_pipeline.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <variant>
#include <vector>

namespace {

using namespace std::chrono_literals;
using engine::Cancelled;
using engine::EngineError;
using engine::Phase;
using engine::Video;

struct Recorder final : engine::GenerationObserver {
    std::atomic<int> last{0};
    std::atomic<bool> hasTimeLeft{false};
    void onProgress(const engine::Progress &progress) noexcept override
    {
        last = progress.step;
        hasTimeLeft = progress.timeLeft.has_value();
    }
};

TEST(ToyPipeline, RunsEveryStepAndEncodesEveryFrameInOrder)
{
    std::vector<int> encoded;
    ToyPipeline pipeline(4, {.onStep = {}, .onFrame = [&](int frame) { encoded.push_back(frame); }});
    Recorder recorder;
    const auto outcome = pipeline.generate({.steps = 35, .frames = 24}, recorder, {});
    ASSERT_TRUE(std::holds_alternative<Video>(outcome));
    EXPECT_EQ(std::get<Video>(outcome).frames, 24);
    EXPECT_EQ(std::get<Video>(outcome).report.stepSeconds.size(), 35U);
    EXPECT_EQ(recorder.last, 35);
    EXPECT_TRUE(recorder.hasTimeLeft);
    EXPECT_EQ(encoded.size(), 24U);
    EXPECT_TRUE(std::is_sorted(encoded.begin(), encoded.end()));
}

TEST(ToyPipeline, EveryRunGivesTheSameBitsWhicheverRankIsLate)
{
    std::atomic<int> late{0};
    ToyPipeline pipeline(4, {.onStep =
                                 [&](int rank, int step) {
                                     if (rank == (late + step) % 4)
                                         std::this_thread::sleep_for(50us);
                                 },
                             .onFrame = {}});
    Recorder recorder;
    ASSERT_TRUE(std::holds_alternative<Video>(pipeline.generate({.steps = 20}, recorder, {})));
    const auto first = pipeline.latents();
    for (late = 1; late < 6; ++late) {
        ASSERT_TRUE(std::holds_alternative<Video>(pipeline.generate({.steps = 20}, recorder, {})));
        EXPECT_EQ(pipeline.latents(), first);
    }
}

TEST(ToyPipeline, AFailingRankEndsTheJobWithItsOwnReasonAndTheNextJobRuns)
{
    std::atomic<bool> fail{true};
    ToyPipeline pipeline(4, {.onStep =
                                 [&](int rank, int step) {
                                     if (fail && rank == 2 && step == 3)
                                         throw std::runtime_error("rank 2 is broken");
                                 },
                             .onFrame = {}});
    Recorder recorder;
    for (int round = 0; round < 50; ++round) {
        fail = true;
        const auto failed = pipeline.generate({.steps = 35}, recorder, {});
        ASSERT_TRUE(std::holds_alternative<EngineError>(failed));
        EXPECT_EQ(std::get<EngineError>(failed).detail, "rank 2 is broken");
        EXPECT_EQ(std::get<EngineError>(failed).rank, 2);
        fail = false;
        EXPECT_TRUE(std::holds_alternative<Video>(pipeline.generate({.steps = 5}, recorder, {})));
    }
}

TEST(ToyPipeline, AFailingEncoderEndsTheJobWithItsOwnReasonAndTheNextJobRuns)
{
    std::atomic<bool> fail{true};
    ToyPipeline pipeline(4, {.onStep = {}, .onFrame = [&](int frame) {
                                 if (fail && frame == 5)
                                     throw engine::EngineFailure(engine::ErrorCode::Output,
                                                                 "The disk is full: make room.");
                             }});
    Recorder recorder;
    for (int round = 0; round < 50; ++round) {
        fail = true;
        const auto failed = pipeline.generate({.steps = 3}, recorder, {});
        ASSERT_TRUE(std::holds_alternative<EngineError>(failed));
        EXPECT_EQ(std::get<EngineError>(failed).code, engine::ErrorCode::Output);
        EXPECT_EQ(std::get<EngineError>(failed).message, "The disk is full: make room.");
        fail = false;
        EXPECT_TRUE(std::holds_alternative<Video>(pipeline.generate({.steps = 3}, recorder, {})));
    }
}

TEST(ToyPipeline, CancelInTheMiddleStopsAtTheNextStep)
{
    std::stop_source cancel;
    ToyPipeline pipeline(4, {.onStep =
                                 [&](int rank, int step) {
                                     if (rank == 0 && step == 7)
                                         cancel.request_stop();
                                 },
                             .onFrame = {}});
    Recorder recorder;
    const auto outcome = pipeline.generate({.steps = 1000}, recorder, cancel.get_token());
    ASSERT_TRUE(std::holds_alternative<Cancelled>(outcome));
    EXPECT_EQ(std::get<Cancelled>(outcome).phase, Phase::Denoise);
    EXPECT_EQ(std::get<Cancelled>(outcome).step, 8);
    EXPECT_EQ(recorder.last, 8);
}

TEST(ToyPipeline, CancelFromAnotherThreadEndsTheJobAtAnyMoment)
{
    ToyPipeline pipeline(4, {.onStep = [](int, int) { std::this_thread::sleep_for(20us); }, .onFrame = {}});
    Recorder recorder;
    for (int round = 0; round < 30; ++round) {
        std::stop_source cancel;
        std::jthread person([&] {
            std::this_thread::sleep_for(100us * round);
            cancel.request_stop();
        });
        EXPECT_TRUE(
            std::holds_alternative<Cancelled>(pipeline.generate({.steps = 100000}, recorder, cancel.get_token())));
    }
}

TEST(ToyPipeline, CancelledBeforeItBeginsRunsNoStep)
{
    std::stop_source cancel;
    cancel.request_stop();
    ToyPipeline pipeline(2);
    Recorder recorder;
    const auto outcome = pipeline.generate({.steps = 10}, recorder, cancel.get_token());
    ASSERT_TRUE(std::holds_alternative<Cancelled>(outcome));
    EXPECT_EQ(std::get<Cancelled>(outcome).step, 0);
    EXPECT_EQ(recorder.last, 0);
}

TEST(ToyPipeline, CancelWhileDecodingStopsBeforeTheLastFrame)
{
    std::stop_source cancel;
    ToyPipeline pipeline(2, {.onStep = {}, .onFrame = [&](int frame) {
                                 if (frame == 3)
                                     cancel.request_stop();
                             }});
    Recorder recorder;
    const auto outcome = pipeline.generate({.steps = 2, .frames = 1000}, recorder, cancel.get_token());
    ASSERT_TRUE(std::holds_alternative<Cancelled>(outcome));
    EXPECT_EQ(std::get<Cancelled>(outcome).phase, Phase::Decode);
    EXPECT_LT(std::get<Cancelled>(outcome).step, 12);
}

} // namespace
