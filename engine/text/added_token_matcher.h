#pragma once

#include "engine/text/tokenizer_files.h"

#include <map>
#include <string_view>
#include <vector>

namespace engine {

// A stretch of text: an added token, or the text between two.
struct TextSpan {
    std::string_view text;
    const AddedToken *token = nullptr;
};

// Finds added tokens in a text: the leftmost, and of those that start there the longest. Immutable.
class AddedTokenMatcher {
public:
    // `spelling`, not empty, is what is looked for: the token's content, normalised or not. False: it is there already.
    // `token` must outlive the matcher.
    [[nodiscard]] bool add(std::string_view spelling, const AddedToken &token);
    // The spans of `text` (valid UTF-8) in order; text between tokens is never empty.
    [[nodiscard]] std::vector<TextSpan> split(std::string_view text) const;

private:
    struct Node {
        std::map<char, std::size_t> next;
        const AddedToken *token = nullptr;
    };
    struct Match {
        const AddedToken *token = nullptr;
        std::size_t length = 0;
    };
    [[nodiscard]] Match longestAt(std::string_view text, std::size_t offset) const;

    std::vector<Node> m_nodes = std::vector<Node>(1); // a trie over bytes; 0 is the root
};

} // namespace engine
