#include "engine/api/checkpoint.h"
#include "engine/checkpoint/checkpoint_files.h"
#include "tests/support/golden.h"
#include "tests/support/temporary_checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <variant>
#include <vector>

namespace {

using namespace engine;
using golden::TemporaryCheckpoint;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Json = nlohmann::json;

const std::string kFirst = "transformer/diffusion_pytorch_model-00001-of-00002.safetensors";
const std::string kSecond = "transformer/diffusion_pytorch_model-00002-of-00002.safetensors";
const std::string kIndex = "transformer/diffusion_pytorch_model.safetensors.index.json";
const std::string kVaeWeights = "vae/diffusion_pytorch_model.safetensors";

Checkpoint opened(const std::filesystem::path &folder)
{
    auto result = Checkpoint::open(folder);
    if (const auto *error = std::get_if<EngineError>(&result))
        throw std::runtime_error(error->message);
    return std::get<Checkpoint>(std::move(result));
}

// Why a folder is not opened, or why what was opened cannot generate.
std::string refusal(const std::filesystem::path &folder)
{
    const auto result = Checkpoint::open(folder);
    const auto error =
        std::holds_alternative<EngineError>(result)
            ? std::get<EngineError>(result)
            : std::get<Checkpoint>(result).refusal().value_or(EngineError{ErrorCode::ModelFiles, "nothing", ""});
    EXPECT_EQ(error.code, ErrorCode::ModelFiles);
    return error.message;
}

const CheckpointPart &part(const Checkpoint &checkpoint, std::string_view name)
{
    const auto &parts = checkpoint.summary().parts;
    return *std::find_if(parts.begin(), parts.end(), [&](const auto &p) { return p.name == name; });
}

TEST(Checkpoint, OpensEveryModelAtHand)
{
    for (const auto &folder : {golden::checkpoint("tiny-nano"), golden::checkpoint("tiny-super"),
                               golden::checkpoint("tiny-edge"), golden::demoWorld() / "checkpoint"}) {
        const auto checkpoint = opened(folder);
        EXPECT_FALSE(checkpoint.refusal().has_value());
        EXPECT_EQ(checkpoint.summary().weightType, "bfloat16");
        for (const auto &p : checkpoint.summary().parts) {
            EXPECT_THAT(p.missing, IsEmpty()) << folder << p.name;
            EXPECT_THAT(p.unknown, IsEmpty()) << folder << p.name;
            EXPECT_TRUE(p.present || !p.required);
            EXPECT_TRUE(!p.present || p.bytes > 0);
        }
    }
}

TEST(Checkpoint, DescribesTheModel)
{
    const auto nano = opened(golden::checkpoint("tiny-nano"));
    EXPECT_EQ(nano.summary().variant, "Qwen-like");
    EXPECT_TRUE(nano.profile().hasSound);
    EXPECT_EQ(nano.profile().spatialFactor, 16);
    EXPECT_EQ(nano.profile().layers, 3);
    EXPECT_FALSE(nano.profile().isKnown);
    EXPECT_EQ(nano.summary().memoryFloat32, 2 * nano.summary().memoryBFloat16);

    const auto edge = opened(golden::checkpoint("tiny-edge"));
    EXPECT_EQ(edge.summary().variant, "Nemotron-like (Edge)");
    EXPECT_FALSE(edge.profile().hasSound);
    EXPECT_EQ(part(edge, "sound_tokenizer").note, "The model makes no sound.");

    const auto super = opened(golden::checkpoint("tiny-super"));
    EXPECT_FALSE(super.profile().hasSound); // sound heads, but no sound tokenizer
    EXPECT_THAT(part(super, "sound_tokenizer").note, HasSubstr("no sound tokenizer"));

    const auto demo = opened(golden::demoWorld() / "checkpoint");
    EXPECT_EQ(demo.profile().name, "demo world");
    EXPECT_TRUE(demo.profile().isKnown);
    EXPECT_EQ(demo.profile().spatialFactor, 8);
    EXPECT_EQ(demo.profile().defaultNegativePrompt, "blurry, low quality, noisy, washed out");
}

TEST(Checkpoint, CountsTheWeightsThatGenerationLoads)
{
    const auto edge = opened(golden::checkpoint("tiny-edge"));
    // By the formulas of cosmos3 reference 3.1: hidden 128, query width 256, key width 128, MLP 448, head size 32.
    const std::int64_t keys = 2 * 128 * 128;
    const std::int64_t queries = 2 * 256 * 128;
    const std::int64_t mlp = 2 * 448 * 128;
    const std::int64_t understanding = 3 * (128 + keys + 32) + 2 * (queries + 128 + mlp);
    const std::int64_t generation = 3 * (2 * 128 + keys + queries + 2 * 32 + mlp) + 128;
    const std::int64_t rest =
        1056 * 128 + (192 * 128 + 128) + (128 * 192 + 192) + (256 * 128 + 128) + (128 * 128 + 128);
    EXPECT_EQ(edge.summary().parameters, understanding + generation + rest);
    EXPECT_GT(edge.summary().memoryBFloat16, 2 * edge.summary().parameters); // the decoder comes on top
}

TEST(Checkpoint, GivesTokensOfBothBranches)
{
    const auto demo = opened(golden::demoWorld() / "checkpoint");
    ResolvedRequest request;
    request.prompt = "a red ball";
    request.size = {224, 128};
    request.frames = 25;
    request.fps = 12;
    const auto result = demo.tokenize(request);
    const auto &tokens = std::get<PromptTokens>(result);
    EXPECT_EQ(tokens.positive.text, "a red ball. The video is 2.1 seconds long and is of 12 FPS. "
                                    "This video is of 128x224 resolution.");
    EXPECT_EQ(tokens.positive.tokenIds.back(), 1009); // <|vision_start|>
    EXPECT_FALSE(tokens.positive.truncated);
    request.mode = Mode::TextToImage;
    EXPECT_EQ(std::get<PromptTokens>(demo.tokenize(request)).positive.text,
              "a red ball. This image is of 128x224 resolution.");
    request.prompt = "\xff";
    EXPECT_EQ(std::get<EngineError>(demo.tokenize(request)).code, ErrorCode::InvalidRequest);
}

TEST(Checkpoint, ReadsTheDefaultNegativePromptOfTheCheckpoint)
{
    TemporaryCheckpoint resources(golden::demoWorld());
    const auto file = std::filesystem::path(PARALLAX_RESOURCES_SOURCE) / "model_profiles.json";
    auto profiles = Json::parse(readTextFile(file));
    for (auto &model : profiles["models"]) {
        if (model["name"] == "demo world")
            model["negative_prompt"] = "file:assets/negative_prompt.json";
    }
    resources.write("model_profiles.json", profiles.dump());
    setenv("PARALLAX_RESOURCES", resources.folder().c_str(), 1);
    const auto demo = [&] { return opened(resources.folder() / "checkpoint").profile(); };
    EXPECT_EQ(demo().defaultNegativePrompt, "");
    EXPECT_EQ(demo().defaultNegativeNote,
              "The checkpoint has no assets/negative_prompt.json, so the default negative prompt is empty.");
    resources.write("checkpoint/assets/negative_prompt.json", "{\"subjects\":[],\n \"b\": \"caf\xc3\xa9\"}\n");
    EXPECT_EQ(demo().defaultNegativePrompt, R"({"subjects": [], "b": "caf\u00e9"})");
    EXPECT_EQ(demo().defaultNegativeNote, "");
    resources.write("checkpoint/assets/negative_prompt.json", "blurry");
    EXPECT_EQ(demo().defaultNegativePrompt, "blurry");
    unsetenv("PARALLAX_RESOURCES");
}

struct Damage {
    std::function<void(const TemporaryCheckpoint &)> apply;
    std::string sentence;
};

void expectRefused(std::string_view model, const std::vector<Damage> &damages)
{
    for (const auto &damage : damages) {
        const TemporaryCheckpoint copy(golden::checkpoint(model));
        damage.apply(copy);
        EXPECT_THAT(refusal(copy.folder()), HasSubstr(damage.sentence));
    }
}

auto removing(std::string name)
{
    return [name](const TemporaryCheckpoint &copy) { copy.remove(name); };
}

auto patching(std::string file, std::string patch)
{
    return [file, patch](const TemporaryCheckpoint &copy) {
        copy.editJson(file, [&](Json &json) { json.merge_patch(Json::parse(patch)); });
    };
}

auto writing(std::string file, std::string content)
{
    return [file, content](const TemporaryCheckpoint &copy) { copy.write(file, content); };
}

TEST(Checkpoint, SaysWhichPartIsMissing)
{
    expectRefused("tiny-edge",
                  {
                      {removing("transformer"), "has no transformer/, which holds the network"},
                      {removing("vae"), "has no vae/, which turns latents into pictures"},
                      {removing("text_tokenizer"), "has no text_tokenizer/, which reads prompts"},
                      {removing("transformer/config.json"), "transformer/config.json is missing"},
                      {removing("vae/config.json"), "vae/config.json is missing"},
                      {removing(kVaeWeights), "vae holds no weights"},
                      {removing(kFirst), kIndex + " names"},
                      {removing(kIndex), "transformer holds no weights"},
                      {removing("scheduler/scheduler_config.json"), "scheduler/scheduler_config.json is missing"},
                  });
}

TEST(Checkpoint, SaysWhichFileIsDamaged)
{
    const auto truncate = [](const std::string &file) {
        return [file](const TemporaryCheckpoint &copy) {
            const auto bytes = copy.read(file);
            copy.write(file, bytes.substr(0, bytes.size() - 100));
        };
    };
    expectRefused("tiny-edge",
                  {
                      {truncate(kFirst), kFirst + " is truncated"},
                      {truncate(kSecond), kSecond + " is truncated"},
                      {truncate(kVaeWeights), kVaeWeights + " is truncated"},
                      {truncate(kIndex), kIndex + " is damaged"},
                      {truncate("transformer/config.json"), "transformer/config.json is damaged"},
                      {truncate("vae/config.json"), "vae/config.json is damaged"},
                      {truncate("model_index.json"), "model_index.json is damaged"},
                      {truncate("text_tokenizer/tokenizer.json"), "text_tokenizer/tokenizer.json"},
                      {writing("model_index.json", ""), "model_index.json is damaged"},
                      {writing("transformer/config.json", "\x80\x81"), "transformer/config.json is damaged"},
                      {writing("scheduler/scheduler_config.json", "[]"), "scheduler/scheduler_config.json is damaged"},
                      {writing(kFirst, std::string(1000, '\xff')), kFirst + " is truncated or no safetensors file"},
                  });
}

TEST(Checkpoint, SaysWhichFilesDoNotBelongTogether)
{
    expectRefused(
        "tiny-edge",
        {
            {patching("transformer/config.json", R"({"hidden_size":256})"),
             "the tensor \"embed_tokens.weight\" has the shape [1056, 128] where the configuration asks for [1056, "
             "256]"},
            {patching("transformer/config.json", R"({"num_hidden_layers":4})"),
             "transformer/ lacks 14 tensors, the first is \"layers.3.input_layernorm.weight\""},
            {patching("transformer/config.json", R"({"hidden_act":"silu"})"), "transformer/ lacks 5 tensors"},
            {patching("transformer/config.json", R"({"latent_channel":16,"patch_latent_dim":64})"),
             "the tensor \"proj_in.weight\" has the shape"},
            {patching("transformer/config.json", R"({"vocab_size":1000})"), "\"embed_tokens.weight\" has the shape"},
            {patching("transformer/config.json", R"({"temporal_compression_factor":8})"),
             "vae/config.json compresses time 4-fold and transformer/config.json expects 8"},
            {patching("vae/config.json", R"({"base_dim":8})"), kVaeWeights + ": the tensor"},
            {patching("vae/config.json", R"({"num_res_blocks":3})"), "vae/ lacks"},
        });
}

TEST(Checkpoint, SaysWhichTensorIsMissingOrWrong)
{
    const auto header = [](const std::string &file, const std::function<void(Json &)> &edit) {
        return [=](const TemporaryCheckpoint &copy) { copy.editHeader(file, edit); };
    };
    const auto rename = [&](const std::string &from, const std::string &to) {
        return header(kVaeWeights, [=](Json &json) {
            json[to] = json[from];
            json.erase(from);
        });
    };
    expectRefused("tiny-edge",
                  {
                      {rename("post_quant_conv.bias", "other"), "vae/ lacks the tensor \"post_quant_conv.bias\""},
                      {header(kVaeWeights, [](Json &json) { json["post_quant_conv.bias"]["dtype"] = "I16"; }),
                       "\"post_quant_conv.bias\" has the type I16"},
                      {header(kVaeWeights, [](Json &json) { json["post_quant_conv.bias"]["dtype"] = "Q4"; }),
                       "\"post_quant_conv.bias\" has the unknown type \"Q4\""},
                      {header(kVaeWeights,
                              [](Json &json) {
                                  json["post_quant_conv.bias"]["shape"] = {8, 6};
                              }),
                       "\"post_quant_conv.bias\" has the shape [8, 6]"},
                      {header(kVaeWeights, [](Json &json) { json["post_quant_conv.bias"]["data_offsets"][0] = 0; }),
                       "\"post_quant_conv.bias\""},
                  });
}

TEST(Checkpoint, SaysWhatAnotherFolderIs)
{
    const auto edge = golden::checkpoint("tiny-edge");
    EXPECT_EQ(refusal(edge / "nowhere"),
              "The folder " + (edge / "nowhere").string() + " does not exist; check the path.");
    EXPECT_THAT(refusal(edge / "model_index.json"), HasSubstr("is a file; give the model's folder"));
    EXPECT_THAT(refusal(edge / "transformer"),
                HasSubstr("is one part of a model; give the folder above it, " + edge.string()));
    EXPECT_THAT(refusal(edge / "vae/"), HasSubstr("is one part of a model"));
    EXPECT_THAT(refusal(golden::folder()), HasSubstr("holds no model (neither model_index.json nor transformer/)"));
    expectRefused(
        "tiny-edge",
        {
            {patching("model_index.json", R"({"_class_name":"WanPipeline"})"),
             "model_index.json describes a WanPipeline; Parallax runs Cosmos3OmniPipeline models."},
            {patching("transformer/config.json", R"({"_class_name":"WanTransformer3DModel"})"),
             "transformer/config.json describes a WanTransformer3DModel; Parallax runs"},
            {patching("vae/config.json", R"({"_class_name":"AutoencoderKLCosmos"})"),
             "vae/config.json describes an AutoencoderKLCosmos"},
            {patching("scheduler/scheduler_config.json", R"({"_class_name":"FlowMatchEulerDiscreteScheduler"})"),
             "is a distilled few-step one"},
        });
}

TEST(Checkpoint, TakesTheAliasOfThePipelineAndAFolderWithoutAnIndex)
{
    const TemporaryCheckpoint copy(golden::checkpoint("tiny-edge"));
    copy.editJson("model_index.json", [](Json &json) { json["_class_name"] = "Cosmos3OmniDiffusersPipeline"; });
    EXPECT_EQ(refusal(copy.folder()), "nothing");
    copy.remove("model_index.json");
    copy.write("config.json", R"({"architectures": ["Cosmos3EdgeForConditionalGeneration"]})"); // misleads; is not read
    copy.remove("scheduler");
    EXPECT_EQ(refusal(copy.folder()), "nothing");
    EXPECT_THAT(part(opened(copy.folder()), "scheduler").note, HasSubstr("Without scheduler/"));
}

TEST(Checkpoint, StaysSilentWhereSoundPartsAreMissing)
{
    const auto silent = [](const std::function<void(const TemporaryCheckpoint &)> &damage) {
        const TemporaryCheckpoint copy(golden::checkpoint("tiny-nano"));
        damage(copy);
        const auto checkpoint = opened(copy.folder());
        EXPECT_FALSE(checkpoint.profile().hasSound);
        EXPECT_FALSE(checkpoint.refusal().has_value());
        return part(checkpoint, "sound_tokenizer").note;
    };
    EXPECT_THAT(silent(removing("sound_tokenizer")), HasSubstr("There is no sound tokenizer"));
    EXPECT_THAT(silent(patching(kIndex, R"({"weight_map":{"audio_modality_embed":null}})")),
                HasSubstr("lacks its sound head \"audio_modality_embed\""));
    EXPECT_THAT(silent([](const TemporaryCheckpoint &copy) {
                    copy.editHeader("sound_tokenizer/diffusion_pytorch_model.safetensors", [](Json &json) {
                        json["other"] = json["decoder.conv1.bias"];
                        json.erase("decoder.conv1.bias");
                    });
                }),
                HasSubstr("sound_tokenizer/ lacks the tensor \"decoder.conv1.bias\""));
    expectRefused("tiny-nano",
                  {
                      {patching("sound_tokenizer/config.json", R"({"sampling_rate":44100})"),
                       "sound_tokenizer/config.json (vocoder_input_dim 64, sampling_rate / hop_size 22.9688)"},
                      {removing("sound_tokenizer/config.json"), "sound_tokenizer/config.json is missing"},
                  });
}

TEST(Checkpoint, MakesSoundWithoutTheWeightsOfTheSoundEncoder)
{
    const TemporaryCheckpoint copy(golden::checkpoint("tiny-nano"));
    copy.editHeader("sound_tokenizer/diffusion_pytorch_model.safetensors", [](Json &json) {
        auto renamed = Json::object();
        for (const auto &[name, entry] : json.items())
            renamed[name.starts_with("encoder.") ? "other." + name : name] = entry;
        json = renamed;
    });
    const auto checkpoint = opened(copy.folder());
    EXPECT_TRUE(checkpoint.profile().hasSound);
    EXPECT_EQ(part(checkpoint, "sound_tokenizer").note, "");
    EXPECT_THAT(part(checkpoint, "sound_tokenizer").missing, testing::IsEmpty());
}

TEST(Checkpoint, TakesTheTimeCompressionOfTheAutoencoderWhereTheNetworkSaysNone)
{
    const TemporaryCheckpoint copy(golden::checkpoint("tiny-nano"));
    patching("vae/config.json", R"({"temperal_downsample":[false,false,true],"scale_factor_temporal":2})")(copy);
    const auto files = openCheckpoint(copy.folder());
    EXPECT_EQ(files->transformer.temporalCompression, 2);
    EXPECT_EQ(files->profile.temporalFactor, 2);
}

} // namespace
