#include "engine/pipeline/torch_failure.h"

#include "engine/api/outcome.h"

#include <c10/util/Exception.h>

namespace engine {

void throwTranslated(const std::exception &failure, const DeviceChoice &device)
{
    const auto *torchError = dynamic_cast<const c10::Error *>(&failure);
    if (torchError == nullptr)
        throw;
    const std::string text = torchError->what_without_backtrace();
    // The CPU's allocator has no error class of its own: its text names it.
    const bool outOfMemory = dynamic_cast<const c10::OutOfMemoryError *>(&failure) != nullptr ||
                             text.find("can't allocate memory") != std::string::npos;
    if (outOfMemory)
        throw EngineFailure(ErrorCode::OutOfMemory,
                            "Not enough memory on " + device.description + "; choose a smaller size or fewer frames.",
                            text);
    throw EngineFailure(ErrorCode::Internal, "The clip could not be made: libtorch reported an error.", text);
}

std::string dataTypeName(DataType type)
{
    return type == DataType::BFloat16 ? "bfloat16" : "float32";
}

} // namespace engine
