#include "engine/api/outcome.h"
#include "engine/sequence/latent_geometry.h"
#include "tests/support/golden.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace {

using engine::latentGeometry;

TEST(LatentGeometry, GivesThePublishedTokenCountOfA720pClip)
{
    const auto geometry = latentGeometry(1280, 720, 189, 16, 4);
    EXPECT_EQ(geometry.frames, 48);
    EXPECT_EQ(geometry.height, 45);
    EXPECT_EQ(geometry.width, 80);
    EXPECT_EQ(geometry.gridHeight(), 23) << "odd sides are padded to whole patches";
    EXPECT_EQ(geometry.visionTokens(), 44160);
}

TEST(LatentGeometry, AnImageIsOneLatentFrame)
{
    EXPECT_EQ(latentGeometry(1024, 1024, 1, 16, 4).visionTokens(), 1024);
}

TEST(LatentGeometry, SoundTokensFollowTheVisionTokens)
{
    auto geometry = latentGeometry(832, 480, 189, 16, 4);
    geometry.soundTokens = 197;
    EXPECT_EQ(geometry.tokens(), 18720 + 197);
}

TEST(LatentGeometry, RefusesShapesBetweenTheLatentsByNamingTheSide)
{
    const auto message = [](std::int64_t width, std::int64_t height, std::int64_t frames) -> std::string {
        try {
            static_cast<void>(latentGeometry(width, height, frames, 16, 4));
        } catch (const engine::EngineFailure &failure) {
            EXPECT_EQ(failure.error().code, engine::ErrorCode::InvalidRequest);
            return failure.what();
        }
        return "accepted";
    };
    EXPECT_THAT(message(330, 192, 9), testing::HasSubstr("width is 330"));
    EXPECT_THAT(message(320, 0, 9), testing::HasSubstr("height is 0"));
    EXPECT_THAT(message(320, 192, 10), testing::HasSubstr("10 frames"));
    EXPECT_THAT(message(320, 192, 0), testing::HasSubstr("0 frames"));
    EXPECT_EQ(message(320, 192, 9), "accepted");
}

TEST(SoundTokenCount, EqualsTheReference)
{
    const auto cases = nlohmann::json::parse(golden::json("sound")).at("token_counts");
    ASSERT_FALSE(cases.empty());
    for (const auto &entry : cases) {
        EXPECT_EQ(engine::soundTokenCount(entry.at("frames"), entry.at("fps"), 48000, 1920),
                  entry.at("tokens").get<std::int64_t>())
            << entry;
    }
}

TEST(SoundTokenCount, TruncatesTheSamplesAsTheFrameworkDoes)
{
    EXPECT_EQ(engine::soundTokenCount(5, 23.976, 48000, 1920), 6);
    EXPECT_EQ(engine::soundTokenCount(1, 25, 48000, 1920), 1);
    EXPECT_EQ(engine::soundTokenCount(1, 24.9998, 48000, 1920), 1) << "1920.015 samples are 1920";
}

} // namespace
