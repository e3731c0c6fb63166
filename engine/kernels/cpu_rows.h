#pragma once

#include <cstdint>

// Row-wise kernels of the CPU path, compiled for several instruction sets and picked at load time. Rows are
// contiguous; every function works on the rows it is given, so the caller splits rows over threads and the result
// does not depend on the split. `Bf16` rows hold raw bfloat16 bits: arithmetic is fp32, and every operation that the
// reference rounds to bfloat16 is rounded here too, to nearest even.
namespace engine::kernels {

// Whether bfloat16 products run on units of their own (AVX-512 BF16; every CPU with AMX has it too).
bool cpuHasBFloat16Units();
bool cpuHasAvx512();

enum class RowType { Float32, BFloat16 };

// How an RMS norm treats its weight: Qwen-like models round the normalised value before the product, Nemotron-like
// ones multiply in fp32 and round once (cosmos3 reference 3.1).
enum class NormRounding { BeforeWeight, AfterWeight };

struct RmsNormRows {
    RowType type = RowType::Float32;
    NormRounding rounding = NormRounding::BeforeWeight;
    std::int64_t width = 0;
    float epsilon = 0;
    const void *weight = nullptr; // [width]
};
// out[r] = x[r] / sqrt(mean(x[r]²) + epsilon) * weight
void rmsNorm(const RmsNormRows &norm, const void *x, void *out, std::int64_t rows);

// Rotary position embedding of some heads after an RMS norm: out = y * cos + rotateHalf(y) * sin,
// y = norm(x), or x itself when norm.weight is null.
// x: heads contiguous inside a token, `xStride` elements from token to token; cos, sin: [tokens, width/2], in x's
// type. The result is fp32 in either type, since attention on the CPU reads fp32; its strides are in elements.
struct RotaryHeads {
    RmsNormRows norm;
    std::int64_t heads = 0;
    std::int64_t xStride = 0;
    const void *cos = nullptr;
    const void *sin = nullptr;
    std::int64_t outTokenStride = 0;
    std::int64_t outHeadStride = 0;
    float outScale = 1; // multiplied in fp32 after all rounding
};
// Tokens first … first + count - 1 of x, cos, sin and out.
void rotaryHeads(const RotaryHeads &rotary, const void *x, float *out, std::int64_t first, std::int64_t count);

// x[r] = softmax(x[r]) over `width` values.
void softmax(float *x, std::int64_t rows, std::int64_t width);

// out[r][i] = silu(gateUp[r][i]) * gateUp[r][width + i]
void siluTimesUp(RowType type, const void *gateUp, void *out, std::int64_t rows, std::int64_t width);
// out[r][i] = max(up[r][i], 0)²
void squaredRelu(RowType type, const void *up, void *out, std::int64_t rows, std::int64_t width);

// The autoencoder's channel norm: out[r] = x[r] / max(‖x[r]‖, 1e-12) * sqrt(width) * gamma, then SiLU when asked for.
// In bfloat16 the norm, the quotient and both products are each rounded (the framework's rule).
struct ChannelNormRows {
    RowType type = RowType::Float32;
    std::int64_t width = 0;
    const void *gamma = nullptr;
    bool silu = true;
};
void channelNorm(const ChannelNormRows &norm, const void *x, void *out, std::int64_t rows);

} // namespace engine::kernels
