#pragma once

#include "engine/text/tokenizer_files.h"

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace engine {

// Pieces that both kinds of tokenizer files share. All throw EngineFailure(ModelFiles) naming `fileName`.

// A token or word of a file in quotes, fit for a sentence: cut where it is long, control characters and broken UTF-8
// replaced.
std::string quotedToken(std::string_view token);
[[noreturn]] void refuseTokenizerFile(std::string_view fileName, const std::string &what);
nlohmann::json parseTokenizerFile(std::string_view text, std::string_view fileName);

// An object's member, or nullptr where it is missing or null.
const nlohmann::json *findMember(const nlohmann::json &object, const char *key);
const nlohmann::json &requireObject(const nlohmann::json &value, std::string_view fileName, const std::string &what);
const std::string &requireString(const nlohmann::json &value, std::string_view fileName, const std::string &what);
bool flagOr(const nlohmann::json &object, const char *key, bool missing, std::string_view fileName);
int tokenIdFromJson(const nlohmann::json &value, std::string_view fileName, const std::string &token);

// An added token's content and flags, without its id.
AddedToken addedTokenFromJson(const nlohmann::json &object, std::string_view fileName);

// {token: id} into data.vocabulary.
void addVocabulary(TokenizerData &data, const nlohmann::json &vocabulary, std::string_view fileName);
void addMerge(TokenizerData &data, const std::string &left, const std::string &right, std::string_view fileName);
// The last check: every id once, a token for every byte.
void checkTokens(const TokenizerData &data);

} // namespace engine
