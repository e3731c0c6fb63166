#include "engine/runtime/rank_group.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <set>

namespace {

using engine::EngineFailure;
using engine::ErrorCode;
using engine::RankGroup;

TEST(RankGroup, GivesEachRankItsOwnThreadForLife)
{
    RankGroup group(4);
    std::array<std::thread::id, 4> first{};
    std::array<std::thread::id, 4> second{};
    for (auto *threads : {&first, &second}) {
        group.start([&](int rank) { threads->at(static_cast<std::size_t>(rank)) = std::this_thread::get_id(); }, [] {});
        group.wait();
    }
    EXPECT_EQ(first, second);
    EXPECT_EQ(std::set<std::thread::id>(first.begin(), first.end()).size(), 4U);
}

TEST(RankGroup, ReportsTheFirstFailureAndNotTheOnesItCaused)
{
    RankGroup group(3);
    for (int round = 0; round < 50; ++round) {
        std::atomic<bool> released{false};
        std::atomic<int> hooks{0};
        group.start(
            [&](int rank) {
                if (rank == 1)
                    throw EngineFailure(ErrorCode::OutOfMemory, "Rank 1 has run out of memory.");
                released.wait(false);
                throw EngineFailure(ErrorCode::Communication, "Another rank has failed.");
            },
            [&] {
                ++hooks;
                released = true;
                released.notify_all();
            });
        try {
            group.wait();
            FAIL() << "no failure";
        } catch (const EngineFailure &failure) {
            EXPECT_EQ(failure.error().code, ErrorCode::OutOfMemory);
            EXPECT_EQ(failure.error().rank, 1);
        }
        EXPECT_EQ(hooks, 1);
    }
}

TEST(RankGroup, AFailureFromOutsideEndsTheTask)
{
    RankGroup group(2);
    std::atomic<bool> released{false};
    group.start([&](int) { released.wait(false); },
                [&] {
                    released = true;
                    released.notify_all();
                });
    group.fail({.code = ErrorCode::Output, .message = "The disk is full.", .detail = ""});
    EXPECT_THROW(group.wait(), EngineFailure);
    group.start([](int) {}, [] {});
    EXPECT_NO_THROW(group.wait());
}

} // namespace
