#pragma once

#include "engine/api/outcome.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace fuzz {

// A refusal must be one sentence a person can read, whatever the file held.
inline void checkSentence(const engine::EngineError &error)
{
    const std::string_view message = error.message;
    bool readable = !message.empty() && message.size() < 2000 && (message.ends_with('.') || message.ends_with('?'));
    for (const char c : message)
        readable = readable && static_cast<unsigned char>(c) >= 0x20;
    if (!readable) {
        std::fprintf(stderr, "not a readable sentence: %s\n", error.message.c_str());
        std::abort();
    }
}

// Runs a reader on hostile input: it may refuse by EngineFailure, any other exception is a finding.
template <typename Work>
void run(Work work)
{
    try {
        work();
    } catch (const engine::EngineFailure &failure) {
        checkSentence(failure.error());
    }
}

inline std::string_view text(const std::uint8_t *data, std::size_t size)
{
    return {reinterpret_cast<const char *>(data), size};
}

} // namespace fuzz
