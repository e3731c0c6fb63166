#include "engine/api/request_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace engine {

namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

ModelProfile profileOf(const ModelMarks &marks)
{
    const auto file = std::filesystem::path(PARALLAX_RESOURCES_SOURCE) / "model_profiles.json";
    auto profile = std::get<ModelProfile>(profileFor(marks, file));
    profile.spatialFactor = static_cast<int>(marks.spatialFactor);
    profile.hasSound = marks.hasSound;
    return profile;
}

ModelProfile nano()
{
    return profileOf({.backbone = "qwen",
                      .hiddenSize = 4096,
                      .layers = 36,
                      .heads = 32,
                      .keyValueHeads = 8,
                      .headDim = 128,
                      .hasSound = true});
}

ModelProfile demo()
{
    return profileOf({.backbone = "qwen",
                      .hiddenSize = 384,
                      .layers = 8,
                      .heads = 6,
                      .keyValueHeads = 2,
                      .headDim = 64,
                      .spatialFactor = 8});
}

ModelProfile unknown()
{
    return profileOf({.backbone = "qwen", .hiddenSize = 192, .layers = 3});
}

GenerationRequest image()
{
    GenerationRequest request;
    request.mode = Mode::TextToImage;
    return request;
}

// The one problem of a request that must have exactly one.
RequestProblem problemOf(const GenerationRequest &request, const ModelProfile &profile, const RankLayout &layout = {})
{
    const auto checked = checkRequest(request, profile, layout);
    EXPECT_EQ(checked.problems.size(), 1U);
    return checked.problems.empty() ? RequestProblem{} : checked.problems.front();
}

template <typename Value>
RequestProblem problemWith(Value GenerationRequest::*field, const std::type_identity_t<Value> &value,
                           const ModelProfile &profile = nano())
{
    GenerationRequest request;
    request.*field = value;
    return problemOf(request, profile);
}

template <typename Value>
CheckedRequest checkedWith(Value GenerationRequest::*field, const std::type_identity_t<Value> &value,
                           const ModelProfile &profile = nano())
{
    GenerationRequest request;
    request.*field = value;
    return checkRequest(request, profile);
}

} // namespace

TEST(RequestCheck, FillsInTheModelsDefaultsForAVideo)
{
    GenerationRequest request;
    request.prompt = "a harbour";
    const auto checked = checkRequest(request, nano());
    EXPECT_TRUE(checked.problems.empty());
    EXPECT_TRUE(checked.notes.empty());
    EXPECT_EQ(checked.resolved.prompt, "a harbour");
    EXPECT_EQ(checked.resolved.size, (PixelSize{1280, 720}));
    EXPECT_EQ(checked.resolved.frames, 189);
    EXPECT_EQ(checked.resolved.fps, 24);
    EXPECT_EQ(checked.resolved.guidance, std::vector<double>(35, 6.0));
    EXPECT_EQ(checked.resolved.flowShift, 10);
    EXPECT_TRUE(checked.resolved.negativeIsModelDefault);
}

TEST(RequestCheck, FillsInTheModelsDefaultsForAnImage)
{
    const auto checked = checkRequest(image(), nano());
    EXPECT_EQ(checked.resolved.frames, 1);
    EXPECT_EQ(checked.resolved.size, (PixelSize{960, 960}));
    EXPECT_EQ(checked.resolved.guidance, std::vector<double>(50, 4.0));
    EXPECT_EQ(checked.resolved.negativePrompt, "");
}

TEST(RequestCheck, TakesAnEmptyNegativePromptAsTheEmptyText)
{
    GenerationRequest request;
    request.negativePrompt = "";
    const auto checked = checkRequest(request, demo());
    EXPECT_EQ(checked.resolved.negativePrompt, "");
    EXPECT_FALSE(checked.resolved.negativeIsModelDefault);
    EXPECT_EQ(checkRequest({}, demo()).resolved.negativePrompt, "blurry, low quality, noisy, washed out");
}

TEST(RequestCheck, DrawsAFreshSeedWhenNoneIsNamed)
{
    std::vector<std::uint32_t> seeds;
    for (int i = 0; i < 4; ++i)
        seeds.push_back(checkRequest({}, nano()).resolved.seed);
    EXPECT_GT(std::ranges::count_if(seeds, [&](auto seed) { return seed != seeds.front(); }), 0);
}

