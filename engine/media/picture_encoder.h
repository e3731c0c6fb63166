#pragma once

#include "engine/api/frame_sink.h"
#include "engine/media/av_support.h"

#include <cstdint>

namespace engine {

// RGB frames to H.264 packets, in BT.709 and tagged so. Internal to engine/media; one thread at a time.
class PictureEncoder {
public:
    explicit PictureEncoder(const VideoFormat &format);

    [[nodiscard]] const AVCodecContext &codec() const { return *m_codec; }
    // rgb: [height, width, 3]. The packet's times are in the codec's time base, one tick a frame.
    void encode(const std::uint8_t *rgb, const av::PacketFunction &write);
    void finish(const av::PacketFunction &write);
    [[nodiscard]] int frames() const { return m_frames; }

private:
    av::Owned<AVCodecContext> m_codec;
    av::Owned<AVFrame> m_rgb;
    av::Owned<AVFrame> m_yuv;
    av::Owned<SwsContext> m_converter;
    int m_frames = 0;
};

// Frames a second as a fraction: whole numbers exactly, 1000/1001 of a whole number exactly (29.97, 23.976), others
// as the nearest fraction with small terms.
AVRational frameRate(double fps);

} // namespace engine
