#pragma once

#include "engine/api/generation_request.h"
#include "engine/api/model_profile.h"
#include "engine/api/outcome.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace engine {

struct CheckpointPart {
    std::string name; // "transformer", "vae", "text_tokenizer", "sound_tokenizer", "scheduler"
    bool present = false;
    bool required = false;
    std::int64_t bytes = 0;           // of its files
    std::int64_t tensors = 0;         // in its weight files
    std::vector<std::string> missing; // needed tensors that are not there
    std::vector<std::string> unknown; // tensors nobody reads
    std::string note;                 // one sentence, "" when there is nothing to say
};

struct CheckpointSummary {
    std::string variant;         // "Qwen-like" or "Nemotron-like (Edge)"
    std::int64_t parameters = 0; // of the transformer's needed tensors
    std::int64_t hiddenSize = 0;
    std::int64_t headDim = 0;
    std::int64_t vocabulary = 0;
    std::string weightType; // "bfloat16", "float16", "float32" or "mixed"
    std::vector<CheckpointPart> parts;
    std::int64_t memoryFloat32 = 0; // bytes of the weights in memory
    std::int64_t memoryBFloat16 = 0;
};

struct BranchText {
    std::string text;          // with the metadata sentences, before the chat template
    std::vector<int> tokenIds; // with the chat template and both suffix tokens
    bool truncated = false;    // cut to the model's cap
};

struct PromptTokens {
    BranchText positive;
    BranchText negative;
};

// A model folder in the published layout, opened without libtorch: its files are checked (headers, shapes,
// types, offsets, configurations, tokenizer), no weight is read.
class Checkpoint {
public:
    static std::variant<Checkpoint, EngineError> open(const std::filesystem::path &folder);

    [[nodiscard]] const std::filesystem::path &folder() const;
    [[nodiscard]] const ModelProfile &profile() const;
    [[nodiscard]] const CheckpointSummary &summary() const;
    // Why the checkpoint cannot generate (a part or tensor is missing): one sentence, or nothing.
    [[nodiscard]] std::optional<EngineError> refusal() const;
    // Both branches' texts and token ids, exactly as the engine will use them.
    [[nodiscard]] std::variant<PromptTokens, EngineError> tokenize(const ResolvedRequest &request) const;

private:
    struct Contents;
    explicit Checkpoint(std::shared_ptr<const Contents> contents);
    std::shared_ptr<const Contents> m_contents;
};

// "demo" is the demo world that ships with the program; otherwise a folder, or a name such as "Cosmos3-Nano" or
// "nvidia/Cosmos3-Nano", looked up in the Hugging Face cache (HF_HUB_CACHE, HF_HOME, the default place).
std::variant<std::filesystem::path, EngineError> findModel(std::string_view nameOrFolder);

// The folder with model_profiles.json and demo-world/: PARALLAX_RESOURCES, beside the program
// (../share/parallax-studio), or the source tree the program was built from.
std::filesystem::path resourceFolder();

} // namespace engine
