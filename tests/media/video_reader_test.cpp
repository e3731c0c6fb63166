#include "engine/media/sound_reader.h"
#include "engine/media/video_metadata.h"
#include "engine/media/video_reader.h"
#include "tests/media/media_support.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <random>

namespace {

using namespace media;
using engine::VideoReader;
using testing::HasSubstr;

class VideoReaderTest : public FolderTest {};

TEST_F(VideoReaderTest, FindsEveryFrameInAnyOrder)
{
    constexpr int kFrames = 130;
    ASSERT_EQ(encode(file("clip.mp4"), numberedFrames(kFrames), 24), "");
    auto reader = value(VideoReader::open(file("clip.mp4")));
    ASSERT_EQ(reader.info().frames, kFrames);
    std::vector<int> order(kFrames);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), std::mt19937(3));
    for (const int index : order)
        EXPECT_EQ(numberIn(value(reader.frameAt(index))), index);
    for (int index = kFrames - 1; index >= 0; --index)
        ASSERT_EQ(numberIn(value(reader.frameAt(index))), index);
}

TEST_F(VideoReaderTest, GoesOnAfterTheLastFrameRead)
{
    ASSERT_EQ(encode(file("clip.mp4"), numberedFrames(60), 23.976), "");
    auto reader = value(VideoReader::open(file("clip.mp4")));
    EXPECT_EQ(numberIn(value(reader.next()).value()), 0);
    EXPECT_EQ(numberIn(value(reader.next()).value()), 1);
    EXPECT_EQ(numberIn(value(reader.frameAt(40))), 40);
    for (int index = 41; index < 60; ++index)
        EXPECT_EQ(numberIn(value(reader.next()).value()), index);
    EXPECT_FALSE(value(reader.next()).has_value());
    EXPECT_EQ(numberIn(value(reader.frameAt(7))), 7);
    EXPECT_EQ(numberIn(value(reader.next()).value()), 8);
}

TEST_F(VideoReaderTest, GivesTheSameFrameHoweverItIsReached)
{
    const auto scene = noisyScene(96, 64, 40);
    ASSERT_EQ(encode(file("clip.mp4"), scene, 24), "");
    auto forward = value(VideoReader::open(file("clip.mp4")));
    auto jumping = value(VideoReader::open(file("clip.mp4")));
    for (int index = 0; index < 40; ++index) {
        const auto frame = value(forward.next()).value();
        EXPECT_EQ(value(jumping.frameAt((index * 37) % 40)).size(), frame.size());
        EXPECT_EQ(value(jumping.frameAt(index)), frame) << index;
    }
}

TEST_F(VideoReaderTest, TellsSizeRateAndSound)
{
    ASSERT_EQ(encode(file("clip.mp4"), movingGradient(96, 64, 5), 29.97), "");
    const auto info = value(VideoReader::open(file("clip.mp4"))).info();
    EXPECT_EQ(info.width, 96);
    EXPECT_EQ(info.height, 64);
    EXPECT_EQ(info.frames, 5);
    EXPECT_EQ(info.rate, (engine::FrameRate{30000, 1001}));
    EXPECT_EQ(info.soundRate, 0);
    EXPECT_TRUE(value(engine::readSound(file("clip.mp4"))).samples.empty());
}

TEST_F(VideoReaderTest, ReadsOtherContainersAndCodecsExactlyToo)
{
    if (std::system("ffmpeg -version > /dev/null 2>&1") != 0)
        GTEST_SKIP() << "the ffmpeg program is not installed";
    ASSERT_EQ(encode(file("clip.mp4"), numberedFrames(60), 24, "{\"seed\":1}"), "");
    const std::string copy = "-i clip.mp4 -c copy ";
    const std::vector<std::pair<std::string, std::string>> conversions{
        {"copy.mkv", copy},
        {"copy.mov", copy},
        {"cut.mp4", "-ss 0.4 " + copy}, // starts between key frames, with an edit list
        {"open.mp4", "-i clip.mp4 -x264-params open-gop=1:keyint=10:bframes=3 "},
        {"vp9.webm", "-i clip.mp4 -deadline realtime -cpu-used 8 -b:v 1M "},
        {"part2.mp4", "-i clip.mp4 -c:v mpeg4 -bf 2 -g 12 -q:v 3 "}};
    for (const auto &[name, options] : conversions) {
        const auto command = "cd '" + file("").string() + "' && ffmpeg -v error -y " + options + name;
        ASSERT_EQ(std::system(command.c_str()), 0) << command;
        auto reader = value(VideoReader::open(file(name)));
        const int frames = reader.info().frames;
        const int first = numberIn(value(reader.frameAt(0)));
        EXPECT_EQ(first + frames, 60) << name;
        for (int i = 0; i < frames; ++i) {
            const int index = (i * 23) % frames;
            EXPECT_EQ(numberIn(value(reader.frameAt(index))), first + index) << name;
        }
        EXPECT_EQ(value(engine::readRecordText(file(name))), "{\"seed\":1}") << name; // in MKV the key is COMMENT
    }
}