TEST(RequestCheck, NamesTheNearestSizeForOneThatIsNoMultipleOfTheVaesFactor)
{
    const auto problem = problemWith(&GenerationRequest::size, PixelSize{1270, 722});
    EXPECT_EQ(problem.field, "size");
    EXPECT_THAT(problem.message, AllOf(HasSubstr("1270x722"), HasSubstr("multiples of 16"), HasSubstr("1264x720")));
    EXPECT_THAT(problemWith(&GenerationRequest::size, PixelSize{100, 60}, demo()).message, HasSubstr("104x64"));
}

TEST(RequestCheck, NamesTheNearestSizeForSidesThatAreNegativeZeroOrHuge)
{
    EXPECT_THAT(problemWith(&GenerationRequest::size, PixelSize{0, 720}).message, HasSubstr("16x720"));
    EXPECT_THAT(problemWith(&GenerationRequest::size, PixelSize{-320, 720}).message, HasSubstr("16x720"));
    EXPECT_THAT(problemWith(&GenerationRequest::size, PixelSize{std::numeric_limits<int>::max(), 720}).message,
                HasSubstr("4096x720"));
}

TEST(RequestCheck, TakesOddLatentSidesAndSaysWhatTheModelWasMadeFor)
{
    const auto checked = checkedWith(&GenerationRequest::size, PixelSize{336, 208});
    EXPECT_TRUE(checked.problems.empty());
    EXPECT_THAT(checked.notes,
                ElementsAre(AllOf(HasSubstr("Cosmos3-Nano"), HasSubstr("336x208"), HasSubstr("320x192"))));
}

TEST(RequestCheck, TakesAnyLegalRequestForAnUnknownModelWithoutANote)
{
    GenerationRequest request;
    request.size = PixelSize{48, 80};
    request.frames = 9;
    request.fps = 5;
    const auto checked = checkRequest(request, unknown());
    EXPECT_TRUE(checked.problems.empty());
    EXPECT_TRUE(checked.notes.empty());
}

TEST(RequestCheck, PicksTheSizeOfTheDefaultTierThatHasTheAspectRatio)
{
    EXPECT_EQ(checkedWith(&GenerationRequest::aspectRatio, AspectRatio{9, 16}).resolved.size, (PixelSize{720, 1280}));
    EXPECT_EQ(checkedWith(&GenerationRequest::aspectRatio, AspectRatio{4, 3}).resolved.size, (PixelSize{1104, 832}));
    EXPECT_EQ(checkedWith(&GenerationRequest::aspectRatio, AspectRatio{3, 4}, unknown()).resolved.size,
              (PixelSize{256, 320}));
    EXPECT_EQ(checkedWith(&GenerationRequest::aspectRatio, AspectRatio{16, 9}, demo()).resolved.size,
              (PixelSize{224, 128}));
}

TEST(RequestCheck, LetsASizeWinOverAnAspectRatioAndKeepsTheRatio)
{
    GenerationRequest request;
    request.size = PixelSize{832, 480};
    request.aspectRatio = AspectRatio{1, 1};
    const auto checked = checkRequest(request, nano());
    EXPECT_TRUE(checked.problems.empty());
    EXPECT_EQ(checked.resolved.size, (PixelSize{832, 480}));
    EXPECT_EQ(checked.resolved.aspectRatio, (AspectRatio{1, 1}));
}

TEST(RequestCheck, RefusesAnAspectRatioWithoutASize)
{
    EXPECT_THAT(problemWith(&GenerationRequest::aspectRatio, AspectRatio{21, 9}).message,
                AllOf(HasSubstr("21,9"), HasSubstr("the nearest is 16,9")));
    EXPECT_THAT(problemWith(&GenerationRequest::aspectRatio, AspectRatio{0, 9}).message, HasSubstr("0,9"));
    EXPECT_THAT(problemWith(&GenerationRequest::aspectRatio, AspectRatio{1, 1}, demo()).message,
                AllOf(HasSubstr("1,1"), HasSubstr("224x128")));
}

TEST(RequestCheck, RoundsFramesUpAndSaysSo)
{
    for (const auto &[asked, made] : {std::pair{2, 5}, {24, 25}, {25, 25}, {26, 29}, {1, 1}}) {
        const auto checked = checkedWith(&GenerationRequest::frames, asked, unknown());
        EXPECT_EQ(checked.resolved.frames, made);
        EXPECT_EQ(checked.notes.size(), asked == made ? 0U : 1U);
    }
    EXPECT_THAT(checkedWith(&GenerationRequest::frames, 190).notes,
                Contains(AllOf(HasSubstr("190"), HasSubstr("193"))));
}

