#pragma once

#include "engine/api/generation_request.h"

#include <cstdint>
#include <string>
#include <vector>

namespace engine {

struct SizeTier {
    std::string name; // "256", "480", "720"; the name is not the height
    std::vector<PixelSize> sizes;
};

struct ModeDefaults {
    PixelSize size;
    int frames = 1;
    double fps = 24;
    int steps = 35;
    double guidance = 6;
    double flowShift = 10;
};

struct Range {
    double low = 0;
    double high = 0;
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
    std::string defaultNegativePrompt;           // for video; "" where the model has none
    std::string defaultNegativeNote;             // why the default is not the published one, "" when it is
    Range trainedFrames{1, 1e9};                 // a warning outside
    Range trainedFps{1, 1e9};                    // a warning outside
    bool useSystemPrompt = false;
    int maxTextTokens = 4096; // both suffix tokens included

    [[nodiscard]] const ModeDefaults &defaults(Mode mode) const { return mode == Mode::TextToImage ? image : video; }
};

} // namespace engine
