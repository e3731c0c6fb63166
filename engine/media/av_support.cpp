#include "engine/media/av_support.h"

#include "engine/api/log.h"
#include "engine/api/outcome.h"

#include <array>
#include <cstdarg>
#include <mutex>
#include <utility>

extern "C" {
#include <libavutil/opt.h>
#include <libavutil/pixdesc.h>
}

namespace engine::av {

namespace {

void forwardLog(void *, int level, const char *format, std::va_list arguments)
{
    if (level > AV_LOG_WARNING)
        return;
    std::array<char, 1024> text{};
    std::vsnprintf(text.data(), text.size(), format, arguments);
    std::string line = text.data();
    while (!line.empty() && line.back() == '\n')
        line.pop_back();
    log(LogLevel::Debug, "FFmpeg: " + line);
}

// Position of the chroma samples in units of 1/256 of a luma sample, as swscale counts them.
void setChromaPosition(SwsContext *context, const char *end, const AVFrame &frame)
{
    const auto *description = av_pix_fmt_desc_get(static_cast<AVPixelFormat>(frame.format));
    if (description->log2_chroma_w != 1 || description->log2_chroma_h != 1)
        return;
    const bool centred = frame.chroma_location == AVCHROMA_LOC_CENTER || frame.chroma_location == AVCHROMA_LOC_TOP;
    const bool top = frame.chroma_location == AVCHROMA_LOC_TOPLEFT || frame.chroma_location == AVCHROMA_LOC_TOP;
    const std::string prefix = end;
    av_opt_set_int(context, (prefix + "_h_chr_pos").c_str(), centred ? 128 : 0, 0);
    av_opt_set_int(context, (prefix + "_v_chr_pos").c_str(), top ? 0 : 128, 0);
}

void setSide(SwsContext *context, const char *end, const AVFrame &frame)
{
    const std::string prefix = end;
    av_opt_set_int(context, (prefix + "w").c_str(), frame.width, 0);
    av_opt_set_int(context, (prefix + "h").c_str(), frame.height, 0);
    av_opt_set_int(context, (prefix + "_format").c_str(), frame.format, 0);
    setChromaPosition(context, end, frame);
}

bool isRgb(const AVFrame &frame)
{
    return (av_pix_fmt_desc_get(static_cast<AVPixelFormat>(frame.format))->flags & AV_PIX_FMT_FLAG_RGB) != 0;
}

// An untagged file is taken as players take it: BT.709 for HD, BT.601 below.
const int *coefficients(const AVFrame &frame)
{
    if (isRgb(frame))
        return sws_getCoefficients(SWS_CS_DEFAULT);
    if (frame.colorspace != AVCOL_SPC_UNSPECIFIED)
        return sws_getCoefficients(frame.colorspace);
    return sws_getCoefficients(frame.width >= 1280 || frame.height > 576 ? SWS_CS_ITU709 : SWS_CS_ITU601);
}

int fullRange(const AVFrame &frame)
{
    return isRgb(frame) || frame.color_range == AVCOL_RANGE_JPEG || frame.format == AV_PIX_FMT_YUVJ420P ||
                   frame.format == AV_PIX_FMT_YUVJ422P || frame.format == AV_PIX_FMT_YUVJ444P
               ? 1
               : 0;
}

} // namespace

void Deleter::operator()(AVFormatContext *context) const
{
    if (context->iformat != nullptr) {
        avformat_close_input(&context);
        return;
    }
    avio_closep(&context->pb);
    avformat_free_context(context);
}

std::string reason(int error)
{
    std::array<char, AV_ERROR_MAX_STRING_SIZE> text{};
    av_strerror(error, text.data(), text.size());
    return text.data();
}

int require(int result, const char *call)
{
    if (result == AVERROR(ENOMEM))
        throw std::bad_alloc();
    if (result < 0)
        throw EngineFailure(ErrorCode::Internal, "FFmpeg refused a step (" + reason(result) + "); please report this.",
                            call);
    return result;
}

void routeLog()
{
    static std::once_flag once;
    std::call_once(once, [] { av_log_set_callback(forwardLog); });
}

void encode(AVCodecContext &encoder, const AVFrame *frame, const PacketFunction &write)
{
    require(avcodec_send_frame(&encoder, frame), "avcodec_send_frame");
    const auto packet = owned(av_packet_alloc());
    while (true) {
        const int result = avcodec_receive_packet(&encoder, packet.get());
        if (result == AVERROR(EAGAIN) || result == AVERROR_EOF)
            return;
        require(result, "avcodec_receive_packet");
        write(*packet);
        av_packet_unref(packet.get());
    }
}

Owned<AVFrame> makePicture(int width, int height, AVPixelFormat format)
{
    auto frame = owned(av_frame_alloc());
    frame->width = width;
    frame->height = height;
    frame->format = format;
    require(av_frame_get_buffer(frame.get(), 0), "av_frame_get_buffer");
    return frame;
}

Owned<AVFrame> makeRgbPicture(int width, int height)
{
    auto frame = makePicture(width, height, AV_PIX_FMT_RGB24);
    frame->color_range = AVCOL_RANGE_JPEG;
    frame->colorspace = AVCOL_SPC_RGB;
    return frame;
}

Owned<SwsContext> makeConverter(const AVFrame &from, const AVFrame &to)
{
    auto context = owned(sws_alloc_context());
    setSide(context.get(), "src", from);
    setSide(context.get(), "dst", to);
    // Both chroma flags: RGB is not averaged in pairs before the filter, and chroma is interpolated, not repeated.
    av_opt_set_int(context.get(), "sws_flags", SWS_BICUBIC | SWS_ACCURATE_RND | SWS_FULL_CHR_H_INT | SWS_FULL_CHR_H_INP,
                   0);
    require(sws_init_context(context.get(), nullptr, nullptr), "sws_init_context");
    // Without this call swscale uses the BT.601 matrix whatever the tags say.
    sws_setColorspaceDetails(context.get(), coefficients(from), fullRange(from), coefficients(to), fullRange(to), 0,
                             1 << 16, 1 << 16);
    return context;
}

} // namespace engine::av
