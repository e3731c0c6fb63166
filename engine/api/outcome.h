#pragma once

#include "engine/api/generation_request.h"
#include "engine/api/progress.h"

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace engine {

enum class ErrorCode {
    InvalidRequest,
    ModelFiles,
    MissingLibrary,
    OutOfMemory,
    Device,
    Communication,
    Output,
    Internal
};

struct EngineError {
    ErrorCode code = ErrorCode::Internal;
    std::string message;  // one sentence for a person: names the thing and says what to do
    std::string detail{}; // what a developer needs: file, call, rank
    int rank = -1;        // the rank it happened on, -1 when it was none
    bool needsRestart = false;
};

// How errors travel inside the engine. Caught at the top of a rank thread and of the functions of engine/api,
// which return EngineError as a value: no exception crosses engine/api.
class EngineFailure : public std::runtime_error {
public:
    explicit EngineFailure(EngineError error) : std::runtime_error(error.message), m_error(std::move(error)) {}
    EngineFailure(ErrorCode code, std::string message, std::string detail = {})
        : EngineFailure(EngineError{code, std::move(message), std::move(detail)})
    {
    }
    [[nodiscard]] const EngineError &error() const { return m_error; }

private:
    EngineError m_error;
};

struct Cancelled {
    Phase phase = Phase::Load;
    int step = 0; // steps or chunks finished in that phase
};

struct PhaseTiming {
    Phase phase = Phase::Load;
    double seconds = 0;
    std::int64_t peakBytes = 0; // largest resident memory of the process during the phase
};

// What happened: all that the job record reports besides the request.
struct RunReport {
    std::vector<PhaseTiming> phases;
    std::vector<double> stepSeconds;
    std::vector<double> sigmas;          // steps + 1 values, the last is 0
    std::vector<std::int64_t> timesteps; // what the network was given, one per step
    std::vector<double> guidance;        // one scale per step; 1 where the negative branch did not run
    std::vector<int> promptTokenIds;
    std::vector<int> negativeTokenIds;
    DataType dataType = DataType::Float32; // the type really used
    std::string device;                    // "cpu, 2 threads" or a GPU's name
    std::string attention;                 // the attention back end
    std::string linear;                    // the matrix product back end
    std::int64_t loadedBytes = 0;          // resident memory after loading
    std::int64_t peakBytes = 0;            // largest resident memory during the run, loading left out
};

// The frames have gone to the sink; the owner of the sink now finishes the file.
struct Video {
    int frames = 0;
    RunReport report;
};

using Outcome = std::variant<Video, Cancelled, EngineError>;

} // namespace engine
