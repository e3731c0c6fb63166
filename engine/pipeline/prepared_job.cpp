#include "engine/pipeline/prepared_job.h"

#include <algorithm>

namespace engine {

bool PreparedJob::needsNegative() const
{
    return std::any_of(guidance.begin(), guidance.end(), [](double scale) { return scale != 1; });
}

PreparedJob prepareJob(const CheckpointFiles &files, const ResolvedRequest &request)
{
    if (request.sound && !files.profile.hasSound)
        throw EngineFailure(ErrorCode::InvalidRequest, files.profile.name + " has no sound; leave --sound out.");
    PreparedJob job;
    job.request = request;
    job.tokens = tokenizePrompts(files, request);
    job.layout.fps = request.fps;
    job.layout.geometry = latentGeometry(request.size.width, request.size.height, request.frames,
                                         files.vae.spatialFactor(), files.vae.temporalFactor());
    job.layout.geometry.channels = files.transformer.latentChannels;
    job.layout.geometry.patch = files.transformer.latentPatch;
    if (request.sound)
        job.layout.geometry.soundTokens =
            soundTokenCount(request.frames, request.fps, files.sound->sampleRate, files.sound->hopSize);
    job.schedule = sigmaSchedule(request.grid, request.steps, request.flowShift,
                                 {.sigmaMin = files.scheduler.sigmaMin, .sigmaMax = files.scheduler.sigmaMax});
    job.guidance = guidancePerStep(request, job.schedule);
    return job;
}

} // namespace engine
