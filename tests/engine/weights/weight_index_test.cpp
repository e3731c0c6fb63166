#include "engine/api/outcome.h"
#include "engine/weights/weight_index.h"
#include "tests/support/golden.h"
#include "tests/support/temporary_checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace {

using namespace engine;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Json = nlohmann::json;

const std::string kFirst = "transformer/diffusion_pytorch_model-00001-of-00002.safetensors";
const std::string kSecond = "transformer/diffusion_pytorch_model-00002-of-00002.safetensors";
const std::string kIndex = "transformer/diffusion_pytorch_model.safetensors.index.json";

std::string refusal(const std::filesystem::path &folder, const std::vector<ExpectedWeight> &expected = {})
{
    try {
        static_cast<void>(WeightIndex(folder).compare(expected));
    } catch (const EngineFailure &failure) {
        EXPECT_EQ(failure.error().code, ErrorCode::ModelFiles);
        return failure.error().message;
    }
    return "nothing was refused";
}

TEST(WeightIndex, FindsEveryTensorInItsShard)
{
    const auto folder = golden::checkpoint("tiny-edge") / "transformer";
    const WeightIndex weights(folder);
    const SafetensorsFile second(golden::checkpoint("tiny-edge") / kSecond);
    const auto view = weights.view("proj_out.weight");
    EXPECT_EQ(view.shape, (std::vector<std::int64_t>{192, 128}));
    EXPECT_EQ(view.type, TensorType::BFloat16);
    const auto stored = second.data(second.header().tensors.at("proj_out.weight"));
    EXPECT_TRUE(std::equal(view.data.begin(), view.data.end(), stored.begin(), stored.end()));
    EXPECT_FALSE(weights.has("no.such.tensor"));
    EXPECT_THROW(static_cast<void>(weights.view("no.such.tensor")), EngineFailure);
}

TEST(WeightIndex, ReadsTheFrameworksNamesUnderAPrefix)
{
    const golden::TemporaryCheckpoint copy(golden::checkpoint("tiny-edge"));
    copy.remove("transformer/config.json");
    copy.editHeader("vae/diffusion_pytorch_model.safetensors", [](Json &header) {
        header["net"] = header["quant_conv.bias"]; // any tensor will do
        header["language_model.model.layers.0.self_attn.q_proj_moe_gen.weight"] = header["net"];
        header.erase("net");
        header.erase("quant_conv.bias");
    });
    EXPECT_TRUE(WeightIndex(copy.folder() / "vae").has("layers.0.self_attn.add_q_proj.weight"));
}

struct Damage {
    std::function<void(const golden::TemporaryCheckpoint &)> apply;
    std::string sentence;
};

