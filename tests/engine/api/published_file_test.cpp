#include "engine/api/published_file.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <unistd.h>

namespace {

namespace fs = std::filesystem;
using engine::EngineFailure;
using engine::ErrorCode;
using engine::PublishedFile;

std::string contents(const fs::path &path)
{
    std::ifstream stream(path);
    std::ostringstream text;
    text << stream.rdbuf();
    return text.str();
}

void write(const fs::path &path, const std::string &text)
{
    std::ofstream(path) << text;
}

class PublishedFileTest : public testing::Test {
public:
    PublishedFileTest()
    {
        auto name = (fs::temp_directory_path() / "published-XXXXXX").string();
        m_folder = ::mkdtemp(name.data());
    }
    ~PublishedFileTest() override { fs::remove_all(m_folder); }

protected:
    [[nodiscard]] fs::path file(const std::string &name) const { return m_folder / name; }
    [[nodiscard]] std::ptrdiff_t filesInFolder() const
    {
        return std::distance(fs::directory_iterator(m_folder), fs::directory_iterator());
    }

private:
    fs::path m_folder;
};

std::string refusal(const fs::path &target, bool overwrite)
{
    try {
        PublishedFile file(target, overwrite);
    } catch (const EngineFailure &failure) {
        EXPECT_EQ(failure.error().code, ErrorCode::Output);
        return failure.what();
    }
    return "";
}

TEST_F(PublishedFileTest, AppearsUnderItsNameOnlyWhenPublished)
{
    PublishedFile published(file("clip.mp4"), false);
    write(published.temporaryPath(), "frames");
    EXPECT_FALSE(fs::exists(file("clip.mp4")));
    published.publish();
    EXPECT_EQ(contents(file("clip.mp4")), "frames");
    EXPECT_EQ(filesInFolder(), 1);
}

TEST_F(PublishedFileTest, LeavesNothingWhenItIsNotPublished)
{
    {
        PublishedFile published(file("clip.mp4"), false);
        write(published.temporaryPath(), "half");
    }
    EXPECT_EQ(filesInFolder(), 0);
}

TEST_F(PublishedFileTest, RefusesAnExistingFileUnlessAskedToOverwrite)
{
    write(file("clip.mp4"), "old");
    EXPECT_NE(refusal(file("clip.mp4"), false).find("clip.mp4 exists already"), std::string::npos);
    {
        PublishedFile published(file("clip.mp4"), true);
        write(published.temporaryPath(), "new");
        EXPECT_EQ(contents(file("clip.mp4")), "old");
        published.publish();
    }
    EXPECT_EQ(contents(file("clip.mp4")), "new");
    EXPECT_EQ(filesInFolder(), 1);
}

TEST_F(PublishedFileTest, DoesNotReplaceAFileThatAppearedMeanwhile)
{
    {
        PublishedFile published(file("clip.mp4"), false);
        write(published.temporaryPath(), "mine");
        write(file("clip.mp4"), "someone else's");
        EXPECT_THROW(published.publish(), EngineFailure);
    }
    EXPECT_EQ(contents(file("clip.mp4")), "someone else's");
    EXPECT_EQ(filesInFolder(), 1);
}

TEST_F(PublishedFileTest, NamesTheMissingFolder)
{
    EXPECT_EQ(refusal(file("none/clip.mp4"), false),
              "The folder " + file("none").string() + " does not exist; create it or choose another place.");
}

TEST_F(PublishedFileTest, RefusesFoldersDevicesAndEmptyNames)
{
    fs::create_directory(file("clips"));
    EXPECT_NE(refusal(file("clips"), true).find("is a folder"), std::string::npos);
    EXPECT_NE(refusal("/dev/null", true).find("is not a plain file"), std::string::npos);
    EXPECT_NE(refusal("", true).find("names no file"), std::string::npos);
    EXPECT_NE(refusal(file("clips/"), true).find("names no file"), std::string::npos);
}

TEST_F(PublishedFileTest, RefusesAFolderThatTakesNoNewFiles)
{
    // The process file system refuses new files to everyone, root included.
    EXPECT_NE(refusal("/proc/clip.mp4", false).find("The folder /proc does not take new files"), std::string::npos);
    EXPECT_TRUE(engine::checkPublishable("/proc/clip.mp4", false, 0));
}

TEST_F(PublishedFileTest, TakesTheLongestNameThatTheFileSystemTakes)
{
    PublishedFile published(file(std::string(251, 'x') + ".mp4"), false);
    published.publish();
    EXPECT_TRUE(fs::exists(file(std::string(251, 'x') + ".mp4")));
}

TEST_F(PublishedFileTest, KeepsALinkAndReplacesTheFileBehindIt)
{
    fs::create_directory(file("store"));
    write(file("store/real.mp4"), "old");
    fs::create_symlink(file("store/real.mp4"), file("link.mp4"));
    PublishedFile published(file("link.mp4"), true);
    write(published.temporaryPath(), "new");
    published.publish();
    EXPECT_TRUE(fs::is_symlink(file("link.mp4")));
    EXPECT_EQ(contents(file("store/real.mp4")), "new");
}

TEST_F(PublishedFileTest, ChecksFreeSpaceBeforehandAndLeavesNothingBehind)
{
    EXPECT_FALSE(engine::checkPublishable(file("clip.mp4"), false, 1000));
    const auto problem = engine::checkPublishable(file("clip.mp4"), false, std::uint64_t{1} << 60U);
    ASSERT_TRUE(problem);
    EXPECT_NE(problem->message.find("MB are needed"), std::string::npos);
    EXPECT_EQ(filesInFolder(), 0);
}

} // namespace
