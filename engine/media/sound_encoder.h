#pragma once

#include "engine/media/av_support.h"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace engine {

// Planar float samples to AAC packets, stereo at 48 kHz and 256 kb/s. A clip's sound is a few megabytes and comes
// whole after the pictures, so it is kept until finish(). Internal to engine/media; one thread at a time.
class SoundEncoder {
public:
    static constexpr int kRate = 48'000;
    static constexpr int kBitRate = 256'000;

    SoundEncoder(int rate, int channels); // of the samples that will come; 1 or 2 channels

    [[nodiscard]] const AVCodecContext &codec() const { return *m_codec; }
    // samples: [channels, samples]
    void append(std::span<const float> samples);
    // Encodes what came, at most `limit` samples at 48 kHz. The packets' times are in samples.
    void finish(std::int64_t limit, const av::PacketFunction &write);
    [[nodiscard]] int channels() const { return m_channels; }
    [[nodiscard]] bool empty() const { return m_stereo[0].empty(); }

private:
    void convert(const std::uint8_t **input, int count);

    int m_channels;
    av::Owned<AVCodecContext> m_codec;
    av::Owned<SwrContext> m_resampler;
    std::array<std::vector<float>, 2> m_stereo;
};

} // namespace engine
