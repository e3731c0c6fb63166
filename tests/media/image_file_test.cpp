#include "engine/media/image_file.h"
#include "engine/media/video_metadata.h"
#include "tests/media/media_support.h"
#include "tests/support/golden.h"

#include <csignal>
#include <cstdlib>
#include <png.h>
#include <random>
#include <sys/resource.h>

namespace {

using namespace media;
using engine::ImageWriter;
using testing::HasSubstr;

const std::string kRecord = "{\"prompt\":\"港の夕暮れ 🌇\nsecond line\"}";

std::string writeImage(const std::filesystem::path &file, const Scene &scene, const std::string &record,
                       bool overwrite = false)
{
    ImageWriter writer(file, overwrite);
    auto result = writer.open(scene.format(24));
    if (!result)
        result = writer.frames(scene.rgb, scene.frames);
    return sentence(result ? result : writer.finish(record));
}

class ImageFile : public FolderTest {};

TEST_F(ImageFile, GivesBackEveryPixelAndTheRecord)
{
    const auto scene = noisyScene(223, 127, 1);
    ASSERT_EQ(writeImage(file("still.png"), scene, kRecord), "");
    const auto picture = value(engine::readPng(file("still.png")));
    EXPECT_EQ(picture.width, 223);
    EXPECT_EQ(picture.height, 127);
    EXPECT_EQ(picture.rgb, scene.rgb);
    EXPECT_EQ(picture.record, kRecord);
    EXPECT_EQ(value(engine::readRecordText(file("still.png"))), kRecord);
    EXPECT_EQ(names(), std::vector<std::string>{"still.png"});
}

TEST_F(ImageFile, HoldsTheRecordInACompressedTextChunkAndIsTaggedSrgb)
{
    std::string record = kRecord;
    while (record.size() < 200'000)
        record += "猫が走る 🐈 ";
    ASSERT_EQ(writeImage(file("still.png"), noisyScene(32, 16, 1), record), "");
    const auto bytes = contents(file("still.png"));
    const std::string text(bytes.begin(), bytes.end());
    EXPECT_NE(text.find(std::string("iTXtcomment\0\1\0", 14)), std::string::npos);
    EXPECT_NE(text.find("sRGB"), std::string::npos);
    EXPECT_LT(bytes.size(), 20'000U);
    EXPECT_EQ(value(engine::readRecordText(file("still.png"))), record);
}

TEST_F(ImageFile, HasTheSameBytesEveryTime)
{
    ASSERT_EQ(writeImage(file("a.png"), noisyScene(64, 48, 1), kRecord), "");
    ASSERT_EQ(writeImage(file("b.png"), noisyScene(64, 48, 1), kRecord), "");
    EXPECT_EQ(contents(file("a.png")), contents(file("b.png")));
}

TEST_F(ImageFile, IsRecognisedByItsContent)
{
    ASSERT_EQ(writeImage(file("still.png"), noisyScene(32, 16, 1), kRecord), "");
    std::filesystem::rename(file("still.png"), file("still.mp4"));
    EXPECT_EQ(value(engine::readRecordText(file("still.mp4"))), kRecord);
}

TEST_F(ImageFile, OfAnyKindIsReadAsColours)
{
    // 16-bit grey with transparency, interlaced: the farthest from what the program writes.
    png_image image{};
    image.version = PNG_IMAGE_VERSION;
    image.width = image.height = 2;
    image.format = PNG_FORMAT_LINEAR_Y_ALPHA;
    const std::vector<png_uint_16> pixels{0, 65535, 65535, 65535, 65535, 65535, 0, 65535};
    ASSERT_NE(png_image_write_to_file(&image, file("grey.png").c_str(), 0, pixels.data(), 0, nullptr), 0);
    const auto picture = value(engine::readPng(file("grey.png")));
    EXPECT_EQ(picture.rgb, (Bytes{0, 0, 0, 255, 255, 255, 255, 255, 255, 0, 0, 0}));
    EXPECT_EQ(picture.record, "");
    EXPECT_THAT(sentence(engine::readRecordText(file("grey.png"))), HasSubstr("holds no record"));
}

TEST_F(ImageFile, OfTheReferenceHasTheReferencesPixels)
{
    const golden::Table table(std::string_view("end_to_end"));
    const auto picture = value(engine::readPng(golden::folder() / "n1_frame0.png"));
    const auto frames = table.integers("n1.fp32.frames");
    ASSERT_LE(picture.rgb.size(), frames.size());
    for (std::size_t i = 0; i < picture.rgb.size(); ++i)
        ASSERT_EQ(picture.rgb[i], frames[i]) << i;
}

TEST_F(ImageFile, ThatIsDamagedIsRefusedInOneSentence)
{
    ASSERT_EQ(writeImage(file("still.png"), noisyScene(64, 48, 1), kRecord), "");
    const auto whole = contents(file("still.png"));
    std::mt19937 random(11);
    for (int round = 0; round < 300; ++round) {
        auto damaged = whole;
        if (round % 3 == 0)
            damaged.resize(random() % damaged.size());
        else
            damaged[random() % damaged.size()] ^= static_cast<std::uint8_t>(1 + random() % 255);
        write(file("damaged.png"), damaged);
        const auto result = engine::readPng(file("damaged.png"));
        if (const auto *picture = std::get_if<engine::Picture>(&result)) {
            // Only what no checksum covers may pass: the end of the file.
            EXPECT_EQ(picture->rgb.size(), 64U * 48 * 3);
        } else {
            EXPECT_EQ(sentence(result),
                      file("damaged.png").string() + " is not a PNG picture, or it is damaged; use another copy.");
        }
    }
    EXPECT_THAT(sentence(engine::readPng(file("none.png"))), HasSubstr("cannot be opened (No such file"));
}

TEST_F(ImageFile, IsNeverReplacedUnlessAsked)
{
    ASSERT_EQ(writeImage(file("still.png"), noisyScene(32, 16, 1), ""), "");
    const auto before = contents(file("still.png"));
    EXPECT_THAT(writeImage(file("still.png"), movingGradient(32, 16, 1), ""), HasSubstr("exists already"));
    EXPECT_EQ(contents(file("still.png")), before);
    EXPECT_EQ(writeImage(file("still.png"), movingGradient(32, 16, 1), "", true), "");
    EXPECT_NE(contents(file("still.png")), before);
    EXPECT_EQ(names(), std::vector<std::string>{"still.png"});
}

TEST_F(ImageFile, HoldsExactlyOneFrame)
{
    EXPECT_THAT(writeImage(file("still.png"), numberedFrames(2), ""), HasSubstr("holds one frame, not 2"));
    const auto scene = numberedFrames(1);
    ImageWriter writer(file("still.png"), false);
    ASSERT_FALSE(writer.open(scene.format(1)));
    ASSERT_FALSE(writer.frames(scene.rgb, 1));
    EXPECT_TRUE(writer.frames(scene.rgb, 1));
    EXPECT_EQ(names().size(), 0U);
}

TEST_F(ImageFile, LeavesNothingWhenTheDiskIsFull)
{
    const auto scene = noisyScene(224, 128, 1);
    rlimit old{};
    ::getrlimit(RLIMIT_FSIZE, &old);
    auto *handler = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{10'000, old.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const auto message = writeImage(file("still.png"), scene, "");
    ::setrlimit(RLIMIT_FSIZE, &old);
    std::signal(SIGXFSZ, handler);
    EXPECT_EQ(message, file("still.png").string() +
                           " could not be written (File too large); free some space or choose another place.");
    EXPECT_EQ(names().size(), 0U);
}

} // namespace
