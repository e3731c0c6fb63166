#pragma once

#include "engine/api/outcome.h"

#include <exception>

namespace engine {

// Any exception as the error a person gets: an EngineFailure's own, or out of memory, or an internal error with the
// exception's text as the detail. `rank` is entered unless the failure names one itself.
EngineError errorOf(const std::exception_ptr &failure, int rank = -1);

} // namespace engine