TEST_F(VideoReaderTest, RefusesFramesThatAreNotThere)
{
    ASSERT_EQ(encode(file("clip.mp4"), numberedFrames(5), 24), "");
    auto reader = value(VideoReader::open(file("clip.mp4")));
    EXPECT_THAT(sentence(reader.frameAt(5)), HasSubstr("has no frame 5; its frames are 0 to 4."));
    EXPECT_THAT(sentence(reader.frameAt(-1)), HasSubstr("has no frame -1"));
    EXPECT_EQ(numberIn(value(reader.frameAt(4))), 4);
}

TEST_F(VideoReaderTest, RefusesWhatIsNoVideoInOneSentence)
{
    const std::string text = "#EXTM3U\n#EXTINF:1,\nfile:/etc/passwd\n";
    write(file("list.mp4"), {text.begin(), text.end()});
    write(file("empty.mp4"), {});
    EXPECT_THAT(sentence(VideoReader::open(file("list.mp4"))), HasSubstr("is not a video that can be read here"));
    EXPECT_THAT(sentence(VideoReader::open(file("empty.mp4"))), HasSubstr("is not a video that can be read here"));
    EXPECT_THAT(sentence(VideoReader::open(file("none.mp4"))),
                HasSubstr("cannot be opened (No such file or directory)"));
    EXPECT_NE(sentence(VideoReader::open(file(""))), "");
    EXPECT_THAT(sentence(engine::readRecordText(file("none.mp4"))), HasSubstr("cannot be opened"));
    EXPECT_THAT(sentence(engine::readRecordText(file("list.mp4"))), HasSubstr("is not a video"));
}

TEST_F(VideoReaderTest, RefusesAClipThatIsCutOff)
{
    ASSERT_EQ(encode(file("clip.mp4"), noisyScene(96, 64, 30), 24), "");
    const auto whole = contents(file("clip.mp4"));
    for (const double share : {0.001, 0.01, 0.3, 0.6, 0.99}) {
        write(file("cut.mp4"), {whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(share * whole.size())});
        EXPECT_NE(sentence(VideoReader::open(file("cut.mp4"))), "") << share;
    }
}

TEST_F(VideoReaderTest, SurvivesDamagedClips)
{
    ASSERT_EQ(encode(file("clip.mp4"), numberedFrames(20), 24, "{}"), "");
    const auto whole = contents(file("clip.mp4"));
    std::mt19937 random(5);
    for (int round = 0; round < 60; ++round) {
        auto damaged = whole;
        for (int i = 0; i < 8; ++i)
            damaged[random() % damaged.size()] = static_cast<std::uint8_t>(random());
        write(file("damaged.mp4"), damaged);
        static_cast<void>(engine::readRecordText(file("damaged.mp4")));
        static_cast<void>(engine::readSound(file("damaged.mp4")));
        auto opened = VideoReader::open(file("damaged.mp4"));
        if (auto *reader = std::get_if<VideoReader>(&opened)) {
            for (int index = reader->info().frames - 1; index >= 0; index -= 5)
                static_cast<void>(reader->frameAt(index)); // a frame or a sentence
        }
    }
}

TEST_F(VideoReaderTest, SaysWhenAClipHoldsNoRecord)
{
    ASSERT_EQ(encode(file("clip.mp4"), numberedFrames(2), 24), "");
    EXPECT_THAT(sentence(engine::readRecordText(file("clip.mp4"))), HasSubstr("holds no record of how it was made"));
}

} // namespace
