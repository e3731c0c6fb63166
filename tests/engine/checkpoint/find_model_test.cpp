#include "engine/api/checkpoint.h"
#include "tests/support/golden.h"
#include "tests/support/temporary_checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <variant>

namespace {

using namespace engine;
namespace fs = std::filesystem;
using ::testing::HasSubstr;

// A Hugging Face cache of its own, which the environment points to.
class FindModel : public ::testing::Test {
protected:
    FindModel() : m_cache(golden::checkpoint("tiny-edge") / "scheduler") { setenv("HF_HUB_CACHE", hub().c_str(), 1); }
    ~FindModel() override { unsetenv("HF_HUB_CACHE"); }
    fs::path hub() const { return m_cache.folder(); }
    void add(const std::string &model, const std::string &revision) const
    {
        m_cache.write(model + "/snapshots/" + revision + "/model_index.json", "{}");
    }
    void setMain(const std::string &model, const std::string &revision) const
    {
        m_cache.write(model + "/refs/main", revision);
    }
    static fs::path found(std::string_view name)
    {
        const auto result = findModel(name);
        return std::holds_alternative<fs::path>(result) ? std::get<fs::path>(result)
                                                        : fs::path("refused: " + std::get<EngineError>(result).message);
    }
    static std::string refusal(std::string_view name)
    {
        const auto result = findModel(name);
        return std::holds_alternative<EngineError>(result) ? std::get<EngineError>(result).message : "nothing";
    }

private:
    golden::TemporaryCheckpoint m_cache;
};

TEST_F(FindModel, KnowsTheDemoWorldAndFolders)
{
    EXPECT_TRUE(fs::exists(found("demo") / "model_index.json"));
    EXPECT_EQ(found(golden::checkpoint("tiny-nano").string()), golden::checkpoint("tiny-nano"));
}

TEST_F(FindModel, FollowsTheMainReferenceOfTheCache)
{
    add("models--nvidia--Cosmos3-Nano", "aaa");
    add("models--nvidia--Cosmos3-Nano", "bbb");
    setMain("models--nvidia--Cosmos3-Nano", "aaa\n");
    const auto snapshot = hub() / "models--nvidia--Cosmos3-Nano" / "snapshots" / "aaa";
    EXPECT_EQ(found("nvidia/Cosmos3-Nano"), snapshot);
    EXPECT_EQ(found("Cosmos3-Nano"), snapshot);
    setMain("models--nvidia--Cosmos3-Nano", "../../../elsewhere");
    EXPECT_EQ(found("Cosmos3-Nano").parent_path(), snapshot.parent_path());
}

TEST_F(FindModel, PrefersThePublishersModelAndRefusesToGuessAmongOthers)
{
    add("models--someone--World", "1");
    EXPECT_EQ(found("World").filename(), "1");
    add("models--another--World", "2");
    EXPECT_THAT(refusal("World"), HasSubstr("write \"another/World\" or \"someone/World\""));
    add("models--nvidia--World", "3");
    EXPECT_EQ(found("World").filename(), "3");
}

TEST_F(FindModel, LooksWhereTheEnvironmentPoints)
{
    unsetenv("HF_HUB_CACHE");
    setenv("HF_HOME", hub().c_str(), 1);
    add("hub/models--a--Home", "1");
    EXPECT_EQ(found("a/Home").filename(), "1");
    unsetenv("HF_HOME");
}

TEST_F(FindModel, SuggestsTheNearestName)
{
    EXPECT_THAT(refusal("Cosmos3-Nanno"), HasSubstr("did you mean \"nvidia/Cosmos3-Nano\"?"));
    EXPECT_THAT(refusal("cosmos3-super"), HasSubstr("did you mean \"nvidia/Cosmos3-Super\"?"));
    EXPECT_THAT(refusal("dmeo"), HasSubstr("did you mean \"demo\"?"));
    add("models--someone--MyWorld", "1");
    EXPECT_THAT(refusal("MyWrold"), HasSubstr("did you mean \"someone/MyWorld\"?"));
}

TEST_F(FindModel, SaysWhatIsWrongWithTheName)
{
    EXPECT_THAT(refusal("Cosmos3-Edge"), HasSubstr("is not in the Hugging Face cache (" + hub().string() +
                                                   "); download nvidia/Cosmos3-Edge or give its folder."));
    EXPECT_EQ(refusal("/no/such/model"), "The folder /no/such/model does not exist; check the path.");
    EXPECT_EQ(refusal("./nothing"), "The folder ./nothing does not exist; check the path.");
    EXPECT_THAT(refusal(""), HasSubstr("name is empty"));
}

TEST(ResourceFolder, IsTheSourceTreesOrTheChosenOne)
{
    EXPECT_TRUE(fs::exists(resourceFolder() / "model_profiles.json"));
    setenv("PARALLAX_RESOURCES", "/chosen", 1);
    EXPECT_EQ(resourceFolder(), "/chosen");
    const auto demo = findModel("demo");
    ASSERT_TRUE(std::holds_alternative<EngineError>(demo));
    EXPECT_THAT(std::get<EngineError>(demo).message, HasSubstr("/chosen/demo-world/checkpoint"));
    unsetenv("PARALLAX_RESOURCES");
}

} // namespace
