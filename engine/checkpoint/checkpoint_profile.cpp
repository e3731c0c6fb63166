#include "engine/checkpoint/checkpoint_profile.h"

#include "engine/text/python_json.h"
#include "engine/text/unicode_text.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>

namespace engine {

namespace {

// A default that says "file:<path>" is the text of that file in the checkpoint; a JSON object goes through Python's
// reader and writer, as in the framework.
void resolveFilePrompt(std::string &prompt, std::string &note, const std::filesystem::path &checkpoint)
{
    constexpr std::string_view kPrefix = "file:";
    if (!prompt.starts_with(kPrefix))
        return;
    const auto name = prompt.substr(kPrefix.size());
    prompt.clear();
    std::error_code ignored;
    if (!std::filesystem::exists(checkpoint / name, ignored)) {
        note = "The checkpoint has no " + name + ", so the default negative prompt is empty.";
        return;
    }
    prompt = readTextFile(checkpoint / name, 1 << 20);
    if (replaceInvalidUtf8(prompt) != prompt)
        throw EngineFailure(ErrorCode::ModelFiles, name + " is not UTF-8 text; download the file again.");
    if (const auto object = PythonJsonObject::parse(prompt))
        prompt = object->dump();
}

} // namespace

ModelProfile checkpointProfile(const CheckpointFiles &files, bool hasSound)
{
    const auto &network = files.transformer;
    ModelMarks marks{.backbone = network.isNemotron ? "nemotron" : "qwen",
                     .hiddenSize = network.hiddenSize,
                     .layers = network.layers,
                     .heads = network.heads,
                     .keyValueHeads = network.keyValueHeads,
                     .headDim = network.headDim,
                     .hasSound = hasSound};
    if (files.vaeWeights)
        marks.spatialFactor = files.vae.spatialFactor();
    auto found = profileFor(marks, resourceFolder() / "model_profiles.json");
    if (auto *error = std::get_if<EngineError>(&found))
        throw EngineFailure(std::move(*error));
    auto profile = std::get<ModelProfile>(std::move(found));
    if (files.vaeWeights) {
        profile.spatialFactor = static_cast<int>(files.vae.spatialFactor());
        profile.temporalFactor = static_cast<int>(files.vae.temporalFactor());
    }
    profile.latentPatch = static_cast<int>(network.latentPatch);
    profile.latentChannels = static_cast<int>(network.latentChannels);
    profile.attentionHeads = static_cast<int>(network.heads);
    profile.keyValueHeads = static_cast<int>(network.keyValueHeads);
    profile.layers = static_cast<int>(network.layers);
    profile.hasSound = hasSound;
    resolveFilePrompt(profile.defaultNegativePrompt, profile.defaultNegativeNote, files.folder);
    resolveFilePrompt(profile.defaultImageNegativePrompt, profile.defaultNegativeNote, files.folder);
    return profile;
}

} // namespace engine
