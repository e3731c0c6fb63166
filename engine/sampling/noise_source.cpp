#include "engine/sampling/noise_source.h"

#include <cmath>

namespace engine {

namespace {

constexpr std::size_t kWords = 624;
constexpr std::size_t kShift = 397;

// The recurrence of MT19937 (Matsumoto and Nishimura 1998): one new word from the top bit of `high`, the rest of `low`
// and the word kShift places on.
std::uint32_t twist(std::uint32_t high, std::uint32_t low, std::uint32_t shifted)
{
    const std::uint32_t joined = (high & 0x80000000U) | (low & 0x7fffffffU);
    return shifted ^ (joined >> 1U) ^ ((0U - (low & 1U)) & 0x9908b0dfU);
}

void regenerate(std::array<std::uint32_t, kWords> &state)
{
    for (std::size_t i = 0; i < kWords - kShift; ++i)
        state[i] = twist(state[i], state[i + 1], state[i + kShift]);
    for (std::size_t i = kWords - kShift; i < kWords - 1; ++i)
        state[i] = twist(state[i], state[i + 1], state[i + kShift - kWords]);
    state[kWords - 1] = twist(state[kWords - 1], state[0], state[kShift - 1]);
}

} // namespace

Mt19937Normal::Mt19937Normal(std::uint32_t seed)
{
    for (std::uint32_t i = 0; i < kWords; ++i) {
        m_state[i] = seed;
        seed = 1812433253U * (seed ^ (seed >> 30U)) + i + 1;
    }
}

std::uint32_t Mt19937Normal::nextWord()
{
    if (m_position == static_cast<int>(kWords)) {
        regenerate(m_state);
        m_position = 0;
    }
    std::uint32_t word = m_state[static_cast<std::size_t>(m_position++)];
    word ^= word >> 11U;
    word ^= (word << 7U) & 0x9d2c5680U;
    word ^= (word << 15U) & 0xefc60000U;
    return word ^ (word >> 18U);
}

// 53 bits from two words, in [0, 1).
double Mt19937Normal::nextDouble()
{
    const std::uint32_t high = nextWord() >> 5U;
    const std::uint32_t low = nextWord() >> 6U;
    return (high * 67108864.0 + low) / 9007199254740992.0;
}

// Marsaglia's polar method. A pair gives its second value first, as numpy does.
double Mt19937Normal::nextNormal()
{
    if (m_hasCached) {
        m_hasCached = false;
        return m_cached;
    }
    double x = 0;
    double y = 0;
    double radius = 0; // squared
    do {
        x = 2.0 * nextDouble() - 1.0;
        y = 2.0 * nextDouble() - 1.0;
        radius = x * x + y * y;
    } while (radius >= 1.0 || radius == 0.0);
    const double factor = std::sqrt(-2.0 * std::log(radius) / radius);
    m_cached = factor * x;
    m_hasCached = true;
    return factor * y;
}

void Mt19937Normal::fill(std::span<float> values)
{
    for (auto &value : values)
        value = static_cast<float>(nextNormal());
}

} // namespace engine
