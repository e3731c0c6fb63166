#pragma once

#include <filesystem>

namespace engine {

// Checks that `folder` is a Cosmos 3 model in the published layout: model_index.json of a known pipeline (or none) and
// transformer/. Throws EngineFailure(ModelFiles) with one sentence saying what the folder is instead, where that can
// be told.
void checkLayout(const std::filesystem::path &folder);

} // namespace engine
