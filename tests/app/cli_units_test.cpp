#include "app/cli/nearest_name.h"
#include "app/cli/output_name.h"
#include "app/cli/progress_line.h"
#include "app/cli/run_sinks.h"
#include "app/cli/stop_signal.h"
#include "engine/media/video_metadata.h"
#include "tests/app/program.h"
#include "tests/support/golden.h"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <future>
#include <thread>

namespace app {

namespace {

// Waits for a stop with a limit that only a broken program reaches.
bool stopsSoon(const std::stop_token &token)
{
    std::promise<void> promise;
    const std::stop_callback callback(token, [&] { promise.set_value(); });
    return promise.get_future().wait_for(std::chrono::seconds(30)) == std::future_status::ready;
}

std::vector<std::uint8_t> picture(int width, int height, int seed)
{
    std::vector<std::uint8_t> rgb(static_cast<std::size_t>(width * height * 3));
    for (std::size_t i = 0; i < rgb.size(); ++i)
        rgb[i] = static_cast<std::uint8_t>(i * 7 + static_cast<std::size_t>(seed));
    return rgb;
}

} // namespace

TEST(NearestName, ForgivesSlipsOfTheKeyboardOnly)
{
    const std::vector<std::string> names{"--steps", "--seed", "--size", "--guidance-scale"};
    EXPECT_EQ(nearestName("--setps", names), "--steps");
    EXPECT_EQ(nearestName("--guidance", names), "--guidance-scale");
    EXPECT_EQ(nearestName("--sede", names), "--seed");
    EXPECT_EQ(nearestName("--completely-other", names), "");
    EXPECT_EQ(nearestName("", names), "");
    EXPECT_EQ(nearestName(std::string(100000, 'a'), names), "");
}

TEST(OutputName, TakesTheFirstWordsOfAPromptInAnyScript)
{
    EXPECT_EQ(fileNameWords("A red ball, bouncing -- on: GREEN grass at night."), "a-red-ball-bouncing-on-green");
    EXPECT_EQ(fileNameWords("水の音 ../../etc"), "水の音-etc");
    EXPECT_EQ(fileNameWords("  ...  "), "");
    EXPECT_LE(fileNameWords(std::string(1000, 'x') + " y").size(), 48U);
}

TEST(ProgressText, SaysPhaseStepAndTimeLeft)
{
    using std::chrono::duration;
    EXPECT_EQ(progressText({engine::Phase::Denoise, 5, 16, duration<double>(4.4)}),
              "Denoising: step 5 of 16, 4 s left");
    EXPECT_EQ(progressText({engine::Phase::Load, 0, 0, {}}), "Loading the weights");
    EXPECT_EQ(durationText(duration<double>(125)), "2 min 5 s");
    EXPECT_EQ(durationText(duration<double>(3780)), "1 h 3 min");
}

TEST(ProgressLine, PrintsAFewLinesWhereThereIsNoTerminal)
{
    testing::internal::CaptureStderr();
    {
        ProgressLine line(ProgressStyle::Lines);
        for (int step = 0; step <= 50; ++step)
            line.onProgress({engine::Phase::Denoise, step, 50, {}});
        line.onProgress({engine::Phase::Decode, 0, 7, {}});
    }
    const auto text = testing::internal::GetCapturedStderr();
    EXPECT_EQ(text, "Denoising: step 0 of 50\nDecoding: latent frame 0 of 7\n");
}

TEST(ProgressLine, TakesTheLiveLineAwayAtTheEnd)
{
    testing::internal::CaptureStderr();
    {
        ProgressLine line(ProgressStyle::Live);
        line.onProgress({engine::Phase::Text, 0, 0, {}});
    }
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "\r\x1b[KReading the prompts\r\x1b[K");
}

TEST(ProgressLine, IsSilentWhenAskedTo)
{
    testing::internal::CaptureStderr();
    ProgressLine line(ProgressStyle::Silent);
    line.onProgress({engine::Phase::Denoise, 1, 2, {}});
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(StopSignal, AsksForAStopAtTheFirstSignalAndAtOnceAtTheSecond)
{
    const StopSignal signal;
    const auto tokens = signal.tokens();
    EXPECT_FALSE(tokens.cancel.stop_requested());
    kill(getpid(), SIGINT);
    EXPECT_TRUE(stopsSoon(tokens.cancel));
    EXPECT_FALSE(tokens.force.stop_requested());
    kill(getpid(), SIGTERM);
    EXPECT_TRUE(stopsSoon(tokens.force));
}

TEST(RunSinks, WriteTheClipTheLatentsAndTheFrames)
{
    const auto folder = program::freshFolder();
    RunSinks sinks({.master = folder / "clip.mp4",
                    .latents = folder / "latents.safetensors",
                    .framesRaw = folder / "frames.safetensors",
                    .overwrite = false});
    ASSERT_FALSE(sinks.open({.width = 32, .height = 16, .frames = 3, .fps = 12}));
    const std::vector<float> latents{1, 2, 3, 4, 5, 6};
    const std::vector<std::int64_t> shape{1, 1, 2, 3};
    ASSERT_FALSE(sinks.latents("latents", latents, shape));
    const std::vector<float> sound{7, 8};
    const std::vector<std::int64_t> soundShape{2, 1};
    ASSERT_FALSE(sinks.latents("sound_latents", sound, soundShape));
    auto frames = picture(32, 16, 0);
    const auto second = picture(32, 16, 1);
    frames.insert(frames.end(), second.begin(), second.end());
    const auto third = picture(32, 16, 2);
    ASSERT_FALSE(sinks.frames(frames, 2));
    ASSERT_FALSE(sinks.frames(third, 1));
    EXPECT_FALSE(std::filesystem::exists(folder / "frames.safetensors"));
    ASSERT_FALSE(sinks.finish("{\"a\": 1}"));

    EXPECT_EQ(std::get<std::string>(engine::readRecordText(folder / "clip.mp4")), "{\"a\": 1}");
    const golden::Table written(folder / "latents.safetensors");
    EXPECT_EQ(written.shape("latents"), shape);
    EXPECT_EQ(written.floats("latents"), latents);
    EXPECT_EQ(written.floats("sound_latents"), sound);
    const golden::Table raw(folder / "frames.safetensors");
    EXPECT_EQ(raw.shape("frames"), (std::vector<std::int64_t>{3, 16, 32, 3}));
    frames.insert(frames.end(), third.begin(), third.end());
    EXPECT_EQ(raw.integers("frames"), std::vector<std::int64_t>(frames.begin(), frames.end()));

    const auto outputs = sinks.outputs();
    ASSERT_EQ(outputs.size(), 3U);
    EXPECT_EQ(outputs[0].role, "master");
    EXPECT_EQ(outputs[0].video, "h264 yuv420p bt709 tv");
    EXPECT_EQ(outputs[1].bytes, static_cast<std::int64_t>(std::filesystem::file_size(folder / "latents.safetensors")));
}

TEST(RunSinks, LeaveNothingWhenTheRunIsStopped)
{
    const auto folder = program::freshFolder();
    {
        RunSinks sinks({.master = folder / "clip.mp4",
                        .latents = folder / "latents.safetensors",
                        .framesRaw = folder / "frames.safetensors",
                        .overwrite = false});
        ASSERT_FALSE(sinks.open({.width = 32, .height = 16, .frames = 3, .fps = 12}));
        ASSERT_FALSE(sinks.frames(picture(32, 16, 0), 1));
    }
    EXPECT_TRUE(std::filesystem::is_empty(folder));
}

} // namespace app
