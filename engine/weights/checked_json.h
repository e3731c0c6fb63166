#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

// What every reader of a checkpoint's JSON needs: a strict parser and safe words for its sentences.
namespace engine {

// Parses a JSON object. Throws EngineFailure(ModelFiles) with one sentence naming the file (and the last key read) when
// the text is no JSON, no object, names a key twice or nests deeper than any checkpoint file does.
nlohmann::json parseCheckedJson(std::string_view text, std::string_view fileName);

// A name or value from a file, in quotes and fit for a sentence: control characters replaced, cut after 100 bytes.
std::string quotedText(std::string_view text);
std::string quotedJson(const nlohmann::json &value); // text as above, anything else as short JSON without quotes

// "transformer/config.json": the last folder and the file's name, which is what a person recognises.
std::string shortPath(const std::filesystem::path &file);

} // namespace engine
