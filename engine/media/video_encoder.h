#pragma once

#include "engine/media/file_sink.h"

#include <cstdint>
#include <memory>

namespace engine {

// Writes an MP4: H.264, 4:2:0, BT.709 converted and tagged, limited range, exact frame rate, fast start; AAC stereo
// at 48 kHz in the same pass where the format has sound. The same frames give the same bytes on every machine with
// the same FFmpeg. Sound that outlasts the pictures is cut to their length.
class VideoEncoder final : public FileSink {
public:
    VideoEncoder(std::filesystem::path file, bool overwrite); // touches nothing before open()
    ~VideoEncoder() override;

    // Throws EngineFailure(Output) when such a clip cannot be encoded: odd or absurd size, no frames, no rate.
    // Returns about how many bytes the file will have.
    static std::uint64_t checkFormat(const VideoFormat &format);

    Result open(const VideoFormat &format) override;
    Result frames(std::span<const std::uint8_t> rgb, int count) override;
    Result sound(std::span<const float> samples, int channels) override;
    Result finish(std::string_view record) override;
    [[nodiscard]] std::string storage() const override { return "h264 yuv420p bt709 tv"; }

private:
    class Mp4File;
    template <typename Work>
    Result step(Work &&work);

    std::filesystem::path m_path;
    bool m_overwrite;
    std::unique_ptr<Mp4File> m_file; // from open() to finish() or the first error
};

} // namespace engine
