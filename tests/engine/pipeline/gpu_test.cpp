#include "engine/model/norms.h"
#include "engine/pipeline/denoise_loop.h"
#include "engine/pipeline/device_choice.h"
#include "tests/engine/pipeline/pipeline_cases.h"
#include "tests/support/golden_tensor.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/randn.h>
#include <c10/core/InferenceMode.h>
#include <gtest/gtest.h>

// The same stages on a GPU. Without one every test here is skipped, saying why.
namespace {

using pipeline_cases::Json;

class OnGpu : public testing::Test {
protected:
    void SetUp() override
    {
        engine::EngineConfig config;
        config.device = engine::DeviceKind::Cuda;
        config.dataType = engine::DataType::Float32;
        try {
            m_device = engine::chooseDevice(config);
        } catch (const engine::EngineFailure &failure) {
            GTEST_SKIP() << failure.error().message;
        }
    }
    engine::DeviceChoice m_device;
};

TEST_F(OnGpu, TheNormEqualsTheCpusInBothTypesAndRoundings)
{
    const c10::InferenceMode inference;
    for (const auto type : {at::kFloat, at::kBFloat16})
        for (const auto rounding :
             {engine::kernels::NormRounding::BeforeWeight, engine::kernels::NormRounding::AfterWeight})
            for (const std::int64_t width : {16, 100, 384, 4096}) {
                const auto x = at::randn({7, width}).to(type);
                const auto weight = at::randn({width}).to(type);
                const auto cpu = engine::RmsNorm(weight, 1e-6, rounding)(x);
                const auto gpu = engine::RmsNorm(weight.to(m_device.device), 1e-6, rounding)(x.to(m_device.device));
                EXPECT_LE(golden::relativeError(gpu, cpu), type == at::kFloat ? golden::kUlp : 1e-3) << width;
            }
}

TEST_F(OnGpu, LoopsAndFramesEqualTheReference)
{
    const c10::InferenceMode inference;
    const golden::Table states("denoise");
    const golden::Table frames("end_to_end");
    const auto index = Json::parse(golden::json("denoise"));
    for (const auto &parameters : index["cases"]) {
        const auto id = parameters["id"].get<std::string>();
        const engine::LoadedModel model(engine::openCheckpoint(pipeline_cases::folder(parameters["model"])), m_device,
                                        {});
        const auto job = engine::prepareJob(*model.files, pipeline_cases::request(parameters));
        engine::DenoiseLoop loop(model.transformer, job, engine::initialNoise(job, model.files->transformer),
                                 std::nullopt, {});
        while (!loop.done())
            loop.advance();
        const auto reference = golden::tensor(states, id + ".fp32.latents");
        EXPECT_LE(golden::relativeError(loop.latents().vision, reference[reference.size(0) - 1]), golden::kFp32Chain)
            << id;
        if (!frames.has(id + ".fp32.frames"))
            continue;
        engine::WanDecoder::Session session(model.decoder, loop.latents().vision);
        std::vector<at::Tensor> chunks;
        while (!session.done())
            chunks.push_back(engine::toBytes(session.next({})));
        const auto ours = at::cat(chunks, 0).contiguous();
        pipeline_cases::expectSamePixels({ours.data_ptr<std::uint8_t>(), ours.data_ptr<std::uint8_t>() + ours.numel()},
                                         frames.integers(id + ".fp32.frames"), id);
    }
}

} // namespace
