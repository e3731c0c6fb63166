#pragma once

#include "engine/api/checkpoint.h"
#include "engine/checkpoint/checkpoint_files.h"
#include "engine/model/cosmos_transformer.h"
#include "engine/sampling/sigma_schedule.h"

#include <vector>

namespace engine {

// A request worked out to numbers: everything the ranks need, made without touching a device.
struct PreparedJob {
    ResolvedRequest request;
    PromptTokens tokens;
    SequenceLayout layout;
    SigmaSchedule schedule;
    std::vector<double> guidance; // one scale per step; 1: the positive branch alone

    [[nodiscard]] bool needsNegative() const;
};

// Throws EngineFailure(InvalidRequest).
PreparedJob prepareJob(const CheckpointFiles &files, const ResolvedRequest &request);

} // namespace engine
