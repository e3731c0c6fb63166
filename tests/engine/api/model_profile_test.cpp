#include "engine/api/model_profile.h"

#include <gtest/gtest.h>

#include <fstream>

namespace engine {

namespace {

const std::filesystem::path kProfiles = std::filesystem::path(PARALLAX_RESOURCES_SOURCE) / "model_profiles.json";

ModelMarks nanoMarks()
{
    return {.backbone = "qwen", .hiddenSize = 4096, .layers = 36, .heads = 32, .keyValueHeads = 8, .headDim = 128};
}

ModelProfile profileOf(const ModelMarks &marks)
{
    return std::get<ModelProfile>(profileFor(marks, kProfiles));
}

} // namespace

TEST(ModelProfile, GivesNanoThePublishedDefaults)
{
    const auto profile = profileOf(nanoMarks());
    EXPECT_EQ(profile.name, "Cosmos3-Nano");
    EXPECT_TRUE(profile.isKnown);
    EXPECT_EQ(profile.video.size, (PixelSize{1280, 720}));
    EXPECT_EQ(profile.video.frames, 189);
    EXPECT_EQ(profile.video.steps, 35);
    EXPECT_EQ(profile.video.guidance, 6.0);
    EXPECT_EQ(profile.video.flowShift, 10.0);
    EXPECT_EQ(profile.image.size, (PixelSize{960, 960}));
    EXPECT_EQ(profile.image.steps, 50);
    EXPECT_EQ(profile.image.guidance, 4.0);
    EXPECT_EQ(profile.image.flowShift, 3.0);
    EXPECT_EQ(profile.image.frames, 1);
    EXPECT_EQ(profile.defaultNegativePrompt, "file:assets/negative_prompt.json");
    EXPECT_EQ(profile.defaultImageNegativePrompt, "");
    EXPECT_FALSE(profile.useSystemPrompt);
}

TEST(ModelProfile, DoesNotRunEdgeWithNanosDefaults)
{
    const auto profile = profileOf(
        {.backbone = "nemotron", .hiddenSize = 2048, .layers = 28, .heads = 16, .keyValueHeads = 8, .headDim = 128});
    EXPECT_EQ(profile.name, "Cosmos3-Edge");
    EXPECT_EQ(profile.video.size, (PixelSize{832, 480}));
    EXPECT_EQ(profile.video.frames, 121);
    EXPECT_EQ(profile.video.guidance, 5.0);
    EXPECT_EQ(profile.video.flowShift, 3.0);
    EXPECT_EQ(profile.image.size, (PixelSize{640, 640}));
}

TEST(ModelProfile, TellsTheDemoWorldFromItsMarks)
{
    const auto profile = profileOf({.backbone = "qwen",
                                    .hiddenSize = 384,
                                    .layers = 8,
                                    .heads = 6,
                                    .keyValueHeads = 2,
                                    .headDim = 64,
                                    .spatialFactor = 8});
    EXPECT_EQ(profile.name, "demo world");
    EXPECT_EQ(profile.video.size, (PixelSize{224, 128}));
    EXPECT_EQ(profile.video.frames, 25);
    EXPECT_EQ(profile.video.fps, 12.0);
    EXPECT_EQ(profile.video.steps, 16);
    EXPECT_EQ(profile.defaultNegativePrompt, "blurry, low quality, noisy, washed out");
    EXPECT_EQ(profile.defaultImageNegativePrompt, profile.defaultNegativePrompt);
}

TEST(ModelProfile, GivesAnUnknownCheckpointItsFamilysNumbersAndNoWarnings)
{
    auto marks = nanoMarks();
    marks.layers = 35;
    const auto qwen = profileOf(marks);
    EXPECT_FALSE(qwen.isKnown);
    EXPECT_EQ(qwen.name, "unknown model");
    EXPECT_EQ(qwen.video.guidance, 6.0);
    EXPECT_EQ(qwen.defaultNegativePrompt, "");
    marks.backbone = "nemotron";
    EXPECT_EQ(profileOf(marks).video.guidance, 5.0);
    EXPECT_EQ(profileOf(marks).video.flowShift, 3.0);
}

TEST(ModelProfile, NamesAMissingOrDamagedProfilesFile)
{
    const auto missing = profileFor(nanoMarks(), "no-such-folder/model_profiles.json");
    ASSERT_TRUE(std::holds_alternative<EngineError>(missing));
    EXPECT_NE(std::get<EngineError>(missing).message.find("no-such-folder/model_profiles.json"), std::string::npos);

    const auto file = std::filesystem::path(testing::TempDir()) / "damaged_profiles.json";
    std::ofstream(file) << R"({"tiers": {}, "models": [{"marks": 3}]})";
    const auto damaged = profileFor(nanoMarks(), file);
    ASSERT_TRUE(std::holds_alternative<EngineError>(damaged));
    EXPECT_NE(std::get<EngineError>(damaged).message.find("is damaged"), std::string::npos);
}

} // namespace engine
