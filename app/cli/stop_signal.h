#pragma once

#include "engine/api/engine.h"

#include <atomic>
#include <thread>

namespace app {

// Ctrl-C and SIGTERM as stop tokens: the first asks the run to stop, the second to stop at once. Make it on the main
// thread before any other thread exists, so that all of them leave the signals to this one.
class StopSignal {
public:
    StopSignal();
    ~StopSignal();
    StopSignal(const StopSignal &) = delete;
    StopSignal &operator=(const StopSignal &) = delete;

    [[nodiscard]] engine::StopTokens tokens() const { return {m_cancel.get_token(), m_force.get_token()}; }

private:
    void listen();

    std::stop_source m_cancel;
    std::stop_source m_force;
    std::atomic<bool> m_isEnding = false; // set before SIGUSR1 wakes the thread for the last time
    std::thread m_thread;
};

} // namespace app