TEST(RequestCheck, RefusesFramesBelowOneAndBeyondThePositions)
{
    EXPECT_THAT(problemWith(&GenerationRequest::frames, 0).message, AllOf(HasSubstr("Frames 0"), HasSubstr("1 is")));
    EXPECT_THAT(problemWith(&GenerationRequest::frames, -3).message, HasSubstr("-3"));
    // 1280x720 has 920 tokens a latent frame; 262144 positions are enough for 284 latent frames.
    EXPECT_THAT(problemWith(&GenerationRequest::frames, 1134).message, HasSubstr("1133 is the most"));
    EXPECT_TRUE(checkedWith(&GenerationRequest::frames, 1133).problems.empty());
    EXPECT_THAT(problemWith(&GenerationRequest::frames, std::numeric_limits<int>::max()).message, HasSubstr("1133"));
}

TEST(RequestCheck, RefusesAnImageWithMoreThanOneFrame)
{
    auto request = image();
    request.frames = 25;
    EXPECT_THAT(problemOf(request, nano()).message, AllOf(HasSubstr("image"), HasSubstr("25")));
    request.frames = 1;
    EXPECT_TRUE(checkRequest(request, nano()).problems.empty());
}

TEST(RequestCheck, WarnsOutsideTheTrainedLengthsOfTheTier)
{
    GenerationRequest request;
    request.frames = 301;
    EXPECT_THAT(checkRequest(request, nano()).notes, ElementsAre(HasSubstr("24 to 200 frames")));
    request.size = PixelSize{320, 192};
    EXPECT_TRUE(checkRequest(request, nano()).notes.empty());
}

TEST(RequestCheck, RefusesFrameRatesThatAreNone)
{
    for (const double fps :
         {0.0, -24.0, 0.5, 241.0, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()})
        EXPECT_EQ(problemWith(&GenerationRequest::fps, fps).field, "fps") << fps;
    EXPECT_THAT(problemWith(&GenerationRequest::fps, 1000.0).message, HasSubstr("240"));
    EXPECT_TRUE(checkedWith(&GenerationRequest::fps, 29.97).problems.empty());
}

TEST(RequestCheck, WarnsOutsideTheTrainedFrameRates)
{
    EXPECT_THAT(checkedWith(&GenerationRequest::fps, 60.0).notes, ElementsAre(HasSubstr("10 to 30")));
    EXPECT_THAT(checkedWith(&GenerationRequest::fps, 24.0, demo()).notes, ElementsAre(HasSubstr("for 12 frames")));
}

TEST(RequestCheck, NamesTheNearestLegalStepCount)
{
    EXPECT_THAT(problemWith(&GenerationRequest::steps, 0).message, HasSubstr("nearest legal value is 1."));
    EXPECT_THAT(problemWith(&GenerationRequest::steps, -5).message, HasSubstr("Steps -5"));
    EXPECT_THAT(problemWith(&GenerationRequest::steps, 1000).message, HasSubstr("200"));
    EXPECT_TRUE(checkedWith(&GenerationRequest::steps, 200).problems.empty());
}

TEST(RequestCheck, NamesTheNearestLegalGuidance)
{
    EXPECT_THAT(problemWith(&GenerationRequest::guidanceScale, -1.0).message, HasSubstr("nearest legal value is 0."));
    EXPECT_THAT(problemWith(&GenerationRequest::guidanceScale, 21.5).message,
                AllOf(HasSubstr("21.5"), HasSubstr("20")));
    EXPECT_THAT(problemWith(&GenerationRequest::guidanceScale, std::numeric_limits<double>::quiet_NaN()).message,
                HasSubstr("not a number"));
}

TEST(RequestCheck, WantsAGuidanceCurveToHaveOneValueAStep)
{
    GenerationRequest request;
    request.steps = 3;
    request.guidanceCurve = {7, 5, 2};
    EXPECT_EQ(checkRequest(request, nano()).resolved.guidance, request.guidanceCurve);
    request.guidanceCurve = {7, 5};
    EXPECT_THAT(problemOf(request, nano()).message, AllOf(HasSubstr("2 values"), HasSubstr("3 steps")));
    request.guidanceCurve = {7, 25, 2};
    EXPECT_THAT(problemOf(request, nano()).message, AllOf(HasSubstr("step 2"), HasSubstr("25")));
}

