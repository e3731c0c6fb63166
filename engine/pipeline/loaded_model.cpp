#include "engine/pipeline/loaded_model.h"

#include "engine/checkpoint/expected_weights.h"

#include <algorithm>
#include <utility>

namespace engine {

namespace {

// Tensor counts over all parts of the checkpoint, for one progress bar.
struct TensorCount {
    explicit TensorCount(const CheckpointFiles &files)
        : transformer(static_cast<int>(expectedTransformerWeights(files.transformer).size())),
          vae(static_cast<int>(expectedVaeDecoderWeights(files.vae).size()))
    {
    }
    [[nodiscard]] int all() const { return transformer + vae; }
    int transformer;
    int vae;
};

WeightLoader::Progress counted(const LoadedModel::Progress &progress, int before, int all)
{
    if (!progress)
        return {};
    return [&progress, before, all](int tensors) { progress(std::min(before + tensors, all), all); };
}

std::optional<SoundDecoder> loadSoundDecoder(const CheckpointFiles &files, const DeviceChoice &device)
{
    if (!files.profile.hasSound || !files.soundWeights || !files.sound)
        return std::nullopt;
    const WeightLoader load(*files.soundWeights, at::kFloat, device.device);
    const auto weights = [&load](const std::string &name) { return load.has(name) ? load(name) : at::Tensor(); };
    return SoundDecoder(*files.sound, weights, device.type);
}

} // namespace

LoadedModel::LoadedModel(std::shared_ptr<const CheckpointFiles> checkpoint, const DeviceChoice &device,
                         const Progress &progress)
    : files(std::move(checkpoint)),
      transformer(files->transformer, WeightLoader(*files->transformerWeights, device.type, device.device,
                                                   counted(progress, 0, TensorCount(*files).all()))),
      decoder(files->vae, WeightLoader(*files->vaeWeights, device.type, device.device,
                                       counted(progress, TensorCount(*files).transformer, TensorCount(*files).all()))),
      soundDecoder(loadSoundDecoder(*files, device))
{
    // The networks own their weights now: the pages of the mapped files go back to the system's cache.
    files->transformerWeights->releasePages();
    files->vaeWeights->releasePages();
    if (files->soundWeights)
        files->soundWeights->releasePages();
}

} // namespace engine
