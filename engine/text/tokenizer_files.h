#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace engine {

// A token that is found in the text before any splitting (Hugging Face tokenizers: AddedToken).
struct AddedToken {
    int id = 0;
    std::string content;
    bool special = false;
    bool normalized = false; // looked for in the normalised text, not in the raw one
    bool stripLeft = false;  // takes the white space before it
    bool stripRight = false; // takes the white space behind it
    bool singleWord = false; // not next to a word character
};

// Two neighbouring tokens become one; the position in the list is the rank.
struct Merge {
    int left = 0;
    int right = 0;
    int result = 0;
};

// What a checkpoint's tokenizer files say, checked: no id has two tokens, every byte has a token, and the parts and
// results of the merges exist.
struct TokenizerData {
    std::string fileName;                            // for sentences about it
    std::unordered_map<std::string, int> vocabulary; // by token, spelled in the byte alphabet
    std::vector<Merge> merges;
    std::vector<AddedToken> addedTokens;
    std::vector<std::string> splitExpressions; // each splits the pieces of the one before
    bool normalizesToNfc = false;
    bool ignoresMerges = false; // a piece that is a token as it stands is not put together by merges
};

// The contents of the files without tokenizer.json. An empty view: the file is not there.
struct VocabularyFiles {
    std::string_view vocabulary = {};       // vocab.json
    std::string_view merges = {};           // merges.txt
    std::string_view config = {};           // tokenizer_config.json
    std::string_view addedTokens = {};      // added_tokens.json
    std::string_view specialTokensMap = {}; // special_tokens_map.json
};

// All three throw EngineFailure(ModelFiles) with one sentence naming the file for whatever is broken or not supported.
TokenizerData parseTokenizerJson(std::string_view json, std::string_view fileName);
TokenizerData parseVocabularyAndMerges(const VocabularyFiles &files, std::string_view folderName);
// tokenizer.json, or the other files where it is missing.
TokenizerData readTokenizerFolder(const std::filesystem::path &folder);

} // namespace engine
