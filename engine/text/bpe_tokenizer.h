#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

struct TokenizerData; // engine/text/tokenizer_files.h

// Byte-level byte-pair encoding as the checkpoint's own files define it. Immutable; safe from several threads.
class BpeTokenizer {
public:
    // Reads text_tokenizer/ (tokenizer.json, or vocab.json + merges.txt with tokenizer_config.json and
    // added_tokens.json). Throws EngineFailure(ModelFiles) with one sentence naming the file.
    static std::unique_ptr<BpeTokenizer> fromFolder(const std::filesystem::path &folder);
    explicit BpeTokenizer(TokenizerData data);
    ~BpeTokenizer();

    // Special and added tokens inside the text are recognised. Throws EngineFailure(InvalidRequest) for invalid UTF-8.
    [[nodiscard]] std::vector<int> encode(std::string_view utf8) const;
    // The inverse; bytes that are no UTF-8 come out as U+FFFD.
    [[nodiscard]] std::string decode(const std::vector<int> &ids) const;
    [[nodiscard]] std::optional<int> tokenId(std::string_view content) const; // of a special, added or plain token
    [[nodiscard]] int size() const;                                           // highest id + 1

private:
    struct State;
    std::unique_ptr<const State> m_state;
};

} // namespace engine
