#include "engine/sampling/guidance.h"
#include "engine/sampling/solver_state.h"
#include "tests/support/golden_tensor.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

namespace {

using engine::SolverState;

class SolverStateOfCase : public testing::TestWithParam<std::pair<std::string, double>> {};

TEST_P(SolverStateOfCase, EqualsTheReferenceAfterEveryStep)
{
    const auto &[name, shift] = GetParam();
    const golden::Table table("unipc");
    const auto velocity = tensor(table, name + "_velocity");
    const auto states = tensor(table, name + "_states");
    SolverState solver(tensor(table, name + "_start"),
                       engine::nativeSchedule(static_cast<int>(velocity.size(0)), shift));
    while (!solver.done()) {
        const int step = solver.step();
        solver.advance(velocity[step]);
        EXPECT_LE(golden::relativeError(solver.state(), states[step]), golden::kFp32) << "step " << step;
    }
    EXPECT_EQ(solver.step(), velocity.size(0));
}

INSTANTIATE_TEST_SUITE_P(Reference, SolverStateOfCase,
                         testing::Values(std::pair{"N1", 10.0}, std::pair{"N2", 10.0}, std::pair{"N3", 3.0},
                                         std::pair{"N5", 10.0}, std::pair{"N35", 10.0}),
                         [](const auto &test) { return test.param.first; });

TEST(SolverState, TheBf16ChainEqualsTheReference)
{
    const golden::Table table("unipc");
    const auto positive = tensor(table, "chain_cond");
    const auto negative = tensor(table, "chain_uncond");
    SolverState solver(tensor(table, "chain_start"), engine::nativeSchedule(5, 10));
    while (!solver.done()) {
        const int step = solver.step();
        EXPECT_TRUE(at::equal(solver.state().to(at::kBFloat16), tensor(table, "chain_tokens")[step])) << step;
        solver.advance(engine::guide(positive[step], negative[step], 6.0));
        // Were sigma rounded to bf16 before the product, the distance would be 3e-3.
        EXPECT_LE(golden::relativeError(solver.state(), tensor(table, "chain_states")[step]), golden::kFp32) << step;
    }
}

TEST(SolverState, TwoHundredStepsEndExactlyAtTheLastModelOutput)
{
    const golden::Table table("unipc");
    const auto velocity = tensor(table, "N35_velocity");
    SolverState solver(tensor(table, "N35_start"), engine::nativeSchedule(200, 10));
    at::Tensor before;
    while (!solver.done()) {
        before = solver.state().clone();
        solver.advance(velocity[solver.step() % 35]);
    }
    const float sigma = engine::nativeSchedule(200, 10).sigmas.at(199);
    EXPECT_TRUE(at::equal(solver.state(), before - velocity[199 % 35] * sigma));
    EXPECT_TRUE(at::isfinite(solver.state()).all().item<bool>());
}

TEST(SolverState, TheVelocityIsLeftAlone)
{
    const auto velocity = at::zeros({4}).fill_(2.0);
    SolverState solver(at::zeros({4}), engine::nativeSchedule(2, 5));
    solver.advance(velocity);
    EXPECT_TRUE(at::equal(velocity, at::zeros({4}).fill_(2.0)));
}

} // namespace
