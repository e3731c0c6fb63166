#pragma once

#include "engine/api/generation_request.h"
#include "engine/api/outcome.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <variant>
#include <vector>

namespace engine {

struct Range {
    double low = 0;
    double high = 0;
    [[nodiscard]] bool contains(double value) const { return low <= value && value <= high; }
};

struct SizeTier {
    std::string name; // "256", "480", "720"; the name is not the height
    std::vector<PixelSize> sizes;
    Range trainedFrames{1, 1e9}; // a warning outside
};

struct ModeDefaults {
    PixelSize size;
    int frames = 1;
    double fps = 24;
    int steps = 35;
    double guidance = 6;
    double flowShift = 10;
};

// What one checkpoint allows and what it takes by default: data from resources/model_profiles.json and the
// checkpoint's own configuration, never code.
struct ModelProfile {
    std::string name;     // "Cosmos3-Nano", "demo world"; for a checkpoint without a known profile "unknown model"
    bool isKnown = false; // without a known profile any legal size, length and rate is taken without warning
    // From the checkpoint's configuration.
    int spatialFactor = 16; // pixels per latent, one side
    int temporalFactor = 4; // frames per latent frame after the first
    int latentPatch = 2;
    int latentChannels = 48;
    int attentionHeads = 0;
    int keyValueHeads = 0;
    int layers = 0;
    bool hasSound = false; // sound heads and a sound tokenizer
    // From the profile.
    std::vector<SizeTier> tiers; // published sizes, what forms offer
    ModeDefaults video;
    ModeDefaults image;
    std::string defaultNegativePrompt;      // for video; "" where the model has none
    std::string defaultNegativeNote;        // why the default is not the published one, "" when it is
    std::string defaultImageNegativePrompt; // for images; "" where the model has none
    Range trainedFrames{1, 1e9};            // a warning outside, for sizes of no tier
    Range trainedFps{1, 1e9};               // a warning outside
    bool useSystemPrompt = false;
    // Both suffix tokens included. The framework has no cap (its training cut at 4096): this one only keeps a mistaken
    // paste from running for hours.
    int maxTextTokens = 32768;

    [[nodiscard]] const ModeDefaults &defaults(Mode mode) const { return mode == Mode::TextToImage ? image : video; }
};

// What a checkpoint's configuration says about which model it is.
struct ModelMarks {
    std::string backbone; // "qwen", or "nemotron" for Edge-like networks
    std::int64_t hiddenSize = 0;
    std::int64_t layers = 0;
    std::int64_t heads = 0;
    std::int64_t keyValueHeads = 0;
    std::int64_t headDim = 0;
    std::int64_t spatialFactor = 16;
    bool hasSound = false; // of no weight in the choice: a checkpoint without its sound parts is the same model
};

// The known profile whose marks are equal, or the backbone's family without a name of its own. The fields "from the
// checkpoint's configuration" are left to the caller. A defaultNegativePrompt that begins with "file:" names a file
// of the checkpoint that holds the text. Errors (ModelFiles): `profilesFile` is missing or damaged.
std::variant<ModelProfile, EngineError> profileFor(const ModelMarks &marks, const std::filesystem::path &profilesFile);

} // namespace engine
