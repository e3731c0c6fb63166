#pragma once

#include "engine/api/engine.h"

namespace engine {

// Loads libparallax-engine.so (which pulls in libtorch) on the calling thread and makes an engine for `config`.
// The library is looked for beside the program, then in ../lib beside it. A missing library, driver or
// wheel comes back as one sentence.
EngineOrError createEngine(const EngineConfig &config);

} // namespace engine
