#pragma once

#include <stop_token>

namespace engine {

// Thrown by RankContext::check, caught where the job is run: a forced stop is no failure.
struct ForcedStop {};

// What a rank's code may know of the job around it. Passed down by reference on the rank's own thread.
struct RankContext {
    int rank = 0;
    std::stop_token force;

    // Called between layers and blocks.
    void check() const
    {
        if (force.stop_requested())
            throw ForcedStop{};
    }
};

} // namespace engine
