#include "engine/pipeline/denoise_loop.h"
#include "tests/engine/pipeline/pipeline_cases.h"
#include "tests/support/golden_tensor.h"

#include <c10/core/InferenceMode.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace {

using pipeline_cases::Json;

struct Trace {
    std::vector<at::Tensor> latents; // after every step
    std::vector<at::Tensor> sound;
    at::Tensor firstVelocity;
};

Trace runLoop(const engine::LoadedModel &model, const engine::PreparedJob &job,
              const std::optional<engine::Condition> &condition = std::nullopt)
{
    Trace trace;
    engine::DenoiseLoop loop(model.transformer, job, engine::initialNoise(job, model.files->transformer), condition,
                             {});
    while (!loop.done()) {
        loop.advance();
        if (loop.step() == 1)
            trace.firstVelocity = loop.lastVelocity().vision.clone();
        trace.latents.push_back(loop.latents().vision.clone());
        if (loop.latents().sound.defined())
            trace.sound.push_back(loop.latents().sound.clone());
    }
    return trace;
}

// Both criteria of the tables for bf16, the fp32 ones for fp32. `ownErrors`: distance of the stored bf16 states to the
// stored fp32 ones, step by step.
void expectStates(const std::vector<at::Tensor> &ours, const golden::Table &table, const std::string &name, bool isBf16,
                  const Json &ownErrors)
{
    const auto reference = golden::tensor(table, name);
    ASSERT_EQ(static_cast<std::int64_t>(ours.size()), reference.size(0)) << name;
    auto exactName = name;
    if (isBf16)
        exactName.replace(exactName.find(".bf16."), 6, ".fp32.");
    const auto exact = golden::tensor(table, exactName);
    for (std::size_t step = 0; step < ours.size(); ++step) {
        const auto index = static_cast<std::int64_t>(step);
        EXPECT_LE(golden::relativeError(ours[step], reference[index]), isBf16 ? golden::kBf16Chain : golden::kFp32Chain)
            << name << " after step " << step + 1;
        if (isBf16 && ownErrors.is_array()) {
            EXPECT_LE(golden::relativeError(ours[step], exact[index]),
                      golden::kBf16OwnErrorFactor * ownErrors[step].get<double>())
                << name << " against fp32 after step " << step + 1;
        }
    }
}

TEST(DenoiseLoop, EveryCaseGivesTheReferenceStateAfterEveryStep)
{
    const c10::InferenceMode inference;
    const golden::Table table("denoise");
    const auto index = Json::parse(golden::json("denoise"));
    ASSERT_EQ(index["cases"].size(), 11U);
    for (const auto &parameters : index["cases"])
        for (const bool isBf16 : {false, true}) {
            const auto stem = parameters["id"].get<std::string>() + (isBf16 ? ".bf16." : ".fp32.");
            const auto &model = pipeline_cases::model(parameters["model"], isBf16 ? at::kBFloat16 : at::kFloat);
            const auto job = engine::prepareJob(*model.files, pipeline_cases::request(parameters));
            EXPECT_EQ(job.tokens.positive.text, parameters["text_positive"]) << stem;
            EXPECT_EQ(job.tokens.positive.tokenIds, parameters["ids_positive"].get<std::vector<int>>()) << stem;
            if (job.needsNegative()) {
                EXPECT_EQ(job.tokens.negative.tokenIds, parameters["ids_negative"].get<std::vector<int>>()) << stem;
            }
            const auto trace = runLoop(model, job);
            EXPECT_LE(golden::relativeError(trace.firstVelocity, golden::tensor(table, stem + "velocity0")),
                      isBf16 ? golden::kBf16Chain : golden::kFp32)
                << stem;
            expectStates(trace.latents, table, stem + "latents", isBf16, parameters["bf16_against_fp32"]);
            if (!trace.sound.empty())
                expectStates(trace.sound, table, stem + "sound", isBf16, Json());
        }
}

TEST(DenoiseLoop, AConditionedRunEqualsTheReferenceAndKeepsItsFirstFrames)
{
    const c10::InferenceMode inference;
    const golden::Table table("conditioning");
    const auto index = Json::parse(golden::json("conditioning"));
    for (const auto &parameters : index["cases"])
        for (const bool isBf16 : {false, true}) {
            const auto id = parameters["id"].get<std::string>();
            const auto stem = id + (isBf16 ? ".bf16." : ".fp32.");
            const auto &model = pipeline_cases::model(parameters["model"], isBf16 ? at::kBFloat16 : at::kFloat);
            const auto job = engine::prepareJob(*model.files, pipeline_cases::request(parameters));
            engine::Condition condition;
            condition.cleanLatents = golden::tensor(table, stem + "clean");
            const auto mask = table.integers(id + ".mask");
            for (std::size_t frame = 0; frame < mask.size(); ++frame)
                if (mask[frame] == 1)
                    condition.cleanFrames.push_back(static_cast<std::int64_t>(frame));
            const auto trace = runLoop(model, job, condition);
            expectStates(trace.latents, table, stem + "latents", isBf16, Json());
            for (const auto frame : condition.cleanFrames)
                EXPECT_LE(golden::relativeError(trace.latents.back().select(1, frame).contiguous(),
                                                condition.cleanLatents.select(1, frame).contiguous()),
                          golden::kUlp)
                    << stem;
        }
}

TEST(DenoiseLoop, GuidanceOutsideItsIntervalIsThePositiveBranchAlone)
{
    const c10::InferenceMode inference;
    const auto &model = pipeline_cases::model("tiny-edge", at::kFloat);
    auto request = pipeline_cases::request(Json::parse(golden::json("denoise"))["cases"][8]);
    request.guidanceInterval = engine::TimestepInterval{2000, 3000}; // never
    const auto never = runLoop(model, engine::prepareJob(*model.files, request));
    request.guidanceInterval.reset();
    request.guidance.assign(request.guidance.size(), 1.0);
    const auto alone = runLoop(model, engine::prepareJob(*model.files, request));
    EXPECT_TRUE(never.latents.back().equal(alone.latents.back()));
}

TEST(DenoiseLoop, TwoHundredStepsEndInFiniteLatents)
{
    const c10::InferenceMode inference;
    const auto &model = pipeline_cases::model("tiny-edge", at::kFloat);
    auto request = pipeline_cases::request(Json::parse(golden::json("denoise"))["cases"][10]);
    request.steps = 200; // the first two timesteps are equal: a look-up by timestep would fail
    request.flowShift = 10;
    request.guidance.assign(200, 4.0);
    const auto trace = runLoop(model, engine::prepareJob(*model.files, request));
    EXPECT_EQ(trace.latents.size(), 200U);
    EXPECT_TRUE(std::isfinite(trace.latents.back().sum().item<float>()));
}

} // namespace
