#pragma once

#include "engine/api/model_profile.h"
#include "engine/checkpoint/checkpoint_files.h"

namespace engine {

// The profile of an opened checkpoint: the known (or generic) defaults of resources/model_profiles.json, the fields of
// its own configuration, and its default negative prompt. Throws EngineFailure(ModelFiles).
ModelProfile checkpointProfile(const CheckpointFiles &files, bool hasSound);

} // namespace engine
