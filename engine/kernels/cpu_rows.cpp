#include "engine/kernels/cpu_rows.h"

#include <algorithm>
#include <bit>
#include <cmath>

// One body per kernel, inlined into a clone per instruction set; the loader picks the best one the machine has.
#define PARALLAX_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#define PARALLAX_INLINE inline __attribute__((always_inline))

namespace engine::kernels {

namespace {

struct F32 {
    using Value = float;
    static PARALLAX_INLINE float load(Value value) { return value; }
    static PARALLAX_INLINE Value store(float value) { return value; }
    static PARALLAX_INLINE float round(float value) { return value; }
};

struct Bf16 {
    using Value = std::uint16_t;
    static PARALLAX_INLINE float load(Value value)
    {
        return std::bit_cast<float>(static_cast<std::uint32_t>(value) << 16U);
    }
    static PARALLAX_INLINE std::uint32_t roundedBits(float value) // to nearest even; NaN stays NaN
    {
        const auto bits = std::bit_cast<std::uint32_t>(value);
        const auto rounded = bits + 0x7FFFU + ((bits >> 16U) & 1U);
        const auto isNan = (bits & 0x7FFFFFFFU) > 0x7F800000U;
        return isNan ? (bits | 0x400000U) & 0xFFFF0000U : rounded & 0xFFFF0000U;
    }
    static PARALLAX_INLINE Value store(float value) { return static_cast<Value>(roundedBits(value) >> 16U); }
    static PARALLAX_INLINE float round(float value) { return std::bit_cast<float>(roundedBits(value)); }
};

// e^x by range reduction to [-ln2/2, ln2/2] and a polynomial of degree 6; relative error below 2e-7.
PARALLAX_INLINE float fastExp(float x)
{
    x = std::min(std::max(x, -87.0F), 88.0F);
    const float k = std::nearbyintf(x * 1.44269504F);
    float r = x - k * 0.693359375F;
    r += k * 2.12194440e-4F;
    float p = 1.9875691500e-4F;
    p = p * r + 1.3981999507e-3F;
    p = p * r + 8.3334519073e-3F;
    p = p * r + 4.1665795894e-2F;
    p = p * r + 1.6666665459e-1F;
    p = p * r + 5.0000001201e-1F;
    p = p * r * r + r + 1.0F;
    return p * std::bit_cast<float>((static_cast<std::int32_t>(k) + 127) << 23);
}

PARALLAX_INLINE float silu(float x)
{
    return x / (1.0F + fastExp(-x));
}

// Sum of squares in 16 partial sums, in one fixed order: the same on every instruction set but for fused products.
template <typename T>
PARALLAX_INLINE float sumOfSquares(const typename T::Value *x, std::int64_t width)
{
    constexpr int kLanes = 16;
    float lanes[kLanes] = {};
    std::int64_t i = 0;
    for (; i + kLanes <= width; i += kLanes)
        for (int l = 0; l < kLanes; ++l) {
            const float v = T::load(x[i + l]);
            lanes[l] += v * v;
        }
    for (int l = 0; i < width; ++i, ++l) {
        const float v = T::load(x[i]);
        lanes[l] += v * v;
    }
    float sum = 0;
    for (const float lane : lanes)
        sum += lane;
    return sum;
}

template <typename T>
PARALLAX_INLINE float normalised(float value, float inverse, float weight, NormRounding rounding)
{
    return rounding == NormRounding::BeforeWeight ? T::round(T::round(value * inverse) * weight)
                                                  : T::round(value * inverse * weight);
}

template <typename T>
PARALLAX_INLINE void rmsNormBody(const RmsNormRows &norm, const void *xRaw, void *outRaw, std::int64_t rows)
{
    const auto *weight = static_cast<const typename T::Value *>(norm.weight);
    for (std::int64_t r = 0; r < rows; ++r) {
        const auto *x = static_cast<const typename T::Value *>(xRaw) + r * norm.width;
        auto *out = static_cast<typename T::Value *>(outRaw) + r * norm.width;
        const float mean = sumOfSquares<T>(x, norm.width) / static_cast<float>(norm.width);
        const float inverse = 1.0F / std::sqrt(mean + norm.epsilon);
        if (norm.rounding == NormRounding::BeforeWeight)
            for (std::int64_t i = 0; i < norm.width; ++i)
                out[i] =
                    T::store(normalised<T>(T::load(x[i]), inverse, T::load(weight[i]), NormRounding::BeforeWeight));
        else
            for (std::int64_t i = 0; i < norm.width; ++i)
                out[i] = T::store(normalised<T>(T::load(x[i]), inverse, T::load(weight[i]), NormRounding::AfterWeight));
    }
}

template <typename T, bool HasNorm>
PARALLAX_INLINE void rotateHead(const RotaryHeads &rotary, const typename T::Value *x, const typename T::Value *cos,
                                const typename T::Value *sin, float *out)
{
    const auto width = rotary.norm.width;
    const auto half = width / 2;
    const auto *weight = static_cast<const typename T::Value *>(rotary.norm.weight);
    float inverse = 1;
    if constexpr (HasNorm)
        inverse = 1.0F / std::sqrt(sumOfSquares<T>(x, width) / static_cast<float>(width) + rotary.norm.epsilon);
    const auto rounding = rotary.norm.rounding;
    const float scale = rotary.outScale;
    for (std::int64_t i = 0; i < half; ++i) {
        float a = T::load(x[i]);
        float b = T::load(x[i + half]);
        if constexpr (HasNorm) {
            a = normalised<T>(a, inverse, T::load(weight[i]), rounding);
            b = normalised<T>(b, inverse, T::load(weight[i + half]), rounding);
        }
        const float c = T::load(cos[i]);
        const float s = T::load(sin[i]);
        out[i] = T::round(T::round(a * c) - T::round(b * s)) * scale;
        out[i + half] = T::round(T::round(b * c) + T::round(a * s)) * scale;
    }
}

template <typename T>
PARALLAX_INLINE void rotaryHeadsBody(const RotaryHeads &rotary, const void *xRaw, float *out, std::int64_t first,
                                     std::int64_t count)
{
    const auto half = rotary.norm.width / 2;
    for (std::int64_t t = first; t < first + count; ++t) {
        const auto *x = static_cast<const typename T::Value *>(xRaw) + t * rotary.xStride;
        const auto *cos = static_cast<const typename T::Value *>(rotary.cos) + t * half;
        const auto *sin = static_cast<const typename T::Value *>(rotary.sin) + t * half;
        for (std::int64_t h = 0; h < rotary.heads; ++h) {
            const auto *head = x + h * rotary.norm.width;
            auto *target = out + t * rotary.outTokenStride + h * rotary.outHeadStride;
            if (rotary.norm.weight != nullptr)
                rotateHead<T, true>(rotary, head, cos, sin, target);
            else
                rotateHead<T, false>(rotary, head, cos, sin, target);
        }
    }
}

template <typename T>
PARALLAX_INLINE void siluTimesUpBody(const void *gateUpRaw, void *outRaw, std::int64_t rows, std::int64_t width)
{
    for (std::int64_t r = 0; r < rows; ++r) {
        const auto *gate = static_cast<const typename T::Value *>(gateUpRaw) + r * 2 * width;
        const auto *up = gate + width;
        auto *out = static_cast<typename T::Value *>(outRaw) + r * width;
        for (std::int64_t i = 0; i < width; ++i)
            out[i] = T::store(T::round(silu(T::load(gate[i]))) * T::load(up[i]));
    }
}

template <typename T>
PARALLAX_INLINE void squaredReluBody(const void *upRaw, void *outRaw, std::int64_t count)
{
    const auto *up = static_cast<const typename T::Value *>(upRaw);
    auto *out = static_cast<typename T::Value *>(outRaw);
    for (std::int64_t i = 0; i < count; ++i) {
        const float v = std::max(T::load(up[i]), 0.0F);
        out[i] = T::store(v * v);
    }
}

template <typename T>
PARALLAX_INLINE void channelNormBody(const ChannelNormRows &norm, const void *xRaw, void *outRaw, std::int64_t rows)
{
    const auto *gamma = static_cast<const typename T::Value *>(norm.gamma);
    const float scale = std::sqrt(static_cast<float>(norm.width));
    for (std::int64_t r = 0; r < rows; ++r) {
        const auto *__restrict x = static_cast<const typename T::Value *>(xRaw) + r * norm.width;
        auto *__restrict out = static_cast<typename T::Value *>(outRaw) + r * norm.width;
        const float length = std::max(T::round(std::sqrt(sumOfSquares<T>(x, norm.width))), 1e-12F);
        const auto value = [&](std::int64_t i) {
            const float unit = T::round(T::load(x[i]) / length);
            return T::round(T::round(unit * scale) * T::load(gamma[i]));
        };
        if (norm.silu)
            for (std::int64_t i = 0; i < norm.width; ++i)
                out[i] = T::store(silu(value(i)));
        else
            for (std::int64_t i = 0; i < norm.width; ++i)
                out[i] = T::store(value(i));
    }
}

} // namespace

bool cpuHasBFloat16Units()
{
    return __builtin_cpu_supports("avx512bf16") != 0;
}

bool cpuHasAvx512()
{
    return __builtin_cpu_supports("avx512bw") != 0;
}

PARALLAX_CLONES void rmsNorm(const RmsNormRows &norm, const void *x, void *out, std::int64_t rows)
{
    if (norm.type == RowType::Float32)
        rmsNormBody<F32>(norm, x, out, rows);
    else
        rmsNormBody<Bf16>(norm, x, out, rows);
}

PARALLAX_CLONES void rotaryHeads(const RotaryHeads &rotary, const void *x, float *out, std::int64_t first,
                                 std::int64_t count)
{
    if (rotary.norm.type == RowType::Float32)
        rotaryHeadsBody<F32>(rotary, x, out, first, count);
    else
        rotaryHeadsBody<Bf16>(rotary, x, out, first, count);
}

PARALLAX_CLONES void softmax(float *x, std::int64_t rows, std::int64_t width)
{
    constexpr int kLanes = 16;
    for (std::int64_t r = 0; r < rows; ++r) {
        float *row = x + r * width;
        float lanes[kLanes];
        std::fill(lanes, lanes + kLanes, -INFINITY);
        const auto whole = width - width % kLanes;
        for (std::int64_t i = 0; i < whole; i += kLanes)
            for (int l = 0; l < kLanes; ++l)
                lanes[l] = std::max(lanes[l], row[i + l]);
        for (std::int64_t i = whole; i < width; ++i)
            lanes[0] = std::max(lanes[0], row[i]);
        const float largest = *std::max_element(lanes, lanes + kLanes);
        std::fill(lanes, lanes + kLanes, 0.0F);
        for (std::int64_t i = 0; i < whole; i += kLanes)
            for (int l = 0; l < kLanes; ++l) {
                const float e = fastExp(row[i + l] - largest);
                row[i + l] = e;
                lanes[l] += e;
            }
        for (std::int64_t i = whole; i < width; ++i) {
            row[i] = fastExp(row[i] - largest);
            lanes[0] += row[i];
        }
        float sum = 0;
        for (const float lane : lanes)
            sum += lane;
        const float inverse = 1.0F / sum;
        for (std::int64_t i = 0; i < width; ++i)
            row[i] *= inverse;
    }
}

PARALLAX_CLONES void siluTimesUp(RowType type, const void *gateUp, void *out, std::int64_t rows, std::int64_t width)
{
    if (type == RowType::Float32)
        siluTimesUpBody<F32>(gateUp, out, rows, width);
    else
        siluTimesUpBody<Bf16>(gateUp, out, rows, width);
}

PARALLAX_CLONES void squaredRelu(RowType type, const void *up, void *out, std::int64_t rows, std::int64_t width)
{
    if (type == RowType::Float32)
        squaredReluBody<F32>(up, out, rows * width);
    else
        squaredReluBody<Bf16>(up, out, rows * width);
}

PARALLAX_CLONES void channelNorm(const ChannelNormRows &norm, const void *x, void *out, std::int64_t rows)
{
    if (norm.type == RowType::Float32)
        channelNormBody<F32>(norm, x, out, rows);
    else
        channelNormBody<Bf16>(norm, x, out, rows);
}

} // namespace engine::kernels
