#pragma once

#include "engine/pipeline/loaded_model.h"
#include "engine/pipeline/prepared_job.h"

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

// The sampling cases of the reference tables as requests, and the models they run on.
namespace pipeline_cases {

using Json = nlohmann::json;

engine::ResolvedRequest request(const Json &parameters);
// "tiny-nano", "tiny-super", "tiny-edge" or "demo". Loaded once per type and kept.
engine::LoadedModel &model(const std::string &name, at::ScalarType type);
std::filesystem::path folder(const std::string &name);

// uint8 frames within one level and at most one value in a hundred different.
void expectSamePixels(const std::vector<std::uint8_t> &ours, const std::vector<std::int64_t> &reference,
                      const std::string &name);

} // namespace pipeline_cases
