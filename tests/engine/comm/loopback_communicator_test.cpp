#include "engine/comm/loopback_communicator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <thread>

namespace {

using engine::LoopbackCommunicator;
using engine::LoopbackHub;

// Runs `work` on one thread a rank and joins them.
template <typename Work>
void onRanks(int ranks, Work work)
{
    std::vector<std::jthread> threads;
    threads.reserve(static_cast<std::size_t>(ranks));
    for (int rank = 0; rank < ranks; ++rank)
        threads.emplace_back([&work, rank] { work(rank); });
}

TEST(LoopbackCommunicator, SumsInTheOrderOfTheRanksWhoeverArrivesFirst)
{
    constexpr int kRanks = 4;
    // In fp32 only one order gives 1: (1e8 - 1e8 + 0.5) + 0.5.
    const std::array<float, kRanks> given{1e8F, -1e8F, 0.5F, 0.5F};
    const auto hub = std::make_shared<LoopbackHub>(kRanks);
    for (int round = 0; round < 100; ++round) {
        std::array<float, kRanks> sums{};
        onRanks(kRanks, [&](int rank) {
            LoopbackCommunicator communicator(hub, rank);
            std::array<float, 1> values{given.at(static_cast<std::size_t>(rank))};
            if (rank == round % kRanks)
                std::this_thread::sleep_for(std::chrono::microseconds(100));
            communicator.allReduceSum(values);
            sums.at(static_cast<std::size_t>(rank)) = values.front();
        });
        EXPECT_EQ(sums, (std::array<float, kRanks>{1, 1, 1, 1}));
    }
}

TEST(LoopbackCommunicator, RoundsFollowEachOtherWithoutMixing)
{
    constexpr int kRanks = 3;
    constexpr int kRounds = 500;
    const auto hub = std::make_shared<LoopbackHub>(kRanks);
    std::atomic<int> wrong{0};
    onRanks(kRanks, [&](int rank) {
        LoopbackCommunicator communicator(hub, rank);
        for (int round = 0; round < kRounds; ++round) {
            std::array<float, 2> values{static_cast<float>(round), static_cast<float>(rank)};
            communicator.allReduceSum(values);
            if (values != std::array<float, 2>{static_cast<float>(kRanks * round), 3.0F})
                ++wrong;
        }
    });
    EXPECT_EQ(wrong, 0);
}

TEST(LoopbackCommunicator, AbortReleasesThoseWhoWaitAndThoseWhoComeLater)
{
    const auto hub = std::make_shared<LoopbackHub>(3);
    std::atomic<int> aborted{0};
    onRanks(3, [&](int rank) {
        LoopbackCommunicator communicator(hub, rank);
        if (rank == 2) {
            communicator.abort();
            return;
        }
        std::array<float, 1> values{1};
        for (int attempt = 0; attempt < 2; ++attempt) {
            try {
                communicator.allReduceSum(values);
            } catch (const engine::CommunicationAborted &) {
                ++aborted;
            }
        }
    });
    EXPECT_EQ(aborted, 4);
}

TEST(LoopbackCommunicator, RanksThatGiveDifferentSizesAreToldApart)
{
    const auto hub = std::make_shared<LoopbackHub>(2);
    std::string detail;
    onRanks(2, [&](int rank) {
        LoopbackCommunicator communicator(hub, rank);
        std::vector<float> values(rank == 0 ? 3 : 2);
        try {
            communicator.allReduceSum(values);
        } catch (const engine::CommunicationAborted &) {
        } catch (const engine::EngineFailure &failure) {
            detail = failure.error().detail;
            communicator.abort();
        }
    });
    EXPECT_EQ(detail, "rank 0 gives 3 values, rank 1 gives 2");
}

} // namespace
