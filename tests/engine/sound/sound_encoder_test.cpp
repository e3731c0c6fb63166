#include "engine/api/outcome.h"
#include "engine/sound/sound_decoder.h"
#include "engine/sound/sound_encoder.h"
#include "tests/support/golden_tensor.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>

namespace {

using engine::ErrorCode;
using engine::SoundConfig;
using engine::SoundEncoder;

// The weights of tiny-nano's sound tokenizer and its configuration.
at::Tensor tinyWeight(const std::string &name)
{
    static const golden::Table weights(golden::checkpoint("tiny-nano") /
                                       "sound_tokenizer/diffusion_pytorch_model.safetensors");
    return weights.has(name) ? golden::tensor(weights, name) : at::Tensor();
}

SoundConfig tinyConfig()
{
    const auto file = golden::checkpoint("tiny-nano") / "sound_tokenizer/config.json";
    return engine::readSoundConfig(engine::readTextFile(file), "config.json");
}

SoundEncoder tinyEncoder(at::ScalarType type = at::kFloat)
{
    return {tinyConfig(), tinyWeight, type};
}

void expectFailure(ErrorCode code, const std::string &sentence, const std::function<void()> &call)
{
    try {
        call();
        FAIL() << "accepted: " << sentence;
    } catch (const engine::EngineFailure &failure) {
        EXPECT_EQ(failure.error().code, code);
        EXPECT_THAT(failure.what(), testing::HasSubstr(sentence));
    }
}

TEST(SoundEncoder, TheModeOfTheReferenceIsReproduced)
{
    const golden::Table table("sound");
    const auto latents = tinyEncoder().encode(tensor(table, "encode.waveform"));
    EXPECT_EQ(latents.scalar_type(), at::kFloat);
    EXPECT_EQ(latents.sizes().vec(), table.shape("encode.mode"));
    EXPECT_LE(golden::relativeError(latents, tensor(table, "encode.mode")), golden::kFp32);
}

TEST(SoundEncoder, AnIncompleteTokenIsFilledWithSilence)
{
    const golden::Table table("sound");
    const auto encoder = tinyEncoder();
    const auto waveform = tensor(table, "encode.waveform"); // 3940 samples: two tokens and 100 samples
    ASSERT_EQ(waveform.size(1), 3940);
    const auto filled = encoder.encode(at::constant_pad_nd(waveform, {0, 3 * 1920 - 3940}));
    EXPECT_LE(golden::relativeError(filled, tensor(table, "encode.mode")), golden::kFp32);
    EXPECT_EQ(encoder.encode(waveform.narrow(1, 0, 1)).size(1), 1);
    EXPECT_EQ(encoder.encode(waveform.narrow(1, 0, 1920)).size(1), 1);
    EXPECT_EQ(encoder.encode(waveform.narrow(1, 0, 1921)).size(1), 2);
}

TEST(SoundEncoder, TheLevelIsBroughtToTheTrainedOneUnlessTheModelSaysNot)
{
    const golden::Table table("sound");
    const auto waveform = tensor(table, "encode.waveform");
    const auto expected = tensor(table, "encode.mode");
    auto config = tinyConfig();
    config.encoder->normalizeVolume = false;
    const SoundEncoder unchanged(config, tinyWeight, at::kFloat);
    const auto normalized = waveform / (waveform.abs().max() + 1e-5) * 0.95;
    EXPECT_LE(golden::relativeError(unchanged.encode(normalized), expected), golden::kFp32);
    EXPECT_GT(golden::relativeError(unchanged.encode(0.1 * waveform), expected), 0.01);
    EXPECT_TRUE(tinyEncoder().encode(at::zeros({2, 1920})).isfinite().all().item<bool>());
}

TEST(SoundEncoder, Bf16IsAsNearToFp32AsTheReferencesOwnBf16)
{
    // Distance of diffusers 0.42.1 in bf16 to the stored fp32 mode.
    constexpr double kOwnError = 0.01134;
    const golden::Table table("sound");
    const auto latents = tinyEncoder(at::kBFloat16).encode(tensor(table, "encode.waveform"));
    EXPECT_EQ(latents.scalar_type(), at::kFloat);
    EXPECT_LE(golden::relativeError(latents, tensor(table, "encode.mode")), golden::kBf16OwnErrorFactor * kOwnError);
}

TEST(SoundEncoder, AMissingOrMisshapenWeightIsNamed)
{
    for (const std::string name : {"encoder.layers.0.weight_g", "encoder.layers.4.norm.weight",
                                   "encoder.layers.8.act.beta", "encoder.layers.9.bias"}) {
        expectFailure(ErrorCode::ModelFiles, "has no weight " + name, [&] {
            const auto without = [&](const std::string &asked) {
                return asked == name ? at::Tensor() : tinyWeight(asked);
            };
            SoundEncoder(tinyConfig(), without, at::kFloat);
        });
    }
    for (const std::string name :
         {"encoder.layers.1.dwconv.1.weight", "encoder.layers.4.norm.weight", "encoder.layers.5.pwconv1.bias",
          "encoder.layers.8.act.beta", "encoder.layers.9.bias"}) {
        expectFailure(ErrorCode::ModelFiles, "The weight " + name + " of the sound tokenizer has the shape", [&] {
            const auto misshapen = [&](const std::string &asked) {
                return asked == name ? at::ones({5}) : tinyWeight(asked);
            };
            SoundEncoder(tinyConfig(), misshapen, at::kFloat);
        });
    }
    auto wider = tinyConfig();
    wider.encoder->dim = 24;
    expectFailure(ErrorCode::ModelFiles,
                  "The weight encoder.layers.0 of the sound tokenizer has the shape [12, 132, 1]",
                  [&] { SoundEncoder(wider, tinyWeight, at::kFloat); });
}

TEST(SoundEncoder, AModelWithoutAnEncoderIsRefused)
{
    auto config = tinyConfig();
    config.encoder.reset();
    expectFailure(ErrorCode::ModelFiles, "has no encoder", [&] { SoundEncoder(config, tinyWeight, at::kFloat); });
}

TEST(SoundEncoder, AWaveformOfOtherChannelsOrWithoutSamplesIsRefused)
{
    const auto encoder = tinyEncoder();
    for (const auto &waveform : {at::zeros({1, 1920}), at::zeros({2, 0}), at::zeros({1920})})
        expectFailure(ErrorCode::InvalidRequest, "samples in 2 channels",
                      [&] { static_cast<void>(encoder.encode(waveform)); });
}

TEST(SoundDecoder, LoadsWithoutTheWeightsOfAnEncoder)
{
    const golden::Table table("sound");
    const auto decoderOnly = [](const std::string &name) {
        return name.starts_with("decoder.") ? tinyWeight(name) : at::Tensor();
    };
    const engine::SoundDecoder decoder(tinyConfig(), decoderOnly, at::kFloat);
    EXPECT_LE(golden::relativeError(decoder.decode(tensor(table, "S1.latents")), tensor(table, "S1.waveform")),
              golden::kFp32);
    expectFailure(ErrorCode::ModelFiles, "has no weight encoder.layers.0.weight_g",
                  [&] { SoundEncoder(tinyConfig(), decoderOnly, at::kFloat); });
}

} // namespace
