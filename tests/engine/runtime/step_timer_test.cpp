#include "engine/runtime/step_timer.h"

#include <gtest/gtest.h>

namespace {

using engine::StepTimer;
using namespace std::chrono_literals;

TEST(StepTimer, SaysNothingBeforeTheFirstStepIsMeasured)
{
    EXPECT_FALSE(StepTimer({1, 1}).timeLeft().has_value());
}

TEST(StepTimer, LeavesTheFirstStepOutOnceThereIsASecond)
{
    StepTimer timer({1, 1, 1, 1});
    timer.add(10s);
    EXPECT_EQ(timer.timeLeft(), 30s);
    timer.add(2s);
    EXPECT_EQ(timer.timeLeft(), 4s);
    EXPECT_EQ(timer.seconds(), (std::vector<double>{10, 2}));
}

TEST(StepTimer, CountsWorkNotSteps)
{
    StepTimer timer({2, 2, 1, 1, 4}); // guidance in the first two steps, decoding last
    timer.add(4s);
    timer.add(4s);
    EXPECT_EQ(timer.timeLeft(), 12s);
}

TEST(StepTimer, EndsAtZero)
{
    StepTimer timer({1});
    timer.add(3s);
    EXPECT_EQ(timer.timeLeft(), 0s);
    timer.add(3s);
    EXPECT_EQ(timer.timeLeft(), 0s);
}

} // namespace
