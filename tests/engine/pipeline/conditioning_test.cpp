#include "engine/pipeline/conditioning.h"
#include "tests/engine/pipeline/pipeline_cases.h"
#include "tests/support/golden_tensor.h"
#include "tests/support/png_pixels.h"

#include <ATen/ops/from_blob.h>
#include <c10/core/InferenceMode.h>
#include <gtest/gtest.h>

#include <string>

namespace {

using pipeline_cases::Json;

at::Tensor conditionImage() // [1, H, W, 3] uint8
{
    auto image = png::read(golden::folder() / "condition_3to1.png");
    return at::from_blob(image.rgb.data(), {1, image.height, image.width, 3}, at::kByte).clone();
}

at::Tensor bytes(const golden::Table &table, const std::string &name)
{
    auto values = table.integers(name);
    return at::from_blob(values.data(), table.shape(name), at::kLong).to(at::kFloat);
}

const engine::WanEncoder &encoder(at::ScalarType type)
{
    const auto make = [](at::ScalarType t) {
        const auto &files = *pipeline_cases::model("tiny-nano", t).files;
        return engine::WanEncoder(files.vae, engine::WeightLoader(*files.vaeWeights, t, at::kCPU));
    };
    static const engine::WanEncoder fp32 = make(at::kFloat);
    static const engine::WanEncoder bf16 = make(at::kBFloat16);
    return type == at::kFloat ? fp32 : bf16;
}

TEST(Conditioning, AWideImageIsCoveredAndCroppedAsTheReferenceDoesIt)
{
    const c10::InferenceMode inference;
    const golden::Table table("conditioning");
    for (const auto &[name, height, width] :
         {std::tuple{"image_64x96_u8", 64, 96}, std::tuple{"image_48x80_u8", 48, 80},
          std::tuple{"image_80x48_u8", 80, 48}}) {
        const auto ours = engine::coverResize(conditionImage(), width, height, engine::PixelRounding::Whole)
                              .to(at::kByte)
                              .contiguous();
        const std::vector<std::uint8_t> flat(ours.data_ptr<std::uint8_t>(),
                                             ours.data_ptr<std::uint8_t>() + ours.numel());
        pipeline_cases::expectSamePixels(flat, table.integers(name), name);
    }
}

TEST(Conditioning, AClipsFramesAreNotRounded)
{
    const c10::InferenceMode inference;
    const golden::Table table("conditioning");
    const auto source = bytes(table, "v2v.source_u8").narrow(0, 0, 5);
    const auto ours = engine::coverResize(source, 80, 48, engine::PixelRounding::None).permute({0, 3, 1, 2});
    EXPECT_LE(golden::relativeError(ours, golden::tensor(table, "v2v.pixels")), golden::kFp32);
}

TEST(Conditioning, CleanLatentsEqualTheReference)
{
    const c10::InferenceMode inference;
    const golden::Table table("conditioning");
    const auto index = Json::parse(golden::json("conditioning"));
    for (const auto &parameters : index["cases"])
        for (const bool isBf16 : {false, true}) {
            const auto id = parameters["id"].get<std::string>();
            const auto type = isBf16 ? at::kBFloat16 : at::kFloat;
            const auto &model = pipeline_cases::model(parameters["model"], type);
            const auto job = engine::prepareJob(*model.files, pipeline_cases::request(parameters));
            const auto &size = job.request.size;
            const auto pixels = id == "v2v" ? engine::coverResize(bytes(table, "v2v.source_u8").narrow(0, 0, 5),
                                                                  size.width, size.height, engine::PixelRounding::None)
                                            : engine::coverResize(conditionImage(), size.width, size.height,
                                                                  engine::PixelRounding::Whole);
            const auto condition = engine::encodeCondition(encoder(type), pixels, job.layout.geometry, type, {});
            EXPECT_LE(golden::relativeError(condition.cleanLatents,
                                            golden::tensor(table, id + (isBf16 ? ".bf16.clean" : ".fp32.clean"))),
                      isBf16 ? golden::kBf16Chain : golden::kFp32)
                << id;
            const auto mask = table.integers(id + ".mask");
            EXPECT_EQ(static_cast<std::int64_t>(condition.cleanFrames.size()), std::count(mask.begin(), mask.end(), 1));
            if (id == "v2v")
                continue; // the table has no start state of it
            auto start = engine::initialNoise(job, model.files->transformer).vision;
            for (const auto frame : condition.cleanFrames)
                start.select(1, frame).copy_(condition.cleanLatents.select(1, frame));
            EXPECT_LE(
                golden::relativeError(start, golden::tensor(table, id + (isBf16 ? ".bf16.start" : ".fp32.start"))),
                isBf16 ? golden::kBf16Chain : golden::kFp32)
                << id;
        }
}

} // namespace
