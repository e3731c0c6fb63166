#include "engine/sound/sound_encoder.h"

#include "engine/api/outcome.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/conv1d.h>
#include <ATen/ops/hann_window.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/stft.h>
#include <ATen/ops/view_as_real.h>

#include <sstream>
#include <string>
#include <utility>

namespace engine {

namespace {

constexpr std::int64_t kDepthwiseKernel = 7;
constexpr std::int64_t kExpansion = 4; // of a block's width between its two pointwise convolutions
constexpr double kNormEpsilon = 1e-5;

// The tensor itself: generation does not need these weights, so opening the checkpoint has not compared their shapes.
at::Tensor shaped(at::Tensor tensor, at::IntArrayRef shape, const std::string &name)
{
    if (tensor.sizes() == shape)
        return tensor;
    std::ostringstream text;
    text << "The weight " << name << " of the sound tokenizer has the shape " << tensor.sizes() << " instead of "
         << shape << ": fetch the folder sound_tokenizer of the model again.";
    throw EngineFailure(ErrorCode::ModelFiles, text.str());
}

// A convolution that is not weight-normed, [out, in / groups, kernel].
Conv plainConv(const SoundWeightReader &reader, const std::string &name, at::IntArrayRef shape, std::int64_t groups = 1)
{
    return {.weight = shaped(reader.plain(name + ".weight"), shape, name + ".weight"),
            .bias = shaped(reader.plain(name + ".bias"), shape[0], name + ".bias"),
            .groups = groups};
}

Snake shapedSnake(const SoundWeightReader &reader, const std::string &name, std::int64_t channels)
{
    Snake snake(reader, name);
    shaped(snake.frequency, {1, channels, 1}, name + ".alpha");
    shaped(snake.amplitude, {1, channels, 1}, name + ".beta");
    return snake;
}

// x + pointwise(snake(pointwise(norm(depthwise(x))))), the norm over channels, in fp32 and without a bias.
struct ConvNextBlock {
    Conv depthwise;
    at::Tensor normWeight; // [width], fp32
    Conv widen;
    Snake snake;
    Conv narrow;

    ConvNextBlock(const SoundWeightReader &reader, const std::string &name, std::int64_t width)
        : depthwise(plainConv(reader, name + ".dwconv.1", {width, 1, kDepthwiseKernel}, width)),
          normWeight(shaped(reader.plain(name + ".norm.weight").to(at::kFloat), width, name + ".norm.weight")),
          widen(plainConv(reader, name + ".pwconv1", {kExpansion * width, width, 1})),
          snake(shapedSnake(reader, name + ".act", kExpansion * width)),
          narrow(plainConv(reader, name + ".pwconv2", {width, kExpansion * width, 1}))
    {
    }

    at::Tensor operator()(const at::Tensor &x) const
    {
        const auto rows = depthwise(x).transpose(1, 2).to(at::kFloat); // [1, length, width]
        const auto normed = at::layer_norm(rows, normWeight.sizes(), normWeight, {}, kNormEpsilon);
        return narrow(snake(widen(normed.transpose(1, 2).to(x.scalar_type())))).add_(x);
    }
};

// Shortens by `stride`.
struct Downsampling {
    at::Tensor weight; // [out, in, 2 * stride]
    at::Tensor bias;
    std::int64_t stride;

    at::Tensor operator()(const at::Tensor &x) const { return at::conv1d(x, weight, bias, stride, (stride + 1) / 2); }
};

SoundEncoderConfig encoderOf(const SoundConfig &config)
{
    if (!config.encoder)
        throw EngineFailure(ErrorCode::ModelFiles, "The sound tokenizer of the model has no encoder that Parallax "
                                                   "knows: choose a model that has one to start from a sound.");
    return *config.encoder;
}

} // namespace

SoundEncoder::SoundEncoder(const SoundConfig &config, const SoundWeights &weights, at::ScalarType type)
    : m_config(encoderOf(config)), m_latentDim(config.latentDim), m_hopSize(config.hopSize), m_type(type)
{
    const SoundWeightReader reader(weights, type);
    const auto nextName = [this] { return "encoder.layers." + std::to_string(m_layers.size()); };
    const auto folded = [&](const std::string &name, at::IntArrayRef shape) {
        return shaped(reader.folded(name), shape, name);
    };
    auto width = m_config.channelMults.front() * m_config.dim;
    const auto spectrum = m_config.channels * (m_config.fftSize + 2);
    m_layers.emplace_back(Conv{folded(nextName(), {width, spectrum, 1}), {}});
    for (std::size_t i = 0; i < m_config.strides.size(); ++i) {
        for (std::int64_t block = 0; block < m_config.blocks; ++block)
            m_layers.emplace_back(ConvNextBlock(reader, nextName(), width));
        const bool last = i + 1 == m_config.strides.size();
        const auto out = m_config.channelMults.at(last ? i : i + 1) * m_config.dim;
        const auto stride = m_config.strides[i];
        const auto name = nextName();
        m_layers.emplace_back(Downsampling{folded(name, {out, width, 2 * stride}),
                                           shaped(reader.plain(name + ".bias"), out, name + ".bias"), stride});
        width = out;
    }
    m_layers.emplace_back(Conv{folded(nextName(), {2 * m_latentDim, width, 1}), {}});
}

at::Tensor SoundEncoder::encode(const at::Tensor &waveform) const
{
    if (waveform.dim() != 2 || waveform.size(0) != m_config.channels || waveform.size(1) == 0)
        throw EngineFailure(ErrorCode::InvalidRequest, "The sound to start from must have samples in " +
                                                           std::to_string(m_config.channels) +
                                                           " channels: convert it to that many.");
    auto samples = waveform.to(at::kFloat);
    if (m_config.normalizeVolume)
        samples = samples / (samples.abs().max() + 1e-5) * 0.95;
    const auto padding = (m_hopSize - samples.size(1) % m_hopSize) % m_hopSize;
    auto hidden = spectrogram(at::constant_pad_nd(samples, {0, padding}).to(m_type)); // [1, bins, frames]
    for (const auto &layer : m_layers)
        hidden = layer(hidden);
    // The posterior is normal: its first channels are the mean, which is the mode too.
    return hidden.squeeze(0).narrow(0, 0, m_latentDim).to(at::kFloat);
}

// [channels, samples] -> [1, channels * (fftSize + 2), samples / fftHop]: of each channel the real parts of all
// frequencies, then the imaginary ones. Transformed in fp32.
at::Tensor SoundEncoder::spectrogram(const at::Tensor &waveform) const
{
    const auto overlap = m_config.fftSize - m_config.fftHop;
    const auto padded = at::constant_pad_nd(waveform.to(at::kFloat), {overlap / 2, overlap - overlap / 2});
    const auto window = at::hann_window(m_config.fftSize, padded.options());
    const auto complex = at::stft(padded, m_config.fftSize, m_config.fftHop, m_config.fftSize, window,
                                  /*center=*/false, "reflect", /*normalized=*/false, /*onesided=*/true,
                                  /*return_complex=*/true);
    const auto parts = at::view_as_real(complex); // [channels, frequencies, frames, 2]
    const auto spectrum = at::cat({parts.select(3, 0), parts.select(3, 1)}, 1);
    return spectrum.reshape({1, -1, spectrum.size(2)}).to(m_type);
}

} // namespace engine
