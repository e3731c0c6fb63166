// Reading tokenizer.json (the format of Hugging Face's tokenizers library).
#include "engine/api/outcome.h"
#include "engine/text/tokenizer_files.h"
#include "engine/text/tokenizer_parts.h"

#include <nlohmann/json.hpp>

namespace engine {

namespace {

using Json = nlohmann::json;

// The expression of a ByteLevel pre-tokenizer with use_regex (GPT-2).
constexpr const char *kByteLevelExpression =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

class Reader {
public:
    Reader(TokenizerData &data, std::string_view fileName) : m_data(data), m_fileName(fileName) {}

    void read(const Json &root);

private:
    [[noreturn]] void refuse(const std::string &what) const { refuseTokenizerFile(m_fileName, what); }
    [[noreturn]] void refuseUnsupported(const std::string &what) const
    {
        throw EngineFailure(ErrorCode::ModelFiles,
                            std::string(m_fileName) + " asks for " + what +
                                ", which is not supported; use a checkpoint with a byte-level BPE tokenizer.");
    }
    const Json &part(const Json &object, const char *key) const;
    std::string typeOf(const Json &object, const std::string &what) const;
    void readNormalizer(const Json &normalizer);
    void readPreTokenizer(const Json &preTokenizer);
    void readSplit(const Json &split);
    void readByteLevel(const Json &byteLevel);
    void readModel(const Json &model);
    void readMerges(const Json &merges);
    void readAddedTokens(const Json &tokens);

