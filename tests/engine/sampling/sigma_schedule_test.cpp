#include "engine/api/outcome.h"
#include "engine/sampling/sigma_schedule.h"
#include "tests/support/golden.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace {

using engine::SigmaGrid;
using engine::SigmaSchedule;
using nlohmann::json;

SigmaSchedule scheduleOf(const std::string &name, const json &inputs)
{
    const int steps = inputs.at("steps");
    if (name.starts_with("fw_"))
        return sigmaSchedule(SigmaGrid::Native, steps, inputs.at("shift"), {});
    if (name.starts_with("df_flow_"))
        return sigmaSchedule(SigmaGrid::DiffusersFlow, steps, inputs.at("flow_shift"), {});
    EXPECT_TRUE(name.starts_with("karras_")) << "no schedule is called " << name;
    return sigmaSchedule(SigmaGrid::Karras, steps, 10, {});
}

TEST(SigmaSchedule, EveryGridOfTheReferenceIsReproduced)
{
    const auto index = json::parse(golden::json("schedule"));
    const golden::Table table("schedule");
    for (const auto &entry : index.at("entries")) {
        const std::string name = entry.at("tensor");
        SCOPED_TRACE(name);
        if (name.starts_with("distilled_"))
            continue; // the test below
        const auto schedule = scheduleOf(name, entry.at("inputs"));
        ASSERT_EQ(schedule.sigmas.size(), schedule.timesteps.size() + 1);
        EXPECT_EQ(schedule.sigmas.back(), 0.0F);
        if (name.find("_sigmas_") != std::string::npos) {
            EXPECT_LE(golden::largestRelativeError(schedule.sigmas, table.floats(name)), golden::kUlp);
        } else {
            const auto timesteps = table.integers(name);
            EXPECT_EQ(schedule.timesteps, std::vector<double>(timesteps.begin(), timesteps.end()));
        }
    }
    EXPECT_EQ(index.at("entries").size(), table.file().header().tensors.size());
}

TEST(SigmaSchedule, ADistilledListKeepsTheFractionOfItsTimesteps)
{
    const golden::Table table("schedule");
    const auto schedule = engine::explicitSchedule({1.0, 0.9375, 0.8333333333333334, 0.625});
    EXPECT_EQ(schedule.sigmas, table.floats("distilled_sigmas"));
    EXPECT_EQ(std::vector<float>(schedule.timesteps.begin(), schedule.timesteps.end()),
              table.floats("distilled_timesteps"));
}

engine::ResolvedRequest guided(std::vector<double> guidance)
{
    engine::ResolvedRequest request;
    request.guidance = std::move(guidance);
    return request;
}

TEST(GuidancePerStep, IsTheRequestsOwnWithoutAnInterval)
{
    const auto schedule = engine::nativeSchedule(3, 10);
    EXPECT_EQ(guidancePerStep(guided({6, 5, 4}), schedule), (std::vector<double>{6, 5, 4}));
}

TEST(GuidancePerStep, ActsStrictlyInsideTheInterval)
{
    const auto schedule = engine::nativeSchedule(4, 5);
    ASSERT_EQ(schedule.timesteps.size(), 4U);
    auto request = guided({6, 6, 6, 6});
    request.guidanceInterval = {.low = schedule.timesteps[3], .high = schedule.timesteps[0]};
    EXPECT_EQ(guidancePerStep(request, schedule), (std::vector<double>{1, 6, 6, 1}));
    request.guidanceInterval = {.low = 960, .high = 1001};
    EXPECT_EQ(guidancePerStep(request, schedule), (std::vector<double>{6, 1, 1, 1}));
}

TEST(GuidancePerStep, RefusesACurveOfAnotherLength)
{
    EXPECT_THROW(static_cast<void>(guidancePerStep(guided({6, 6}), engine::nativeSchedule(3, 10))),
                 engine::EngineFailure);
}

} // namespace
