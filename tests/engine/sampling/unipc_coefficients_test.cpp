#include "engine/sampling/fixed_step.h"
#include "engine/sampling/sigma_schedule.h"
#include "engine/sampling/unipc_coefficients.h"
#include "tests/support/golden.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>

namespace {

using engine::UniPcStep;
using nlohmann::json;
using Values = std::vector<float>;

// The solver over plain fp32 arrays.
class PlainSolver {
public:
    PlainSolver(Values start, const std::vector<float> &sigmas)
        : m_state(std::move(start)), m_sigmas(sigmas), m_steps(engine::unipcSteps(sigmas))
    {
    }

    // sigmaVelocity: sigma * v of this step.
    const Values &advance(const Values &sigmaVelocity)
    {
        const auto &step = m_steps.at(m_models.size());
        Values model(m_state.size());
        for (std::size_t k = 0; k < model.size(); ++k)
            model[k] = m_state[k] - sigmaVelocity[k];
        m_models.push_back(model);
        for (std::size_t k = 0; k < model.size(); ++k)
            m_state[k] = next(step, k);
        return m_state;
    }
    [[nodiscard]] float sigma() const { return m_sigmas.at(m_models.size()); }
    [[nodiscard]] const Values &lastModel() const { return m_models.back(); }

private:
    float next(const UniPcStep &step, std::size_t k)
    {
        const auto model = [&](std::size_t back) { return m_models.at(m_models.size() - 1 - back)[k]; };
        float x = m_state[k];
        if (step.corrects) {
            x = static_cast<float>(step.keep) * m_last[k] + static_cast<float>(step.previous) * model(1) +
                static_cast<float>(step.current) * model(0);
            if (step.usesOlder)
                x += static_cast<float>(step.older) * model(2);
        }
        m_last.resize(m_state.size());
        m_last[k] = x;
        x = static_cast<float>(step.predictKeep) * x + static_cast<float>(step.predictCurrent) * model(0);
        if (step.usesPrevious)
            x += static_cast<float>(step.predictPrevious) * model(1);
        return x;
    }

