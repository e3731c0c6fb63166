#include "engine/api/outcome.h"
#include "engine/model/cosmos_transformer.h"
#include "tests/support/golden.h"
#include "tests/support/tensors.h"

#include <ATen/ops/stack.h>
#include <c10/core/InferenceMode.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

namespace {

using Json = nlohmann::json;

struct Network {
    Network(const std::string &model, at::ScalarType type)
        : weights(golden::checkpoint(model) / "transformer"),
          config(engine::readTransformerConfig(
              engine::readTextFile(golden::checkpoint(model) / "transformer" / "config.json"), "config.json")),
          transformer(config, engine::WeightLoader(weights, type, at::kCPU))
    {
    }
    engine::WeightIndex weights;
    engine::TransformerConfig config;
    engine::CosmosTransformer transformer;
};

// "tiny-nano.odd.pos.fp32.velocity_t999"
struct EntryName {
    explicit EntryName(const std::string &name)
    {
        std::istringstream stream(name);
        std::getline(stream, model, '.');
        std::getline(stream, caseName, '.');
        std::getline(stream, branch, '.');
        std::getline(stream, type, '.');
        std::getline(stream, what);
    }
    std::string model, caseName, branch, type, what;
};

using Stages = std::map<std::string, at::Tensor>;

// Everything the table has of one pass.
Stages runPass(const Network &network, const golden::Table &table, const EntryName &name, const Json &inputs)
{
    const c10::InferenceMode inference;
    const auto options = network.transformer.options();
    const auto stem = name.model + "." + name.caseName + ".";
    engine::LatentInput input;
    input.vision = golden::tensor(table, stem + "latent").to(options);
    input.timestep = inputs["timestep"];
    engine::SequenceLayout layout;
    layout.fps = inputs["fps"];
    layout.geometry.frames = input.vision.size(1);
    layout.geometry.height = input.vision.size(2);
    layout.geometry.width = input.vision.size(3);
    if (name.caseName == "sound") {
        input.sound = golden::tensor(table, stem + "sound_latent").to(options);
        layout.geometry.soundTokens = input.sound.size(1);
    }
    if (name.caseName == "action") {
        input.action = golden::tensor(table, stem + "action_latent").to(options);
        input.actionDomain = inputs["domain_id"];
        layout.actionTokens = input.action.size(0);
    }
    if (inputs.contains("clean_frames"))
        input.cleanFrames = inputs["clean_frames"].get<std::vector<std::int64_t>>();

    std::map<std::string, std::vector<at::Tensor>> layers;
    const engine::Probe probe = [&](std::string_view stage, std::int64_t, const at::Tensor &value) {
        layers[std::string(stage)].push_back(value.clone());
    };
    const engine::RankContext context;
    const auto branch =
        network.transformer.prepareBranch(inputs["token_ids"].get<std::vector<int>>(), layout, context, probe);
    const auto velocity = network.transformer.velocity(branch, input, context, probe);
    const auto time = "_t" + std::to_string(static_cast<int>(input.timestep));
    Stages stages{{"velocity" + time, velocity.vision},           {"sound_velocity" + time, velocity.sound},
                  {"action_velocity" + time, velocity.action},    {"und_k", at::stack(branch.und.keys)},
                  {"und_v", at::stack(branch.und.values)},        {"gen_in", layers["gen_in"].front()},
                  {"gen_hidden", at::stack(layers["gen_hidden"])}};
    if (!layers["und_hidden"].empty())
        stages["und_hidden"] = at::stack(layers["und_hidden"]);
    return stages;
}

// The last layer's understanding stream is not computed: the table's last row is left out.
std::vector<float> comparable(const golden::Table &table, const std::string &name, const EntryName &parts)
{
    auto reference = table.floats(name);
    if (parts.what == "und_hidden")
        reference.resize(reference.size() - reference.size() / static_cast<std::size_t>(table.shape(name)[0]));
    return reference;
}

TEST(CosmosTransformer, EveryStageEqualsTheReferenceTable)
{
    const golden::Table table("transformer");
    const auto index = Json::parse(golden::json("transformer"));
    std::map<std::string, std::unique_ptr<Network>> networks;
    std::map<std::string, Stages> passes;
    int compared = 0;
    double worstFp32 = 0;
    for (const auto &entry : index["entries"]) {
        const auto name = entry["tensor"].get<std::string>();
        if (entry["tolerance"] == "exact")
            continue; // an input
        const EntryName parts(name);
        const bool isBf16 = parts.type == "bf16";
        auto &network = networks[parts.model + parts.type];
        if (!network)
            network = std::make_unique<Network>(parts.model, isBf16 ? at::kBFloat16 : at::kFloat);
        const auto time = std::to_string(entry["inputs"]["timestep"].get<int>());
        auto &stages = passes[parts.model + parts.caseName + parts.branch + parts.type + time];
        if (stages.empty())
            stages = runPass(*network, table, parts, entry["inputs"]);
        ASSERT_TRUE(stages.contains(parts.what)) << name;
        const auto ours = golden::values(stages[parts.what]);
        const auto reference = comparable(table, name, parts);
        ++compared;
        const double error = golden::relativeError(ours, reference);
        if (!isBf16) {
            EXPECT_LE(error, golden::kFp32) << name;
            worstFp32 = std::max(worstFp32, error);
            continue;
        }
        EXPECT_LE(error, golden::kBf16) << name;
        auto exactName = name;
        exactName.replace(exactName.find(".bf16."), 6, ".fp32.");
        if (table.has(exactName)) {
            EXPECT_LE(golden::relativeError(ours, comparable(table, exactName, parts)),
                      golden::kBf16OwnErrorFactor * entry["own_error"].get<double>())
                << name;
        }
    }
    EXPECT_GE(compared, 100);
    RecordProperty("worst_fp32", std::to_string(worstFp32));
    std::printf("%d tensors compared, largest fp32 error %.2g\n", compared, worstFp32);
}

TEST(CosmosTransformer, RefusesATokenTheNetworkDoesNotKnow)
{
    const Network network("tiny-edge", at::kFloat);
    engine::SequenceLayout layout;
    layout.geometry.height = 2;
    layout.geometry.width = 2;
    EXPECT_THROW((void)network.transformer.prepareBranch({1, 2000000}, layout, {}), engine::EngineFailure);
}

} // namespace
