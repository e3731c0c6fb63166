#include "engine/text/bpe_tokenizer.h"

#include "engine/api/outcome.h"
#include "engine/text/added_token_matcher.h"
#include "engine/text/byte_alphabet.h"
#include "engine/text/split_pattern.h"
#include "engine/text/tokenizer_parts.h"
#include "engine/text/unicode_text.h"
#include "engine/text/unicode_versions.h"

#include <queue>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <unordered_map>
#include <utf8proc.h>

namespace engine {

namespace {

// NFC of a text whose characters all count in normalisation.
std::string composed(std::string_view text)
{
    utf8proc_uint8_t *result = nullptr;
    const auto *bytes = static_cast<const utf8proc_uint8_t *>(static_cast<const void *>(text.data()));
    const auto length = utf8proc_map(bytes, static_cast<utf8proc_ssize_t>(text.size()), &result,
                                     static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
    const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owner(result, &std::free);
    if (length < 0)
        throw EngineFailure(ErrorCode::Internal, "The text could not be normalised; please report this.",
                            utf8proc_errmsg(length));
    return {static_cast<const char *>(static_cast<const void *>(result)), static_cast<std::size_t>(length)};
}

// Unicode normalisation form C as the reference knows it.
std::string normalizedToNfc(std::string_view text)
{
    std::string result;
    std::size_t done = 0;
    for (std::size_t offset = 0; offset < text.size();) {
        const auto character = decodeUtf8(text, offset);
        if (isInertInNormalization(character.codePoint)) {
            result += composed(text.substr(done, offset - done));
            result += text.substr(offset, character.length);
            done = offset + character.length;
        }
        offset += character.length;
    }
    return result + composed(text.substr(done));
}

struct MergeRule {
    int rank = 0;
    int result = 0;
};

std::uint64_t pairKey(int left, int right)
{
    return (static_cast<std::uint64_t>(static_cast<std::uint32_t>(left)) << 32U) | static_cast<std::uint32_t>(right);
}

} // namespace

struct BpeTokenizer::State {
    TokenizerData data;
    std::unordered_map<std::uint64_t, MergeRule> merges;
    std::array<int, 256> byteIds{};
    std::unordered_map<int, std::string> bytesOfId;
    std::vector<SplitPattern> patterns;
    AddedTokenMatcher rawTokens;
    AddedTokenMatcher normalizedTokens;
    int size = 0;

    explicit State(TokenizerData source);
    void encodeText(std::string_view text, std::vector<int> &ids) const;   // without added tokens
    void encodePiece(std::string_view piece, std::vector<int> &ids) const; // what the patterns left together
};

namespace {

// A piece while its tokens are being merged: a list linked both ways in an array.
class MergingPiece {
public:
    MergingPiece(std::vector<int> ids, const std::unordered_map<std::uint64_t, MergeRule> &rules)
        : m_rules(rules), m_symbols(ids.size())
    {
        for (std::size_t i = 0; i < ids.size(); ++i)
            m_symbols[i] = {.id = ids[i], .previous = static_cast<std::ptrdiff_t>(i) - 1, .next = i + 1};
        for (std::size_t i = 0; i + 1 < ids.size(); ++i)
            propose(i);
    }

    // Lowest rank first, then leftmost. As in the reference, a proposal stays good while the pair at its place still
    // gives the same token, whichever pair that is now.
    void mergeAll()
    {
        while (!m_proposals.empty()) {
            const auto proposal = m_proposals.top();
            m_proposals.pop();
            const auto *rule = m_symbols[proposal.position].gone ? nullptr : ruleAt(proposal.position);
            if (rule != nullptr && rule->result == proposal.result)
                mergeAt(proposal);
        }
    }

    void appendTo(std::vector<int> &ids) const
    {
        for (std::size_t i = 0; i < m_symbols.size(); i = m_symbols[i].next)
            ids.push_back(m_symbols[i].id);
    }

private:
    struct Symbol {
        int id = 0;
        std::ptrdiff_t previous = -1;
        std::size_t next = 0; // the number of symbols: none
        bool gone = false;
    };
    struct Proposal {
        int rank = 0;
        std::size_t position = 0; // of the pair's left symbol
        int result = 0;
        bool operator<(const Proposal &other) const // the queue's top is its largest
        {
            return rank != other.rank ? rank > other.rank : position > other.position;
        }
    };

    [[nodiscard]] const MergeRule *ruleAt(std::size_t position) const
    {
        const auto &left = m_symbols[position];
        if (left.next >= m_symbols.size())
            return nullptr;
        const auto found = m_rules.find(pairKey(left.id, m_symbols[left.next].id));
        return found == m_rules.end() ? nullptr : &found->second;
    }

    void propose(std::size_t position)
    {
        if (const auto *rule = ruleAt(position))
            m_proposals.push({.rank = rule->rank, .position = position, .result = rule->result});
    }

