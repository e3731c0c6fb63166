#include "engine/media/file_sink.h"

#include "engine/api/published_file.h"
#include "engine/media/image_file.h"
#include "engine/media/media_result.h"
#include "engine/media/video_encoder.h"

#include <algorithm>
#include <cctype>

namespace engine {

namespace {

std::string lowerExtension(const std::filesystem::path &file)
{
    auto extension = file.extension().string();
    std::transform(extension.begin(), extension.end(), extension.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return extension;
}

} // namespace

std::unique_ptr<FileSink> makeFileSink(const std::filesystem::path &file, bool overwrite)
{
    const auto extension = lowerExtension(file);
    if (extension == ".mp4")
        return std::make_unique<VideoEncoder>(file, overwrite);
    if (extension == ".png")
        return std::make_unique<ImageWriter>(file, overwrite);
    return nullptr;
}

std::optional<EngineError> checkOutputFile(const std::filesystem::path &file, const VideoFormat &format, bool overwrite)
{
    const auto extension = lowerExtension(file);
    std::uint64_t bytes = 0;
    const auto problem = asResult([&] {
        if (extension == ".mp4")
            bytes = VideoEncoder::checkFormat(format);
        else if (extension == ".png")
            bytes = ImageWriter::checkFormat(format);
        else
            throw EngineFailure(ErrorCode::Output, "The output \"" + file.string() +
                                                       "\" must end in .mp4 for a video or .png for an image.");
    });
    return problem ? problem : checkPublishable(file, overwrite, bytes);
}

} // namespace engine
