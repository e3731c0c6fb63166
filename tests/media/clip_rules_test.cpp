#include "engine/media/video_encoder.h"
#include "tests/media/media_support.h"

#include <csignal>
#include <sys/resource.h>

namespace {

using namespace media;
using testing::HasSubstr;

// Files of this process end at `bytes`, as on a disk that is full then; also for root, and without a mount.
class FullDisk {
public:
    explicit FullDisk(rlim_t bytes) : m_oldHandler(std::signal(SIGXFSZ, SIG_IGN))
    {
        ::getrlimit(RLIMIT_FSIZE, &m_old);
        const rlimit limit{bytes, m_old.rlim_max};
        ::setrlimit(RLIMIT_FSIZE, &limit);
    }
    ~FullDisk()
    {
        ::setrlimit(RLIMIT_FSIZE, &m_old);
        std::signal(SIGXFSZ, m_oldHandler);
    }
    FullDisk(const FullDisk &) = delete;
    FullDisk &operator=(const FullDisk &) = delete;

private:
    rlimit m_old{};
    void (*m_oldHandler)(int);
};

class ClipRules : public FolderTest {};

TEST_F(ClipRules, NeverReplaceAClipUnlessAsked)
{
    write(file("clip.mp4"), {1, 2, 3});
    EXPECT_EQ(encode(file("clip.mp4"), numberedFrames(3), 24),
              file("clip.mp4").string() + " exists already; choose another name or allow it to be overwritten.");
    EXPECT_EQ(contents(file("clip.mp4")), (Bytes{1, 2, 3}));
    EXPECT_EQ(encode(file("clip.mp4"), numberedFrames(3), 24, "", true), "");
    EXPECT_GT(contents(file("clip.mp4")).size(), 100U);
    EXPECT_EQ(names(), std::vector<std::string>{"clip.mp4"});
}

TEST_F(ClipRules, LeaveNothingWhenAClipIsNotFinished)
{
    const auto scene = numberedFrames(20);
    {
        engine::VideoEncoder encoder(file("clip.mp4"), false);
        EXPECT_EQ(names().size(), 0U);
        ASSERT_FALSE(encoder.open(scene.format(24)));
        ASSERT_FALSE(encoder.frames({scene.frame(0), scene.frameBytes() * 10}, 10));
        ASSERT_EQ(names().size(), 1U);
        EXPECT_THAT(names().front(), testing::MatchesRegex("\\.clip\\.mp4\\..*\\.part"));
    }
    EXPECT_EQ(names().size(), 0U);
}

TEST_F(ClipRules, NameTheFileAndTheReasonWhenTheDiskIsFull)
{
    const auto scene = noisyScene(224, 128, 25);
    const FullDisk disk(60'000);
    const auto message = encode(file("clip.mp4"), scene, 24);
    EXPECT_EQ(message, file("clip.mp4").string() +
                           " could not be written (File too large); free some space or choose another place.");
    EXPECT_EQ(names().size(), 0U);
}

TEST_F(ClipRules, NameTheReasonWhenTheDiskIsFullAtTheVeryEnd)
{
    const auto scene = numberedFrames(3);
    const FullDisk disk(60'000);
    EXPECT_THAT(encode(file("clip.mp4"), scene, 24, std::string(200'000, 'r')), HasSubstr("File too large"));
    EXPECT_EQ(names().size(), 0U);
}

TEST_F(ClipRules, GiveTheFileUpAtTheFirstErrorEvenIfTheCallerGoesOn)
{
    const auto scene = numberedFrames(3);
    engine::VideoEncoder encoder(file("clip.mp4"), false);
    ASSERT_FALSE(encoder.open(scene.format(24)));
    EXPECT_TRUE(encoder.frames({scene.frame(0), 100}, 1)); // too short
    EXPECT_EQ(names().size(), 0U);
    EXPECT_TRUE(encoder.frames({scene.frame(0), scene.rgb.size()}, 3));
    EXPECT_TRUE(encoder.finish(""));
    EXPECT_EQ(names().size(), 0U);
}

TEST_F(ClipRules, RefuseAClipWithFewerFramesThanAnnounced)
{
    auto scene = numberedFrames(5);
    engine::VideoEncoder encoder(file("clip.mp4"), false);
    ASSERT_FALSE(encoder.open(scene.format(24)));
    ASSERT_FALSE(encoder.frames({scene.frame(0), scene.frameBytes() * 4}, 4));
    EXPECT_THAT(sentence(encoder.finish("")), HasSubstr("4 of 5 frames"));
    EXPECT_EQ(names().size(), 0U);
}

TEST_F(ClipRules, RefuseFoldersThatAreMissingOrTakeNoFiles)
{
    EXPECT_THAT(encode(file("none/clip.mp4"), numberedFrames(1), 24), HasSubstr("does not exist"));
    EXPECT_THAT(encode("/proc/clip.mp4", numberedFrames(1), 24), HasSubstr("does not take new files"));
}

TEST_F(ClipRules, AreCheckedBeforeAnythingIsLoaded)
{
    const engine::VideoFormat format{.width = 224, .height = 128, .frames = 25, .fps = 12};
    const auto check = [&](const std::filesystem::path &path, const engine::VideoFormat &f) {
        return sentence(engine::checkOutputFile(path, f, false));
    };
    EXPECT_EQ(check(file("clip.mp4"), format), "");
    EXPECT_EQ(check(file("CLIP.MP4"), format), "");
    EXPECT_THAT(check(file("clip.gif"), format), HasSubstr("must end in .mp4 for a video or .png for an image"));
    EXPECT_THAT(check(file("clip"), format), HasSubstr("must end in .mp4"));
    EXPECT_THAT(check(file("none/clip.mp4"), format), HasSubstr("does not exist"));
    EXPECT_THAT(check(file("clip.png"), format), HasSubstr("holds one frame, not 25"));
    EXPECT_THAT(check("/proc/clip.mp4", format), HasSubstr("does not take new files"));

    auto changed = format;
    changed.width = 223;
    EXPECT_THAT(check(file("clip.mp4"), changed), HasSubstr("223x128 is odd; choose an even width and height"));
    changed = format;
    changed.height = 20'000;
    EXPECT_THAT(check(file("clip.mp4"), changed), HasSubstr("choose sides from 2 to 16384"));
    changed = format;
    changed.fps = 0;
    EXPECT_THAT(check(file("clip.mp4"), changed), HasSubstr("frames a second"));
    changed = format;
    changed.frames = 0;
    EXPECT_THAT(check(file("clip.mp4"), changed), HasSubstr("at least one frame"));
    changed = format;
    changed.width = changed.height = 16'384;
    changed.frames = 2'000'000;
    EXPECT_THAT(check(file("clip.mp4"), changed), HasSubstr("MB are needed"));
    EXPECT_EQ(names().size(), 0U);

    write(file("clip.mp4"), {1});
    EXPECT_THAT(check(file("clip.mp4"), format), HasSubstr("exists already"));
    EXPECT_FALSE(engine::checkOutputFile(file("clip.mp4"), format, true));
}

TEST_F(ClipRules, LetAClipHaveAnyNameThatTheDiskTakes)
{
    for (const std::string name : {"港 🌇.mp4", "100%d.mp4", "http:x.mp4", "-o.mp4", "a?b&c=#.MP4"}) {
        EXPECT_EQ(encode(file(name), numberedFrames(2), 24), "") << name;
        EXPECT_EQ(value(engine::VideoReader::open(file(name))).info().frames, 2) << name;
    }
}

TEST_F(ClipRules, PassLatentsOver)
{
    engine::VideoEncoder encoder(file("clip.mp4"), false);
    const std::vector<float> values(4);
    const std::vector<std::int64_t> shape{1, 1, 2, 2};
    EXPECT_FALSE(encoder.latents("latents", values, shape));
}

} // namespace
