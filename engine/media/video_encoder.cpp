#include "engine/media/video_encoder.h"

#include "engine/api/published_file.h"
#include "engine/media/media_result.h"
#include "engine/media/picture_encoder.h"
#include "engine/media/sound_encoder.h"

#include <cmath>
#include <optional>
#include <utility>

namespace engine {

namespace {

constexpr int kLargestSide = 16'384; // x264's own limit
// A guess for the check of free space: generated clips measured 0.06 to 0.15 bytes a pixel, camera noise 0.35.
constexpr double kBytesPerPixel = 0.25;
constexpr std::uint64_t kContainerBytes = 1'000'000; // index and record

[[noreturn]] void refuse(const std::string &sentence)
{
    throw EngineFailure(ErrorCode::Output, sentence);
}

} // namespace

// The file being written: muxer, encoders, and the temporary file that becomes the clip.
class VideoEncoder::Mp4File {
public:
    Mp4File(const std::filesystem::path &path, bool overwrite, const VideoFormat &format);

    void addFrames(std::span<const std::uint8_t> rgb, int count);
    void addSound(std::span<const float> samples, int channels);
    void finish(std::string_view record);

private:
    AVStream *addStream(const AVCodecContext &codec);
    void writePacket(AVPacket &packet, const AVCodecContext &codec, const AVStream &stream);
    void requireWritten(int result, const char *call) const;

    VideoFormat m_format;
    PublishedFile m_published; // destroyed after the muxer has closed its file
    av::Owned<AVFormatContext> m_muxer;
    PictureEncoder m_pictures;
    std::optional<SoundEncoder> m_sound;
    AVStream *m_pictureStream = nullptr;
    AVStream *m_soundStream = nullptr;
};

VideoEncoder::Mp4File::Mp4File(const std::filesystem::path &path, bool overwrite, const VideoFormat &format)
    : m_format(format), m_published(path, overwrite), m_pictures(format)
{
    const auto url = "file:" + m_published.temporaryPath().string();
    AVFormatContext *made = nullptr;
    av::require(avformat_alloc_output_context2(&made, nullptr, "mp4", url.c_str()), "avformat_alloc_output_context2");
    m_muxer.reset(made);
    m_muxer->flags |= AVFMT_FLAG_BITEXACT; // no time of creation, no library version
    // The sound comes after all pictures; packets wait in memory until both streams can be interleaved.
    m_muxer->max_interleave_delta = 0;
    m_pictureStream = addStream(m_pictures.codec());
    m_pictureStream->avg_frame_rate = m_pictures.codec().framerate;
    if (format.soundRate > 0) {
        m_sound.emplace(format.soundRate, format.soundChannels);
        m_soundStream = addStream(m_sound->codec());
    }
    requireWritten(avio_open(&m_muxer->pb, url.c_str(), AVIO_FLAG_WRITE), "avio_open");
    AVDictionary *options = nullptr;
    av_dict_set(&options, "movflags", "+faststart", 0);
    const int result = avformat_write_header(m_muxer.get(), &options);
    av_dict_free(&options);
    requireWritten(result, "avformat_write_header");
}

AVStream *VideoEncoder::Mp4File::addStream(const AVCodecContext &codec)
{
    auto *stream = avformat_new_stream(m_muxer.get(), nullptr);
    if (stream == nullptr)
        throw std::bad_alloc();
    stream->time_base = codec.time_base;
    av::require(avcodec_parameters_from_context(stream->codecpar, &codec), "avcodec_parameters_from_context");
    return stream;
}

void VideoEncoder::Mp4File::requireWritten(int result, const char *call) const
{
    if (result < 0) {
        throw EngineFailure(ErrorCode::Output,
                            m_published.target().string() + " could not be written (" + av::reason(result) +
                                "); free some space or choose another place.",
                            call);
    }
}

void VideoEncoder::Mp4File::writePacket(AVPacket &packet, const AVCodecContext &codec, const AVStream &stream)
{
    if (packet.duration == 0)
        packet.duration = 1; // one frame; the sound's packets know theirs
    av_packet_rescale_ts(&packet, codec.time_base, stream.time_base);
    packet.stream_index = stream.index;
    requireWritten(av_interleaved_write_frame(m_muxer.get(), &packet), "av_interleaved_write_frame");
}

void VideoEncoder::Mp4File::addFrames(std::span<const std::uint8_t> rgb, int count)
{
    const auto frameBytes = static_cast<std::size_t>(m_format.width) * static_cast<std::size_t>(m_format.height) * 3;
    if (count < 0 || rgb.size() != frameBytes * static_cast<std::size_t>(count))
        throw EngineFailure(ErrorCode::Internal, "The frames do not have the announced size; please report this.");
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
        m_pictures.encode(rgb.data() + i * frameBytes,
                          [this](AVPacket &packet) { writePacket(packet, m_pictures.codec(), *m_pictureStream); });
    }
}

