#include "engine/api/log.h"

#include <mutex>
#include <utility>

namespace engine {

namespace {

std::mutex logMutex;
LogFunction logFunction; // guarded by logMutex

} // namespace

void setLogFunction(LogFunction function)
{
    const std::lock_guard lock(logMutex);
    logFunction = std::move(function);
}

void log(LogLevel level, std::string_view text)
{
    const std::lock_guard lock(logMutex);
    if (logFunction)
        logFunction(level, text);
}

} // namespace engine
