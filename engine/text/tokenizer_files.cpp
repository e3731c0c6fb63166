#include "engine/text/tokenizer_files.h"

#include "engine/api/outcome.h"
#include "engine/text/tokenizer_parts.h"

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

namespace engine {

namespace {

using Json = nlohmann::json;

// The published tokenizer.json files have 7 to 17 MB.
constexpr std::uintmax_t kMaxFileBytes = std::uintmax_t{512} << 20U;

// What Qwen2Tokenizer does without tokenizer.json (transformers, tokenization_qwen2).
constexpr const char *kQwen2Expression =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

void readMergesText(TokenizerData &data, std::string_view text, std::string_view fileName)
{
    std::size_t number = 0;
    while (!text.empty()) {
        auto line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(text.size(), line.size() + 1));
        ++number;
        if (line.ends_with('\r'))
            line.remove_suffix(1);
        if (line.empty() || line.starts_with("#version"))
            continue;
        const auto space = line.find(' ');
        if (space == std::string_view::npos || line.find(' ', space + 1) != std::string_view::npos)
            refuseTokenizerFile(fileName, "is damaged: line " + std::to_string(number) + " is not two tokens");
        addMerge(data, std::string(line.substr(0, space)), std::string(line.substr(space + 1)), fileName);
    }
}

// The added tokens of three files, each of which may repeat what another says.
class AddedTokenFiles {
public:
    explicit AddedTokenFiles(TokenizerData &data) : m_data(data) {}

    // tokenizer_config.json: {"added_tokens_decoder": {id: token}}
    void addConfig(const Json &config, std::string_view fileName)
    {
        const auto *decoder = findMember(config, "added_tokens_decoder");
        if (decoder == nullptr)
            return;
        for (const auto &[key, object] : requireObject(*decoder, fileName, "\"added_tokens_decoder\"").items()) {
            auto token = addedTokenFromJson(object, fileName);
            const bool digits =
                !key.empty() && key.size() < 10 && key.find_first_not_of("0123456789") == std::string::npos;
            token.id = tokenIdFromJson(digits ? Json(std::stoul(key)) : Json(key), fileName, token.content);
            add(token, fileName);
        }
    }

    // added_tokens.json: {token: id}
    void addList(const Json &list, std::string_view fileName)
    {
        for (const auto &[content, id] : requireObject(list, fileName, "the whole").items())
            add({.id = tokenIdFromJson(id, fileName, content), .content = content, .special = true}, fileName);
    }

    // special_tokens_map.json: {role: token or list of tokens}; the ids stand elsewhere.
    void addSpecial(const Json &map, std::string_view fileName)
    {
        for (const auto &[role, value] : requireObject(map, fileName, "the whole").items()) {
            const auto tokens = value.is_array() ? value : Json::array({value});
            for (const auto &token : tokens)
                addSpecialToken(token, role, fileName);
        }
    }

    void finish()
    {
        for (auto &[content, token] : m_tokens)
            m_data.addedTokens.push_back(std::move(token));
    }

private:
    void addSpecialToken(const Json &value, const std::string &role, std::string_view fileName)
    {
        AddedToken token;
        if (value.is_object())
            token = addedTokenFromJson(value, fileName);
        else
            token.content = requireString(value, fileName, "\"" + role + "\"");
        if (m_tokens.contains(token.content))
            return;
        const auto plain = m_data.vocabulary.find(token.content);
        if (plain == m_data.vocabulary.end())
            refuseTokenizerFile(fileName, "names the token " + quotedToken(token.content) + ", which has no id");
        token.id = plain->second;
        token.special = true;
        m_tokens.emplace(token.content, token);
    }

    void add(const AddedToken &token, std::string_view fileName)
    {
        if (token.content.empty())
            refuseTokenizerFile(fileName, "is damaged: an added token has no content");
        const auto [known, isNew] = m_tokens.emplace(token.content, token);
        if (!isNew && known->second.id != token.id) {
            refuseTokenizerFile(fileName, "gives the token " + quotedToken(token.content) + " the id " +
                                              std::to_string(token.id) + ", another file " +
                                              std::to_string(known->second.id));
        }
    }

