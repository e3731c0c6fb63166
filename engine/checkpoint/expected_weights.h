#pragma once

#include "engine/checkpoint/model_config.h"
#include "engine/weights/weight_index.h"

#include <vector>

namespace engine {

// Every tensor generation reads, with its shape, from the configuration alone.
std::vector<ExpectedWeight> expectedTransformerWeights(const TransformerConfig &config);
std::vector<ExpectedWeight> expectedVaeDecoderWeights(const VaeConfig &config);
std::vector<ExpectedWeight> expectedVaeEncoderWeights(const VaeConfig &config);
std::vector<ExpectedWeight> expectedSoundDecoderWeights(const SoundConfig &config); // with weight_g / weight_v

} // namespace engine
