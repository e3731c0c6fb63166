#include "engine/vae/wan_decoder.h"
#include "engine/vae/wan_encoder.h"
#include "tests/support/golden_tensor.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/randn.h>
#include <c10/core/InferenceMode.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

namespace {

using Json = nlohmann::json;

struct Autoencoder {
    explicit Autoencoder(at::ScalarType type)
        : weights(golden::checkpoint("tiny-nano") / "vae"),
          config(engine::readVaeConfig(engine::readTextFile(golden::checkpoint("tiny-nano") / "vae" / "config.json"),
                                       "config.json")),
          decoder(config, engine::WeightLoader(weights, type, at::kCPU)),
          encoder(config, engine::WeightLoader(weights, type, at::kCPU))
    {
    }
    engine::WeightIndex weights;
    engine::VaeConfig config;
    engine::WanDecoder decoder;
    engine::WanEncoder encoder;
};

using Stages =
    std::map<std::string, at::Tensor>; // by the table's names below the case: "frames", "act.mid_block.chunk1"

at::Tensor channelsFirst(const at::Tensor &video) // [T, H, W, C] -> [C, T, H, W]
{
    return video.permute({3, 0, 1, 2}).contiguous();
}

engine::BlockProbe record(Stages &stages, const int &chunk)
{
    return [&stages, &chunk](std::string_view name, const at::Tensor &value) {
        stages["act." + std::string(name) + ".chunk" + std::to_string(chunk)] = channelsFirst(value.clone());
    };
}

Stages decode(const Autoencoder &autoencoder, const at::Tensor &latents)
{
    Stages stages;
    engine::WanDecoder::Session session(autoencoder.decoder, latents);
    std::vector<at::Tensor> pixels;
    std::vector<at::Tensor> postQuant;
    int chunk = 0;
    const auto probe = record(stages, chunk);
    for (; !session.done(); ++chunk) {
        pixels.push_back(session.next({}, probe));
        postQuant.push_back(stages["act.post_quant_conv.chunk" + std::to_string(chunk)]);
    }
    stages["act.post_quant_conv.chunk0"] = at::cat(postQuant, 1); // the table has all frames in one
    const auto all = at::cat(pixels, 0);
    stages["frames"] = channelsFirst(all).clamp(-1, 1);
    stages["frames_u8"] = engine::toBytes(all);
    return stages;
}

Stages encode(const Autoencoder &autoencoder, const golden::Table &table, const std::string &name)
{
    const auto bytes = table.integers(name + ".pixels_u8");
    std::vector<float> pixels(bytes.begin(), bytes.end());
    const auto frames =
        at::from_blob(pixels.data(), table.shape(name + ".pixels_u8"), at::kFloat).clone().div_(127.5).sub_(1);
    Stages stages;
    int chunk = -1;
    const auto store = record(stages, chunk);
    const auto probe = [&](std::string_view block, const at::Tensor &value) {
        if (block == "conv_in")
            ++chunk;
        store(block, value);
    };
    stages["encoded"] = autoencoder.encoder.encode(frames, {}, probe);
    return stages;
}

void expectPixels(const at::Tensor &ours, const std::vector<std::int64_t> &reference, const std::string &name)
{
    const auto flat = ours.flatten();
    ASSERT_EQ(static_cast<std::size_t>(flat.numel()), reference.size());
    const auto *bytes = flat.data_ptr<std::uint8_t>();
    std::size_t different = 0;
    for (std::size_t i = 0; i < reference.size(); ++i) {
        const auto difference = std::abs(static_cast<std::int64_t>(bytes[i]) - reference[i]);
        ASSERT_LE(difference, 1) << name << " at " << i;
        different += difference != 0 ? 1U : 0U;
    }
    EXPECT_LE(static_cast<double>(different), 0.01 * static_cast<double>(reference.size())) << name;
}

TEST(WanAutoencoder, EveryStageEqualsTheReferenceTable)
{
    const c10::InferenceMode inference;
    const golden::Table table("vae");
    const auto index = Json::parse(golden::json("vae"));
    const Autoencoder fp32(at::kFloat);
    const Autoencoder bf16(at::kBFloat16);
    const engine::LatentScaling scaling32(fp32.config, at::TensorOptions(at::kFloat));
    const engine::LatentScaling scaling16(fp32.config, at::TensorOptions(at::kBFloat16));
    std::map<std::string, Stages> runs;
    double worst = 0;
    int compared = 0;
    for (const auto &entry : index["entries"]) {
        const auto name = entry["tensor"].get<std::string>();
        if (name.find('.') == std::string::npos) { // constants
            const bool isMean = name.starts_with("latents_mean");
            const auto &scaling = name.ends_with("bf16") ? scaling16 : scaling32;
            const auto ours = golden::floats(isMean ? scaling.mean() : scaling.inverseStd());
            EXPECT_LE(golden::largestRelativeError(ours, table.floats(name)),
                      entry["tolerance"] == "exact" ? 0.0 : golden::kUlp)
                << name;
            ++compared;
            continue;
        }
        if (entry["tolerance"] == "exact")
            continue; // an input
        const auto caseName = name.substr(0, name.find('.'));
        auto what = name.substr(name.find('.') + 1);
        const bool isBf16 = what.ends_with("_bf16");
        if (isBf16)
            what.resize(what.size() - 5);
        auto &stages = runs[caseName + (isBf16 ? "bf16" : "fp32")];
        const auto &autoencoder = isBf16 ? bf16 : fp32;
        if (stages.empty())
            stages = caseName[0] == 'T' ? decode(autoencoder, golden::tensor(table, caseName + ".latents"))
                                        : encode(autoencoder, table, caseName);
        ASSERT_TRUE(stages.contains(what)) << name;
        ++compared;
        if (what == "frames_u8") {
            expectPixels(stages[what], table.integers(name), name);
            continue;
        }
        const double error = golden::relativeError(golden::floats(stages[what]), table.floats(name));
        EXPECT_LE(error, isBf16 ? golden::kBf16Chain : golden::kFp32) << name;
        if (!isBf16)
            worst = std::max(worst, error);
    }
    EXPECT_GE(compared, 50);
    std::printf("%d tensors compared, largest fp32 error %.2g\n", compared, worst);
}

TEST(WanAutoencoder, AFrameDependsOnNothingAfterIt)
{
    const c10::InferenceMode inference;
    const Autoencoder autoencoder(at::kFloat);
    auto latents = at::randn({48, 4, 2, 3});
    const auto whole = decode(autoencoder, latents)["frames"];
    const auto prefix = decode(autoencoder, latents.narrow(1, 0, 2))["frames"];
    EXPECT_TRUE(whole.narrow(1, 0, prefix.size(1)).equal(prefix));
}

} // namespace
