#include "engine/media/stream_decoder.h"

#include "engine/api/outcome.h"

namespace engine {

namespace {

constexpr const char *kContainers = "mov,mp4,matroska,webm,gif,avi,mpegts";

av::Owned<AVCodecContext> openDecoder(const AVStream &stream, const std::filesystem::path &file)
{
    const auto *codec = avcodec_find_decoder(stream.codecpar->codec_id);
    if (codec == nullptr) {
        throw EngineFailure(ErrorCode::InvalidRequest,
                            file.string() + " holds " + avcodec_get_name(stream.codecpar->codec_id) +
                                ", which cannot be decoded here; convert it to H.264 first.");
    }
    auto context = av::owned(avcodec_alloc_context3(codec));
    av::require(avcodec_parameters_to_context(context.get(), stream.codecpar), "avcodec_parameters_to_context");
    context->pkt_timebase = stream.time_base;
    context->thread_count = 0; // as many as there are processors
    const int result = avcodec_open2(context.get(), codec, nullptr);
    if (result < 0)
        throw EngineFailure(ErrorCode::InvalidRequest,
                            file.string() + " cannot be decoded (" + av::reason(result) + "); use another copy.");
    return context;
}

} // namespace

av::Owned<AVFormatContext> openInput(const std::filesystem::path &file)
{
    av::routeLog();
    AVDictionary *options = nullptr;
    av_dict_set(&options, "format_whitelist", kContainers, 0);
    av_dict_set(&options, "protocol_whitelist", "file", 0);
    AVFormatContext *opened = nullptr;
    int result = avformat_open_input(&opened, ("file:" + file.string()).c_str(), nullptr, &options);
    av_dict_free(&options);
    av::Owned<AVFormatContext> context(opened);
    const bool readable = result != AVERROR(ENOENT) && result != AVERROR(EACCES) && result != AVERROR(EISDIR);
    if (result < 0 && !readable)
        throw EngineFailure(ErrorCode::InvalidRequest,
                            file.string() + " cannot be opened (" + av::reason(result) + "); check the name.");
    if (result >= 0)
        result = avformat_find_stream_info(context.get(), nullptr);
    if (result < 0) {
        throw EngineFailure(ErrorCode::InvalidRequest,
                            file.string() +
                                " is not a video that can be read here, or it is damaged; give an MP4, MOV, "
                                "MKV or WebM file.",
                            av::reason(result));
    }
    return context;
}

StreamDecoder::StreamDecoder(const std::filesystem::path &file, AVMediaType kind)
    : m_file(file), m_input(openInput(file))
{
    const int best = av_find_best_stream(m_input.get(), kind, -1, -1, nullptr, 0);
    if (best < 0)
        return;
    m_stream = m_input->streams[best];
    m_codec = openDecoder(*m_stream, file);
    for (unsigned i = 0; i < m_input->nb_streams; ++i)
        m_input->streams[i]->discard = m_input->streams[i] == m_stream ? AVDISCARD_DEFAULT : AVDISCARD_ALL;
}

void StreamDecoder::refuse(const std::string &what) const
{
    throw EngineFailure(ErrorCode::InvalidRequest, m_file.string() + " " + what);
}

bool StreamDecoder::nextPacket()
{
    do {
        av_packet_unref(m_packet.get());
        const int result = av_read_frame(m_input.get(), m_packet.get());
        if (result == AVERROR_EOF)
            return false;
        if (result < 0)
            refuse("is damaged (" + av::reason(result) + "); use another copy.");
    } while (m_packet->stream_index != m_stream->index);
    return true;
}

bool StreamDecoder::nextFrame()
{
    while (true) {
        int result = avcodec_receive_frame(m_codec.get(), m_frame.get());
        if (result >= 0)
            return true;
        if (result == AVERROR_EOF)
            return false;
        if (result == AVERROR(EAGAIN))
            result = avcodec_send_packet(m_codec.get(), nextPacket() ? m_packet.get() : nullptr);
        if (result < 0)
            refuse("is damaged (" + av::reason(result) + "); use another copy.");
    }
}

void StreamDecoder::seek(std::int64_t decodingTime)
{
    const int result = av_seek_frame(m_input.get(), m_stream->index, decodingTime, AVSEEK_FLAG_BACKWARD);
    if (result < 0)
        refuse("does not let its frames be found (" + av::reason(result) + "); convert it to MP4 first.");
    avcodec_flush_buffers(m_codec.get());
}

} // namespace engine
