#include "tests/support/sha256.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

namespace golden {

namespace {

constexpr std::size_t kBlock = 64;

// The first 32 bits of the fraction of a root of the n-th prime: the standard's constants.
std::array<std::uint32_t, 64> rootFractions(long double (*root)(long double))
{
    std::array<std::uint32_t, 64> fractions{};
    std::size_t found = 0;
    for (int candidate = 2; found < fractions.size(); ++candidate) {
        bool isPrime = true;
        for (int divisor = 2; divisor * divisor <= candidate; ++divisor)
            isPrime = isPrime && candidate % divisor != 0;
        if (!isPrime)
            continue;
        const long double value = root(static_cast<long double>(candidate));
        fractions.at(found++) = static_cast<std::uint32_t>((value - std::floor(value)) * 4294967296.0L);
    }
    return fractions;
}

void compress(std::array<std::uint32_t, 8> &state, std::span<const std::uint8_t> block)
{
    static const auto constants = rootFractions([](long double value) { return std::cbrt(value); });
    std::array<std::uint32_t, 64> words{};
    for (std::size_t i = 0; i < kBlock; ++i)
        words[i / 4] = (words[i / 4] << 8U) | block[i];
    for (std::size_t i = 16; i < words.size(); ++i) {
        const auto a = words[i - 15];
        const auto b = words[i - 2];
        words[i] = words[i - 16] + words[i - 7] + (std::rotr(a, 7) ^ std::rotr(a, 18) ^ (a >> 3U)) +
                   (std::rotr(b, 17) ^ std::rotr(b, 19) ^ (b >> 10U));
    }
    auto [a, b, c, d, e, f, g, h] = state;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const auto first = h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) + ((e & f) ^ (~e & g)) +
                           constants[i] + words[i];
        const auto second = (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
        h = g;
        g = f;
        f = e;
        e = d + first;
        d = c;
        c = b;
        b = a;
        a = first + second;
    }
    const std::array<std::uint32_t, 8> added{a, b, c, d, e, f, g, h};
    for (std::size_t i = 0; i < state.size(); ++i)
        state[i] += added[i];
}

} // namespace

std::string sha256(std::span<const std::byte> bytes)
{
    const auto squareRoots = rootFractions([](long double value) { return std::sqrt(value); });
    std::array<std::uint32_t, 8> state{};
    std::copy_n(squareRoots.begin(), state.size(), state.begin());

    std::vector<std::uint8_t> message;
    message.reserve(bytes.size() + 2 * kBlock);
    for (const auto byte : bytes)
        message.push_back(std::to_integer<std::uint8_t>(byte));
    message.push_back(0x80);
    while (message.size() % kBlock != kBlock - 8)
        message.push_back(0);
    const std::uint64_t bits = 8 * static_cast<std::uint64_t>(bytes.size());
    for (unsigned shift = 64; shift > 0; shift -= 8)
        message.push_back(static_cast<std::uint8_t>(bits >> (shift - 8)));
    for (std::size_t at = 0; at < message.size(); at += kBlock)
        compress(state, std::span(message).subspan(at, kBlock));

    std::string digest;
    for (const auto word : state)
        for (unsigned shift = 32; shift > 0; shift -= 4)
            digest.push_back("0123456789abcdef"[(word >> (shift - 4)) & 15U]);
    return digest;
}

} // namespace golden
