#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace engine {

enum class LogLevel { Debug, Info, Warning, Error };

// What the engine has to say goes to one function that the program sets once at start; by default nowhere.
// It may be called from any thread.
using LogFunction = std::function<void(LogLevel, std::string_view)>;
void setLogFunction(LogFunction function);
void log(LogLevel level, std::string_view text);

} // namespace engine
