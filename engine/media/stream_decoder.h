#pragma once

#include "engine/media/av_support.h"

#include <cstdint>
#include <filesystem>
#include <string>

namespace engine {

// Opens a local file for reading and finds its streams. Only containers of video are tried, so that a play list or
// another text file cannot name further files. Throws EngineFailure(InvalidRequest).
av::Owned<AVFormatContext> openInput(const std::filesystem::path &file);

// One stream of a file and its decoder. Failures are EngineFailure(InvalidRequest) naming the file. Internal to
// engine/media; one thread at a time.
class StreamDecoder {
public:
    // Takes the best stream of that kind; without one, exists() is false and nothing else may be called.
    StreamDecoder(const std::filesystem::path &file, AVMediaType kind);

    [[nodiscard]] bool exists() const { return m_stream != nullptr; }
    [[nodiscard]] AVFormatContext &input() { return *m_input; }
    [[nodiscard]] const AVStream &stream() const { return *m_stream; }
    [[nodiscard]] const AVCodecContext &codec() const { return *m_codec; }

    // The stream's next packet as the file holds it; false at the end. The packet is valid until the next call.
    bool nextPacket();
    [[nodiscard]] const AVPacket &packet() const { return *m_packet; }
    // The next frame out of the decoder; false at the end. The frame is valid until the next call.
    bool nextFrame();
    [[nodiscard]] const AVFrame &frame() const { return *m_frame; }
    // Goes to the last key frame that is decoded at or before this time, in the stream's time base.
    void seek(std::int64_t decodingTime);

    [[noreturn]] void refuse(const std::string &what) const;

private:
    std::filesystem::path m_file;
    av::Owned<AVFormatContext> m_input;
    AVStream *m_stream = nullptr;
    av::Owned<AVCodecContext> m_codec;
    av::Owned<AVPacket> m_packet = av::owned(av_packet_alloc());
    av::Owned<AVFrame> m_frame = av::owned(av_frame_alloc());
};

} // namespace engine