    TokenizerData &m_data;
    std::map<std::string, AddedToken> m_tokens; // by content
};

std::string readFile(const std::filesystem::path &path, const std::string &name)
{
    std::error_code error;
    const auto size = std::filesystem::file_size(path, error);
    if (!error && size > kMaxFileBytes)
        refuseTokenizerFile(name, "is larger than " + std::to_string(kMaxFileBytes >> 20U) + " MiB");
    std::ifstream stream(path, std::ios::binary);
    std::ostringstream text;
    if (size > 0)
        text << stream.rdbuf();
    if (error || !stream || !text)
        throw EngineFailure(ErrorCode::ModelFiles, name + " cannot be read; check that it is a file you may read.",
                            path.string());
    return text.str();
}

} // namespace

TokenizerData parseVocabularyAndMerges(const VocabularyFiles &files, std::string_view folderName)
{
    const auto named = [&](const char *file) { return std::string(folderName) + "/" + file; };
    const auto configName = named("tokenizer_config.json");
    TokenizerData data;
    data.fileName = named("vocab.json");
    addVocabulary(data, parseTokenizerFile(files.vocabulary, data.fileName), data.fileName);
    readMergesText(data, files.merges, named("merges.txt"));

    const auto config = files.config.empty() ? Json::object() : parseTokenizerFile(files.config, configName);
    requireObject(config, configName, "the whole");
    const auto *type = findMember(config, "tokenizer_class");
    const auto name = type == nullptr ? std::string() : requireString(*type, configName, "\"tokenizer_class\"");
    if (name != "Qwen2Tokenizer" && name != "Qwen2TokenizerFast") {
        throw EngineFailure(ErrorCode::ModelFiles,
                            configName + (name.empty() ? " names no tokenizer_class" : " names the tokenizer " + name) +
                                ", and without tokenizer.json only Qwen2Tokenizer is known; add tokenizer.json.");
    }
    data.splitExpressions.emplace_back(kQwen2Expression);
    data.normalizesToNfc = true;

    AddedTokenFiles added(data);
    added.addConfig(config, configName);
    if (const auto file = named("added_tokens.json"); !files.addedTokens.empty())
        added.addList(parseTokenizerFile(files.addedTokens, file), file);
    if (const auto file = named("special_tokens_map.json"); !files.specialTokensMap.empty())
        added.addSpecial(parseTokenizerFile(files.specialTokensMap, file), file);
    added.finish();
    checkTokens(data);
    return data;
}

TokenizerData readTokenizerFolder(const std::filesystem::path &folder)
{
    const auto folderName = folder.filename().string();
    const auto exists = [&](const char *file) {
        std::error_code error;
        return std::filesystem::exists(folder / file, error);
    };
    const auto read = [&](const char *file) { return readFile(folder / file, folderName + "/" + file); };
    const auto readIfThere = [&](const char *file) { return exists(file) ? read(file) : std::string(); };
    if (exists("tokenizer.json"))
        return parseTokenizerJson(read("tokenizer.json"), folderName + "/tokenizer.json");
    if (!exists("vocab.json") || !exists("merges.txt")) {
        throw EngineFailure(ErrorCode::ModelFiles,
                            folderName + " has neither tokenizer.json nor vocab.json with merges.txt; download the "
                                         "folder again.",
                            folder.string());
    }
    const auto vocabulary = read("vocab.json");
    const auto merges = read("merges.txt");
    const auto config = readIfThere("tokenizer_config.json");
    const auto addedTokens = readIfThere("added_tokens.json");
    const auto specialTokensMap = readIfThere("special_tokens_map.json");
    return parseVocabularyAndMerges({.vocabulary = vocabulary,
                                     .merges = merges,
                                     .config = config,
                                     .addedTokens = addedTokens,
                                     .specialTokensMap = specialTokensMap},
                                    folderName);
}

} // namespace engine