TEST(WeightIndex, RefusesEveryDamagedIndexAndShard)
{
    const auto setShard = [](const std::string &shard) {
        return [shard](const golden::TemporaryCheckpoint &copy) {
            copy.editJson(kIndex, [&](Json &index) { index["weight_map"]["proj_in.bias"] = shard; });
        };
    };
    const std::vector<Damage> damages{
        {[](auto &copy) { copy.remove(kSecond); },
         kIndex + " names \"diffusion_pytorch_model-00002-of-00002.safetensors\", which is not there"},
        {[](auto &copy) { copy.write(kFirst, copy.read(kFirst).substr(0, 1'000'000)); }, kFirst + " is truncated"},
        {[](auto &copy) { copy.write(kFirst, copy.read(kFirst) + "more"); }, "4 bytes at its end belong to no tensor"},
        {[](auto &copy) { copy.write(kIndex, "{\"weight_map\": "); }, kIndex + " is damaged"},
        {[](auto &copy) { copy.write(kIndex, "{}"); }, kIndex + " lacks its \"weight_map\""},
        {[](auto &copy) { copy.write(kIndex, "{\"weight_map\": {}}"); }, kIndex + " lacks its \"weight_map\""},
        {[](auto &copy) { copy.editJson(kIndex, [](Json &index) { index["weight_map"]["proj_in.bias"] = 1; }); },
         "the file of tensor \"proj_in.bias\" is not a text"},
        {[](auto &copy) {
             copy.editJson(kIndex, [](Json &index) {
                 index["weight_map"]["ghost"] = "diffusion_pytorch_model-00001-of-00002.safetensors";
             });
         },
         "looks for the tensor \"ghost\" in \"diffusion_pytorch_model-00001-of-00002.safetensors\""},
        {setShard("diffusion_pytorch_model-00001-of-00002.safetensors.bak"),
         "not a safetensors file of its own folder"},
        {setShard("../vae/diffusion_pytorch_model.safetensors"), "not a safetensors file of its own folder"},
        {setShard("/etc/passwd"), "not a safetensors file of its own folder"},
        {setShard(std::string("a\0.safetensors", 14)), "not a safetensors file of its own folder"},
        {setShard("..safetensors"), "names \"..safetensors\", which is not there"},
        {[](auto &copy) {
             copy.remove(kIndex);
             copy.remove(kFirst);
             copy.remove(kSecond);
         },
         "holds no weights"},
        {[](auto &copy) { copy.remove(kIndex); }, "holds no weights"}, // two shards and nothing that orders them
        {[](auto &copy) {
             copy.editHeader(kFirst, [](Json &header) {
                 header["model.layers.0.input_layernorm.weight"] = header["layers.0.input_layernorm.weight"];
             });
         },
         "overlaps"},
    };
    for (const auto &damage : damages) {
        const golden::TemporaryCheckpoint copy(golden::checkpoint("tiny-edge"));
        damage.apply(copy);
        EXPECT_THAT(refusal(copy.folder() / "transformer"), HasSubstr(damage.sentence));
    }
}

TEST(WeightIndex, RefusesTwoTensorsWithOneMeaning)
{
    const golden::TemporaryCheckpoint copy(golden::checkpoint("tiny-edge"));
    copy.editHeader("vae/diffusion_pytorch_model.safetensors", [](Json &header) {
        header["model.quant_conv.bias"] = header["post_quant_conv.bias"];
        header.erase("post_quant_conv.bias");
    });
    EXPECT_THAT(refusal(copy.folder() / "vae"), HasSubstr("holds the tensor \"quant_conv.bias\" under two names"));
}

TEST(WeightIndex, ComparesNamesShapesAndTypes)
{
    const golden::TemporaryCheckpoint copy(golden::checkpoint("tiny-edge"));
    const auto vae = copy.folder() / "vae";
    const ExpectedWeight right{.name = "quant_conv.bias", .shape = {96}};
    const auto comparison = WeightIndex(vae).compare(
        {right, {.name = "ghost", .shape = {1}}, {.name = "spare", .shape = {1}, .optional = true}});
    EXPECT_THAT(comparison.missing, ElementsAre("ghost"));
    EXPECT_EQ(comparison.unknown.size(), WeightIndex(vae).names().size() - 1);

    EXPECT_THAT(
        refusal(vae, {{.name = "quant_conv.bias", .shape = {95}}}),
        HasSubstr("vae/diffusion_pytorch_model.safetensors: the tensor \"quant_conv.bias\" has the shape [96] where "
                  "the configuration asks for [95]"));
    const auto retype = [&](const char *type) {
        copy.editHeader("vae/diffusion_pytorch_model.safetensors",
                        [&](Json &header) { header["quant_conv.bias"]["dtype"] = type; });
        return refusal(vae, {right});
    };
    EXPECT_THAT(retype("I16"), HasSubstr("has the type I16, which weights cannot have"));
    EXPECT_THAT(retype("F16"), HasSubstr("nothing was refused"));
    copy.editHeader("vae/diffusion_pytorch_model.safetensors",
                    [](Json &header) { header["quant_conv.bias"]["shape"] = {192}; });
    EXPECT_THAT(retype("F8_E4M3"), HasSubstr("quantised to 8 bits (F8_E4M3); use the model's bf16 revision"));
}

} // namespace
