#include "engine/checkpoint/expected_weights.h"

#include <string>
#include <utility>

namespace engine {

namespace {

using Shape = std::vector<std::int64_t>;

// Collects expected tensors in the order they are named.
class WeightList {
public:
    void add(std::string name, Shape shape, bool optional = false)
    {
        m_weights.push_back({.name = std::move(name), .shape = std::move(shape), .optional = optional || m_optional});
    }
    void addLinear(const std::string &name, std::int64_t out, std::int64_t in)
    {
        add(name + ".weight", {out, in});
        add(name + ".bias", {out});
    }
    void setOptional(bool optional) { m_optional = optional; }
    std::vector<ExpectedWeight> take() { return std::move(m_weights); }

private:
    std::vector<ExpectedWeight> m_weights;
    bool m_optional = false; // whether what follows is read only where it is there
};

void addMlp(WeightList &list, const std::string &name, const TransformerConfig &config)
{
    if (config.mlp == MlpKind::SwiGlu)
        list.add(name + ".gate_proj.weight", {config.intermediateSize, config.hiddenSize});
    list.add(name + ".up_proj.weight", {config.intermediateSize, config.hiddenSize});
    list.add(name + ".down_proj.weight", {config.hiddenSize, config.intermediateSize});
}

// Of the last understanding layer generation reads the keys and values alone (cosmos3 reference 3.1).
void addUnderstandingLayer(WeightList &list, const std::string &layer, const TransformerConfig &config, bool last)
{
    const auto hidden = config.hiddenSize;
    const auto queries = config.heads * config.headDim;
    const auto keys = config.keyValueHeads * config.headDim;
    const auto attention = layer + "self_attn.";
    list.add(layer + "input_layernorm.weight", {hidden});
    list.add(attention + "to_k.weight", {keys, hidden});
    list.add(attention + "to_v.weight", {keys, hidden});
    if (config.textQkNorm)
        list.add(attention + "norm_k.weight", {config.headDim});
    if (config.undKeyNormForGen)
        list.add(attention + "k_norm_und_for_gen.weight", {config.headDim});
    list.setOptional(last);
    list.add(attention + "to_q.weight", {queries, hidden});
    list.add(attention + "to_out.weight", {hidden, queries});
    if (config.textQkNorm)
        list.add(attention + "norm_q.weight", {config.headDim});
    list.add(layer + "post_attention_layernorm.weight", {hidden});
    addMlp(list, layer + "mlp", config);
    list.setOptional(false);
}

void addGenerationLayer(WeightList &list, const std::string &layer, const TransformerConfig &config)
{
    const auto hidden = config.hiddenSize;
    const auto queries = config.heads * config.headDim;
    const auto keys = config.keyValueHeads * config.headDim;
    const auto attention = layer + "self_attn.";
    list.add(layer + "input_layernorm_moe_gen.weight", {hidden});
    list.add(attention + "add_q_proj.weight", {queries, hidden});
    list.add(attention + "add_k_proj.weight", {keys, hidden});
    list.add(attention + "add_v_proj.weight", {keys, hidden});
    list.add(attention + "to_add_out.weight", {hidden, queries});
    if (config.generationQkNorm) {
        list.add(attention + "norm_added_q.weight", {config.headDim});
        list.add(attention + "norm_added_k.weight", {config.headDim});
    }
    list.add(layer + "post_attention_layernorm_moe_gen.weight", {hidden});
    addMlp(list, layer + "mlp_moe_gen", config);
}

void addConv3d(WeightList &list, const std::string &name, std::int64_t out, std::int64_t in, std::int64_t kernel)
{
    list.add(name + ".weight", {out, in, kernel, kernel, kernel});
    list.add(name + ".bias", {out});
}

void addResidualBlock(WeightList &list, const std::string &name, std::int64_t in, std::int64_t out)
{
    list.add(name + ".norm1.gamma", {in, 1, 1, 1});
    addConv3d(list, name + ".conv1", out, in, 3);
    list.add(name + ".norm2.gamma", {out, 1, 1, 1});
    addConv3d(list, name + ".conv2", out, out, 3);
    if (in != out)
        addConv3d(list, name + ".conv_shortcut", out, in, 1);
}

void addMidBlock(WeightList &list, const std::string &name, std::int64_t width)
{
    addResidualBlock(list, name + ".resnets.0", width, width);
    list.add(name + ".attentions.0.norm.gamma", {width, 1, 1});
    list.add(name + ".attentions.0.to_qkv.weight", {3 * width, width, 1, 1});
    list.add(name + ".attentions.0.to_qkv.bias", {3 * width});
    list.add(name + ".attentions.0.proj.weight", {width, width, 1, 1});
    list.add(name + ".attentions.0.proj.bias", {width});
    addResidualBlock(list, name + ".resnets.1", width, width);
}

// A 3x3 convolution in space and, where the stage also changes the frame count, one of three taps in time.
void addResample(WeightList &list, const std::string &name, std::int64_t width, std::int64_t timeOut)
{
    list.add(name + ".resample.1.weight", {width, width, 3, 3});
    list.add(name + ".resample.1.bias", {width});
    if (timeOut == 0)
        return;
    list.add(name + ".time_conv.weight", {timeOut, width, 3, 1, 1});
    list.add(name + ".time_conv.bias", {timeOut});
}

// A convolution with weight norm along its first axis, as PyTorch stores it.
void addNormedConv(WeightList &list, const std::string &name, const Shape &shape, std::int64_t bias)
{
    list.add(name + ".weight_g", {shape.front(), 1, 1});
    list.add(name + ".weight_v", shape);
    if (bias > 0)
        list.add(name + ".bias", {bias});
}

void addSnake(WeightList &list, const std::string &name, std::int64_t channels)
{
    list.add(name + ".alpha", {1, channels, 1});
    list.add(name + ".beta", {1, channels, 1});
}

} // namespace

std::vector<ExpectedWeight> expectedTransformerWeights(const TransformerConfig &config)
{
    WeightList list;
    const auto hidden = config.hiddenSize;
    constexpr std::int64_t kTimeFrequencies = 256;
    list.add("embed_tokens.weight", {config.vocabulary, hidden});
    list.addLinear("proj_in", hidden, config.patchDim());
    list.addLinear("proj_out", config.patchDim(), hidden);
    list.addLinear("time_embedder.linear_1", hidden, kTimeFrequencies);
    list.addLinear("time_embedder.linear_2", hidden, hidden);
    list.add("norm_moe_gen.weight", {hidden});
    if (config.sound) {
        list.setOptional(true); // specialised checkpoints leave the sound heads out
        list.addLinear("audio_proj_in", hidden, config.soundDim);
        list.addLinear("audio_proj_out", config.soundDim, hidden);
        list.add("audio_modality_embed", {hidden});
        list.setOptional(false);
    }
    for (std::int64_t i = 0; i < config.layers; ++i) {
        const auto layer = "layers." + std::to_string(i) + ".";
        addUnderstandingLayer(list, layer, config, i + 1 == config.layers);
        addGenerationLayer(list, layer, config);
    }
    return list.take();
}

std::vector<ExpectedWeight> expectedVaeDecoderWeights(const VaeConfig &config)
{
    WeightList list;
    const auto stages = config.dimMult.size();
    auto width = config.decoderBaseDim * config.dimMult.back();
    addConv3d(list, "post_quant_conv", config.zDim, config.zDim, 1);
    addConv3d(list, "decoder.conv_in", width, config.zDim, 3);
    addMidBlock(list, "decoder.mid_block", width);
    for (std::size_t i = 0; i < stages; ++i) {
        const auto block = "decoder.up_blocks." + std::to_string(i);
        const auto out = config.decoderBaseDim * config.dimMult[stages - 1 - i];
        for (std::int64_t r = 0; r <= config.resBlocks; ++r)
            addResidualBlock(list, block + ".resnets." + std::to_string(r), r == 0 ? width : out, out);
        width = out;
        if (i + 1 < stages)
            addResample(list, block + ".upsampler", width, config.temporalDownsample[stages - 2 - i] ? 2 * width : 0);
    }
    list.add("decoder.norm_out.gamma", {width, 1, 1, 1});
    addConv3d(list, "decoder.conv_out", config.outChannels, width, 3);
    return list.take();
}

std::vector<ExpectedWeight> expectedVaeEncoderWeights(const VaeConfig &config)
{
    WeightList list;
    list.setOptional(true); // generation from text alone never encodes
    const auto stages = config.dimMult.size();
    auto width = config.baseDim;
    addConv3d(list, "encoder.conv_in", width, config.inChannels, 3);
    for (std::size_t i = 0; i < stages; ++i) {
        const auto block = "encoder.down_blocks." + std::to_string(i);
        const auto out = config.baseDim * config.dimMult[i];
        for (std::int64_t r = 0; r < config.resBlocks; ++r)
            addResidualBlock(list, block + ".resnets." + std::to_string(r), r == 0 ? width : out, out);
        width = out;
        if (i + 1 < stages)
            addResample(list, block + ".downsampler", width, config.temporalDownsample[i] ? width : 0);
    }
    addMidBlock(list, "encoder.mid_block", width);
    list.add("encoder.norm_out.gamma", {width, 1, 1, 1});
    addConv3d(list, "encoder.conv_out", 2 * config.zDim, width, 3);
    addConv3d(list, "quant_conv", 2 * config.zDim, 2 * config.zDim, 1);
    return list.take();
}

std::vector<ExpectedWeight> expectedSoundDecoderWeights(const SoundConfig &config)
{
    WeightList list;
    const auto stages = config.strides.size();
    auto width = config.decoderDim * config.channelMults.back();
    addNormedConv(list, "decoder.conv1", {width, config.latentDim, 7}, width);
    for (std::size_t i = 0; i < stages; ++i) {
        const auto block = "decoder.block." + std::to_string(i);
        const auto below = stages - 1 - i; // strides and widths are listed from the output side
        const auto out = below == 0 ? config.decoderDim : config.decoderDim * config.channelMults[below - 1];
        addSnake(list, block + ".snake1", width);
        addNormedConv(list, block + ".conv_t1", {width, out, 2 * config.strides[below]},
                      out); // transposed: [in, out, k]
        for (int unit = 1; unit <= 3; ++unit) {
            const auto name = block + ".res_unit" + std::to_string(unit);
            addSnake(list, name + ".snake1", out);
            addNormedConv(list, name + ".conv1", {out, out, 7}, out);
            addSnake(list, name + ".snake2", out);
            addNormedConv(list, name + ".conv2", {out, out, 1}, out);
        }
        width = out;
    }
    addSnake(list, "decoder.snake1", width);
    addNormedConv(list, "decoder.conv2", {config.outChannels, width, 7}, 0);
    return list.take();
}

} // namespace engine
