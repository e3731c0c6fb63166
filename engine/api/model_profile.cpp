#include "engine/api/model_profile.h"

#include <fstream>
#include <nlohmann/json.hpp>

namespace engine {

namespace {

using Json = nlohmann::json;

PixelSize readSize(const Json &json)
{
    return {.width = json.at(0).get<int>(), .height = json.at(1).get<int>()};
}

Range readRange(const Json &json)
{
    return {.low = json.at(0).get<double>(), .high = json.at(1).get<double>()};
}

ModeDefaults readDefaults(const Json &json)
{
    return {.size = readSize(json.at("size")),
            .frames = json.at("frames").get<int>(),
            .fps = json.at("fps").get<double>(),
            .steps = json.at("steps").get<int>(),
            .guidance = json.at("guidance").get<double>(),
            .flowShift = json.at("flow_shift").get<double>()};
}

SizeTier readTier(const Json &tiers, const std::string &key)
{
    const Json &json = tiers.at(key);
    SizeTier tier;
    tier.name = json.value("name", key);
    tier.trainedFrames = readRange(json.at("trained_frames"));
    for (const Json &size : json.at("sizes"))
        tier.sizes.push_back(readSize(size));
    return tier;
}

bool matches(const Json &json, const ModelMarks &marks)
{
    return json.at("backbone").get<std::string>() == marks.backbone &&
           json.at("hidden_size").get<std::int64_t>() == marks.hiddenSize &&
           json.at("layers").get<std::int64_t>() == marks.layers &&
           json.at("heads").get<std::int64_t>() == marks.heads &&
           json.at("key_value_heads").get<std::int64_t>() == marks.keyValueHeads &&
           json.at("head_dim").get<std::int64_t>() == marks.headDim &&
           json.at("spatial_factor").get<std::int64_t>() == marks.spatialFactor;
}

// What models and families have in common.
ModelProfile readCommon(const Json &json, const Json &tiers)
{
    ModelProfile profile;
    for (const Json &key : json.at("tiers"))
        profile.tiers.push_back(readTier(tiers, key.get<std::string>()));
    profile.video = readDefaults(json.at("video"));
    profile.image = readDefaults(json.at("image"));
    return profile;
}

ModelProfile readKnown(const Json &json, const Json &tiers)
{
    ModelProfile profile = readCommon(json, tiers);
    profile.name = json.at("name").get<std::string>();
    profile.isKnown = true;
    profile.defaultNegativePrompt = json.at("negative_prompt").get<std::string>();
    profile.defaultImageNegativePrompt = json.at("image_negative_prompt").get<std::string>();
    profile.trainedFrames = readRange(json.at("trained_frames"));
    profile.trainedFps = readRange(json.at("trained_fps"));
    return profile;
}

ModelProfile choose(const Json &json, const ModelMarks &marks)
{
    const Json &tiers = json.at("tiers");
    for (const Json &model : json.at("models"))
        if (matches(model.at("marks"), marks))
            return readKnown(model, tiers);
    ModelProfile profile = readCommon(json.at("families").at(marks.backbone), tiers);
    profile.name = "unknown model";
    return profile;
}

} // namespace

std::variant<ModelProfile, EngineError> profileFor(const ModelMarks &marks, const std::filesystem::path &profilesFile)
{
    std::ifstream stream(profilesFile);
    if (!stream)
        return EngineError{ErrorCode::ModelFiles,
                           "The file with the models' defaults is missing: " + profilesFile.string() +
                               "; install the program's resources again."};
    try {
        return choose(Json::parse(stream), marks);
    } catch (const Json::exception &error) {
        return EngineError{ErrorCode::ModelFiles,
                           "The file with the models' defaults is damaged: " + profilesFile.string() +
                               "; install the program's resources again.",
                           error.what()};
    }
}

} // namespace engine
