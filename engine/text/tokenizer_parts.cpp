#include "engine/text/tokenizer_parts.h"

#include "engine/api/outcome.h"
#include "engine/text/byte_alphabet.h"
#include "engine/text/unicode_text.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace engine {

namespace {

using Json = nlohmann::json;

// Forty times the published vocabularies; a larger id is damage, and would size the embedding lookup by it.
constexpr std::int64_t kMaxTokenId = 9'999'999;

} // namespace

std::string quotedToken(std::string_view token)
{
    constexpr std::size_t kShown = 40;
    auto shown = replaceInvalidUtf8(token.substr(0, kShown));
    std::replace_if(
        shown.begin(), shown.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, '?');
    return '"' + shown + (token.size() > kShown ? "...\"" : "\"");
}

void refuseTokenizerFile(std::string_view fileName, const std::string &what)
{
    throw EngineFailure(ErrorCode::ModelFiles, std::string(fileName) + " " + what + "; download the file again.");
}

Json parseTokenizerFile(std::string_view text, std::string_view fileName)
{
    try {
        return Json::parse(text);
    } catch (const Json::parse_error &error) {
        throw EngineFailure(ErrorCode::ModelFiles,
                            std::string(fileName) + " is not valid JSON at byte " + std::to_string(error.byte) +
                                "; download the file again.",
                            error.what());
    } catch (const Json::out_of_range &error) {
        throw EngineFailure(ErrorCode::ModelFiles,
                            std::string(fileName) + " has a number that is too large; download the file again.",
                            error.what());
    }
}

const Json *findMember(const Json &object, const char *key)
{
    const auto found = object.find(key);
    return found == object.end() || found->is_null() ? nullptr : &*found;
}

const Json &requireObject(const Json &value, std::string_view fileName, const std::string &what)
{
    if (!value.is_object())
        refuseTokenizerFile(fileName, "is damaged: " + what + " is not an object");
    return value;
}

const std::string &requireString(const Json &value, std::string_view fileName, const std::string &what)
{
    if (!value.is_string())
        refuseTokenizerFile(fileName, "is damaged: " + what + " is not a string");
    return value.get_ref<const std::string &>();
}

bool flagOr(const Json &object, const char *key, bool missing, std::string_view fileName)
{
    const auto *value = findMember(object, key);
    if (value == nullptr)
        return missing;
    if (!value->is_boolean())
        refuseTokenizerFile(fileName, "is damaged: \"" + std::string(key) + "\" is neither true nor false");
    return value->get<bool>();
}

int tokenIdFromJson(const Json &value, std::string_view fileName, const std::string &token)
{
    const bool fits = value.is_number_unsigned() && value.get<std::uint64_t>() <= std::uint64_t{kMaxTokenId};
    if (!fits)
        refuseTokenizerFile(fileName, "is damaged: the id of token " + quotedToken(token) +
                                          " is not a whole number from 0 to " + std::to_string(kMaxTokenId));
    return value.get<int>();
}

AddedToken addedTokenFromJson(const Json &object, std::string_view fileName)
{
    requireObject(object, fileName, "an added token");
    const auto *content = findMember(object, "content");
    if (content == nullptr || requireString(*content, fileName, "an added token's content").empty())
        refuseTokenizerFile(fileName, "is damaged: an added token has no content");
    const bool special = flagOr(object, "special", false, fileName);
    return {.content = content->get<std::string>(),
            .special = special,
            .normalized = flagOr(object, "normalized", !special, fileName),
            .stripLeft = flagOr(object, "lstrip", false, fileName),
            .stripRight = flagOr(object, "rstrip", false, fileName),
            .singleWord = flagOr(object, "single_word", false, fileName)};
}

void addVocabulary(TokenizerData &data, const Json &vocabulary, std::string_view fileName)
{
    requireObject(vocabulary, fileName, "the vocabulary");
    data.vocabulary.reserve(vocabulary.size());
    for (const auto &[token, id] : vocabulary.items())
        data.vocabulary.emplace(token, tokenIdFromJson(id, fileName, token));
}

void addMerge(TokenizerData &data, const std::string &left, const std::string &right, std::string_view fileName)
{
    const auto idOf = [&](const std::string &token) {
        const auto found = data.vocabulary.find(token);
        if (found == data.vocabulary.end())
            refuseTokenizerFile(fileName, "is damaged: merge " + std::to_string(data.merges.size() + 1) +
                                              " needs the token " + quotedToken(token) +
                                              ", which the vocabulary lacks");
        return found->second;
    };
    data.merges.push_back({.left = idOf(left), .right = idOf(right), .result = idOf(left + right)});
}

void checkTokens(const TokenizerData &data)
{
    std::unordered_map<int, const std::string *> owners;
    owners.reserve(data.vocabulary.size() + data.addedTokens.size());
    const auto claim = [&](int id, const std::string &token) {
        const auto [owner, isNew] = owners.emplace(id, &token);
        if (!isNew && *owner->second != token)
            refuseTokenizerFile(data.fileName, "is damaged: the tokens " + quotedToken(*owner->second) + " and " +
                                                   quotedToken(token) + " have the same id " + std::to_string(id));
    };
    for (const auto &[token, id] : data.vocabulary)
        claim(id, token);
    std::unordered_map<std::string_view, int> added;
    for (const auto &token : data.addedTokens) {
        claim(token.id, token.content);
        const auto plain = data.vocabulary.find(token.content);
        const bool moved = plain != data.vocabulary.end() && plain->second != token.id;
        if (moved || !added.emplace(token.content, token.id).second)
            refuseTokenizerFile(data.fileName,
                                "is damaged: the added token " + quotedToken(token.content) + " is there twice");
    }
    for (unsigned byte = 0; byte < 256; ++byte)
        if (!data.vocabulary.contains(spellBytes(std::string(1, static_cast<char>(byte))))) {
            refuseTokenizerFile(data.fileName, "has no token for the byte " + std::to_string(byte) +
                                                   ", so it is not a byte-level vocabulary");
        }
}

} // namespace engine
