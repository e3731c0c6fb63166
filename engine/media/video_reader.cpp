#include "engine/media/video_reader.h"

#include "engine/media/media_result.h"
#include "engine/media/stream_decoder.h"

#include <algorithm>
#include <utility>

namespace engine {

class VideoReader::Impl {
public:
    explicit Impl(const std::filesystem::path &file);

    [[nodiscard]] const ClipInfo &info() const { return m_info; }
    [[nodiscard]] int position() const { return m_position; }
    RgbFrame frameAt(int index);

private:
    struct Entry {
        std::int64_t shown; // times in the stream's time base
        std::int64_t decoded;
        bool key;
    };

    void readInfo();
    void listFrames();
    [[nodiscard]] int keyFrameBefore(int index) const;
    bool decodeUntil(std::int64_t shown);
    RgbFrame toRgb();

    StreamDecoder m_decoder;
    std::vector<Entry> m_entries; // in the order shown
    std::int64_t m_firstDecoded = 0;
    ClipInfo m_info;
    av::Owned<AVFrame> m_rgb;
    av::Owned<SwsContext> m_converter;
    int m_position = 0;             // the frame after the last one read
    std::optional<int> m_decoderAt; // the frame that the decoder gives next; nothing: unknown, seek first
};

VideoReader::Impl::Impl(const std::filesystem::path &file) : m_decoder(file, AVMEDIA_TYPE_VIDEO)
{
    if (!m_decoder.exists())
        throw EngineFailure(ErrorCode::InvalidRequest, file.string() + " holds no video; give a file with pictures.");
    listFrames();
    readInfo();
    m_rgb = av::makeRgbPicture(m_info.width, m_info.height);
}

void VideoReader::Impl::readInfo()
{
    const auto &parameters = *m_decoder.stream().codecpar;
    m_info.width = parameters.width;
    m_info.height = parameters.height;
    m_info.frames = static_cast<int>(m_entries.size());
    const auto rate = m_decoder.stream().avg_frame_rate;
    m_info.rate = {rate.num, rate.den};
    auto &input = m_decoder.input();
    const int sound = av_find_best_stream(&input, AVMEDIA_TYPE_AUDIO, -1, -1, nullptr, 0);
    if (sound >= 0) {
        m_info.soundRate = input.streams[sound]->codecpar->sample_rate;
        m_info.soundChannels = input.streams[sound]->codecpar->ch_layout.nb_channels;
    }
}

// Reads the packets once without decoding: the only way to know the frames that holds for every container.
void VideoReader::Impl::listFrames()
{
    std::int64_t packets = 0;
    while (m_decoder.nextPacket()) {
        const auto &packet = m_decoder.packet();
        ++packets;
        if ((packet.flags & AV_PKT_FLAG_CORRUPT) != 0)
            m_decoder.refuse("is damaged or cut off; use another copy.");
        if (packet.pts == AV_NOPTS_VALUE)
            m_decoder.refuse("has no time stamps; convert it to MP4 first.");
        const auto decoded = packet.dts == AV_NOPTS_VALUE ? packet.pts : packet.dts;
        if (packets == 1)
            m_firstDecoded = decoded;
        if ((packet.flags & AV_PKT_FLAG_DISCARD) == 0) // such a packet is decoded, but its frame is not shown
            m_entries.push_back({packet.pts, decoded, (packet.flags & AV_PKT_FLAG_KEY) != 0});
    }
    if (m_entries.empty() || packets < m_decoder.stream().nb_frames)
        m_decoder.refuse("is damaged or cut off: " + std::to_string(packets) + " of " +
                         std::to_string(m_decoder.stream().nb_frames) + " frames are there; use another copy.");
    std::sort(m_entries.begin(), m_entries.end(), [](const Entry &a, const Entry &b) { return a.shown < b.shown; });
}

// -1 when no key frame is shown before: decoding starts with the file.
int VideoReader::Impl::keyFrameBefore(int index) const
{
    while (index >= 0 && !m_entries[static_cast<std::size_t>(index)].key)
        --index;
    return index;
}

// Decodes forward to the frame with this time; false when it is not among those to come.
bool VideoReader::Impl::decodeUntil(std::int64_t shown)
{
    while (m_decoder.nextFrame()) {
        if (m_decoder.frame().best_effort_timestamp >= shown)
            return m_decoder.frame().best_effort_timestamp == shown;
    }
    return false;
}

RgbFrame VideoReader::Impl::frameAt(int index)
{
    if (index < 0 || index >= m_info.frames)
        m_decoder.refuse("has no frame " + std::to_string(index) + "; its frames are 0 to " +
                         std::to_string(m_info.frames - 1) + ".");
    const auto shown = m_entries[static_cast<std::size_t>(index)].shown;
    const int key = keyFrameBefore(index);
    const bool forward = m_decoderAt && *m_decoderAt <= index && *m_decoderAt >= key;
    m_decoderAt.reset();
    if (!forward)
        m_decoder.seek(key >= 0 ? m_entries[static_cast<std::size_t>(key)].decoded : m_firstDecoded);
    if (!decodeUntil(shown)) {
        m_decoder.seek(m_firstDecoded); // some containers' seeks land too late: once more, from the start
        if (!decodeUntil(shown))
            m_decoder.refuse("is damaged: frame " + std::to_string(index) + " cannot be decoded; use another copy.");
    }
    auto rgb = toRgb();
    m_decoderAt = m_position = index + 1;
    return rgb;
}

RgbFrame VideoReader::Impl::toRgb()
{
    const auto &frame = m_decoder.frame();
    if (frame.width != m_info.width || frame.height != m_info.height)
        m_decoder.refuse("changes its picture size on the way, which cannot be shown; convert it first.");
    if (!m_converter)
        m_converter = av::makeConverter(frame, *m_rgb);
    av::require(sws_scale_frame(m_converter.get(), m_rgb.get(), &frame), "sws_scale_frame");
    const auto rowBytes = static_cast<std::size_t>(m_info.width) * 3;
    RgbFrame rgb(rowBytes * static_cast<std::size_t>(m_info.height));
    for (int row = 0; row < m_info.height; ++row) {
        std::copy_n(m_rgb->data[0] + static_cast<std::ptrdiff_t>(row) * m_rgb->linesize[0], rowBytes,
                    rgb.data() + static_cast<std::size_t>(row) * rowBytes);
    }
    return rgb;
}

VideoReader::VideoReader(std::unique_ptr<Impl> impl) : m_impl(std::move(impl)) {}
VideoReader::~VideoReader() = default;
VideoReader::VideoReader(VideoReader &&) noexcept = default;
VideoReader &VideoReader::operator=(VideoReader &&) noexcept = default;

std::variant<VideoReader, EngineError> VideoReader::open(const std::filesystem::path &file)
{
    return asValue([&] { return VideoReader(std::make_unique<Impl>(file)); });
}

const ClipInfo &VideoReader::info() const
{
    return m_impl->info();
}

std::variant<RgbFrame, EngineError> VideoReader::frameAt(int index)
{
    return asValue([&] { return m_impl->frameAt(index); });
}

std::variant<std::optional<RgbFrame>, EngineError> VideoReader::next()
{
    return asValue([&]() -> std::optional<RgbFrame> {
        if (m_impl->position() >= m_impl->info().frames)
            return std::nullopt;
        return m_impl->frameAt(m_impl->position());
    });
}

} // namespace engine
