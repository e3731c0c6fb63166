#pragma once

#include "engine/api/generation_request.h"
#include "engine/api/model_profile.h"
#include "engine/api/rank_layout.h"

#include <string>
#include <vector>

namespace engine {

struct RequestProblem {
    std::string field;   // the field's name in the request, as the record writes it: "size", "frames", "steps", …
    std::string message; // one sentence: the thing, and what to do (with the nearest legal value)
};

struct CheckedRequest {
    ResolvedRequest resolved; // complete when there are no problems
    std::vector<RequestProblem> problems;
    std::vector<std::string> notes; // what was rounded, and what the model was not made for
};

// Fills in the model's defaults and refuses what cannot run. Used by forms, the queue, the command line and the engine.
CheckedRequest checkRequest(const GenerationRequest &request, const ModelProfile &profile,
                            const RankLayout &layout = {});

// A request that asks for exactly `resolved` again.
GenerationRequest toRequest(const ResolvedRequest &resolved);

} // namespace engine
