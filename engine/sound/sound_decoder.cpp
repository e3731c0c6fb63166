#include "engine/sound/sound_decoder.h"

#include "engine/api/outcome.h"

#include <ATen/ops/_weight_norm.h>
#include <ATen/ops/conv1d.h>
#include <ATen/ops/conv_transpose1d.h>
#include <ATen/ops/mul.h>

#include <array>
#include <cstdint>
#include <optional>

namespace engine {

namespace {

// Where the layers take their weights from: names checked, weight norm folded, in the type to compute in.
class Reader {
public:
    Reader(const SoundWeights &weights, at::ScalarType type) : m_weights(weights), m_type(type) {}

    [[nodiscard]] at::Tensor needed(const std::string &name) const
    {
        auto tensor = m_weights(name);
        if (!tensor.defined())
            throw EngineFailure(ErrorCode::ModelFiles, "The sound tokenizer has no weight " + name +
                                                           ": fetch the folder sound_tokenizer of the model again.");
        return tensor;
    }

    [[nodiscard]] at::Tensor plain(const std::string &name) const { return needed(name).to(m_type); }

    // g * v / |v|, the norm over all axes but the first.
    [[nodiscard]] at::Tensor folded(const std::string &layer) const
    {
        if (const auto weight = m_weights(layer + ".weight"); weight.defined())
            return weight.to(m_type);
        const auto parametrized = layer + ".parametrizations.weight.original";
        const bool isParametrized = m_weights(parametrized + "0").defined();
        const auto magnitude = needed(isParametrized ? parametrized + "0" : layer + ".weight_g").to(at::kFloat);
        const auto direction = needed(isParametrized ? parametrized + "1" : layer + ".weight_v").to(at::kFloat);
        return at::_weight_norm(direction, magnitude, 0).to(m_type);
    }

private:
    const SoundWeights &m_weights;
    at::ScalarType m_type;
};

// x + sin²(a*x) / b with a = e^alpha and b = e^beta + 1e-9, a channel each.
struct Snake {
    at::Tensor frequency; // a: [1, channels, 1]
    at::Tensor amplitude; // 1/b

    Snake(const Reader &reader, const std::string &name)
        : frequency(reader.plain(name + ".alpha").exp()),
          amplitude(reader.plain(name + ".beta").exp().add_(1e-9).reciprocal_())
    {
    }

    at::Tensor operator()(const at::Tensor &x) const
    {
        return at::mul(x, frequency).sin_().square_().mul_(amplitude).add_(x);
    }
};

// A convolution that keeps the length.
struct Conv {
    at::Tensor weight; // [out, in, kernel]
    at::Tensor bias;   // undefined: none
    std::int64_t dilation = 1;

    at::Tensor operator()(const at::Tensor &x) const
    {
        const std::int64_t padding = (weight.size(2) - 1) * dilation / 2;
        const auto optionalBias = bias.defined() ? std::optional(bias) : std::nullopt;
        return at::conv1d(x, weight, optionalBias, 1, padding, dilation);
    }
};

Conv biasedConv(const Reader &reader, const std::string &name, std::int64_t dilation = 1)
{
    return {reader.folded(name), reader.plain(name + ".bias"), dilation};
}

struct ResidualUnit {
    Snake snake1;
    Conv conv1;
    Snake snake2;
    Conv conv2;

    ResidualUnit(const Reader &reader, const std::string &name, std::int64_t dilation)
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

    Block(const Reader &reader, const std::string &name, std::int64_t blockStride)
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
    const Reader reader(weights, type);
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
