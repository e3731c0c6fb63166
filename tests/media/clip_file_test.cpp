#include "engine/media/video_encoder.h"
#include "engine/media/video_metadata.h"
#include "tests/media/media_support.h"
#include "tests/support/golden.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <malloc.h>
#include <set>

extern "C" {
#include <libavformat/avformat.h>
}

namespace {

using namespace media;

constexpr double kLumaDecibels = 45;
constexpr int kPatchLevels = 3;       // of 255, after decoding by BT.709
constexpr double kMeanLevels = 2;     // of 255, each channel's mean over a clip
constexpr double kSpeedSeconds = 0.3; // of all processors together, 25 frames of 224x128

const std::string kRecord = "{\"prompt\":\"港の夕暮れ 🌇 — \\\"quoted\\\"\nsecond line\",\"seed\":4294967295}";

Scene demoFrames(const char *name)
{
    const golden::Table table(golden::folder() / "demo" / name);
    const auto shape = table.shape("frames");
    Scene scene{.width = static_cast<int>(shape.at(2)),
                .height = static_cast<int>(shape.at(1)),
                .frames = static_cast<int>(shape.at(0)),
                .rgb = {}};
    for (const auto level : table.integers("frames"))
        scene.rgb.push_back(static_cast<std::uint8_t>(level));
    return scene;
}

void expectFaithfulLuma(const std::filesystem::path &file, const Scene &scene)
{
    const auto planes = ProbedFile(file).lumaPlanes();
    ASSERT_EQ(planes.size(), static_cast<std::size_t>(scene.frames));
    const auto pixels = scene.frameBytes() / 3;
    double worst = 100;
    for (int i = 0; i < scene.frames; ++i)
        worst = std::min(worst, psnr(planes[static_cast<std::size_t>(i)], luma(scene.frame(i), pixels)));
    EXPECT_GE(worst, kLumaDecibels);
    std::printf("worst frame: luma %.1f dB, %zu bytes\n", worst, contents(file).size());
}

struct Rate {
    double fps;
    AVRational exact;
};

class ClipRate : public FolderTest, public testing::WithParamInterface<Rate> {};

TEST_P(ClipRate, IsExactWithEveryFrameTheColourTagsAndTheRecord)
{
    const auto [fps, exact] = GetParam();
    const auto scene = movingGradient(224, 128, 25);
    ASSERT_EQ(encode(file("clip.mp4"), scene, fps, kRecord), "");

    ProbedFile probed(file("clip.mp4"));
    const auto *stream = probed.video();
    EXPECT_EQ(av_cmp_q(stream->r_frame_rate, exact), 0);
    EXPECT_EQ(av_cmp_q(stream->avg_frame_rate, exact), 0);
    EXPECT_EQ(stream->nb_frames, 25);
    EXPECT_EQ(stream->start_time, 0);
    EXPECT_EQ(av_compare_ts(stream->duration, stream->time_base, 25, av_inv_q(exact)), 0);
    EXPECT_EQ(stream->codecpar->codec_id, AV_CODEC_ID_H264);
    EXPECT_EQ(stream->codecpar->format, AV_PIX_FMT_YUV420P);
    EXPECT_EQ(stream->codecpar->color_space, AVCOL_SPC_BT709);
    EXPECT_EQ(stream->codecpar->color_primaries, AVCOL_PRI_BT709);
    EXPECT_EQ(stream->codecpar->color_trc, AVCOL_TRC_BT709);
    EXPECT_EQ(stream->codecpar->color_range, AVCOL_RANGE_MPEG);
    EXPECT_EQ(stream->codecpar->chroma_location, AVCHROMA_LOC_LEFT);
    EXPECT_EQ(probed.sound(), nullptr);
    EXPECT_EQ(probed.comment(), kRecord);
    EXPECT_EQ(value(engine::readRecordText(file("clip.mp4"))), kRecord);
    expectFaithfulLuma(file("clip.mp4"), scene);
    EXPECT_EQ(names(), std::vector<std::string>{"clip.mp4"});
}

INSTANTIATE_TEST_SUITE_P(Rates, ClipRate,
                         testing::Values(Rate{10, {10, 1}}, Rate{12, {12, 1}}, Rate{16, {16, 1}}, Rate{24, {24, 1}},
                                         Rate{30, {30, 1}}, Rate{23.976, {24000, 1001}}, Rate{29.97, {30000, 1001}},
                                         Rate{24000.0 / 1001, {24000, 1001}}, Rate{12.5, {25, 2}}),
                         [](const auto &rate) {
                             return std::to_string(rate.index) + "_" + std::to_string(rate.param.exact.num) + "_" +
                                    std::to_string(rate.param.exact.den);
                         });

class ClipFile : public FolderTest {};

TEST_F(ClipFile, KeepsTheLumaOfANoisyScene)
{
    const auto scene = noisyScene(224, 128, 25);
    for (const double fps : {10.0, 30.0}) {
        ASSERT_EQ(encode(file("clip.mp4"), scene, fps, "", true), "");
        expectFaithfulLuma(file("clip.mp4"), scene);
    }
}

TEST_F(ClipFile, KeepsTheLumaOfGeneratedFrames)
{
    for (const char *name : {"d1.safetensors", "d2.safetensors", "d3.safetensors"}) {
        const auto scene = demoFrames(name);
        ASSERT_EQ(encode(file("clip.mp4"), scene, 30, "", true), "");
        expectFaithfulLuma(file("clip.mp4"), scene);
    }
}

TEST_F(ClipFile, ShowsFlatColoursAsTheyWere)
{
    constexpr std::array<std::array<std::uint8_t, 3>, 5> kColours{
        {{200, 30, 30}, {30, 180, 40}, {30, 60, 220}, {230, 200, 40}, {128, 128, 128}}};
    Scene scene{.width = 640, .height = 64, .frames = 3, .rgb = {}};
    for (int i = 0; i < scene.frames * scene.height; ++i) {
        for (int x = 0; x < scene.width; ++x)
            scene.rgb.insert(scene.rgb.end(), kColours[x / 128].begin(), kColours[x / 128].end());
    }
    ASSERT_EQ(encode(file("clip.mp4"), scene, 24), "");
    auto reader = value(engine::VideoReader::open(file("clip.mp4")));
    const auto frame = value(reader.frameAt(1));
    for (std::size_t patch = 0; patch < kColours.size(); ++patch) {
        for (std::size_t channel = 0; channel < 3; ++channel) {
            const auto shown = frame[(32U * 640 + patch * 128 + 64) * 3 + channel];
            EXPECT_NEAR(shown, kColours[patch][channel], kPatchLevels) << "patch " << patch << " channel " << channel;
        }
    }
}

TEST_F(ClipFile, KeepsTheMeanOfEachChannel)
{
    const auto scene = demoFrames("d1.safetensors");
    ASSERT_EQ(encode(file("clip.mp4"), scene, 12), "");
    auto reader = value(engine::VideoReader::open(file("clip.mp4")));
    std::array<double, 3> difference{};
    for (int i = 0; i < scene.frames; ++i) {
        const auto frame = value(reader.next()).value();
        for (std::size_t at = 0; at < frame.size(); ++at)
            difference[at % 3] += frame[at] - scene.frame(i)[at];
    }
    for (const double sum : difference)
        EXPECT_LE(std::abs(sum) / (static_cast<double>(scene.rgb.size()) / 3), kMeanLevels);
    EXPECT_FALSE(value(reader.next()).has_value());
}

TEST_F(ClipFile, KeepsALongRecordUnchanged)
{
    std::string record = "{\"text\":\"";
    while (record.size() < 200'000)
        record += "猫が走る 🐈\\n\n\ttext, ";
    record += "\"}";
    ASSERT_EQ(encode(file("clip.mp4"), numberedFrames(2), 24, record), "");
    EXPECT_EQ(value(engine::readRecordText(file("clip.mp4"))), record);
    EXPECT_EQ(ProbedFile(file("clip.mp4")).comment(), record);
}

TEST_F(ClipFile, StartsWithItsIndexSoThatItPlaysWhileLoading)
{
    ASSERT_EQ(encode(file("clip.mp4"), numberedFrames(10), 24, kRecord), "");
    const auto bytes = contents(file("clip.mp4"));
    const std::string text(bytes.begin(), bytes.end());
    ASSERT_NE(text.find("moov"), std::string::npos);
    EXPECT_LT(text.find("moov"), text.find("mdat"));
}

TEST_F(ClipFile, HasTheSameBytesEveryTime)
{
    for (const auto &scene : {movingGradient(224, 128, 25), noisyScene(224, 128, 25), demoFrames("d1.safetensors")}) {
        std::set<Bytes> kinds;
        for (const int fill : {0, 85, 170}) {
            // Memory comes filled with another byte, so that what is read before it is written shows.
            ::mallopt(M_PERTURB, fill);
            ASSERT_EQ(encode(file("clip.mp4"), scene, 24, kRecord, true), "");
            kinds.insert(contents(file("clip.mp4")));
        }
        ::mallopt(M_PERTURB, 0);
        EXPECT_EQ(kinds.size(), 1U);
    }
}

TEST_F(ClipFile, IsWrittenFast)
{
    const auto scene = demoFrames("d1.safetensors");
    const auto start = std::clock(); // what other programs take does not count
    ASSERT_EQ(encode(file("clip.mp4"), scene, 12), "");
    const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    std::printf("%d frames of %dx%d: %.3f s of processor time\n", scene.frames, scene.width, scene.height, seconds);
    EXPECT_LT(seconds, kSpeedSeconds);
}

std::string outputOf(const std::string &command)
{
    std::string text;
    std::FILE *pipe = ::popen(command.c_str(), "r");
    std::array<char, 4096> buffer{};
    while (pipe != nullptr && std::fgets(buffer.data(), buffer.size(), pipe) != nullptr)
        text += buffer.data();
    if (pipe != nullptr)
        ::pclose(pipe);
    return text;
}

TEST_F(ClipFile, IsWhatFfprobeSaysItIs)
{
    if (std::system("ffprobe -version > /dev/null 2>&1") != 0)
        GTEST_SKIP() << "ffprobe is not installed";
    for (const int fps : {10, 16, 24, 30}) {
        ASSERT_EQ(encode(file("clip.mp4"), movingGradient(224, 128, 25), fps, kRecord, true), "");
        const auto text =
            outputOf("ffprobe -v error -count_frames -show_streams -show_format " + file("clip.mp4").string());
        const auto rate = std::to_string(fps) + "/1\n";
        for (const std::string &line :
             {std::string("codec_name=h264\n"), std::string("pix_fmt=yuv420p\n"), std::string("width=224\n"),
              std::string("height=128\n"), std::string("color_range=tv\n"), std::string("color_space=bt709\n"),
              std::string("color_transfer=bt709\n"), std::string("color_primaries=bt709\n"),
              std::string("chroma_location=left\n"), std::string("nb_frames=25\n"), std::string("nb_read_frames=25\n"),
              "r_frame_rate=" + rate, "avg_frame_rate=" + rate, "TAG:comment=" + kRecord + "\n"})
            EXPECT_NE(text.find(line), std::string::npos) << line << "is missing at " << fps << " fps in\n" << text;
        EXPECT_EQ(text.find("TAG:encoder"), std::string::npos);
        EXPECT_EQ(text.find("TAG:creation_time"), std::string::npos);
    }
}

} // namespace
