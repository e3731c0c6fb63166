#pragma once

#include "engine/api/frame_sink.h"

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace engine {

// A sink that leaves one media file. The file appears when finish() succeeds; without that, or after an error,
// nothing remains. Latents are passed over. One thread at a time.
class FileSink : public FrameSink {
public:
    // Completes the file and puts `record` (UTF-8 JSON; "" for none) into its comment. Call once, after the last frame
    // and sound.
    virtual Result finish(std::string_view record) = 0;
    // How pictures are stored, as the record names it: "h264 yuv420p bt709 tv".
    [[nodiscard]] virtual std::string storage() const = 0;

    Result latents(std::string_view, std::span<const float>, std::span<const std::int64_t>) final { return {}; }
};

// What the file's extension stands for: .mp4 a VideoEncoder, .png an ImageWriter. Null for any other, which
// checkOutputFile refuses.
std::unique_ptr<FileSink> makeFileSink(const std::filesystem::path &file, bool overwrite);

// Whether a clip of this format can be written to `file`: extension, size, one frame for a still, folder, no file
// there unless `overwrite`, room on the disk. The reason in one sentence otherwise. For use before anything is loaded.
std::optional<EngineError> checkOutputFile(const std::filesystem::path &file, const VideoFormat &format,
                                           bool overwrite);

} // namespace engine
