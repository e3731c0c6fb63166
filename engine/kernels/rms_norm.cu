#include "engine/kernels/rms_norm.h"

#include <cuda_bf16.h>
#include <cuda_runtime_api.h>

namespace engine::kernels {

namespace {

constexpr int kThreads = 256;
constexpr int kWarp = 32;

__device__ float load(float value)
{
    return value;
}

__device__ float load(__nv_bfloat16 value)
{
    return __bfloat162float(value);
}

__device__ void store(float value, float *out)
{
    *out = value;
}

__device__ void store(float value, __nv_bfloat16 *out)
{
    *out = __float2bfloat16_rn(value);
}

// The value as it would be after a round trip through T.
template <typename T>
__device__ float rounded(float value)
{
    T stored;
    store(value, &stored);
    return load(stored);
}

// Sum over the block; every thread gets it.
__device__ float blockSum(float value)
{
    __shared__ float warps[kThreads / kWarp];
    for (int offset = kWarp / 2; offset > 0; offset /= 2)
        value += __shfl_xor_sync(0xFFFFFFFFU, value, offset);
    if (threadIdx.x % kWarp == 0)
        warps[threadIdx.x / kWarp] = value;
    __syncthreads();
    float sum = 0;
    for (const float warp : warps)
        sum += warp;
    return sum;
}

// One block a row.
template <typename T>
__global__ void rmsNormRow(const T *x, const T *weight, T *out, std::int64_t width, float epsilon, bool roundFirst)
{
    x += blockIdx.x * width;
    out += blockIdx.x * width;
    float squares = 0;
    for (std::int64_t i = threadIdx.x; i < width; i += kThreads) {
        const float value = load(x[i]);
        squares += value * value;
    }
    const float inverse = rsqrtf(blockSum(squares) / static_cast<float>(width) + epsilon);
    for (std::int64_t i = threadIdx.x; i < width; i += kThreads) {
        const float unit = load(x[i]) * inverse;
        store((roundFirst ? rounded<T>(unit) : unit) * load(weight[i]), out + i);
    }
}

template <typename T>
void launch(const RmsNormRows &norm, const void *x, void *out, std::int64_t rows, cudaStream_t stream)
{
    rmsNormRow<T><<<static_cast<unsigned>(rows), kThreads, 0, stream>>>(
        static_cast<const T *>(x), static_cast<const T *>(norm.weight), static_cast<T *>(out), norm.width, norm.epsilon,
        norm.rounding == NormRounding::BeforeWeight);
}

} // namespace

int rmsNormCuda(const RmsNormRows &norm, const void *x, void *out, std::int64_t rows, CUstream_st *stream)
{
    if (rows == 0)
        return 0;
    if (norm.type == RowType::Float32)
        launch<float>(norm, x, out, rows, stream);
    else
        launch<__nv_bfloat16>(norm, x, out, rows, stream);
    return static_cast<int>(cudaGetLastError());
}

} // namespace engine::kernels
