#include "engine/sampling/guidance.h"
#include "tests/support/golden_tensor.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/equal.h>
#include <gtest/gtest.h>

namespace {

TEST(Guidance, Bf16EqualsTheReferenceBitByBit)
{
    const golden::Table table("unipc");
    const auto guided = engine::guide(tensor(table, "chain_cond"), tensor(table, "chain_uncond"), 6.0);
    EXPECT_EQ(guided.scalar_type(), at::kBFloat16);
    EXPECT_TRUE(at::equal(guided, tensor(table, "chain_guided")));
}

TEST(Guidance, AScaleThatBf16CannotHoldIsNotRoundedBeforeTheProduct)
{
    const golden::Table table("unipc");
    const auto positive = tensor(table, "chain_cond");
    const auto negative = tensor(table, "chain_uncond");
    const float scale = 5.37F; // bf16: 5.375
    const auto difference = (positive - negative).to(at::kFloat);
    const auto expected = (difference * scale).to(at::kBFloat16) + negative;
    EXPECT_TRUE(at::equal(engine::guide(positive, negative, scale), expected));
    EXPECT_FALSE(at::equal(engine::guide(positive, negative, 5.375), expected));
}

TEST(Guidance, Fp32LeavesItsInputsAlone)
{
    const golden::Table table("unipc");
    const auto positive = tensor(table, "N3_velocity");
    const auto negative = tensor(table, "N3_states");
    const auto guided = engine::guide(positive, negative, 2.5);
    EXPECT_TRUE(at::equal(guided, negative + (positive - negative) * 2.5));
    EXPECT_TRUE(at::equal(positive, tensor(table, "N3_velocity")));
    EXPECT_TRUE(at::equal(negative, tensor(table, "N3_states")));
}

} // namespace
