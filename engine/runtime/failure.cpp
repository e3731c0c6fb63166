#include "engine/runtime/failure.h"

#include <new>

namespace engine {

EngineError errorOf(const std::exception_ptr &failure, int rank)
{
    EngineError error;
    try {
        std::rethrow_exception(failure);
    } catch (const EngineFailure &known) {
        error = known.error();
    } catch (const std::bad_alloc &outOfMemory) {
        error = {ErrorCode::OutOfMemory,
                 "The machine has run out of memory: choose a smaller size or fewer frames, or close other programs.",
                 outOfMemory.what()};
    } catch (const std::exception &unknown) {
        error = {ErrorCode::Internal, "The engine has met an error of its own: please report it with the log.",
                 unknown.what()};
    } catch (...) {
        error = {ErrorCode::Internal, "The engine has met an error of its own: please report it with the log.",
                 "an exception that is no std::exception"};
    }
    if (error.rank < 0)
        error.rank = rank;
    return error;
}

} // namespace engine
