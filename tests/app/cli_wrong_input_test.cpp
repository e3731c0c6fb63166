#include "tests/app/program.h"
#include "tests/support/golden.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>

namespace {

using testing::HasSubstr;

struct WrongInput {
    std::string name; // what is wrong, in CamelCase
    std::vector<std::string> arguments;
    std::vector<std::string> said; // must all occur in the one sentence
};

void PrintTo(const WrongInput &input, std::ostream *stream)
{
    *stream << input.name;
}

// A complete and legal command, to which one wrong thing is added.
std::vector<std::string> demo(std::vector<std::string> more)
{
    std::vector<std::string> arguments{"generate", "--model", "demo", "--prompt", "A red ball.", "--dry-run"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
}

class WrongInputOf : public testing::TestWithParam<WrongInput> {};

std::string nameOf(const testing::TestParamInfo<WrongInput> &info)
{
    return info.param.name;
}

} // namespace

TEST_P(WrongInputOf, IsRefusedWithOneSentenceThatNamesIt)
{
    const auto folder = program::freshFolder();
    program::write(folder / "latin1.txt", "a caf\xe9 at night");
    program::write(folder / "there.mp4", "old");
    program::write(folder / "broken.json", "{\"schema\": ");
    program::write(folder / "other.json", "{\"frames\": 25}");
    program::write(folder / "text.mp4", "no clip");
    std::filesystem::create_directory(folder / "empty");

    const auto result = program::run(GetParam().arguments, folder);
    EXPECT_EQ(result.exit, 2) << result.err;
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(std::ranges::count(result.err, '\n'), 1) << result.err;
    for (const auto &word : GetParam().said)
        EXPECT_THAT(result.err, HasSubstr(word));
}

INSTANTIATE_TEST_SUITE_P(
    Command, WrongInputOf,
    testing::Values(
        WrongInput{"NoCommand", {}, {"generate", "inspect"}},
        WrongInput{"UnknownCommand", {"genrate"}, {"genrate", "did you mean generate?"}},
        WrongInput{"CommandLikeNoOther", {"zzzzzz"}, {"zzzzzz", "--help"}},
        WrongInput{"UnknownOption", demo({"--stesp", "4"}), {"--stesp", "did you mean --steps?"}},
        WrongInput{"UnknownOptionWithValue", demo({"--gidance-scale=4"}), {"did you mean --guidance-scale?"}},
        WrongInput{"OptionLikeNoOther", demo({"--qqqqqqqq"}), {"--qqqqqqqq", "--help"}},
        WrongInput{"WordTooMany", demo({"green"}), {"\"green\"", "quote"}},
        WrongInput{"OptionWithoutItsValue", demo({"--steps"}), {"--steps needs a value"}},
        WrongInput{"UnknownMode", demo({"--mode", "t2x"}), {"--mode", "t2x", "t2v"}},
        WrongInput{"UnknownDtype", demo({"--dtype", "float23"}), {"--dtype", "float23", "did you mean float32?"}},
        WrongInput{"UnknownDevice", demo({"--device", "cdua"}), {"--device", "did you mean cuda?"}}),
    nameOf);

INSTANTIATE_TEST_SUITE_P(
    Value, WrongInputOf,
    testing::Values(
        WrongInput{"SizeThatIsNone", demo({"--size", "big"}), {"--size", "big", "320x192"}},
        WrongInput{"SizeWithoutHeight", demo({"--size", "320x"}), {"--size", "320x"}},
        WrongInput{"SizeOffTheFactor", demo({"--size", "221x128"}), {"221x128", "224x128", "multiples of 8"}},
        WrongInput{"NegativeSize", demo({"--size", "-8x128"}), {"-8x128", "8x128"}},
        WrongInput{"HugeSize", demo({"--size", "100000x128"}), {"100000x128", "4096x128"}},
        WrongInput{"AspectRatioThatIsNone", demo({"--aspect-ratio", "wide"}), {"--aspect-ratio", "wide", "16,9"}},
        WrongInput{"UnknownAspectRatio", demo({"--aspect-ratio", "21,9"}), {"21,9", "nearest is 16,9"}},
        WrongInput{"AspectRatioWithoutSize", demo({"--aspect-ratio", "1,1"}), {"1,1", "224x128"}},
        WrongInput{"FramesThatAreNoNumber", demo({"--frames", "many"}), {"--frames", "many"}},
        WrongInput{"FramesWithAFraction", demo({"--frames", "24.5"}), {"--frames", "24.5"}},
        WrongInput{"NoFrames", demo({"--frames", "0"}), {"Frames 0", "1 is the least"}},
        WrongInput{"NegativeFrames", demo({"--frames", "-4"}), {"Frames -4"}},
        WrongInput{"TooManyFrames", demo({"--frames", "2000000000"}), {"2000000000", "is the most"}},
        WrongInput{"FramesBeyondIntegers", demo({"--frames", "99999999999"}), {"--frames", "99999999999"}},
        WrongInput{"FramesOfAnImage", demo({"--mode", "t2i", "--frames", "25"}), {"image", "25"}},
        WrongInput{"NoFps", demo({"--fps", "0"}), {"Frame rate 0", "1 is the least"}},
        WrongInput{"NegativeFps", demo({"--fps", "-12"}), {"-12"}},
        WrongInput{"InfiniteFps", demo({"--fps", "inf"}), {"inf", "240"}},
        WrongInput{"FpsThatIsNoNumber", demo({"--fps", "12fps"}), {"--fps", "12fps"}},
        WrongInput{"NoSteps", demo({"--steps", "0"}), {"Steps 0", "value is 1."}},
        WrongInput{"TooManySteps", demo({"--steps", "201"}), {"Steps 201", "200"}},
        WrongInput{"NegativeGuidance", demo({"--guidance-scale", "-1"}), {"Guidance -1", "0"}},
        WrongInput{"TooMuchGuidance", demo({"--guidance-scale", "50"}), {"Guidance 50", "20"}},
        WrongInput{"GuidanceThatIsNoNumber", demo({"--guidance-scale", "nan"}), {"Guidance", "not a number"}},
        WrongInput{"BackwardInterval", demo({"--guidance-interval", "900,400"}), {"900,400", "400,1000"}},
        WrongInput{"IntervalThatIsNone", demo({"--guidance-interval", "400"}), {"--guidance-interval", "400"}},
        WrongInput{"NoFlowShift", demo({"--flow-shift", "0"}), {"Flow shift 0", "3 is the model's default"}},
        WrongInput{"NegativeSeed", demo({"--seed", "-1"}), {"Seed -1", "value is 0."}},
        WrongInput{"SeedTooLarge", demo({"--seed", "4294967296"}), {"4294967296", "4294967295"}},
        WrongInput{"SeedThatIsNoNumber", demo({"--seed", "0x10"}), {"--seed", "0x10"}},
        WrongInput{"SoundOfASilentModel", demo({"--sound"}), {"demo world", "sound"}}),
    nameOf);

INSTANTIATE_TEST_SUITE_P(
    Machine, WrongInputOf,
    testing::Values(WrongInput{"LayoutThatIsNone", demo({"--layout", "fast"}), {"--layout", "fast", "cfg2 x ulysses2"}},
                    WrongInput{"LayoutOfTwoRanks", demo({"--layout", "cfg2"}), {"cfg2", "several GPUs"}},
                    WrongInput{"CfgParallel", demo({"--cfg-parallel-size", "2"}), {"cfg2", "several GPUs"}},
                    WrongInput{"TensorParallel", demo({"--tensor-parallel-size", "4"}), {"tensor4"}},
                    WrongInput{"Ulysses", demo({"--ulysses-degree", "2"}), {"ulysses2"}},
                    WrongInput{"NoRanks", demo({"--cfg-parallel-size", "0"}), {"cfg0", "impossible"}},
                    WrongInput{"DevicesThatAreNone", demo({"--devices", "0,x"}), {"--devices", "0,x"}},
                    WrongInput{"DeviceNamedTwice", demo({"--devices", "0,0"}), {"GPU 0 twice"}},
                    WrongInput{"DevicesOfTheCpu", demo({"--device", "cpu", "--devices", "0"}), {"--devices", "cpu"}},
                    WrongInput{"TwoDevicesForOneRank", demo({"--devices", "0,1"}), {"2 GPUs for one rank"}}),
    nameOf);

INSTANTIATE_TEST_SUITE_P(
    File, WrongInputOf,
    testing::Values(
        WrongInput{"NoPrompt", {"generate", "--model", "demo"}, {"--prompt"}},
        WrongInput{"NoModel", {"generate", "--prompt", "a"}, {"--model demo"}},
        WrongInput{"UnknownModel", {"generate", "--model", "Cosmos3-Nan", "--prompt", "a"}, {"Cosmos3-Nan"}},
        WrongInput{"FolderThatIsNoModel", {"generate", "--model", "empty", "--prompt", "a"}, {"empty"}},
        WrongInput{"TwoPrompts", demo({"--prompt-file", "latin1.txt"}), {"--prompt and --prompt-file"}},
        WrongInput{"MissingPromptFile",
                   {"generate", "--model", "demo", "--prompt-file", "gone.txt"},
                   {"gone.txt", "does not exist"}},
        WrongInput{
            "FolderAsPromptFile", {"generate", "--model", "demo", "--prompt-file", "empty"}, {"empty", "folder"}},
        WrongInput{"PromptFileThatIsNoUtf8",
                   {"generate", "--model", "demo", "--prompt-file", "latin1.txt"},
                   {"prompt", "UTF-8"}},
        WrongInput{"PromptThatIsNoUtf8", {"generate", "--model", "demo", "--prompt", "caf\xe9"}, {"prompt", "UTF-8"}},
        WrongInput{"NegativeFileThatIsNoUtf8", demo({"--negative-prompt-file", "latin1.txt"}), {"negative prompt"}},
        WrongInput{"OutputThatExists", demo({"--output", "there.mp4"}), {"there.mp4", "exists"}},
        WrongInput{"OutputInNoFolder", demo({"--output", "gone/a.mp4"}), {"gone"}},
        WrongInput{"OutputThatIsAFolder", demo({"--output", "empty"}), {"empty"}},
        WrongInput{"OutputOfAnotherKind", demo({"--output", "a.avi"}), {"a.avi"}},
        WrongInput{"ImageAsMp4", demo({"--mode", "t2i", "--output", "a.mp4"}), {"a.mp4", ".png"}},
        WrongInput{"VideoAsPng", demo({"--output", "a.png"}), {"a.png", ".mp4"}},
        WrongInput{"UnwritableOutput", demo({"--output", "/proc/a.mp4"}), {"/proc"}},
        WrongInput{"LatentsOfAnotherKind", demo({"--latents", "a.npy"}), {"--latents", "a.npy", ".safetensors"}},
        WrongInput{"LatentsInNoFolder", demo({"--latents", "gone/a.safetensors"}), {"gone"}},
        WrongInput{"OneFileForTwoThings",
                   demo({"--latents", "a.safetensors", "--frames-raw", "./a.safetensors"}),
                   {"a.safetensors", "two files"}},
        WrongInput{"MissingRecord", {"generate", "--record", "gone.mp4"}, {"gone.mp4", "does not exist"}},
        WrongInput{"BrokenRecord", {"generate", "--record", "broken.json"}, {"broken.json", "not valid JSON"}},
        WrongInput{"JsonThatIsNoRecord", {"generate", "--record", "other.json"}, {"other.json", "no job record"}},
        WrongInput{"ClipThatIsNone", {"generate", "--record", "text.mp4"}, {"text.mp4"}},
        WrongInput{"InspectNothing", {"inspect"}, {"inspect"}},
        WrongInput{"InspectWhatIsNotThere", {"inspect", "gone"}, {"gone"}},
        WrongInput{"InspectAnEmptyFolder", {"inspect", "empty"}, {"empty"}},
        WrongInput{"InspectTooMuch", {"inspect", "demo", "demo"}, {"demo"}}),
    nameOf);

TEST(WrongInput, IsOneJsonObjectWithAProblemWhenAskedFor)
{
    for (const auto &arguments :
         {demo({"--json", "--steps", "0"}), demo({"--json", "--stepz", "4"}), demo({"--json", "--steps", "x"})}) {
        const auto result = program::run(arguments);
        EXPECT_EQ(result.exit, 2);
        const auto json = nlohmann::json::parse(result.out);
        EXPECT_EQ(json["state"], "failed");
        EXPECT_EQ(json["problem"]["code"], "invalid_request");
        EXPECT_THAT(json["problem"]["message"].get<std::string>(), HasSubstr("teps"));
    }
}

TEST(WrongInput, LeavesNoFile)
{
    const auto folder = program::freshFolder();
    for (const auto &arguments : {demo({"--output", "a.mp4", "--steps", "0"}), demo({"--output", "a.mp4"}),
                                  demo({"--latents", "a.safetensors", "--frames-raw", "b.npy"})})
        static_cast<void>(program::run(arguments, folder));
    EXPECT_TRUE(std::filesystem::is_empty(folder));
}

TEST(WrongInput, NamesEveryProblemAtOnce)
{
    const auto result = program::run(demo({"--steps", "0", "--seed", "-1"}));
    EXPECT_THAT(result.err, testing::AllOf(HasSubstr("Steps 0"), HasSubstr("Seed -1")));
}

TEST(WrongInput, OfACudaDeviceOnAComputerWithoutADriverIsRefused)
{
    if (std::filesystem::exists("/proc/driver/nvidia/version"))
        GTEST_SKIP() << "this computer has an NVIDIA driver";
    const auto result = program::run(demo({"--device", "cuda"}));
    EXPECT_EQ(result.exit, 2);
    EXPECT_THAT(result.err, HasSubstr("NVIDIA driver"));
}

TEST(MissingEngine, IsOneSentenceAndFailureNotRefusal)
{
    const auto folder = program::freshFolder();
    const auto copy = folder / "bin" / "parallax";
    std::filesystem::create_directories(copy.parent_path());
    std::filesystem::create_directories(folder / "work");
    std::filesystem::copy_file(PARALLAX_PROGRAM, copy);
    const auto result =
        program::runProgram(copy, {"generate", "--model", "demo", "--prompt", "a", "--quiet"}, folder / "work");
    EXPECT_EQ(result.exit, 3);
    EXPECT_THAT(result.err, HasSubstr("libparallax-engine.so"));
    EXPECT_EQ(std::ranges::count(result.err, '\n'), 1);
    EXPECT_EQ(result.out, "");
    EXPECT_TRUE(std::filesystem::is_empty(folder / "work"));
}
