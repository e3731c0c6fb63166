#include "engine/sampling/noise_source.h"
#include "tests/support/golden.h"
#include "tests/support/sha256.h"

#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <numeric>

namespace {

using engine::Mt19937Normal;
using nlohmann::json;

std::vector<float> noise(std::uint32_t seed, std::size_t count)
{
    std::vector<float> values(count);
    Mt19937Normal(seed).fill(values);
    return values;
}

TEST(Mt19937Normal, RawWordsEqualTheReference)
{
    const auto index = json::parse(golden::json("noise"));
    const auto words = index.at("mt19937_first_u32_seed42").get<std::vector<std::uint32_t>>();
    ASSERT_FALSE(words.empty());
    Mt19937Normal generator(42);
    for (const auto word : words)
        EXPECT_EQ(generator.nextWord(), word);
}

TEST(Mt19937Normal, EveryStreamOfTheReferenceIsBitEqual)
{
    const auto index = json::parse(golden::json("noise"));
    const golden::Table table("noise");
    std::size_t digests = 0;
    for (const auto &entry : index.at("entries")) {
        SCOPED_TRACE(entry.dump());
        const auto shape = entry.at("inputs").at("shape").get<std::vector<std::size_t>>();
        const auto count = std::accumulate(shape.begin(), shape.end(), std::size_t{1}, std::multiplies<>());
        const auto values = noise(entry.at("inputs").at("seed"), count);
        if (entry.contains("tensor")) {
            EXPECT_EQ(values, table.floats(entry.at("tensor").get<std::string>()));
            continue;
        }
        ++digests;
        EXPECT_EQ(golden::sha256(std::as_bytes(std::span(values))), entry.at("sha256").get<std::string>());
        EXPECT_EQ(std::vector<float>(values.begin(), values.begin() + 3), entry.at("first").get<std::vector<float>>());
        EXPECT_EQ(std::vector<float>(values.end() - 3, values.end()), entry.at("last").get<std::vector<float>>());
    }
    EXPECT_EQ(index.at("entries").size(), table.file().header().tensors.size() + digests);
}

TEST(Mt19937Normal, FillingInPiecesGivesTheSameStream)
{
    std::vector<float> pieces(101);
    Mt19937Normal generator(7);
    generator.fill(std::span(pieces).first(33)); // an odd count leaves the second of a pair for the next piece
    generator.fill(std::span(pieces).subspan(33));
    EXPECT_EQ(pieces, noise(7, 101));
}

} // namespace
