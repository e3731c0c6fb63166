#include "engine/runtime/frame_channel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>

namespace {

using engine::FrameChannel;

TEST(FrameChannel, KeepsTheOrderAndHoldsNoMoreThanItsCapacity)
{
    constexpr int kFrames = 500;
    constexpr int kCapacity = 3;
    FrameChannel<std::unique_ptr<int>> channel(kCapacity);
    std::atomic<int> pushed{0};
    std::jthread decoder([&] {
        for (int frame = 0; frame < kFrames; ++frame) {
            channel.push(std::make_unique<int>(frame));
            pushed = frame + 1;
        }
        channel.close();
    });
    int popped = 0;
    while (const auto frame = channel.pop()) {
        EXPECT_EQ(**frame, popped);
        ++popped;
        EXPECT_LE(pushed, popped + kCapacity);
    }
    EXPECT_EQ(popped, kFrames);
}

TEST(FrameChannel, WhatWasPushedBeforeTheCloseIsStillPopped)
{
    FrameChannel<int> channel(4);
    channel.push(1);
    channel.push(2);
    channel.close();
    EXPECT_EQ(channel.pop(), 1);
    EXPECT_EQ(channel.pop(), 2);
    EXPECT_EQ(channel.pop(), std::nullopt);
}

TEST(FrameChannel, CloseWakesADecoderThatWaitsForRoom)
{
    FrameChannel<int> channel(1);
    channel.push(1);
    bool isClosed = false;
    {
        std::jthread decoder([&] {
            try {
                channel.push(2);
            } catch (const engine::ChannelClosed &) {
                isClosed = true;
            }
        });
        channel.close();
    }
    EXPECT_TRUE(isClosed);
}

TEST(FrameChannel, CloseWakesAnEncoderThatWaitsForAFrame)
{
    FrameChannel<int> channel(1);
    std::optional<int> frame = 7;
    {
        std::jthread encoder([&] { frame = channel.pop(); });
        channel.close();
    }
    EXPECT_EQ(frame, std::nullopt);
}

} // namespace
