#include "engine/media/sound_encoder.h"

#include "engine/api/outcome.h"

#include <algorithm>

namespace engine {

namespace {

av::Owned<AVCodecContext> openAac()
{
    const auto *codec = avcodec_find_encoder_by_name("aac"); // FFmpeg's own
    if (codec == nullptr)
        throw EngineFailure(ErrorCode::MissingLibrary,
                            "The FFmpeg libraries here lack the AAC encoder; install Debian's libavcodec59.");
    auto context = av::owned(avcodec_alloc_context3(codec));
    context->sample_fmt = AV_SAMPLE_FMT_FLTP;
    context->sample_rate = SoundEncoder::kRate;
    context->bit_rate = SoundEncoder::kBitRate;
    context->time_base = {1, SoundEncoder::kRate};
    context->flags |= AV_CODEC_FLAG_GLOBAL_HEADER | AV_CODEC_FLAG_BITEXACT;
    av_channel_layout_default(&context->ch_layout, 2);
    av::require(avcodec_open2(context.get(), codec, nullptr), "avcodec_open2 aac");
    return context;
}

av::Owned<SwrContext> makeResampler(const AVCodecContext &codec, int rate)
{
    AVChannelLayout stereo{};
    av_channel_layout_default(&stereo, 2);
    SwrContext *made = nullptr;
    av::require(swr_alloc_set_opts2(&made, &stereo, codec.sample_fmt, codec.sample_rate, &stereo, AV_SAMPLE_FMT_FLTP,
                                    rate, 0, nullptr),
                "swr_alloc_set_opts2");
    av::Owned<SwrContext> resampler(made);
    av::require(swr_init(resampler.get()), "swr_init");
    return resampler;
}

} // namespace

SoundEncoder::SoundEncoder(int rate, int channels)
    : m_channels(channels), m_codec(openAac()), m_resampler(makeResampler(*m_codec, rate))
{
}

void SoundEncoder::convert(const std::uint8_t **input, int count)
{
    const int room = av::require(swr_get_out_samples(m_resampler.get(), count), "swr_get_out_samples");
    const auto before = m_stereo[0].size();
    std::array<std::uint8_t *, 2> output{};
    for (std::size_t channel = 0; channel < m_stereo.size(); ++channel) {
        m_stereo[channel].resize(before + static_cast<std::size_t>(room));
        output[channel] = reinterpret_cast<std::uint8_t *>(m_stereo[channel].data() + before);
    }
    const int made = av::require(swr_convert(m_resampler.get(), output.data(), room, input, count), "swr_convert");
    for (auto &channel : m_stereo)
        channel.resize(before + static_cast<std::size_t>(made));
}

void SoundEncoder::append(std::span<const float> samples)
{
    const auto count = samples.size() / static_cast<std::size_t>(m_channels);
    const auto *left = reinterpret_cast<const std::uint8_t *>(samples.data());
    // One channel is heard from both sides, as loud as it was.
    const auto *right = m_channels == 1 ? left : left + count * sizeof(float);
    std::array<const std::uint8_t *, 2> input{left, right};
    convert(input.data(), static_cast<int>(count));
}

void SoundEncoder::finish(std::int64_t limit, const av::PacketFunction &write)
{
    convert(nullptr, 0); // what the resampler still holds
    const auto total = std::min<std::int64_t>(limit, static_cast<std::int64_t>(m_stereo[0].size()));
    for (std::int64_t at = 0; at < total; at += m_codec->frame_size) {
        const auto frame = av::owned(av_frame_alloc());
        frame->nb_samples = static_cast<int>(std::min<std::int64_t>(m_codec->frame_size, total - at));
        frame->format = m_codec->sample_fmt;
        frame->sample_rate = m_codec->sample_rate;
        frame->pts = at;
        av::require(av_channel_layout_copy(&frame->ch_layout, &m_codec->ch_layout), "av_channel_layout_copy");
        av::require(av_frame_get_buffer(frame.get(), 0), "av_frame_get_buffer");
        for (std::size_t channel = 0; channel < m_stereo.size(); ++channel) {
            std::copy_n(m_stereo[channel].data() + at, frame->nb_samples,
                        reinterpret_cast<float *>(frame->data[channel]));
        }
        av::encode(*m_codec, frame.get(), write);
    }
    av::encode(*m_codec, nullptr, write);
}

} // namespace engine
