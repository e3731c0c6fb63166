#pragma once

#include "engine/api/frame_sink.h"
#include "engine/api/generation_request.h"
#include "engine/api/outcome.h"
#include "engine/api/progress.h"
#include "engine/api/rank_layout.h"

#include <filesystem>
#include <memory>
#include <stop_token>
#include <string>
#include <variant>
#include <vector>

namespace engine {

struct EngineConfig {
    std::filesystem::path model; // the checkpoint's folder
    DataType dataType = DataType::Automatic;
    DeviceKind device = DeviceKind::Automatic;
    std::vector<int> devices; // GPU indexes; empty: the first one
    RankLayout layout;
    int threads = 0; // CPU threads of the networks, 0: all cores
};

// `cancel` is obeyed between steps and chunks; `force` also between layers.
struct StopTokens {
    std::stop_token cancel;
    std::stop_token force;
};

// One loaded model. Blocking by design: one call is one clip, threads are the caller's business.
class Engine {
public:
    virtual ~Engine() = default;
    // Loads the weights if they are not loaded yet, then runs the request. Never throws.
    virtual Outcome generate(const ResolvedRequest &request, FrameSink &sink, GenerationObserver &observer,
                             StopTokens stop) = 0;
    // Loads the weights now. nothing on success.
    virtual std::optional<EngineError> load(GenerationObserver &observer, StopTokens stop) = 0;
};

using EngineOrError = std::variant<std::unique_ptr<Engine>, EngineError>;

} // namespace engine
