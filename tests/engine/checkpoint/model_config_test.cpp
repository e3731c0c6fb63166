#include "engine/api/outcome.h"
#include "engine/checkpoint/model_config.h"
#include "tests/support/golden.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace {

using namespace engine;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Json = nlohmann::json;

std::string configText(std::string_view model, std::string_view file)
{
    return readTextFile(golden::checkpoint(model) / file);
}

// The file's text with a JSON merge patch applied: null takes a key away.
std::string patched(std::string_view model, std::string_view file, const std::string &patch)
{
    auto json = Json::parse(configText(model, file));
    json.merge_patch(Json::parse(patch));
    return json.dump();
}

template <typename Read>
std::string refusal(Read read, const std::string &json)
{
    try {
        static_cast<void>(read(json, "part/config.json"));
    } catch (const EngineFailure &failure) {
        EXPECT_EQ(failure.error().code, ErrorCode::ModelFiles);
        EXPECT_THAT(failure.error().message, HasSubstr("part/config.json"));
        return failure.error().message;
    }
    return "nothing was refused";
}

struct BadValue {
    const char *patch;
    const char *sentence;
};

template <typename Read>
void expectRefused(Read read, std::string_view model, std::string_view file, const std::vector<BadValue> &rows)
{
    for (const auto &row : rows) {
        SCOPED_TRACE(row.patch);
        EXPECT_THAT(refusal(read, patched(model, file, row.patch)), HasSubstr(row.sentence));
    }
}

TEST(TransformerConfig, ReadsTheQwenLikeModel)
{
    const auto config = readTransformerConfig(configText("tiny-nano", "transformer/config.json"), "config.json");
    EXPECT_EQ(config.hiddenSize, 192);
    EXPECT_EQ(config.layers, 3);
    EXPECT_EQ(config.heads, 16);
    EXPECT_EQ(config.keyValueHeads, 8);
    EXPECT_EQ(config.headDim, 16);
    EXPECT_EQ(config.mlp, MlpKind::SwiGlu);
    EXPECT_FALSE(config.isNemotron);
    EXPECT_TRUE(config.textQkNorm);
    EXPECT_TRUE(config.generationQkNorm);
    EXPECT_FALSE(config.undKeyNormForGen);
    EXPECT_DOUBLE_EQ(config.normEpsilon, 1e-6);
    EXPECT_DOUBLE_EQ(config.ropeTheta, 5e6);
    EXPECT_THAT(config.mropeSection, ElementsAre(24, 20, 20));
    EXPECT_TRUE(config.sound);
    EXPECT_EQ(config.embodimentDomains, 10);
    EXPECT_FALSE(config.saysTemporalCompression);
}

TEST(TransformerConfig, ReadsTheNemotronLikeModel)
{
    const auto config = readTransformerConfig(configText("tiny-edge", "transformer/config.json"), "config.json");
    EXPECT_EQ(config.mlp, MlpKind::SquaredRelu);
    EXPECT_TRUE(config.isNemotron);
    EXPECT_FALSE(config.textQkNorm);
    EXPECT_TRUE(config.undKeyNormForGen);
    EXPECT_DOUBLE_EQ(config.normEpsilon, 1e-5);
    EXPECT_FALSE(config.sound);
    EXPECT_TRUE(config.saysTemporalCompression);
}

TEST(TransformerConfig, TakesTheDocumentedDefaultsForKeysOlderFilesLack)
{
    const auto config = readTransformerConfig(
        patched("tiny-nano", "transformer/config.json",
                R"({"_class_name":null,"hidden_act":null,"qk_norm_for_text":null,"use_und_k_norm_for_gen":null,
                    "timestep_scale":null,"base_fps":null,"patch_latent_dim":null,"rope_axes_dim":null,
                    "attention_bias":null,"enable_fps_modulation":null,"sound_latent_fps":null})"),
        "config.json");
    EXPECT_EQ(config.mlp, MlpKind::SwiGlu);
    EXPECT_TRUE(config.textQkNorm);
    EXPECT_DOUBLE_EQ(config.timestepScale, 0.001);
    EXPECT_DOUBLE_EQ(config.baseFps, 24);
    EXPECT_THAT(config.mropeSection, ElementsAre(24, 20, 20));
}

