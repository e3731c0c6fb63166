#include "engine/runtime/phase_clock.h"
#include "engine/runtime/process_memory.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <thread>

namespace {

using engine::Phase;
using engine::PhaseClock;
using namespace std::chrono_literals;

constexpr std::size_t kBig = 96 << 20;

// Memory that is really there: written once, a byte a page at least.
std::vector<char> touched(std::size_t bytes)
{
    std::vector<char> memory(bytes);
    std::memset(memory.data(), 1, memory.size());
    return memory;
}

TEST(PhaseClock, TimesThePhasesInTheirOrder)
{
    PhaseClock clock;
    clock.enter(Phase::Text);
    std::this_thread::sleep_for(2ms);
    clock.enter(Phase::Denoise);
    std::this_thread::sleep_for(1ms);
    clock.enter(Phase::Text);
    std::this_thread::sleep_for(2ms);
    clock.stop();
    clock.stop();
    ASSERT_EQ(clock.timings().size(), 2U);
    EXPECT_EQ(clock.timings()[0].phase, Phase::Text);
    EXPECT_GE(clock.timings()[0].seconds, 0.004);
    EXPECT_EQ(clock.timings()[1].phase, Phase::Denoise);
    EXPECT_GE(clock.timings()[1].seconds, 0.001);
}

TEST(PhaseClock, GivesMemoryToThePhaseThatHeldIt)
{
    PhaseClock clock;
    clock.enter(Phase::Denoise);
    static_cast<void>(touched(kBig));
    clock.enter(Phase::Decode);
    clock.stop();
    const auto denoise = clock.timings().at(0).peakBytes;
    const auto decode = clock.timings().at(1).peakBytes;
#if defined(__SANITIZE_ADDRESS__)
    EXPECT_GE(denoise, decode) << "a sanitizer keeps freed memory";
#else
    EXPECT_GE(denoise, decode + static_cast<std::int64_t>(kBig) / 2);
#endif
}

TEST(ProcessMemory, ResidentMemoryGrowsWithWhatIsTouched)
{
    const auto before = engine::residentBytes();
    const auto memory = touched(kBig);
    EXPECT_GE(engine::residentBytes(), before + static_cast<std::int64_t>(memory.size()) / 2);
    EXPECT_GE(engine::peakResidentBytes(), engine::residentBytes() - (1 << 20));
}

} // namespace