    Values m_state;
    std::vector<float> m_sigmas;
    std::vector<UniPcStep> m_steps;
    std::vector<Values> m_models;
    Values m_last; // the corrected sample of the step before
};

Values part(const Values &stacked, std::size_t index, std::size_t size)
{
    const auto begin = stacked.begin() + static_cast<std::ptrdiff_t>(index * size);
    return {begin, begin + static_cast<std::ptrdiff_t>(size)};
}

float toBf16(float value)
{
    const auto bits = std::bit_cast<std::uint32_t>(value);
    return std::bit_cast<float>((bits + 0x7fffU + ((bits >> 16U) & 1U)) & 0xffff0000U);
}

Values scaled(float factor, Values values)
{
    for (auto &value : values)
        value *= factor;
    return values;
}

Values rounded(Values values)
{
    for (auto &value : values)
        value = toBf16(value);
    return values;
}

void expectStates(const golden::Table &table, const std::string &prefix, const json &inputs)
{
    const auto start = table.floats(prefix + "_start");
    const auto velocity = table.floats(prefix + "_velocity");
    const auto states = table.floats(prefix + "_states");
    const auto schedule = engine::nativeSchedule(inputs.at("steps"), inputs.at("shift"));
    EXPECT_LE(golden::largestRelativeError(schedule.sigmas, table.floats(prefix + "_sigmas")), golden::kUlp);
    PlainSolver solver(start, schedule.sigmas);
    for (std::size_t i = 0; i < static_cast<std::size_t>(schedule.steps()); ++i) {
        const auto &state = solver.advance(scaled(solver.sigma(), part(velocity, i, start.size())));
        EXPECT_LE(golden::relativeError(state, part(states, i, start.size())), golden::kFp32) << "step " << i;
    }
}

TEST(UniPcSteps, EveryStateOfTheReferenceIsReproduced)
{
    const auto index = json::parse(golden::json("unipc"));
    const golden::Table table("unipc");
    std::set<std::string> topics;
    for (const auto &entry : index.at("entries")) {
        const std::string name = entry.at("tensor");
        topics.insert(name.substr(0, name.find('_')));
        if (!std::regex_match(name, std::regex("N\\d+_start")))
            continue;
        SCOPED_TRACE(name);
        expectStates(table, name.substr(0, name.find('_')), entry.at("inputs"));
    }
    EXPECT_EQ(topics, (std::set<std::string>{"N1", "N2", "N3", "N5", "N35", "chain", "distilled"}));
}

TEST(UniPcSteps, TheChainInBf16RoundsWhereTheReferenceRounds)
{
    const golden::Table table("unipc");
    const auto start = table.floats("chain_start");
    const auto guided = table.floats("chain_guided");
    const auto sigmas = engine::nativeSchedule(5, 10).sigmas;
    PlainSolver solver(start, sigmas);
    Values tokens = rounded(start);
    for (std::size_t i = 0; i + 1 < sigmas.size(); ++i) {
        SCOPED_TRACE(i);
        const auto at = [&](const char *name) { return part(table.floats(name), i, start.size()); };
        EXPECT_EQ(tokens, at("chain_tokens"));
        const auto product = rounded(scaled(solver.sigma(), part(guided, i, start.size())));
        EXPECT_EQ(product, at("chain_sigma_v"));
        const auto &state = solver.advance(product);
        EXPECT_LE(golden::relativeError(state, at("chain_states")), golden::kFp32);
        tokens = rounded(state);
    }
}

TEST(UniPcSteps, AnyStepCountStaysFiniteAndEndsAtTheLastModelOutput)
{
    for (const double shift : {1.0, 3.0, 5.0, 10.0}) {
        for (const int steps : {1, 2, 3, 4, 113, 200}) {
            SCOPED_TRACE(testing::Message() << steps << " steps, shift " << shift);
            PlainSolver solver({0.5F, -2.0F, 0.0F, 30.0F}, engine::nativeSchedule(steps, shift).sigmas);
            Values state;
            for (int i = 0; i < steps; ++i) {
                const auto wobble = static_cast<float>(std::sin(i));
                state = solver.advance(scaled(solver.sigma(), {wobble, 1.0F, -wobble, 3.0F}));
                for (const float value : state)
                    ASSERT_TRUE(std::isfinite(value)) << "step " << i;
            }
            EXPECT_EQ(state, solver.lastModel());
        }
    }
}

TEST(UniPcSteps, ZeroVelocityKeepsTheState)
{
    for (const auto &schedule : {engine::nativeSchedule(200, 10), engine::diffusersFlowSchedule(35, 3),
                                 engine::karrasSchedule(35, {}), engine::explicitSchedule({1.0, 0.9, 0.5, 0.2})}) {
        const Values start{1.0F, -3.0F, 0.25F};
        PlainSolver solver(start, schedule.sigmas);
        Values state;
        for (int i = 0; i < schedule.steps(); ++i)
            state = solver.advance(Values(start.size(), 0.0F));
        EXPECT_LE(golden::relativeError(state, start), golden::kFp32);
    }
}

TEST(FixedSteps, EveryDistilledStateOfTheReferenceIsReproduced)
{
    const golden::Table table("unipc");
    auto state = table.floats("distilled_start");
    const auto size = state.size();
    const auto velocity = table.floats("distilled_velocity");
    const auto noise = table.floats("distilled_eps");
    const auto states = table.floats("distilled_states");
    const auto sigmas = engine::explicitSchedule({1.0, 0.9375, 0.8333333333333334, 0.625}).sigmas;
    const auto steps = engine::fixedSteps(sigmas);
    ASSERT_EQ(steps.size(), 4U);
    for (std::size_t i = 0; i < steps.size(); ++i) {
        for (std::size_t k = 0; k < size; ++k) {
            const float model = state[k] - sigmas[i] * velocity[i * size + k];
            state[k] = static_cast<float>(steps[i].denoised) * model;
            if (steps[i].noise != 0)
                state[k] += static_cast<float>(steps[i].noise) * noise[i * size + k];
        }
        EXPECT_LE(golden::relativeError(state, part(states, i, size)), golden::kFp32) << "step " << i;
    }
}

} // namespace
