#include "tests/app/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using testing::AllOf;
using testing::HasSubstr;

TEST(Help, TeachesTheProgramWithExamples)
{
    const auto result = program::run({"--help"});
    EXPECT_EQ(result.exit, 0);
    EXPECT_EQ(result.err, "");
    EXPECT_THAT(result.out,
                AllOf(HasSubstr("generate"), HasSubstr("inspect"), HasSubstr("parallax generate --model demo")));
}

TEST(Help, NamesEveryOptionOfGenerate)
{
    const auto result = program::run({"generate", "--help"});
    EXPECT_EQ(result.exit, 0);
    for (const auto *option : {"--model",
                               "--prompt",
                               "--prompt-file",
                               "--negative-prompt",
                               "--negative-prompt-file",
                               "--mode",
                               "--size",
                               "--aspect-ratio",
                               "--frames",
                               "--fps",
                               "--steps",
                               "--guidance-scale",
                               "--guidance-interval",
                               "--flow-shift",
                               "--seed",
                               "--sound",
                               "--dtype",
                               "--device",
                               "--devices",
                               "--layout",
                               "--cfg-parallel-size",
                               "--tensor-parallel-size",
                               "--ulysses-degree",
                               "--output",
                               "--latents",
                               "--frames-raw",
                               "--overwrite",
                               "--json",
                               "--dry-run",
                               "--quiet",
                               "--record"})
        EXPECT_THAT(result.out, HasSubstr(option));
    EXPECT_THAT(result.out, AllOf(HasSubstr("Examples:"), HasSubstr("130")));
}

TEST(Help, ShowsExamplesOfInspect)
{
    const auto result = program::run({"inspect", "--help"});
    EXPECT_EQ(result.exit, 0);
    EXPECT_THAT(result.out, AllOf(HasSubstr("parallax inspect demo"), HasSubstr("--json")));
}

TEST(Help, TellsTheVersion)
{
    const auto result = program::run({"--version"});
    EXPECT_EQ(result.exit, 0);
    EXPECT_THAT(result.out, HasSubstr("parallax 0.1.0"));
}
