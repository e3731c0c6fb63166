#pragma once

#include "app/cli/generate_options.h"
#include "app/cli/run_sinks.h"
#include "engine/api/checkpoint.h"

namespace app {

// Everything about a run that is decided before the engine is loaded.
struct GeneratePlan {
    std::filesystem::path model;
    OutputPaths outputs;
    engine::VideoFormat format; // without sound's own numbers, which the engine knows
};

// Resolves and checks the whole request, libtorch untouched: model, settings, token ids, files, device. Fills
// `record` as far as it gets, so that a refusal can be reported with what was known. Throws EngineFailure.
GeneratePlan planGenerate(const GenerateOptions &options, engine::JobRecord &record);

// The plan for a person: one line a thing.
std::string planText(const GeneratePlan &plan, const engine::JobRecord &record);

} // namespace app
