#include "app/cli/inspect_command.h"

#include "app/cli/exit_codes.h"
#include "app/cli/text_files.h"
#include "app/cli/value_or_throw.h"
#include "engine/api/checkpoint.h"

#include <filesystem>
#include <iomanip>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

namespace app {

namespace {

using Json = nlohmann::json;

std::string bytesText(std::int64_t bytes)
{
    std::ostringstream text;
    if (bytes < 1'000'000)
        return std::to_string((bytes + 999) / 1000) + " kB";
    text << std::fixed << std::setprecision(bytes < 100'000'000 ? 1 : 0) << static_cast<double>(bytes) / 1e6 << " MB";
    return text.str();
}

std::string millions(std::int64_t count)
{
    std::ostringstream text;
    text << std::fixed << std::setprecision(count < 100'000'000 ? 2 : 0) << static_cast<double>(count) / 1e6
         << " million";
    return text.str();
}

std::string defaultsText(const engine::ModeDefaults &defaults, bool isImage)
{
    std::ostringstream text;
    text << defaults.size.width << "x" << defaults.size.height;
    if (!isImage)
        text << ", " << defaults.frames << " frames at " << defaults.fps << " a second";
    text << ", " << defaults.steps << " steps, guidance " << defaults.guidance << ", flow shift " << defaults.flowShift;
    return text.str();
}

std::string partState(const engine::CheckpointPart &part)
{
    if (!part.present)
        return part.required ? "MISSING" : "not there (not needed)";
    auto text = bytesText(part.bytes);
    if (part.tensors > 0)
        text += ", " + std::to_string(part.tensors) + " tensors";
    if (!part.missing.empty())
        text += ", " + std::to_string(part.missing.size()) + " MISSING: " + part.missing.front() +
                (part.missing.size() > 1 ? ", …" : "");
    if (!part.unknown.empty())
        text += ", " + std::to_string(part.unknown.size()) + " not used here: " + part.unknown.front() +
                (part.unknown.size() > 1 ? ", …" : "");
    return text;
}

std::string table(const engine::Checkpoint &checkpoint)
{
    const auto &profile = checkpoint.profile();
    const auto &summary = checkpoint.summary();
    std::ostringstream text;
    text << "model        " << profile.name << "\n"
         << "folder       " << checkpoint.folder().string() << "\n"
         << "variant      " << summary.variant << "\n"
         << "parameters   " << millions(summary.parameters) << ", stored as " << summary.weightType << "\n"
         << "network      " << profile.layers << " layers, hidden " << summary.hiddenSize << ", "
         << profile.attentionHeads << " query and " << profile.keyValueHeads << " key/value heads of "
         << summary.headDim << ", vocabulary " << summary.vocabulary << "\n"
         << "latents      " << profile.latentChannels << " channels, 1/" << profile.spatialFactor << " of each side, 1/"
         << profile.temporalFactor << " of the frames\n"
         << "sound        " << (profile.hasSound ? "yes" : "no") << "\n"
         << "memory       " << bytesText(summary.memoryFloat32) << " in float32, " << bytesText(summary.memoryBFloat16)
         << " in bfloat16 (weights alone)\n"
         << "video        " << defaultsText(profile.video, false) << "\n"
         << "image        " << defaultsText(profile.image, true) << "\n"
         << "parts\n";
    for (const auto &part : summary.parts) {
        text << "  " << std::left << std::setw(16) << part.name << " " << partState(part) << "\n";
        if (!part.note.empty())
            text << "  " << std::setw(16) << ""
                 << " " << part.note << "\n";
    }
    const auto refusal = checkpoint.refusal();
    text << (refusal ? "It cannot generate: " + refusal->message : "It can generate.") << "\n";
    return text.str();
}

Json toJson(const engine::ModeDefaults &defaults)
{
    return {{"width", defaults.size.width}, {"height", defaults.size.height}, {"frames", defaults.frames},
            {"fps", defaults.fps},          {"steps", defaults.steps},        {"guidance", defaults.guidance},
            {"shift", defaults.flowShift}};
}

Json toJson(const engine::CheckpointPart &part)
{
    return {{"name", part.name},       {"present", part.present}, {"required", part.required}, {"bytes", part.bytes},
            {"tensors", part.tensors}, {"missing", part.missing}, {"unknown", part.unknown},   {"note", part.note}};
}

Json toJson(const engine::Checkpoint &checkpoint)
{
    const auto &profile = checkpoint.profile();
    const auto &summary = checkpoint.summary();
    const auto refusal = checkpoint.refusal();
    Json json{{"schema", "parallax.model/1"},
              {"name", profile.name},
              {"known", profile.isKnown},
              {"folder", checkpoint.folder().string()},
              {"variant", summary.variant},
              {"parameters", summary.parameters},
              {"weight_type", summary.weightType},
              {"layers", profile.layers},
              {"hidden_size", summary.hiddenSize},
              {"heads", profile.attentionHeads},
              {"key_value_heads", profile.keyValueHeads},
              {"head_dim", summary.headDim},
              {"vocabulary", summary.vocabulary},
              {"latent_channels", profile.latentChannels},
              {"spatial_factor", profile.spatialFactor},
              {"temporal_factor", profile.temporalFactor},
              {"sound", profile.hasSound},
              {"memory_bytes", {{"float32", summary.memoryFloat32}, {"bfloat16", summary.memoryBFloat16}}},
              {"defaults", {{"video", toJson(profile.video)}, {"image", toJson(profile.image)}}},
              {"default_negative_prompt", profile.defaultNegativePrompt},
              {"parts", Json::array()},
              {"refusal", refusal ? Json(refusal->message) : Json()}};
    for (const auto &part : summary.parts)
        json["parts"].push_back(toJson(part));
    return json;
}

// Key and value a line, objects indented, long texts and lists shortened.
void printFields(const Json &json, const std::string &indent)
{
    constexpr std::size_t most = 100;
    for (const auto &[key, value] : json.items()) {
        if (value.is_object()) {
            std::cout << indent << key << "\n";
            printFields(value, indent + "  ");
        } else if (!value.empty() && value != "") { // empty: null and what has no elements
            const auto text = value.is_string() ? value.get<std::string>() : value.dump();
            const bool isLong = value.is_array() && text.size() > most;
            std::cout << indent << std::left << std::setw(26) << key << " "
                      << (isLong ? std::to_string(value.size()) + " values" : text) << "\n";
        }
    }
}

// As it is stored, once it has proved to be a record.
void showRecord(const std::string &file, bool json)
{
    const auto text = readRecordFile(file);
    valueOrThrow(engine::jobRecordFromJson(text, file));
    const auto record = Json::parse(text);
    if (json)
        std::cout << record.dump() << "\n";
    else
        printFields(record, "");
}

} // namespace

int runInspect(const std::string &target, bool json)
{
    std::error_code error;
    if (std::filesystem::is_regular_file(target, error)) {
        showRecord(target, json);
        return kExitDone;
    }
    const auto checkpoint = valueOrThrow(engine::Checkpoint::open(valueOrThrow(engine::findModel(target))));
    if (json)
        std::cout << toJson(checkpoint).dump(-1, ' ', false, Json::error_handler_t::replace) << "\n";
    else
        std::cout << table(checkpoint);
    return kExitDone;
}

} // namespace app
