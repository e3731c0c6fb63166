#pragma once

#include "engine/api/checkpoint.h"
#include "engine/api/generation_request.h"
#include "engine/text/bpe_tokenizer.h"

#include <optional>
#include <string>
#include <string_view>

namespace engine {

// What the sentences about a clip are made from.
struct ClipMetadata {
    int width = 0;
    int height = 0;
    int frames = 1; // 1: an image, which has no duration sentence
    double fps = 24;
    std::optional<AspectRatio> aspectRatio; // only JSON prompts carry it
};

enum class Branch { Positive, Negative };

// A prompt with its metadata, as NVIDIA's cosmos-framework writes it (cosmos3 reference 7.3): sentences after a text,
// overwritten keys in a JSON object (re-serialised by Python's rules); the negative always gets the positive's
// sentences. Throws EngineFailure(InvalidRequest) for invalid UTF-8.
std::string promptText(std::string_view prompt, Branch branch, const ClipMetadata &metadata);

// Chat template (optional system turn, user turn, assistant opening), then <|im_end|> and <|vision_start|>. Longer
// than maxTokens: the chat part is cut so that both suffix tokens stay. Throws EngineFailure(ModelFiles) when the
// tokenizer lacks a special token.
BranchText chatTokens(const BpeTokenizer &tokenizer, std::string_view text, std::string_view systemPrompt,
                      int maxTokens);

// The framework's system prompt of a mode (cosmos3 reference 7.2).
std::string_view systemPrompt(Mode mode);

} // namespace engine
