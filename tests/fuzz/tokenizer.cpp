#include "engine/text/bpe_tokenizer.h"
#include "engine/text/tokenizer_files.h"
#include "tests/fuzz/fuzz_support.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <utility>

namespace {

// What a tokenizer that was accepted makes of a text must consist of its own ids.
void checkIds(engine::TokenizerData data)
{
    const engine::BpeTokenizer tokenizer(std::move(data));
    for (const std::string_view text : {"A red ball, 12 times: it's e\xcc\x81t\xc3\xa9!\r\n  ", "<|im_start|>user\n"}) {
        const auto ids = tokenizer.encode(text);
        for (const auto id : ids) {
            if (id < 0 || id >= tokenizer.size())
                std::abort();
        }
        static_cast<void>(tokenizer.decode(ids));
    }
}

} // namespace

// 'j': the rest is tokenizer.json. 'v': the rest is vocab.json, merges.txt, tokenizer_config.json, added_tokens.json
// and special_tokens_map.json with a zero byte between them.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
    if (size == 0)
        return 0;
    auto rest = fuzz::text(data + 1, size - 1);
    fuzz::run([&] {
        if (data[0] == 'j') {
            checkIds(engine::parseTokenizerJson(rest, "tokenizer.json"));
        } else if (data[0] == 'v') {
            std::array<std::string_view, 5> parts{};
            for (auto &part : parts) {
                part = rest.substr(0, rest.find('\0'));
                rest.remove_prefix(std::min(rest.size(), part.size() + 1));
            }
            checkIds(engine::parseVocabularyAndMerges({.vocabulary = parts[0],
                                                       .merges = parts[1],
                                                       .config = parts[2],
                                                       .addedTokens = parts[3],
                                                       .specialTokensMap = parts[4]},
                                                      "text_tokenizer"));
        }
    });
    return 0;
}
