#include "engine/media/picture_encoder.h"

#include "engine/api/outcome.h"

#include <algorithm>
#include <cmath>

extern "C" {
#include <libavutil/opt.h>
}

namespace engine {

namespace {

// A constant quantiser bounds the error whatever the pictures and the rate: luma stayed above 46 dB in every frame from
// gradients to noise. A constant rate factor does not: x264 lowers the quality of noisy and of fast clips (CRF 16 gave
// 47 dB on a calm clip at 12 fps, 45 dB at 30 fps, 37 dB with camera noise). It would also bring in the macroblock
// tree, which in x264 core 164 reads memory that was never written: the same frames gave another file each time.
constexpr int kQuantiser = 13;
constexpr int kKeyFrameDistance = 24; // a jump to any frame decodes at most this many
// Fixed, because x264's result depends on the number of threads.
constexpr int kThreads = 8;

template <typename T>
void tagBt709(T &target)
{
    target.color_primaries = AVCOL_PRI_BT709;
    target.color_trc = AVCOL_TRC_BT709;
    target.colorspace = AVCOL_SPC_BT709;
    target.color_range = AVCOL_RANGE_MPEG;
}

av::Owned<AVCodecContext> openH264(const VideoFormat &format)
{
    const auto *codec = avcodec_find_encoder_by_name("libx264");
    if (codec == nullptr)
        throw EngineFailure(ErrorCode::MissingLibrary,
                            "The FFmpeg libraries here lack x264; install them with it (Debian: libavcodec59).");
    auto context = av::owned(avcodec_alloc_context3(codec));
    context->width = format.width;
    context->height = format.height;
    context->pix_fmt = AV_PIX_FMT_YUV420P;
    context->framerate = frameRate(format.fps);
    context->time_base = av_inv_q(context->framerate);
    context->sample_aspect_ratio = {1, 1};
    context->gop_size = kKeyFrameDistance;
    context->thread_count = kThreads;
    context->flags |= AV_CODEC_FLAG_GLOBAL_HEADER | AV_CODEC_FLAG_BITEXACT;
    tagBt709(*context);
    context->chroma_sample_location = AVCHROMA_LOC_LEFT;
    av::require(av_opt_set(context->priv_data, "preset", "medium", 0), "x264 preset");
    av::require(av_opt_set_int(context->priv_data, "qp", kQuantiser, 0), "x264 qp");
    const int result = avcodec_open2(context.get(), codec, nullptr);
    if (result < 0) {
        throw EngineFailure(ErrorCode::Output, "H.264 cannot hold pictures of " + std::to_string(format.width) + "x" +
                                                   std::to_string(format.height) + " (" + av::reason(result) +
                                                   "); choose another size.");
    }
    return context;
}

} // namespace

AVRational frameRate(double fps)
{
    const double whole = std::round(fps);
    if (std::abs(fps - whole) < 1e-6)
        return {static_cast<int>(whole), 1};
    // 23.976 and 29.97 are how people write 24000/1001 and 30000/1001.
    const double ntsc = std::round(fps * 1.001);
    if (std::abs(fps * 1.001 - ntsc) < 1e-3)
        return {static_cast<int>(ntsc) * 1000, 1001};
    return av_d2q(fps, 10'000);
}

PictureEncoder::PictureEncoder(const VideoFormat &format)
    : m_codec(openH264(format)), m_rgb(av::makeRgbPicture(format.width, format.height)),
      m_yuv(av::makePicture(format.width, format.height, AV_PIX_FMT_YUV420P))
{
    // libx264 wants the tags on the context, other parts read the frame's.
    tagBt709(*m_yuv);
    m_yuv->chroma_location = AVCHROMA_LOC_LEFT;
    m_converter = av::makeConverter(*m_rgb, *m_yuv);
}

void PictureEncoder::encode(const std::uint8_t *rgb, const av::PacketFunction &write)
{
    const auto rowBytes = static_cast<std::ptrdiff_t>(m_rgb->width) * 3;
    for (int row = 0; row < m_rgb->height; ++row) {
        std::copy_n(rgb + row * rowBytes, rowBytes,
                    m_rgb->data[0] + static_cast<std::ptrdiff_t>(row) * m_rgb->linesize[0]);
    }
    av::require(av_frame_make_writable(m_yuv.get()), "av_frame_make_writable");
    av::require(sws_scale_frame(m_converter.get(), m_yuv.get(), m_rgb.get()), "sws_scale_frame");
    m_yuv->pts = m_frames++;
    av::encode(*m_codec, m_yuv.get(), write);
}

void PictureEncoder::finish(const av::PacketFunction &write)
{
    av::encode(*m_codec, nullptr, write);
}

} // namespace engine
