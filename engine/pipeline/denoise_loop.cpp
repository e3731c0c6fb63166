#include "engine/pipeline/denoise_loop.h"

#include "engine/api/outcome.h"
#include "engine/sampling/guidance.h"
#include "engine/sampling/noise_source.h"

#include <ATen/ops/empty.h>

#include <cmath>
#include <span>
#include <string>
#include <utility>

namespace engine {

namespace {

at::Tensor noise(std::uint32_t seed, at::IntArrayRef shape)
{
    auto values = at::empty(shape, at::kFloat);
    Mt19937Normal(seed).fill({values.data_ptr<float>(), static_cast<std::size_t>(values.numel())});
    return values;
}

at::Tensor start(at::Tensor noise, const std::optional<Condition> &condition, const at::Device &device)
{
    if (condition)
        for (const auto frame : condition->cleanFrames)
            noise.select(1, frame).copy_(condition->cleanLatents.select(1, frame));
    return noise.to(device);
}

void checkFinite(const at::Tensor &velocity, int step)
{
    if (velocity.defined() && !std::isfinite(velocity.sum(at::kFloat).item<float>()))
        throw EngineFailure(ErrorCode::Internal, "The network gave numbers that are not finite at step " +
                                                     std::to_string(step + 1) +
                                                     "; the weights are damaged, or bfloat16 overflows: try --dtype float32.");
}

} // namespace

Latents initialNoise(const PreparedJob &job, const TransformerConfig &config)
{
    const auto &geometry = job.layout.geometry;
    Latents latents;
    latents.vision = noise(job.request.seed, {geometry.channels, geometry.frames, geometry.height, geometry.width});
    if (geometry.soundTokens > 0)
        latents.sound = noise(job.request.seed, {config.soundDim, geometry.soundTokens});
    return latents;
}

DenoiseLoop::DenoiseLoop(const CosmosTransformer &transformer, const PreparedJob &job, Latents noise,
                         const std::optional<Condition> &condition, const RankContext &context)
    : m_transformer(transformer), m_job(job), m_context(context),
      m_cleanFrames(condition ? condition->cleanFrames : std::vector<std::int64_t>()),
      m_positive(transformer.prepareBranch(job.tokens.positive.tokenIds, job.layout, context)),
      m_vision(start(std::move(noise.vision), condition, transformer.options().device()), job.schedule)
{
    if (job.needsNegative())
        m_negative = transformer.prepareBranch(job.tokens.negative.tokenIds, job.layout, context);
    if (noise.sound.defined())
        m_sound.emplace(noise.sound.to(transformer.options().device()), job.schedule);
}

Velocity DenoiseLoop::guidedVelocity(const LatentInput &input, double scale) const
{
    if (scale == 1)
        return m_transformer.velocity(m_positive, input, m_context);
    const auto negative = m_transformer.velocity(*m_negative, input, m_context);
    const auto positive = m_transformer.velocity(m_positive, input, m_context);
    Velocity guided;
    guided.vision = guide(positive.vision, negative.vision, scale);
    if (input.sound.defined())
        guided.sound = guide(positive.sound, negative.sound, scale);
    return guided;
}

void DenoiseLoop::advance()
{
    const auto index = static_cast<std::size_t>(step());
    const auto type = m_transformer.options().dtype();
    LatentInput input;
    input.vision = m_vision.state().to(type);
    if (m_sound)
        input.sound = m_sound->state().to(type);
    input.cleanFrames = m_cleanFrames;
    input.timestep = m_job.schedule.timesteps[index];
    m_lastVelocity = guidedVelocity(input, m_job.guidance[index]);
    checkFinite(m_lastVelocity.vision, step());
    checkFinite(m_lastVelocity.sound, step());
    m_vision.advance(m_lastVelocity.vision);
    if (m_sound)
        m_sound->advance(m_lastVelocity.sound);
}

Latents DenoiseLoop::latents() const
{
    return {m_vision.state(), m_sound ? m_sound->state() : at::Tensor()};
}

} // namespace engine
