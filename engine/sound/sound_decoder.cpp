#include "engine/sound/sound_decoder.h"

#include <ATen/ops/conv_transpose1d.h>

#include <array>
#include <cstdint>

namespace engine {

namespace {

Conv biasedConv(const SoundWeightReader &reader, const std::string &name, std::int64_t dilation = 1)
{
    return {reader.folded(name), reader.plain(name + ".bias"), dilation};
}

struct ResidualUnit {
    Snake snake1;
    Conv conv1;
    Snake snake2;
    Conv conv2;

    ResidualUnit(const SoundWeightReader &reader, const std::string &name, std::int64_t dilation)
        : snake1(reader, name + ".snake1"), conv1(biasedConv(reader, name + ".conv1", dilation)),
          snake2(reader, name + ".snake2"), conv2(biasedConv(reader, name + ".conv2"))
    {
    }

    at::Tensor operator()(const at::Tensor &x) const { return conv2(snake2(conv1(snake1(x)))).add_(x); }
};

// Lengthens by `stride`, then three residual units of growing reach.
struct Block {
    Snake snake;
    at::Tensor weight; // [in, out, 2 * stride]
    at::Tensor bias;
    std::int64_t stride;
    std::array<ResidualUnit, 3> units;

    Block(const SoundWeightReader &reader, const std::string &name, std::int64_t blockStride)
        : snake(reader, name + ".snake1"), weight(reader.folded(name + ".conv_t1")),
          bias(reader.plain(name + ".conv_t1.bias")),
          stride(blockStride), units{ResidualUnit(reader, name + ".res_unit1", 1),
                                     ResidualUnit(reader, name + ".res_unit2", 3),
                                     ResidualUnit(reader, name + ".res_unit3", 9)}
    {
    }

    at::Tensor operator()(const at::Tensor &x) const
    {
        const std::int64_t padding = (stride + 1) / 2;
        auto hidden = at::conv_transpose1d(snake(x), weight, bias, stride, padding, stride % 2);
        for (const auto &unit : units)
            hidden = unit(hidden);
        return hidden;
    }
};

} // namespace

SoundDecoder::SoundDecoder(const SoundConfig &config, const SoundWeights &weights, at::ScalarType type) : m_type(type)
{
    const SoundWeightReader reader(weights, type);
    m_stages.push_back({"conv1", biasedConv(reader, "decoder.conv1")});
    const auto blocks = config.strides.size();
    for (std::size_t i = 0; i < blocks; ++i) {
        const auto number = std::to_string(i);
        m_stages.push_back(
            {"block" + number, Block(reader, "decoder.block." + number, config.strides.at(blocks - 1 - i))});
    }
    m_stages.push_back({"snake1", Snake(reader, "decoder.snake1")});
    m_stages.push_back({"conv2", Conv{reader.folded("decoder.conv2"), {}}});
}

at::Tensor SoundDecoder::decode(const at::Tensor &latents) const
{
    auto hidden = latents.to(m_type).unsqueeze(0); // [1, latentDim, tokens]
    for (const auto &stage : m_stages)
        hidden = stage.run(hidden);
    return hidden.squeeze(0).to(at::kFloat).clamp_(-1.0, 1.0);
}

} // namespace engine