TEST(RequestCheck, RefusesAGuidanceIntervalThatIsEmptyOrOutside)
{
    for (const auto &interval : {TimestepInterval{500, 500},
                                 {600, 500},
                                 {-1, 500},
                                 {400, 1001},
                                 {std::numeric_limits<double>::quiet_NaN(), 500}})
        EXPECT_EQ(problemWith(&GenerationRequest::guidanceInterval, interval).field, "guidance_interval");
    EXPECT_TRUE(checkedWith(&GenerationRequest::guidanceInterval, TimestepInterval{0, 1000}).problems.empty());
}

TEST(RequestCheck, RefusesAFlowShiftThatIsNotAboveZero)
{
    for (const double shift : {0.0, -3.0, 101.0, std::numeric_limits<double>::infinity()})
        EXPECT_EQ(problemWith(&GenerationRequest::flowShift, shift).field, "shift") << shift;
}

TEST(RequestCheck, NamesTheNearestLegalSeed)
{
    EXPECT_THAT(problemWith(&GenerationRequest::seed, -1).message, HasSubstr("nearest legal value is 0."));
    EXPECT_THAT(problemWith(&GenerationRequest::seed, 4294967296).message, HasSubstr("4294967295"));
    EXPECT_EQ(checkedWith(&GenerationRequest::seed, 4294967295).resolved.seed, 4294967295U);
}

TEST(RequestCheck, TakesSoundOnlyForVideosOfModelsThatHaveIt)
{
    EXPECT_TRUE(checkedWith(&GenerationRequest::sound, true).problems.empty());
    EXPECT_THAT(problemWith(&GenerationRequest::sound, true, demo()).message, HasSubstr("demo world"));
    auto request = image();
    request.sound = true;
    EXPECT_THAT(problemOf(request, nano()).message, HasSubstr("image has no sound"));
}

TEST(RequestCheck, RefusesLayoutsOfSeveralRanks)
{
    EXPECT_THAT(problemOf({}, nano(), {.cfg = 2}).message, AllOf(HasSubstr("cfg2"), HasSubstr("several GPUs")));
    EXPECT_THAT(problemOf({}, nano(), {.tensor = 0}).message, HasSubstr("impossible"));
}

TEST(RequestCheck, RefusesPromptsThatAreNoUtf8OrTooLong)
{
    EXPECT_THAT(problemWith(&GenerationRequest::prompt, "a \xff harbour").message,
                HasSubstr("The prompt is not valid"));
    EXPECT_THAT(problemWith(&GenerationRequest::prompt, "cut \xe6\xb0").message, HasSubstr("UTF-8"));
    EXPECT_THAT(problemWith(&GenerationRequest::negativePrompt, "\xed\xa0\x80").message,
                HasSubstr("The negative prompt"));
    EXPECT_THAT(problemWith(&GenerationRequest::prompt, std::string((1 << 20) + 1, 'a')).message,
                HasSubstr("1048577 bytes"));
    EXPECT_TRUE(checkedWith(&GenerationRequest::prompt, "").problems.empty());
}

TEST(RequestCheck, NamesEveryProblemOfARequest)
{
    GenerationRequest request;
    request.size = PixelSize{7, 7};
    request.steps = 0;
    request.seed = -1;
    EXPECT_EQ(checkRequest(request, nano()).problems.size(), 3U);
}

TEST(RequestCheck, ResolvesARequestMadeFromAResolvedOneToTheSame)
{
    GenerationRequest request;
    request.prompt = "水の音";
    request.negativePrompt = "noise";
    request.size = PixelSize{320, 256};
    request.aspectRatio = AspectRatio{4, 3};
    request.frames = 23;
    request.fps = 29.97;
    request.steps = 2;
    request.guidanceCurve = {5.5, 1};
    request.guidanceInterval = TimestepInterval{400, 1000};
    request.flowShift = 0.3;
    request.grid = SigmaGrid::Karras;
    request.sound = true;
    request.dataType = DataType::BFloat16;
    for (const auto &asked : {request, GenerationRequest{}, image()}) {
        const auto resolved = checkRequest(asked, nano()).resolved;
        EXPECT_EQ(checkRequest(toRequest(resolved), nano()).resolved, resolved);
    }
}

} // namespace engine
