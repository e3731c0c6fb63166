#pragma once

#include "engine/pipeline/device_choice.h"

#include <exception>
#include <string>

namespace engine {

// Rethrows as an EngineFailure: libtorch's out-of-memory as one that says where and what to do, its other errors as
// internal ones with the text as the detail; anything else as it is. To be called inside a catch block.
[[noreturn]] void throwTranslated(const std::exception &failure, const DeviceChoice &device);

std::string dataTypeName(DataType type); // "float32", "bfloat16"

} // namespace engine