    TokenizerData &m_data;
    std::string_view m_fileName;
    bool m_spellsBytes = false;
};

const Json &Reader::part(const Json &object, const char *key) const
{
    const auto *value = findMember(object, key);
    if (value == nullptr)
        refuse("is damaged: it has no \"" + std::string(key) + "\"");
    return *value;
}

std::string Reader::typeOf(const Json &object, const std::string &what) const
{
    requireObject(object, m_fileName, what);
    return requireString(part(object, "type"), m_fileName, "the type of " + what);
}

void Reader::read(const Json &root)
{
    requireObject(root, m_fileName, "the whole");
    if (const auto *normalizer = findMember(root, "normalizer"))
        readNormalizer(*normalizer);
    readPreTokenizer(part(root, "pre_tokenizer"));
    if (!m_spellsBytes)
        refuseUnsupported("a pre-tokenizer without ByteLevel");
    readModel(part(root, "model"));
    if (const auto *tokens = findMember(root, "added_tokens"))
        readAddedTokens(*tokens);
}

void Reader::readNormalizer(const Json &normalizer)
{
    const auto type = typeOf(normalizer, "a normalizer");
    if (type == "NFC") {
        m_data.normalizesToNfc = true;
    } else if (type == "Sequence") {
        const auto &steps = part(normalizer, "normalizers");
        if (!steps.is_array())
            refuse("is damaged: \"normalizers\" is not a list");
        for (const auto &step : steps) {
            if (typeOf(step, "a normalizer") == "Sequence") // nothing writes one inside another
                refuseUnsupported("a normalizer sequence inside another");
            readNormalizer(step);
        }
    } else {
        refuseUnsupported("the normalizer " + quotedToken(type));
    }
}

void Reader::readPreTokenizer(const Json &preTokenizer)
{
    const auto type = typeOf(preTokenizer, "a pre-tokenizer");
    if (m_spellsBytes)
        refuseUnsupported("the pre-tokenizer " + quotedToken(type) + " after ByteLevel");
    if (type == "Split") {
        readSplit(preTokenizer);
    } else if (type == "ByteLevel") {
        readByteLevel(preTokenizer);
    } else if (type == "Sequence") {
        const auto &steps = part(preTokenizer, "pretokenizers");
        if (!steps.is_array())
            refuse("is damaged: \"pretokenizers\" is not a list");
        for (const auto &step : steps) {
            if (typeOf(step, "a pre-tokenizer") == "Sequence")
                refuseUnsupported("a pre-tokenizer sequence inside another");
            readPreTokenizer(step);
        }
    } else {
        refuseUnsupported("the pre-tokenizer " + quotedToken(type));
    }
}

void Reader::readSplit(const Json &split)
{
    const auto &behavior = requireString(part(split, "behavior"), m_fileName, "the behavior of a Split");
    if (behavior != "Isolated")
        refuseUnsupported("a Split with the behavior " + quotedToken(behavior));
    // "invert" swaps matches and the stretches between them, and Isolated keeps both.
    const auto &pattern = requireObject(part(split, "pattern"), m_fileName, "the pattern of a Split");
    const auto *expression = findMember(pattern, "Regex");
    if (expression == nullptr)
        refuseUnsupported("a Split without a regular expression");
    m_data.splitExpressions.push_back(requireString(*expression, m_fileName, "the pattern of a Split"));
}

void Reader::readByteLevel(const Json &byteLevel)
{
    m_spellsBytes = true;
    if (flagOr(byteLevel, "add_prefix_space", true, m_fileName))
        refuseUnsupported("a space before the text (add_prefix_space)");
    if (flagOr(byteLevel, "use_regex", true, m_fileName))
        m_data.splitExpressions.emplace_back(kByteLevelExpression);
}

void Reader::readModel(const Json &model)
{
    requireObject(model, m_fileName, "\"model\"");
    // Files from before 2021 do not name the type.
    if (findMember(model, "type") != nullptr && typeOf(model, "the model") != "BPE")
        refuseUnsupported("the model " + quotedToken(typeOf(model, "the model")));
    for (const char *key : {"continuing_subword_prefix", "end_of_word_suffix"}) {
        const auto *affix = findMember(model, key);
        if (affix != nullptr && !requireString(*affix, m_fileName, "\"" + std::string(key) + "\"").empty())
            refuseUnsupported(std::string("a ") + key);
    }
    if (const auto *dropout = findMember(model, "dropout"); dropout != nullptr && *dropout != 0)
        refuseUnsupported("random merges (dropout)");
    m_data.ignoresMerges = flagOr(model, "ignore_merges", false, m_fileName);
    addVocabulary(m_data, part(model, "vocab"), m_fileName);
    readMerges(part(model, "merges"));
}

void Reader::readMerges(const Json &merges)
{
    if (!merges.is_array())
        refuse("is damaged: \"merges\" is not a list");
    m_data.merges.reserve(merges.size());
    for (const auto &merge : merges) {
        if (merge.is_array() && merge.size() == 2) {
            addMerge(m_data, requireString(merge[0], m_fileName, "a merge's part"),
                     requireString(merge[1], m_fileName, "a merge's part"), m_fileName);
            continue;
        }
        const auto text = merge.is_string() ? merge.get<std::string>() : std::string();
        const auto space = text.find(' ');
        if (space == std::string::npos || text.find(' ', space + 1) != std::string::npos)
            refuse("is damaged: merge " + std::to_string(m_data.merges.size() + 1) + " is not two tokens");
        addMerge(m_data, text.substr(0, space), text.substr(space + 1), m_fileName);
    }
}

void Reader::readAddedTokens(const Json &tokens)
{
    if (!tokens.is_array())
        refuse("is damaged: \"added_tokens\" is not a list");
    for (const auto &object : tokens) {
        auto token = addedTokenFromJson(object, m_fileName);
        token.id = tokenIdFromJson(part(object, "id"), m_fileName, token.content);
        m_data.addedTokens.push_back(std::move(token));
    }
}

} // namespace

TokenizerData parseTokenizerJson(std::string_view json, std::string_view fileName)
{
    TokenizerData data;
    data.fileName = fileName;
    Reader(data, fileName).read(parseTokenizerFile(json, fileName));
    checkTokens(data);
    return data;
}

} // namespace engine
