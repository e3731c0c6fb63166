#include "engine/sequence/rope_positions.h"
#include "tests/support/golden.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>

namespace {

using engine::PositionRules;
using engine::Positions;
using nlohmann::json;

std::vector<float> flattened(const Positions &positions)
{
    std::vector<float> values;
    for (const auto &axis : positions.axes)
        values.insert(values.end(), axis.begin(), axis.end());
    return values;
}

Positions positionsOf(const json &entry)
{
    const auto &inputs = entry.at("inputs");
    const std::int64_t text = inputs.at("n_text");
    const std::string name = entry.at("tensor");
    if (inputs.contains("grid")) {
        const auto grid = inputs.at("grid").get<std::vector<std::int64_t>>();
        // One row and column less than the patches hold: the padded sides of odd latents count as tokens.
        const engine::LatentGeometry geometry{
            .frames = grid.at(0), .height = 2 * grid.at(1) - 1, .width = 2 * grid.at(2) - 1};
        EXPECT_EQ(engine::positionFps(inputs.at("fps")), inputs.at("fps_used").get<float>());
        return engine::visionPositions(geometry, text, inputs.at("fps"), PositionRules{});
    }
    if (inputs.contains("fps"))
        return engine::actionPositions(inputs.at("tokens"), text, inputs.at("fps"), PositionRules{});
    if (inputs.contains("tokens"))
        return engine::soundPositions(inputs.at("tokens"), text, PositionRules{});
    return engine::textPositions(text);
}

void expectWithin(const std::vector<float> &values, const std::vector<float> &reference, double tolerance)
{
    ASSERT_EQ(values.size(), reference.size());
    double largest = 0;
    for (std::size_t i = 0; i < values.size(); ++i)
        largest = std::max(largest, std::abs(static_cast<double>(values[i]) - static_cast<double>(reference[i])));
    EXPECT_LE(largest, tolerance);
}

std::vector<float> rounded(std::vector<float> values)
{
    for (auto &value : values)
        value = engine::positionFps(value); // any fp32 value: rounds to bf16
    return values;
}

// hd128_theta5e+06_KIND: one entry about frequencies; the position sets are those of the entries before it.
void checkFrequencies(const json &entry, const golden::Table &table, const std::map<std::string, Positions> &known)
{
    const std::string name = entry.at("tensor");
    std::smatch part;
    ASSERT_TRUE(std::regex_match(name, part, std::regex("hd(\\d+)_theta([0-9.e+]+)_(.*)")));
    const std::int64_t headDim = std::stoll(part[1]);
    const double theta = std::stod(part[2]);
    const std::vector<int> section{24, 20, 20};
    const std::string kind = part[3];
    if (kind == "inv_freq") {
        const auto frequencies = engine::inverseFrequencies(headDim, theta);
        EXPECT_LE(golden::largestRelativeError(frequencies, table.floats(name)), golden::kUlp);
    } else if (kind == "axis") {
        const auto axes = engine::frequencyAxes(headDim, section);
        EXPECT_EQ(std::vector<std::int64_t>(axes.begin(), axes.end()), table.integers(name));
    } else {
        const auto &positions = known.at(entry.at("inputs").at("positions"));
        const auto rotary = engine::rotaryTable(positions, headDim, theta, section);
        EXPECT_EQ(rotary.half, headDim / 2);
        EXPECT_EQ(rotary.tokens, static_cast<std::int64_t>(positions.size()));
        const bool isBf16 = kind.ends_with("_bf16");
        const auto &values = kind.ends_with("_sin") ? rotary.sin : rotary.cos;
        expectWithin(isBf16 ? rounded(values) : values, table.floats(name), isBf16 ? golden::kRope16 : golden::kRope32);
    }
}

TEST(RopePositions, EveryEntryOfTheReferenceTableIsReproduced)
{
    const auto index = json::parse(golden::json("positions"));
    const golden::Table table("positions");
    std::map<std::string, Positions> known;
    for (const auto &entry : index.at("entries")) {
        const std::string name = entry.at("tensor");
        SCOPED_TRACE(name);
        if (name.starts_with("hd")) {
            checkFrequencies(entry, table, known);
            continue;
        }
        const auto positions = positionsOf(entry);
        EXPECT_EQ(flattened(positions), table.floats(name));
        known.emplace(std::regex_replace(name, std::regex("_(ids|vision)$"), ""), positions);
    }
    EXPECT_EQ(index.at("entries").size(), table.file().header().tensors.size());
}

TEST(RopePositions, NeighboursAtTheFarEndOfALongPromptStayApart)
{
    const auto table = [](std::int64_t frames) {
        const engine::LatentGeometry geometry{.frames = frames, .height = 4, .width = 4};
        const auto positions = engine::visionPositions(geometry, 4096, 24, PositionRules{});
        return engine::rotaryTable(positions, 128, 5e6, {24, 20, 20});
    }(3);
    const auto row = [&](std::int64_t token) {
        const auto begin = table.cos.begin() + token * table.half;
        return std::vector<float>(begin, begin + table.half);
    };
    EXPECT_NE(row(0), row(1)); // w
    EXPECT_NE(row(0), row(2)); // h
    EXPECT_NE(row(0), row(4)); // t
}

TEST(RopePositions, WithoutFpsModulationFramesCountByOne)
{
    PositionRules rules;
    rules.fpsModulation = false;
    const engine::LatentGeometry geometry{.frames = 3, .height = 2, .width = 2};
    EXPECT_EQ(engine::visionPositions(geometry, 7, 12, rules).axes[0], (std::vector<float>{15007, 15008, 15009}));
    EXPECT_EQ(engine::soundPositions(2, 7, rules).axes[0], (std::vector<float>{15007, 15008}));
}

TEST(RopePositions, AppendingKeepsTheOrderOfTokens)
{
    auto positions = engine::textPositions(2);
    positions.append(engine::soundPositions(1, 2, PositionRules{}));
    EXPECT_EQ(positions.size(), 3U);
    EXPECT_EQ(positions.axes[0], (std::vector<float>{0, 1, 15002}));
    EXPECT_EQ(positions.axes[2], (std::vector<float>{0, 1, 0}));
}

} // namespace
