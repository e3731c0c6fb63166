#pragma once

#include "engine/api/outcome.h"

namespace app {

inline constexpr int kExitDone = 0;
inline constexpr int kExitRefused = 2; // the request or a file: nothing was started
inline constexpr int kExitFailed = 3;
inline constexpr int kExitStopped = 130; // as shells count SIGINT

constexpr int exitCode(engine::ErrorCode code)
{
    return code == engine::ErrorCode::InvalidRequest || code == engine::ErrorCode::ModelFiles ? kExitRefused
                                                                                              : kExitFailed;
}

} // namespace app
