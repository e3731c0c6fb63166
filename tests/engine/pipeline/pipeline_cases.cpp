#include "tests/engine/pipeline/pipeline_cases.h"

#include "tests/support/golden.h"

#include <gtest/gtest.h>

#include <map>

namespace pipeline_cases {

engine::ResolvedRequest request(const Json &parameters)
{
    engine::ResolvedRequest request;
    request.prompt = parameters["prompt"];
    request.negativePrompt = parameters["negative_prompt"];
    request.size = {parameters["width"], parameters["height"]};
    request.frames = parameters["frames"];
    request.mode = request.frames == 1 ? engine::Mode::TextToImage : engine::Mode::TextToVideo;
    request.fps = parameters["fps"];
    request.steps = parameters["steps"];
    request.guidance.assign(static_cast<std::size_t>(request.steps), parameters["guidance"].get<double>());
    request.flowShift = parameters["shift"];
    request.seed = parameters["seed"];
    request.sound = parameters.value("sound", false);
    if (parameters.contains("aspect_ratio") && parameters["aspect_ratio"].is_string()) {
        const auto text = parameters["aspect_ratio"].get<std::string>();
        const auto comma = text.find(',');
        request.aspectRatio = engine::AspectRatio{std::stoi(text.substr(0, comma)), std::stoi(text.substr(comma + 1))};
    }
    return request;
}

std::filesystem::path folder(const std::string &name)
{
    return name == "demo" ? golden::demoWorld() / "checkpoint" : golden::checkpoint(name);
}

engine::LoadedModel &model(const std::string &name, at::ScalarType type)
{
    static std::map<std::pair<std::string, at::ScalarType>, std::unique_ptr<engine::LoadedModel>> models;
    auto &found = models[{name, type}];
    if (!found) {
        engine::DeviceChoice device;
        device.type = type;
        found = std::make_unique<engine::LoadedModel>(engine::openCheckpoint(folder(name)), device,
                                                      engine::LoadedModel::Progress());
    }
    return *found;
}

void expectSamePixels(const std::vector<std::uint8_t> &ours, const std::vector<std::int64_t> &reference,
                      const std::string &name)
{
    ASSERT_EQ(ours.size(), reference.size()) << name;
    std::size_t different = 0;
    std::int64_t largest = 0;
    for (std::size_t i = 0; i < ours.size(); ++i) {
        const auto difference = std::abs(static_cast<std::int64_t>(ours[i]) - reference[i]);
        different += difference != 0 ? 1U : 0U;
        largest = std::max(largest, difference);
    }
    EXPECT_LE(largest, 1) << name;
    EXPECT_LE(static_cast<double>(different), 0.01 * static_cast<double>(reference.size())) << name;
}

} // namespace pipeline_cases
