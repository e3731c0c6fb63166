#pragma once

#include "engine/api/checkpoint.h"
#include "engine/checkpoint/model_config.h"
#include "engine/text/bpe_tokenizer.h"
#include "engine/weights/weight_index.h"

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

namespace engine {

// A checkpoint's folder opened and checked: configurations, weight files by name, tokenizer. What
// engine/api/checkpoint.h shows to the outside and the engine loads its weights from.
struct CheckpointFiles {
    std::filesystem::path folder;
    TransformerConfig transformer;
    VaeConfig vae;
    std::optional<SoundConfig> sound; // only when the sound tokenizer's folder is there
    SchedulerConfig scheduler;
    std::unique_ptr<WeightIndex> transformerWeights;
    std::unique_ptr<WeightIndex> vaeWeights;
    std::unique_ptr<WeightIndex> soundWeights; // may be null
    std::unique_ptr<BpeTokenizer> tokenizer;
    ModelProfile profile;
    CheckpointSummary summary;
    std::optional<EngineError> refusal;
};

// Throws EngineFailure(ModelFiles).
std::shared_ptr<const CheckpointFiles> openCheckpoint(const std::filesystem::path &folder);

// Texts and token ids of both branches. Throws EngineFailure(InvalidRequest).
PromptTokens tokenizePrompts(const CheckpointFiles &files, const ResolvedRequest &request);

} // namespace engine
