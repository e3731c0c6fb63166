#include "app/cli/stop_signal.h"

#include <pthread.h>
#include <signal.h>

namespace app {

namespace {

sigset_t watchedSignals()
{
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGUSR1);
    return signals;
}

} // namespace

StopSignal::StopSignal()
{
    const auto signals = watchedSignals();
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    m_thread = std::thread([this] { listen(); });
}

StopSignal::~StopSignal()
{
    m_isEnding = true;
    pthread_kill(m_thread.native_handle(), SIGUSR1);
    m_thread.join();
}

void StopSignal::listen()
{
    const auto signals = watchedSignals();
    while (true) {
        int signal = 0;
        if (sigwait(&signals, &signal) != 0 || m_isEnding)
            return;
        if (signal != SIGUSR1 && !m_cancel.request_stop())
            m_force.request_stop();
    }
}

} // namespace app
