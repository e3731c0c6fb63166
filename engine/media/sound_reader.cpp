#include "engine/media/sound_reader.h"

#include "engine/media/media_result.h"
#include "engine/media/stream_decoder.h"

#include <algorithm>
#include <cstdint>

namespace engine {

namespace {

using Channels = std::vector<std::vector<float>>;

av::Owned<SwrContext> makePlanarConverter(const AVCodecContext &codec)
{
    AVChannelLayout layout = codec.ch_layout; // FFmpeg 5 wants it writable, and only reads it
    SwrContext *made = nullptr;
    av::require(swr_alloc_set_opts2(&made, &layout, AV_SAMPLE_FMT_FLTP, codec.sample_rate, &layout, codec.sample_fmt,
                                    codec.sample_rate, 0, nullptr),
                "swr_alloc_set_opts2");
    av::Owned<SwrContext> converter(made);
    av::require(swr_init(converter.get()), "swr_init");
    return converter;
}

void append(SwrContext &converter, const AVFrame &frame, Channels &channels)
{
    const auto before = channels.front().size();
    std::vector<std::uint8_t *> output;
    for (auto &channel : channels) {
        channel.resize(before + static_cast<std::size_t>(frame.nb_samples));
        output.push_back(reinterpret_cast<std::uint8_t *>(channel.data() + before));
    }
    std::vector<const std::uint8_t *> input(frame.extended_data,
                                            frame.extended_data +
                                                (av_sample_fmt_is_planar(static_cast<AVSampleFormat>(frame.format)) != 0
                                                     ? frame.ch_layout.nb_channels
                                                     : 1));
    av::require(swr_convert(&converter, output.data(), frame.nb_samples, input.data(), frame.nb_samples),
                "swr_convert");
}

Sound decodeAll(const std::filesystem::path &file)
{
    StreamDecoder decoder(file, AVMEDIA_TYPE_AUDIO);
    if (!decoder.exists())
        return {};
    const int rate = decoder.codec().sample_rate;
    const int count = decoder.codec().ch_layout.nb_channels;
    Channels channels(static_cast<std::size_t>(count));
    const auto converter = makePlanarConverter(decoder.codec());
    while (decoder.nextFrame()) {
        const auto &frame = decoder.frame();
        if (frame.sample_rate != rate || frame.ch_layout.nb_channels != count)
            decoder.refuse("changes its kind of sound on the way; convert it first.");
        append(*converter, frame, channels);
    }
    auto length = channels.front().size();
    // The last block is padded to the codec's block length; the container knows where the sound ends.
    if (decoder.stream().duration != AV_NOPTS_VALUE) {
        const auto stated = av_rescale_q(decoder.stream().duration, decoder.stream().time_base, {1, rate});
        length = std::min(length, static_cast<std::size_t>(std::max<std::int64_t>(stated, 0)));
    }
    Sound sound{.rate = rate, .channels = count, .samples = {}};
    for (const auto &channel : channels)
        sound.samples.insert(sound.samples.end(), channel.begin(),
                             channel.begin() + static_cast<std::ptrdiff_t>(length));
    return sound;
}

} // namespace

std::variant<Sound, EngineError> readSound(const std::filesystem::path &file)
{
    return asValue([&] { return decodeAll(file); });
}

} // namespace engine
