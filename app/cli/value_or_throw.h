#pragma once

#include "engine/api/outcome.h"

#include <utility>
#include <variant>

namespace app {

// Inside the command errors are exceptions; the engine's public functions return them.
template <typename Value>
Value valueOrThrow(std::variant<Value, engine::EngineError> result)
{
    if (auto *error = std::get_if<engine::EngineError>(&result))
        throw engine::EngineFailure(std::move(*error));
    return std::get<Value>(std::move(result));
}

} // namespace app