void VideoEncoder::Mp4File::addSound(std::span<const float> samples, int channels)
{
    if (!m_sound || channels != m_sound->channels() || samples.size() % static_cast<std::size_t>(channels) != 0)
        throw EngineFailure(ErrorCode::Internal, "The sound does not have the announced form; please report this.");
    m_sound->append(samples);
}

void VideoEncoder::Mp4File::finish(std::string_view record)
{
    if (m_pictures.frames() != m_format.frames) {
        throw EngineFailure(ErrorCode::Internal, std::to_string(m_pictures.frames()) + " of " +
                                                     std::to_string(m_format.frames) +
                                                     " frames came, so the clip is not kept; please report this.");
    }
    if (m_sound && m_sound->empty())
        throw EngineFailure(ErrorCode::Internal, "The announced sound did not come; please report this.");
    m_pictures.finish([this](AVPacket &packet) { writePacket(packet, m_pictures.codec(), *m_pictureStream); });
    if (m_sound) {
        const auto rate = m_pictures.codec().framerate;
        const auto samples =
            av_rescale(m_format.frames, static_cast<std::int64_t>(SoundEncoder::kRate) * rate.den, rate.num);
        m_sound->finish(samples, [this](AVPacket &packet) { writePacket(packet, m_sound->codec(), *m_soundStream); });
    }
    if (!record.empty())
        av::require(av_dict_set(&m_muxer->metadata, "comment", std::string(record).c_str(), 0), "av_dict_set");
    requireWritten(av_write_trailer(m_muxer.get()), "av_write_trailer");
    requireWritten(avio_closep(&m_muxer->pb), "avio_closep");
    m_published.publish();
}

VideoEncoder::VideoEncoder(std::filesystem::path file, bool overwrite) : m_path(std::move(file)), m_overwrite(overwrite)
{
    av::routeLog();
}

VideoEncoder::~VideoEncoder() = default;

std::uint64_t VideoEncoder::checkFormat(const VideoFormat &format)
{
    const auto size = std::to_string(format.width) + "x" + std::to_string(format.height);
    if (format.width < 2 || format.height < 2 || format.width > kLargestSide || format.height > kLargestSide)
        refuse("H.264 cannot hold pictures of " + size + "; choose sides from 2 to " + std::to_string(kLargestSide) +
               ".");
    if (format.width % 2 != 0 || format.height % 2 != 0)
        refuse("H.264 with 4:2:0 colour needs even sides, " + size + " is odd; choose an even width and height.");
    if (format.frames < 1)
        refuse("A video needs at least one frame; choose a number of frames above 0.");
    if (!(format.fps >= 0.1 && format.fps <= 1000))
        refuse("A video needs between 0.1 and 1000 frames a second; choose another frame rate.");
    if (format.soundRate < 0 || (format.soundRate > 0 && (format.soundChannels < 1 || format.soundChannels > 2)))
        refuse("Sound of " + std::to_string(format.soundChannels) + " channels cannot be stored; it takes 1 or 2.");
    const double pixels = 1.0 * format.width * format.height * format.frames;
    const double soundBytes = format.soundRate > 0 ? SoundEncoder::kBitRate / 8.0 * format.frames / format.fps : 0;
    return kContainerBytes + static_cast<std::uint64_t>(kBytesPerPixel * pixels + soundBytes);
}

// Runs one call on the open file; after an error the file is given up at once.
template <typename Work>
FrameSink::Result VideoEncoder::step(Work &&work)
{
    auto result = asResult([&] {
        if (!m_file)
            throw EngineFailure(ErrorCode::Internal, "The clip is not open; please report this.");
        std::forward<Work>(work)();
    });
    if (result)
        m_file.reset();
    return result;
}

FrameSink::Result VideoEncoder::open(const VideoFormat &format)
{
    return asResult([&] {
        checkFormat(format);
        m_file = std::make_unique<Mp4File>(m_path, m_overwrite, format);
    });
}

FrameSink::Result VideoEncoder::frames(std::span<const std::uint8_t> rgb, int count)
{
    return step([&] { m_file->addFrames(rgb, count); });
}

FrameSink::Result VideoEncoder::sound(std::span<const float> samples, int channels)
{
    return step([&] { m_file->addSound(samples, channels); });
}

FrameSink::Result VideoEncoder::finish(std::string_view record)
{
    auto result = step([&] { m_file->finish(record); });
    m_file.reset();
    return result;
}

} // namespace engine
