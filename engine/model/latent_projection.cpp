#include "engine/model/latent_projection.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/cos.h>
#include <ATen/ops/exp.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/silu.h>
#include <ATen/ops/sin.h>

#include <cmath>

namespace engine {

namespace {

constexpr std::int64_t kTimeFrequencies = 128; // cos and sin of each: 256 values (cosmos3 reference 3.3)
constexpr double kTimePeriod = 10000;

std::int64_t padding(std::int64_t extent, std::int64_t patch)
{
    return (patch - extent % patch) % patch;
}

std::int64_t visionTokens(const at::Tensor &vision, std::int64_t patch)
{
    return vision.size(1) * ((vision.size(2) + patch - 1) / patch) * ((vision.size(3) + patch - 1) / patch);
}

} // namespace

at::Tensor patchify(const at::Tensor &latents, std::int64_t patch)
{
    const auto channels = latents.size(0);
    const auto frames = latents.size(1);
    const auto bottom = padding(latents.size(2), patch);
    const auto right = padding(latents.size(3), patch);
    const auto padded = bottom + right == 0 ? latents : at::constant_pad_nd(latents, {0, right, 0, bottom});
    const auto rows = padded.size(2) / patch;
    const auto columns = padded.size(3) / patch;
    return padded.reshape({channels, frames, rows, patch, columns, patch})
        .permute({1, 2, 4, 3, 5, 0})
        .reshape({frames * rows * columns, patch * patch * channels});
}

at::Tensor unpatchify(const at::Tensor &tokens, const std::vector<std::int64_t> &latentShape, std::int64_t patch)
{
    const auto channels = latentShape[0];
    const auto frames = latentShape[1];
    const auto rows = (latentShape[2] + patch - 1) / patch;
    const auto columns = (latentShape[3] + patch - 1) / patch;
    return tokens.reshape({frames, rows, columns, patch, patch, channels})
        .permute({5, 0, 1, 3, 2, 4})
        .reshape({channels, frames, rows * patch, columns * patch})
        .narrow(2, 0, latentShape[2])
        .narrow(3, 0, latentShape[3])
        .contiguous();
}

LatentProjection::LatentProjection(const TransformerConfig &config, const WeightLoader &load) : m_config(config)
{
    m_projIn = Linear(load("proj_in.weight"), load("proj_in.bias").clone());
    m_projOut = Linear(load("proj_out.weight"), load("proj_out.bias").clone());
    const auto fp32 = [&](const std::string &name) { return load.load(name, at::kFloat).clone(); };
    m_time1Weight = fp32("time_embedder.linear_1.weight");
    m_time1Bias = fp32("time_embedder.linear_1.bias");
    m_time2Weight = fp32("time_embedder.linear_2.weight");
    m_time2Bias = fp32("time_embedder.linear_2.bias");
    m_finalNorm = RmsNorm(load("norm_moe_gen.weight"), config.normEpsilon,
                          config.isNemotron ? kernels::NormRounding::AfterWeight : kernels::NormRounding::BeforeWeight);
    if (config.sound && load.has("audio_proj_in.weight")) {
        m_soundIn = Linear(load("audio_proj_in.weight"), load("audio_proj_in.bias").clone());
        m_soundOut = Linear(load("audio_proj_out.weight"), load("audio_proj_out.bias").clone());
        m_soundModality = load("audio_modality_embed").clone();
    }
    if (config.action && load.has("action_proj_in.fc.weight")) {
        m_actionInWeights = load.stored("action_proj_in.fc.weight");
        m_actionInBiases = load.stored("action_proj_in.bias.weight");
        m_actionOutWeights = load.stored("action_proj_out.fc.weight");
        m_actionOutBiases = load.stored("action_proj_out.bias.weight");
        m_actionModality = load("action_modality_embed").clone();
    }
}

at::Tensor LatentProjection::timeEmbedding(double timestep) const
{
    const auto options = m_time1Weight.options();
    const auto exponents =
        at::arange(kTimeFrequencies, options) * static_cast<float>(-std::log(kTimePeriod)) / kTimeFrequencies;
    const auto angles =
        at::exp(exponents) * (static_cast<float>(timestep) * static_cast<float>(m_config.timestepScale));
    const auto features = at::cat({at::cos(angles), at::sin(angles)}).unsqueeze(0);
    const auto inner = at::silu(at::linear(features, m_time1Weight, m_time1Bias));
    return at::linear(inner, m_time2Weight, m_time2Bias).squeeze(0);
}

at::Tensor LatentProjection::domainLinear(const at::Tensor &x, const at::Tensor &weights, const at::Tensor &biases,
                                          std::int64_t domain) const
{
    const auto bias = biases[domain].to(x.options());
    const auto weight = weights[domain].to(x.options()).reshape({x.size(1), bias.size(0)}); // [in, out]
    return x.matmul(weight) + bias;
}

at::Tensor LatentProjection::embed(const LatentInput &input) const
{
    const auto time = timeEmbedding(input.timestep).to(input.vision.scalar_type());
    std::vector<at::Tensor> parts{m_projIn(patchify(input.vision, m_config.latentPatch))};
    auto frames = parts[0].view({input.vision.size(1), -1, parts[0].size(1)}); // [T, tokens a frame, hidden]
    for (std::int64_t frame = 0, clean = 0; frame < frames.size(0); ++frame) {
        if (clean < static_cast<std::int64_t>(input.cleanFrames.size()) &&
            input.cleanFrames[static_cast<std::size_t>(clean)] == frame)
            ++clean;
        else
            frames[frame].add_(time);
    }
    if (input.sound.defined())
        parts.push_back(m_soundIn(input.sound.t().contiguous()) + m_soundModality + time);
    if (input.action.defined()) {
        auto tokens =
            domainLinear(input.action, m_actionInWeights, m_actionInBiases, input.actionDomain) + m_actionModality;
        tokens.narrow(0, input.cleanActions, tokens.size(0) - input.cleanActions).add_(time);
        parts.push_back(tokens);
    }
    return parts.size() == 1 ? parts[0] : at::cat(parts, 0);
}

Velocity LatentProjection::project(const at::Tensor &hidden, const LatentInput &input) const
{
    const auto vision = visionTokens(input.vision, m_config.latentPatch);
    Velocity velocity;
    velocity.vision = unpatchify(m_projOut(m_finalNorm(hidden.narrow(0, 0, vision))), input.vision.sizes().vec(),
                                 m_config.latentPatch);
    for (const auto frame : input.cleanFrames)
        velocity.vision.select(1, frame).zero_();
    auto offset = vision;
    if (input.sound.defined()) {
        const auto count = input.sound.size(1);
        velocity.sound = m_soundOut(m_finalNorm(hidden.narrow(0, offset, count))).t().contiguous();
        offset += count;
    }
    if (input.action.defined()) {
        const auto count = input.action.size(0);
        velocity.action = domainLinear(m_finalNorm(hidden.narrow(0, offset, count)), m_actionOutWeights,
                                       m_actionOutBiases, input.actionDomain);
        velocity.action.narrow(0, 0, input.cleanActions).zero_();
    }
    return velocity;
}

} // namespace engine
