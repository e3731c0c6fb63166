#include "engine/text/prompt_template.h"

#include "engine/api/outcome.h"
#include "engine/text/python_json.h"
#include "engine/text/unicode_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace engine {

namespace {

constexpr std::string_view kTurnStart = "<|im_start|>";
constexpr std::string_view kTurnEnd = "<|im_end|>";
constexpr std::string_view kVisionStart = "<|vision_start|>";
constexpr std::size_t kSuffixTokens = 2;

// str.isspace: Unicode white space and the four information separators.
bool isPythonSpace(char32_t codePoint)
{
    return isWhiteSpace(codePoint) || (codePoint >= 0x1C && codePoint <= 0x1F);
}

// str.strip()
std::string_view stripped(std::string_view text)
{
    std::size_t first = text.size();
    std::size_t last = 0;
    for (std::size_t offset = 0; offset < text.size();) {
        const auto character = decodeUtf8(text, offset);
        if (!isPythonSpace(character.codePoint)) {
            first = std::min(first, offset);
            last = offset + character.length;
        }
        offset += character.length;
    }
    return first < last ? text.substr(first, last - first) : std::string_view();
}

// f"{value:.{decimals}f}": the exact binary value, half to even.
std::string fixedPoint(double value, int decimals)
{
    std::array<char, 400> buffer{}; // the largest double has 309 digits
    const auto end =
        std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::fixed, decimals);
    return {buffer.data(), end.ptr};
}

std::string withSentence(std::string_view text, const std::string &sentence)
{
    const auto last = text.find_last_not_of('.');
    return std::string(text.substr(0, last == std::string_view::npos ? 0 : last + 1)) + ". " + sentence;
}

std::string withSentences(std::string_view prompt, const ClipMetadata &metadata)
{
    std::string text(stripped(prompt));
    const bool isImage = metadata.frames == 1;
    if (!isImage)
        text = withSentence(text, "The video is " + fixedPoint(metadata.frames / metadata.fps, 1) +
                                      " seconds long and is of " + fixedPoint(metadata.fps, 0) + " FPS.");
    return withSentence(text, std::string(isImage ? "This image is of " : "This video is of ") +
                                  std::to_string(metadata.height) + "x" + std::to_string(metadata.width) +
                                  " resolution.");
}

std::string withKeys(PythonJsonObject prompt, const ClipMetadata &metadata)
{
    if (metadata.frames == 1) {
        prompt.erase("duration");
        prompt.erase("fps");
    } else {
        prompt.set("duration", pythonString(fixedPoint(std::trunc(metadata.frames / metadata.fps), 0) + "s"));
        prompt.set("fps", pythonFloat(metadata.fps));
    }
    prompt.set("resolution",
               R"({"H": )" + std::to_string(metadata.height) + R"(, "W": )" + std::to_string(metadata.width) + "}");
    if (metadata.aspectRatio)
        prompt.set("aspect_ratio", pythonString(std::to_string(metadata.aspectRatio->width) + "," +
                                                std::to_string(metadata.aspectRatio->height)));
    return prompt.dump();
}

std::string turn(std::string_view role, std::string_view content)
{
    return std::string(kTurnStart).append(role).append("\n").append(content).append(kTurnEnd).append("\n");
}

int specialToken(const BpeTokenizer &tokenizer, std::string_view content)
{
    const auto id = tokenizer.tokenId(content);
    if (!id)
        throw EngineFailure(ErrorCode::ModelFiles, "The model's tokenizer has no token " + std::string(content) +
                                                       ", which every prompt needs; download text_tokenizer again.");
    return *id;
}

} // namespace

std::string promptText(std::string_view prompt, Branch branch, const ClipMetadata &metadata)
{
    requireUtf8(prompt, branch == Branch::Positive ? "The prompt" : "The negative prompt");
    auto object = branch == Branch::Positive ? PythonJsonObject::parse(prompt) : std::nullopt;
    if (object)
        return withKeys(std::move(*object), metadata);
    auto text = withSentences(prompt, metadata);
    if (branch == Branch::Positive)
        return text;
    // The negative is a text even where it is JSON, and it alone loses its leading dots.
    return std::string(stripped(std::string_view(text).substr(text.find_first_not_of('.'))));
}

BranchText chatTokens(const BpeTokenizer &tokenizer, std::string_view text, std::string_view systemPrompt,
                      int maxTokens)
{
    specialToken(tokenizer, kTurnStart);
    const std::array<int, kSuffixTokens> suffix{specialToken(tokenizer, kTurnEnd),
                                                specialToken(tokenizer, kVisionStart)};
    auto chat = systemPrompt.empty() ? std::string() : turn("system", systemPrompt);
    chat += turn("user", text);
    chat.append(kTurnStart).append("assistant\n");

    BranchText result{.text = std::string(text), .tokenIds = tokenizer.encode(chat)};
    const auto room = static_cast<std::size_t>(std::max(maxTokens, 0));
    const auto chatRoom = room - std::min(room, kSuffixTokens);
    result.truncated = result.tokenIds.size() > chatRoom;
    if (result.truncated)
        result.tokenIds.resize(chatRoom);
    result.tokenIds.insert(result.tokenIds.end(), suffix.begin(), suffix.end());
    return result;
}

std::string_view systemPrompt(Mode mode)
{
    // "give" is how the models were trained.
    return mode == Mode::TextToImage ? "You are a helpful assistant who will generate images from a give prompt."
                                     : "You are a helpful assistant who will generate videos from a give prompt.";
}

} // namespace engine
