#pragma once

#include "engine/api/outcome.h"

#include <filesystem>
#include <string>
#include <variant>

namespace engine {

// The record in a clip or picture of ours: the text of its comment, told by the file's content, not its name. A file
// that cannot be read, or that has no comment, comes back as one sentence (InvalidRequest).
std::variant<std::string, EngineError> readRecordText(const std::filesystem::path &file);

} // namespace engine
