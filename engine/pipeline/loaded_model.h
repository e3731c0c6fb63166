#pragma once

#include "engine/checkpoint/checkpoint_files.h"
#include "engine/model/cosmos_transformer.h"
#include "engine/pipeline/device_choice.h"
#include "engine/sound/sound_decoder.h"
#include "engine/vae/wan_decoder.h"

#include <functional>
#include <memory>
#include <optional>

namespace engine {

// One checkpoint's networks on one device. Made and used on its rank's thread.
struct LoadedModel {
    // Called after each tensor: finished tensors and all of them. May throw to stop loading.
    using Progress = std::function<void(int tensors, int all)>;

    LoadedModel(std::shared_ptr<const CheckpointFiles> checkpoint, const DeviceChoice &device, const Progress &progress);

    std::shared_ptr<const CheckpointFiles> files;
    CosmosTransformer transformer;
    WanDecoder decoder;
    std::optional<SoundDecoder> soundDecoder;
};

} // namespace engine