TEST(TransformerConfig, RefusesEveryBadValueByFileAndKey)
{
    expectRefused(
        readTransformerConfig, "tiny-edge", "transformer/config.json",
        {
            {R"({"_class_name":"WanTransformer3DModel"})",
             "describes a WanTransformer3DModel; Parallax runs Cosmos3OmniTransformer models."},
            {R"({"_class_name":null,"architectures":["AutoModel"]})", "describes an AutoModel"},
            {R"({"_class_name":12})", "\"_class_name\" must be a text, not 12"},
            {R"({"hidden_size":null})", "\"hidden_size\" is missing"},
            {R"({"hidden_size":0})", "\"hidden_size\" is 0, which is not within"},
            {R"({"hidden_size":-128})", "\"hidden_size\" is -128"},
            {R"({"hidden_size":128.0})", "\"hidden_size\" must be a whole number, not 128.0"},
            {R"({"hidden_size":"128"})", "\"hidden_size\" must be a whole number, not \"128\""},
            {R"({"hidden_size":18446744073709551615})", "\"hidden_size\" is 18446744073709551615"},
            {R"({"num_hidden_layers":100000})", "\"num_hidden_layers\" is 100000"},
            {R"({"num_attention_heads":null})", "\"num_attention_heads\" is missing"},
            {R"({"num_attention_heads":6})", "is no multiple of \"num_key_value_heads\" (4)"},
            {R"({"num_key_value_heads":0})", "\"num_key_value_heads\" is 0"},
            {R"({"head_dim":33})", "\"head_dim\" is 33, and must be even"},
            {R"({"intermediate_size":true})", "\"intermediate_size\" must be a whole number, not true"},
            {R"({"vocab_size":1e9})", "\"vocab_size\" must be a whole number"},
            {R"({"attention_bias":true})", "sets \"attention_bias\" to true, where Parallax only knows false"},
            {R"({"hidden_act":"gelu"})",
             "sets \"hidden_act\" to \"gelu\", where Parallax only knows \"silu\" and \"relu2\""},
            {R"({"hidden_act":["silu"]})", "\"hidden_act\" must be a text"},
            {R"({"rms_norm_eps":0})", "\"rms_norm_eps\" is 0"},
            {R"({"rms_norm_eps":"1e-6"})", "\"rms_norm_eps\" must be a number"},
            {R"({"rope_theta":-1})", "\"rope_theta\" is -1"},
            {R"({"rope_theta":null})", "\"rope_theta\" is missing"},
            {R"({"rope_theta":1e300})", "\"rope_theta\" is 1e+300"},
            {R"({"rope_axes_dim":[24,20]})", "\"rope_axes_dim\" has 2 entries instead of 3"},
            {R"({"rope_axes_dim":[24,20,-20]})", "\"rope_axes_dim\" is -20"},
            {R"({"rope_axes_dim":[20,20,24]})", "contradict each other"},
            {R"({"rope_axes_dim":null,"rope_scaling":null})", "\"rope_axes_dim\" is missing"},
            {R"({"rope_scaling":5})", "\"rope_scaling\" must be an object, not 5"},
            {R"({"rope_scaling":{"rope_type":"yarn"}})", "sets \"rope_scaling.rope_type\" to \"yarn\""},
            {R"({"rope_scaling":{"mrope_interleaved":false}})", "sets \"rope_scaling.mrope_interleaved\" to false"},
            {R"({"latent_channel":null})", "\"latent_channel\" is missing"},
            {R"({"patch_latent_dim":100})", "\"patch_latent_dim\" is not"},
            {R"({"latent_patch_size":17})", "\"latent_patch_size\" is 17"},
            {R"({"unified_3d_mrope_reset_spatial_ids":false})", "sets \"unified_3d_mrope_reset_spatial_ids\" to false"},
            {R"({"unified_3d_mrope_temporal_modality_margin":-1})",
             "\"unified_3d_mrope_temporal_modality_margin\" is -1"},
            {R"({"base_fps":0})", "\"base_fps\" is 0"},
            {R"({"timestep_scale":"x"})", "\"timestep_scale\" must be a number"},
            {R"({"enable_fps_modulation":1})", "\"enable_fps_modulation\" must be true or false, not 1"},
            {R"({"temporal_compression_factor":0})", "\"temporal_compression_factor\" is 0"},
            {R"({"sound_gen":true})", "\"sound_dim\" is missing"},
            {R"({"sound_latent_fps":-25})", "\"sound_latent_fps\" is -25"},
        });
}