    void mergeAt(const Proposal &proposal)
    {
        auto &left = m_symbols[proposal.position];
        auto &right = m_symbols[left.next];
        left.id = proposal.result;
        left.next = right.next;
        right.gone = true;
        if (left.next < m_symbols.size())
            m_symbols[left.next].previous = static_cast<std::ptrdiff_t>(proposal.position);
        if (left.previous >= 0)
            propose(static_cast<std::size_t>(left.previous));
        propose(proposal.position);
    }

    const std::unordered_map<std::uint64_t, MergeRule> &m_rules;
    std::vector<Symbol> m_symbols;
    std::priority_queue<Proposal> m_proposals;
};

} // namespace

BpeTokenizer::State::State(TokenizerData source) : data(std::move(source))
{
    for (std::size_t rank = 0; rank < data.merges.size(); ++rank) {
        const auto &merge = data.merges[rank];
        merges.insert_or_assign(pairKey(merge.left, merge.right),
                                MergeRule{.rank = static_cast<int>(rank), .result = merge.result});
    }
    data.merges = {};
    for (unsigned byte = 0; byte < 256; ++byte)
        byteIds.at(byte) = data.vocabulary.at(spellBytes(std::string(1, static_cast<char>(byte))));
    for (const auto &[token, id] : data.vocabulary) {
        bytesOfId.insert_or_assign(id, spelledBytes(token).value_or(token));
        size = std::max(size, id + 1);
    }
    for (const auto &token : data.addedTokens) {
        bytesOfId.insert_or_assign(token.id, token.content);
        size = std::max(size, token.id + 1);
        const bool changes = token.normalized && data.normalizesToNfc;
        auto &matcher = token.normalized ? normalizedTokens : rawTokens;
        if (!matcher.add(changes ? normalizedToNfc(token.content) : token.content, token)) {
            throw EngineFailure(ErrorCode::ModelFiles,
                                data.fileName + " has two added tokens that normalise to " +
                                    quotedToken(token.content) +
                                    ", so that its meaning is open; use tokenizer files as the publisher ships them.");
        }
    }
    for (const auto &expression : data.splitExpressions)
        patterns.emplace_back(expression, data.fileName);
}

void BpeTokenizer::State::encodePiece(std::string_view piece, std::vector<int> &ids) const
{
    if (data.ignoresMerges) {
        const auto whole = data.vocabulary.find(spellBytes(piece));
        if (whole != data.vocabulary.end()) {
            ids.push_back(whole->second);
            return;
        }
    }
    std::vector<int> bytes;
    bytes.reserve(piece.size());
    for (const char byte : piece)
        bytes.push_back(byteIds.at(static_cast<unsigned char>(byte)));
    MergingPiece merging(std::move(bytes), merges);
    merging.mergeAll();
    merging.appendTo(ids);
}

void BpeTokenizer::State::encodeText(std::string_view text, std::vector<int> &ids) const
{
    std::vector<std::string_view> pieces{text};
    for (const auto &pattern : patterns) {
        std::vector<std::string_view> finer;
        for (const auto piece : pieces)
            pattern.split(piece, finer);
        pieces.swap(finer);
    }
    for (const auto piece : pieces)
        encodePiece(piece, ids);
}

std::unique_ptr<BpeTokenizer> BpeTokenizer::fromFolder(const std::filesystem::path &folder)
{
    return std::make_unique<BpeTokenizer>(readTokenizerFolder(folder));
}

BpeTokenizer::BpeTokenizer(TokenizerData data) : m_state(std::make_unique<const State>(std::move(data))) {}

BpeTokenizer::~BpeTokenizer() = default;

std::vector<int> BpeTokenizer::encode(std::string_view utf8) const
{
    requireUtf8(utf8, "The text");
    std::vector<int> ids;
    for (const auto &rawSpan : m_state->rawTokens.split(utf8)) {
        if (rawSpan.token != nullptr) {
            ids.push_back(rawSpan.token->id);
            continue;
        }
        const auto text = m_state->data.normalizesToNfc ? normalizedToNfc(rawSpan.text) : std::string(rawSpan.text);
        for (const auto &span : m_state->normalizedTokens.split(text)) {
            if (span.token != nullptr)
                ids.push_back(span.token->id);
            else
                m_state->encodeText(span.text, ids);
        }
    }
    return ids;
}

std::string BpeTokenizer::decode(const std::vector<int> &ids) const
{
    std::string bytes;
    for (const auto id : ids) {
        const auto found = m_state->bytesOfId.find(id);
        if (found != m_state->bytesOfId.end())
            bytes += found->second;
    }
    return replaceInvalidUtf8(bytes);
}

std::optional<int> BpeTokenizer::tokenId(std::string_view content) const
{
    for (const auto &token : m_state->data.addedTokens)
        if (token.content == content)
            return token.id;
    const auto found = m_state->data.vocabulary.find(std::string(content));
    return found == m_state->data.vocabulary.end() ? std::nullopt : std::optional(found->second);
}

int BpeTokenizer::size() const
{
    return m_state->size;
}

} // namespace engine
