#pragma once

#include "engine/api/engine.h"

#include <ATen/core/Tensor.h>

#include <string>

namespace engine {

// Where and in which type a model runs.
struct DeviceChoice {
    at::Device device = at::kCPU;
    at::ScalarType type = at::kFloat;
    DataType dataType = DataType::Float32;
    std::string description; // "cpu, 2 threads", or the GPU's name
    std::string reason;      // why this type
};

// Throws EngineFailure(Device) with one sentence when a GPU was asked for and cannot be used: never a silent fall to
// the CPU. Automatic takes the first GPU when there is one.
DeviceChoice chooseDevice(const EngineConfig &config);

} // namespace engine
