#pragma once

#include "engine/api/engine.h"
#include "engine/api/job_record.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace CLI { // NOLINT(readability-identifier-naming): the library's own name
class App;
}

namespace app {

// What was typed after `parallax generate`, as values. An empty optional was not typed.
struct GenerateOptions {
    std::optional<std::string> model;
    std::optional<std::string> record;
    std::optional<std::string> prompt;
    std::optional<std::string> promptFile;
    std::optional<std::string> negativePrompt;
    std::optional<std::string> negativePromptFile;
    std::optional<engine::Mode> mode;
    std::optional<engine::PixelSize> size;
    std::optional<engine::AspectRatio> aspectRatio;
    std::optional<int> frames;
    std::optional<double> fps;
    std::optional<int> steps;
    std::optional<double> guidanceScale;
    std::optional<engine::TimestepInterval> guidanceInterval;
    std::optional<double> flowShift;
    std::optional<std::int64_t> seed;
    std::optional<bool> sound;
    std::optional<engine::DataType> dataType;
    std::optional<engine::DeviceKind> device;
    std::vector<int> devices;
    engine::RankLayout layout;
    std::string output; // "" for a name made from the prompt
    std::string latents;
    std::string framesRaw;
    bool overwrite = false;
    bool json = false;
    bool dryRun = false;
    bool quiet = false;
};

// Declares the options on `command`; parsing fills `options`. A value that cannot be read throws
// EngineFailure(InvalidRequest) out of the parsing.
void addGenerateOptions(CLI::App &command, GenerateOptions &options);

// The request that the options ask for, on top of an earlier record's resolved settings when there is one. Reads the
// prompt files. Throws EngineFailure(InvalidRequest).
engine::GenerationRequest makeRequest(const GenerateOptions &options, const std::optional<engine::JobRecord> &earlier);

} // namespace app
