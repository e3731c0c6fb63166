#include "engine/media/sound_reader.h"
#include "engine/media/video_encoder.h"
#include "engine/media/video_metadata.h"
#include "tests/media/media_support.h"

#include <algorithm>
#include <cmath>
#include <malloc.h>
#include <numbers>
#include <set>

extern "C" {
#include <libavformat/avformat.h>
}

namespace {

using namespace media;
using testing::HasSubstr;

constexpr double kSineDecibels = 40; // signal to coding error of a sine at 256 kb/s
constexpr double kLeftHertz = 440;
constexpr double kRightHertz = 1000;

// [channels, samples]: 440 Hz left, 1000 Hz right.
std::vector<float> sines(int rate, int channels, int count)
{
    std::vector<float> samples;
    for (int channel = 0; channel < channels; ++channel) {
        const double hertz = channel == 0 ? kLeftHertz : kRightHertz;
        for (int i = 0; i < count; ++i)
            samples.push_back(static_cast<float>(0.5 * std::sin(2 * std::numbers::pi * hertz * i / rate)));
    }
    return samples;
}

// Signal to error in dB, the first and last tenth of a second left out (the sine starts and ends abruptly there).
double fidelity(std::span<const float> decoded, std::span<const float> source)
{
    double signal = 0;
    double error = 0;
    for (std::size_t i = 4800; i + 4800 < std::min(decoded.size(), source.size()); ++i) {
        const double difference = static_cast<double>(decoded[i]) - static_cast<double>(source[i]);
        signal += static_cast<double>(source[i]) * static_cast<double>(source[i]);
        error += difference * difference;
    }
    return 10 * std::log10(signal / error);
}

class ClipSound : public FolderTest {
protected:
    // A clip whose sound is `samples`; the error's sentence, "" when all went well.
    std::string encodeWith(const Scene &scene, double fps, int rate, int channels, const std::vector<float> &samples)
    {
        auto format = scene.format(fps);
        format.soundRate = rate;
        format.soundChannels = channels;
        engine::VideoEncoder encoder(file("clip.mp4"), true);
        auto result = encoder.open(format);
        if (!result)
            result = encoder.frames(scene.rgb, scene.frames);
        if (!result && !samples.empty())
            result = encoder.sound(samples, channels);
        return sentence(result ? result : encoder.finish("{\"seed\":7}"));
    }
};

TEST_F(ClipSound, IsAsLongAsThePicturesAndCloseToItsSource)
{
    const auto scene = numberedFrames(189);
    // The sound decoder works in blocks of 1920 samples, so it gives 240 more than the pictures last.
    const auto samples = sines(48'000, 2, 378'240);
    ASSERT_EQ(encodeWith(scene, 24, 48'000, 2, samples), "");

    const ProbedFile probed(file("clip.mp4"));
    ASSERT_NE(probed.sound(), nullptr);
    const auto &parameters = *probed.sound()->codecpar;
    EXPECT_EQ(parameters.codec_id, AV_CODEC_ID_AAC);
    EXPECT_EQ(parameters.sample_rate, 48'000);
    EXPECT_EQ(parameters.ch_layout.nb_channels, 2);
    EXPECT_EQ(probed.video()->nb_frames, 189);
    EXPECT_DOUBLE_EQ(probed.seconds(*probed.video()), 7.875);
    EXPECT_DOUBLE_EQ(probed.seconds(*probed.sound()), 7.875);
    EXPECT_EQ(probed.video()->start_time, 0);
    EXPECT_EQ(probed.sound()->start_time, 0);
    EXPECT_EQ(value(engine::readRecordText(file("clip.mp4"))), "{\"seed\":7}");

    const auto sound = value(engine::readSound(file("clip.mp4")));
    EXPECT_EQ(sound.rate, 48'000);
    ASSERT_EQ(sound.channels, 2);
    ASSERT_EQ(sound.samples.size(), 2U * 378'000);
    const std::span<const float> decoded(sound.samples);
    const std::span<const float> source(samples);
    EXPECT_GE(fidelity(decoded.first(378'000), source.first(378'000)), kSineDecibels);
    EXPECT_GE(fidelity(decoded.last(378'000), source.subspan(378'240, 378'000)), kSineDecibels);

    const auto info = value(engine::VideoReader::open(file("clip.mp4"))).info();
    EXPECT_EQ(info.frames, 189);
    EXPECT_EQ(info.soundRate, 48'000);
    EXPECT_EQ(info.soundChannels, 2);
}

TEST_F(ClipSound, IsInterleavedWithThePictures)
{
    ASSERT_EQ(encodeWith(noisyScene(96, 64, 72), 24, 48'000, 2, sines(48'000, 2, 144'000)), "");
    auto *context = avformat_alloc_context();
    ASSERT_GE(avformat_open_input(&context, file("clip.mp4").c_str(), nullptr, nullptr), 0);
    auto *packet = av_packet_alloc();
    // By position in the file: neither stream runs a second ahead of the other.
    std::array<double, 2> reached{};
    std::vector<std::pair<std::int64_t, std::pair<int, double>>> packets;
    while (av_read_frame(context, packet) >= 0) {
        const auto base = context->streams[packet->stream_index]->time_base;
        packets.push_back({packet->pos, {packet->stream_index, static_cast<double>(packet->dts) * av_q2d(base)}});
        av_packet_unref(packet);
    }
    av_packet_free(&packet);
    avformat_close_input(&context);
    std::sort(packets.begin(), packets.end());
    for (const auto &[position, at] : packets) {
        reached.at(static_cast<std::size_t>(at.first)) = at.second;
        EXPECT_LT(std::abs(reached[0] - reached[1]), 1.0) << "at byte " << position;
    }
}

TEST_F(ClipSound, HasTheSameBytesEveryTime)
{
    std::set<Bytes> kinds;
    for (const int fill : {0, 85, 170}) {
        ::mallopt(M_PERTURB, fill); // shows what is read before it is written
        ASSERT_EQ(encodeWith(numberedFrames(24), 24, 44'100, 1, sines(44'100, 1, 44'100)), "");
        kinds.insert(contents(file("clip.mp4")));
    }
    ::mallopt(M_PERTURB, 0);
    EXPECT_EQ(kinds.size(), 1U);
}

TEST_F(ClipSound, OfAnotherRateOrInMonoBecomesStereoAt48Kilohertz)
{
    ASSERT_EQ(encodeWith(numberedFrames(24), 24, 24'000, 1, sines(24'000, 1, 24'000)), "");
    const auto sound = value(engine::readSound(file("clip.mp4")));
    ASSERT_EQ(sound.rate, 48'000);
    ASSERT_EQ(sound.channels, 2);
    ASSERT_EQ(sound.samples.size(), 2U * 48'000);
    const auto source = sines(48'000, 1, 48'000);
    const std::span<const float> decoded(sound.samples);
    EXPECT_GE(fidelity(decoded.first(48'000), source), kSineDecibels);
    EXPECT_GE(fidelity(decoded.last(48'000), source), kSineDecibels);
}

TEST_F(ClipSound, ThatWasAnnouncedHasToCome)
{
    EXPECT_THAT(encodeWith(numberedFrames(2), 24, 48'000, 2, {}), HasSubstr("announced sound did not come"));
    EXPECT_THAT(encodeWith(numberedFrames(2), 24, 0, 2, sines(48'000, 2, 100)), HasSubstr("announced form"));
    EXPECT_THAT(encodeWith(numberedFrames(2), 24, 48'000, 2, std::vector<float>(101)), HasSubstr("announced form"));
    EXPECT_THAT(encodeWith(numberedFrames(2), 24, 48'000, 99, {}), HasSubstr("99 channels cannot be stored"));
    EXPECT_EQ(names().size(), 0U);
}

} // namespace
