#pragma once

#include "engine/api/outcome.h"

#include <exception>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

namespace engine {

// Inside engine/media errors are exceptions; its public functions run their work through one of these two, so that
// they leave as values.
inline EngineError currentError()
{
    try {
        throw;
    } catch (const EngineFailure &failure) {
        return failure.error();
    } catch (const std::bad_alloc &) {
        return {ErrorCode::OutOfMemory, "There is not enough memory for the pictures; close other programs.", {}};
    } catch (const std::exception &error) {
        return {ErrorCode::Internal, "The media files could not be handled; please report this.", error.what()};
    }
}

template <typename Work>
std::optional<EngineError> asResult(Work &&work)
{
    try {
        std::forward<Work>(work)();
        return std::nullopt;
    } catch (...) {
        return currentError();
    }
}

template <typename Work>
std::variant<std::invoke_result_t<Work>, EngineError> asValue(Work &&work)
{
    try {
        return std::forward<Work>(work)();
    } catch (...) {
        return currentError();
    }
}

} // namespace engine
