#include "engine/runtime/phase_clock.h"
#include "engine/runtime/process_memory.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <sys/mman.h>
#include <thread>

namespace {

using engine::Phase;
using engine::PhaseClock;
using namespace std::chrono_literals;

constexpr std::size_t kBig = 96 << 20;

// Memory that is really there, and really gone afterwards: an allocator, or a sanitizer, might keep it.
class Pages {
public:
    explicit Pages(std::size_t bytes)
        : m_bytes(bytes), m_begin(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))
    {
        std::memset(m_begin, 1, m_bytes);
    }
    ~Pages() { munmap(m_begin, m_bytes); }
    Pages(const Pages &) = delete;
    Pages &operator=(const Pages &) = delete;

private:
    std::size_t m_bytes;
    void *m_begin;
};

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
    {
        const Pages pages(kBig);
    }
    clock.enter(Phase::Decode);
    clock.stop();
    const auto denoise = clock.timings().at(0).peakBytes;
    const auto decode = clock.timings().at(1).peakBytes;
    EXPECT_GE(denoise, decode + static_cast<std::int64_t>(kBig) / 2);
}

TEST(ProcessMemory, ResidentMemoryGrowsWithWhatIsTouched)
{
    const auto before = engine::residentBytes();
    const Pages pages(kBig);
    EXPECT_GE(engine::residentBytes(), before + static_cast<std::int64_t>(kBig) / 2);
    EXPECT_GE(engine::peakResidentBytes(), engine::residentBytes() - (1 << 20));
}

} // namespace
