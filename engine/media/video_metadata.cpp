#include "engine/media/video_metadata.h"

#include "engine/media/image_file.h"
#include "engine/media/media_result.h"
#include "engine/media/stream_decoder.h"

namespace engine {

namespace {

std::string commentOf(const std::filesystem::path &file)
{
    if (isPng(file)) {
        auto picture = readPng(file);
        if (auto *error = std::get_if<EngineError>(&picture))
            throw EngineFailure(*error);
        return std::move(std::get<Picture>(picture).record);
    }
    const auto input = openInput(file);
    const auto *entry = av_dict_get(input->metadata, "comment", nullptr, 0); // compares without case
    return entry != nullptr ? entry->value : "";
}

} // namespace

std::variant<std::string, EngineError> readRecordText(const std::filesystem::path &file)
{
    return asValue([&] {
        auto text = commentOf(file);
        if (text.empty()) {
            throw EngineFailure(
                ErrorCode::InvalidRequest,
                file.string() + " holds no record of how it was made; it may have been converted: use the original.");
        }
        return text;
    });
}

} // namespace engine
