#pragma once

// FFmpeg's objects with owners, and its errors as exceptions. Internal to engine/media.
#include <functional>
#include <memory>
#include <string>

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/frame.h>
#include <libswresample/swresample.h>
#include <libswscale/swscale.h>
}

namespace engine::av {

struct Deleter {
    void operator()(AVFormatContext *context) const; // input or output, closes the file
    void operator()(AVCodecContext *context) const { avcodec_free_context(&context); }
    void operator()(AVFrame *frame) const { av_frame_free(&frame); }
    void operator()(AVPacket *packet) const { av_packet_free(&packet); }
    void operator()(SwsContext *context) const { sws_freeContext(context); }
    void operator()(SwrContext *context) const { swr_free(&context); }
};
template <typename T>
using Owned = std::unique_ptr<T, Deleter>;

// FFmpeg's text for an error number: the system's own words for errno values.
std::string reason(int error);
// Throws EngineFailure(Internal) when `result` is an error; for calls that fail only through a mistake of ours or
// for want of memory. `call` names the function. Returns `result`.
int require(int result, const char *call);
// Takes ownership; throws std::bad_alloc when `object` is null.
template <typename T>
Owned<T> owned(T *object)
{
    return object != nullptr ? Owned<T>(object) : throw std::bad_alloc();
}

// FFmpeg's messages go to the engine's log instead of the terminal. Any thread, any number of times.
void routeLog();

using PacketFunction = std::function<void(AVPacket &)>;
// Gives `frame` (null: the end) to the encoder and hands on every packet that is ready.
void encode(AVCodecContext &encoder, const AVFrame *frame, const PacketFunction &write);

// A frame with buffers of its own, padded as FFmpeg's vector code wants them.
Owned<AVFrame> makePicture(int width, int height, AVPixelFormat format);
// Packed 8-bit RGB, full range.
Owned<AVFrame> makeRgbPicture(int width, int height);
// Converts between pictures of the same size; matrix, range and chroma position are what the frames are tagged with.
Owned<SwsContext> makeConverter(const AVFrame &from, const AVFrame &to);

} // namespace engine::av