TEST(TransformerConfig, NamesTheKeyBeforeANumberThatIsNone)
{
    const auto replaced = [](const std::string &value) {
        auto text = configText("tiny-edge", "transformer/config.json");
        const std::string key = "\"rope_theta\": 100000000.0";
        return text.replace(text.find(key), key.size(), "\"rope_theta\": " + value);
    };
    for (const auto *value : {"NaN", "Infinity", "-Infinity", "1e999", "0x10", "1_000", ""})
        EXPECT_THAT(refusal(readTransformerConfig, replaced(value)), HasSubstr("key \"rope_theta\" is not JSON"))
            << value;
    EXPECT_THAT(refusal(readTransformerConfig, replaced("1, \"rope_theta\": 2")),
                HasSubstr("\"rope_theta\" occurs twice"));
    EXPECT_THAT(refusal(readTransformerConfig, "[]"), HasSubstr("is not a JSON object"));
    EXPECT_THAT(refusal(readTransformerConfig, ""), HasSubstr("is not JSON"));
    EXPECT_THAT(refusal(readTransformerConfig, "{\"a\": \"\xff\"}"), HasSubstr("is not JSON"));
    EXPECT_THAT(refusal(readTransformerConfig, std::string(100'000, '[')), HasSubstr("deeper than 64 levels"));
}

TEST(VaeConfig, DerivesItsFactorsFromTheStructure)
{
    const auto tiny = readVaeConfig(configText("tiny-nano", "vae/config.json"), "config.json");
    EXPECT_EQ(tiny.spatialFactor(), 16);
    EXPECT_EQ(tiny.temporalFactor(), 4);
    EXPECT_EQ(tiny.latentsMean.size(), 48U);
    const auto demo =
        readVaeConfig(readTextFile(golden::demoWorld() / "checkpoint" / "vae" / "config.json"), "config.json");
    EXPECT_EQ(demo.spatialFactor(), 8);
    EXPECT_EQ(demo.temporalFactor(), 4);
    EXPECT_EQ(demo.resBlocks, 1);
}

TEST(VaeConfig, RefusesEveryBadValueByFileAndKey)
{
    expectRefused(
        readVaeConfig, "tiny-edge", "vae/config.json",
        {
            {R"({"_class_name":"AutoencoderKL"})", "describes an AutoencoderKL; Parallax runs AutoencoderKLWan"},
            {R"({"is_residual":false})", "autoencoder of the Wan 2.1 kind"},
            {R"({"is_residual":null})", "autoencoder of the Wan 2.1 kind"},
            {R"({"base_dim":null})", "\"base_dim\" is missing"},
            {R"({"decoder_base_dim":0})", "\"decoder_base_dim\" is 0"},
            {R"({"z_dim":-48})", "\"z_dim\" is -48"},
            {R"({"z_dim":16})", "\"latents_mean\" has 48 entries instead of 16"},
            {R"({"dim_mult":[]})", "\"dim_mult\" has 0 entries instead of 1 to 8"},
            {R"({"dim_mult":[1,2,4,0]})", "\"dim_mult\" is 0"},
            {R"({"dim_mult":[1,2,4]})", "\"temperal_downsample\" has 3 entries instead of 2"},
            {R"({"dim_mult":[1,2,4,8]})", "\"dim_mult\" gives stage 4 a width its shortcut cannot average to"},
            {R"({"dim_mult":[7,1,1,1]})", "\"dim_mult\" gives stage 1 a width its shortcut cannot"},
            {R"({"temperal_downsample":[0,1,1]})", "\"temperal_downsample\" must hold true and false only, not 0"},
            {R"({"temperal_downsample":[false,false,true]})", "\"scale_factor_temporal\" is not the 2"},
            {R"({"num_res_blocks":0})", "\"num_res_blocks\" is 0"},
            {R"({"patch_size":4})", "must be 3 · patch_size² = 48"},
            {R"({"in_channels":3})", "must be 3 · patch_size² = 12"},
            {R"({"latents_std":null})", "\"latents_std\" is missing"},
            {R"({"latents_std":[1]})", "\"latents_std\" has 1 entries instead of 48"},
            {R"({"latents_mean":"zero"})", "\"latents_mean\" must be a list, not \"zero\""},
            {R"({"scale_factor_spatial":8})", "\"scale_factor_spatial\" is not the 16"},
        });
    auto json = Json::parse(configText("tiny-edge", "vae/config.json"));
    json["latents_std"][3] = 0.0;
    EXPECT_THAT(refusal(readVaeConfig, json.dump()), HasSubstr("\"latents_std\" is 0.0"));
    json["latents_std"][3] = nullptr; // how a NaN arrives through some writers
    EXPECT_THAT(refusal(readVaeConfig, json.dump()), HasSubstr("\"latents_std\" must be a number, not null"));
}

TEST(SoundConfig, ReadsTheDecodersShape)
{
    const auto config = readSoundConfig(configText("tiny-nano", "sound_tokenizer/config.json"), "config.json");
    EXPECT_EQ(config.latentDim, 64);
    EXPECT_EQ(config.decoderDim, 4);
    EXPECT_THAT(config.channelMults, ElementsAre(1, 2, 4, 8, 16));
    EXPECT_THAT(config.strides, ElementsAre(2, 4, 5, 6, 8));
    EXPECT_EQ(config.outChannels, 2);
    EXPECT_EQ(config.sampleRate, 48000);
    EXPECT_EQ(config.hopSize, 1920);
}

TEST(SoundConfig, ReadsTheEncodersShape)
{
    const auto config = readSoundConfig(configText("tiny-nano", "sound_tokenizer/config.json"), "config.json");
    ASSERT_TRUE(config.encoder.has_value());
    EXPECT_EQ(config.encoder->channels, 2);
    EXPECT_EQ(config.encoder->dim, 12);
    EXPECT_THAT(config.encoder->channelMults, ElementsAre(1, 2, 4));
    EXPECT_THAT(config.encoder->strides, ElementsAre(4, 5, 6));
    EXPECT_EQ(config.encoder->blocks, 2);
    EXPECT_EQ(config.encoder->fftSize, 64);
    EXPECT_EQ(config.encoder->fftHop, 16);
    EXPECT_TRUE(config.encoder->normalizeVolume);
}

TEST(SoundConfig, TakesThePublishedEncoderWhereTheFileNamesNoNumbers)
{
    const auto json = patched("tiny-nano", "sound_tokenizer/config.json",
                              R"({"enc_c_mults":null,"enc_dim":null,"enc_hop_length":null,"enc_latent_dim":null,
                                  "enc_n_fft":null,"enc_num_blocks":null,"enc_strides":null,"enc_type":null,
                                  "input_channels":null,"normalize_volume":null,"stereo":null})");
    const auto config = readSoundConfig(json, "config.json");
    ASSERT_TRUE(config.encoder.has_value());
    EXPECT_EQ(config.encoder->dim, 192);
    EXPECT_EQ(config.encoder->channels, 2);
    EXPECT_THAT(config.encoder->strides, ElementsAre(4, 5, 6));
}

TEST(SoundConfig, KeepsTheDecoderWhereTheEncoderIsMissingOrOfAnotherKind)
{
    for (const auto *patch :
         {R"({"encoder_enabled":false})", R"({"enc_type":"oobleck"})", R"({"enc_use_snake":false})",
          R"({"use_wav_as_input":false})", R"({"padding_mode":"reflect"})", R"({"bottleneck":{"type":"fsq"}})",
          R"({"bottleneck":null,"bottleneck_type":"fsq"})", R"({"enc_strides":[4,5,5]})", R"({"enc_hop_length":8})",
          R"({"enc_strides":[1024,1024,1024]})", R"({"enc_latent_dim":64})",
          R"({"dec_strides":[2,2,2,2,2],"hop_size":32})"}) {
        SCOPED_TRACE(patch);
        const auto config = readSoundConfig(patched("tiny-nano", "sound_tokenizer/config.json", patch), "config.json");
        EXPECT_FALSE(config.encoder.has_value());
        EXPECT_EQ(config.decoderDim, 4);
    }
}

TEST(SoundConfig, RefusesEveryBadValueByFileAndKey)
{
    expectRefused(readSoundConfig, "tiny-nano", "sound_tokenizer/config.json",
                  {
                      {R"({"_class_name":"AutoencoderOobleck"})", "describes an AutoencoderOobleck"},
                      {R"({"model_type":"autoencoder_v1"})", "sets \"model_type\" to \"autoencoder_v1\""},
                      {R"({"dec_type":"hifigan"})", "sets \"dec_type\" to \"hifigan\""},
                      {R"({"dec_final_tanh":true})", "sets \"dec_final_tanh\" to true"},
                      {R"({"snake_logscale":false})", "sets \"snake_logscale\" to false"},
                      {R"({"latent_mean":0.5})", "sets \"latent_mean\" to 0.5"},
                      {R"({"vocoder_input_dim":null})", "\"vocoder_input_dim\" is missing"},
                      {R"({"dec_dim":0})", "\"dec_dim\" is 0"},
                      {R"({"dec_strides":[2,4]})", "\"dec_strides\" has 2 entries instead of 5"},
                      {R"({"dec_strides":[1000,1000,1000,1000,1000]})", "\"dec_strides\" multiply to more than"},
                      {R"({"dec_out_channels":6})", "\"dec_out_channels\" is 6"},
                      {R"({"sampling_rate":0})", "\"sampling_rate\" is 0"},
                      {R"({"hop_size":1000})", "\"hop_size\" is not the product 1920"},
                      {R"({"enc_dim":0})", "\"enc_dim\" is 0"},
                      {R"({"enc_strides":[4,5]})", "\"enc_strides\" has 2 entries instead of 3"},
                      {R"({"enc_c_mults":[1,2],"enc_strides":null})", "\"enc_strides\" is missing"},
                      {R"({"enc_n_fft":63})", "\"enc_n_fft\" is 63, and must be even"},
                      {R"({"enc_hop_length":65})", "\"enc_hop_length\" is 65"},
                      {R"({"enc_num_blocks":-1})", "\"enc_num_blocks\" is -1"},
                      {R"({"encoder_enabled":1})", "\"encoder_enabled\" must be"},
                  });
}

TEST(SchedulerConfig, TakesNullForTheDefault)
{
    const auto edge = readSchedulerConfig(configText("tiny-edge", "scheduler/scheduler_config.json"), "config.json");
    EXPECT_EQ(edge.className, "Cosmos3EdgeUniPCMultistepScheduler");
    EXPECT_FALSE(edge.karras);
    EXPECT_DOUBLE_EQ(edge.flowShift, 3);
    EXPECT_DOUBLE_EQ(edge.sigmaMax, 200);
    const auto nano = readSchedulerConfig(configText("tiny-nano", "scheduler/scheduler_config.json"), "config.json");
    EXPECT_TRUE(nano.karras);
    EXPECT_DOUBLE_EQ(nano.sigmaMin, 0.147);
}

TEST(SchedulerConfig, RefusesEveryBadValueByFileAndKey)
{
    expectRefused(readSchedulerConfig, "tiny-nano", "scheduler/scheduler_config.json",
                  {
                      {R"({"_class_name":null})", "\"_class_name\" is missing"},
                      {R"({"prediction_type":"epsilon"})", "sets \"prediction_type\" to \"epsilon\""},
                      {R"({"flow_shift":0})", "\"flow_shift\" is 0"},
                      {R"({"sigma_min":300})", "\"sigma_min\" must be smaller than \"sigma_max\""},
                      {R"({"num_train_timesteps":1000.5})", "\"num_train_timesteps\" must be a whole number"},
                  });
}

TEST(ReadTextFile, SaysWhatIsWrongWithTheFile)
{
    const auto message = [](const std::filesystem::path &file, std::int64_t maxBytes = 1 << 20) {
        try {
            static_cast<void>(readTextFile(file, maxBytes));
        } catch (const EngineFailure &failure) {
            return failure.error().message;
        }
        return std::string("nothing was refused");
    };
    const auto folder = golden::checkpoint("tiny-edge");
    EXPECT_EQ(message(folder / "vae" / "missing.json"), "vae/missing.json is missing; download the file.");
    EXPECT_THAT(message(folder / "vae"), HasSubstr("tiny-edge/vae is not a regular file"));
    EXPECT_THAT(message(folder / "vae" / "config.json", 10), HasSubstr("vae/config.json is larger than"));
    EXPECT_EQ(message(folder / "vae" / "config.json"), "nothing was refused");
}

} // namespace
