#pragma once

#include "engine/api/job_record.h"

#include <filesystem>
#include <string>

namespace app {

// A prompt's file, "-" for standard input, without a byte order mark and the line end at its end. Throws
// EngineFailure(InvalidRequest) for a file that cannot be read or that no prompt can be as long as.
std::string readPromptFile(const std::string &file);

// The record's JSON text from a clip, a picture or a .json file. Throws EngineFailure(InvalidRequest).
std::string readRecordFile(const std::filesystem::path &file);

} // namespace app
