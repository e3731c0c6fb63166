#pragma once

#include "app/cli/generate_options.h"

namespace app {

// `parallax generate`: checks the whole request first, then loads the engine and runs it. Prints the result on
// standard output, everything else on standard error. Returns the exit code.
int runGenerate(const GenerateOptions &options);

} // namespace app
