#pragma once

#include <string>

namespace app {

// `parallax inspect`: shows what a model folder is, or the record in a clip, a picture or a .json file. Returns the
// exit code; throws EngineFailure for what cannot be read.
int runInspect(const std::string &target, bool json);

} // namespace app
