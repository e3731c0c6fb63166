#pragma once

#include "engine/kernels/cpu_rows.h"

#include <cstdint>

struct CUstream_st;

namespace engine::kernels {

// RmsNormRows on a GPU: x, weight and out are device pointers, the launch goes to `stream`. One pass over the row
// instead of ATen's five, with the same rounding. Returns the CUDA error code, 0 on success.
int rmsNormCuda(const RmsNormRows &norm, const void *x, void *out, std::int64_t rows, CUstream_st *stream);

} // namespace engine::kernels
