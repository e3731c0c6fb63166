#include "engine/api/outcome.h"
#include "engine/sound/sound_decoder.h"
#include "tests/support/golden_tensor.h"

#include <ATen/ops/_weight_norm.h>
#include <ATen/ops/equal.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace {

using engine::SoundDecoder;

const engine::SoundConfig kTiny{
    .latentDim = 64, .decoderDim = 4, .channelMults = {1, 2, 4, 8, 16}, .strides = {2, 4, 5, 6, 8}};

// The weights of tiny-nano's sound tokenizer.
at::Tensor tinyWeight(const std::string &name)
{
    static const golden::Table weights(golden::checkpoint("tiny-nano") /
                                       "sound_tokenizer/diffusion_pytorch_model.safetensors");
    return weights.has(name) ? golden::tensor(weights, name) : at::Tensor();
}

SoundDecoder tinyDecoder(at::ScalarType type = at::kFloat)
{
    return {kTiny, tinyWeight, type};
}

TEST(SoundDecoder, EveryWaveformOfTheReferenceIsReproduced)
{
    const golden::Table table("sound");
    const auto decoder = tinyDecoder();
    for (const std::string name : {"S1", "S4"}) {
        const auto waveform = decoder.decode(tensor(table, name + ".latents"));
        EXPECT_EQ(waveform.sizes().vec(), table.shape(name + ".waveform"));
        EXPECT_LE(golden::relativeError(waveform, tensor(table, name + ".waveform")), golden::kFp32) << name;
    }
}

TEST(SoundDecoder, EveryStageEqualsTheReference)
{
    const golden::Table table("sound");
    auto hidden = tensor(table, "S1.latents").unsqueeze(0);
    std::size_t checked = 0;
    const auto decoder = tinyDecoder();
    for (const auto &stage : decoder.stages()) {
        SCOPED_TRACE(stage.name);
        hidden = stage.run(hidden);
        ASSERT_TRUE(table.has("S1.act." + stage.name));
        EXPECT_LE(golden::relativeError(hidden, tensor(table, "S1.act." + stage.name)), golden::kFp32);
        ++checked;
    }
    std::size_t listed = 0;
    for (const auto &[name, entry] : table.file().header().tensors)
        listed += name.starts_with("S1.act.") ? 1 : 0;
    EXPECT_EQ(checked, listed);
}

TEST(SoundDecoder, Bf16IsAsNearToFp32AsTheReferencesOwnBf16)
{
    // Distance of diffusers 0.42.1 in bf16 to the stored fp32 waveform: the random weights amplify each rounding.
    const std::map<std::string, double> ownError{{"S1", 0.0487}, {"S4", 0.0911}};
    const golden::Table table("sound");
    const auto decoder = tinyDecoder(at::kBFloat16);
    for (const auto &[name, error] : ownError) {
        const auto waveform = decoder.decode(tensor(table, name + ".latents"));
        EXPECT_EQ(waveform.scalar_type(), at::kFloat);
        EXPECT_LE(golden::relativeError(waveform, tensor(table, name + ".waveform")),
                  golden::kBf16OwnErrorFactor * error)
            << name;
    }
}

TEST(SoundDecoder, WeightNormIsReadInAllItsSpellings)
{
    const auto respelled = [](const std::string &name) {
        const auto original = name.find(".parametrizations.weight.original");
        if (original != std::string::npos)
            return tinyWeight(name.substr(0, original) + (name.back() == '0' ? ".weight_g" : ".weight_v"));
        return name.ends_with("_g") || name.ends_with("_v") ? at::Tensor() : tinyWeight(name);
    };
    const auto folded = [](const std::string &name) {
        const bool isFolded = name.ends_with(".weight");
        return isFolded ? at::_weight_norm(tinyWeight(name + "_v"), tinyWeight(name + "_g"), 0) : tinyWeight(name);
    };
    const golden::Table table("sound");
    const auto latents = tensor(table, "S1.latents");
    const auto expected = tinyDecoder().decode(latents);
    EXPECT_TRUE(at::equal(SoundDecoder(kTiny, respelled, at::kFloat).decode(latents), expected));
    EXPECT_TRUE(at::equal(SoundDecoder(kTiny, folded, at::kFloat).decode(latents), expected));
}

TEST(SoundDecoder, AMissingWeightIsNamed)
{
    const std::string missing = "decoder.block.2.res_unit3.conv1.bias";
    try {
        SoundDecoder(
            kTiny, [&](const std::string &name) { return name == missing ? at::Tensor() : tinyWeight(name); },
            at::kFloat);
        FAIL() << "accepted";
    } catch (const engine::EngineFailure &failure) {
        EXPECT_EQ(failure.error().code, engine::ErrorCode::ModelFiles);
        EXPECT_THAT(failure.what(), testing::HasSubstr(missing));
    }
}

} // namespace
