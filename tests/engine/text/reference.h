#pragma once

#include "engine/text/bpe_tokenizer.h"
#include "tests/support/golden.h"

#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

// Reference texts and token ids, and the tokenizers they were made with.
namespace reference {

inline nlohmann::json table(std::string_view topic)
{
    return nlohmann::json::parse(golden::json(topic));
}

// "qwen" is read from vocab.json and merges.txt, the others from tokenizer.json.
inline std::filesystem::path tokenizerFolder(const std::string &model)
{
    if (model == "qwen")
        return golden::folder() / "tokenizer-qwen";
    return (model == "demo" ? golden::demoWorld() / "checkpoint" : golden::checkpoint(model)) / "text_tokenizer";
}

inline std::unique_ptr<engine::BpeTokenizer> tokenizer(const std::string &model)
{
    return engine::BpeTokenizer::fromFolder(tokenizerFolder(model));
}

inline std::string fileText(const std::filesystem::path &path)
{
    std::ifstream stream(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

} // namespace reference
