#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace engine {

// numpy.random.RandomState(seed).standard_normal as float32: MT19937 and the polar method, bit-equal to numpy.
// One object is one stream; every modality of a run starts its own from the same seed (cosmos3 reference 9.4).
class Mt19937Normal {
public:
    explicit Mt19937Normal(std::uint32_t seed);
    void fill(std::span<float> values);
    std::uint32_t nextWord(); // the raw generator

private:
    double nextDouble();
    double nextNormal();
    std::array<std::uint32_t, 624> m_state{};
    int m_position = 624;
    bool m_hasCached = false;
    double m_cached = 0;
};

} // namespace engine
