#include "app/cli/generate_plan.h"

#include "app/cli/output_name.h"
#include "app/cli/text_files.h"
#include "app/cli/value_or_throw.h"
#include "engine/api/request_check.h"

#include <algorithm>
#include <sstream>
#include <utility>

namespace app {

namespace {

using engine::EngineFailure;
using engine::ErrorCode;

constexpr const char *kDemo = "demo";
constexpr int kSoundRate = 48000; // of the published sound tokenizers; only the estimate of the file's size needs it

std::optional<engine::JobRecord> readEarlier(const GenerateOptions &options)
{
    if (!options.record)
        return std::nullopt;
    return valueOrThrow(engine::jobRecordFromJson(readRecordFile(*options.record), *options.record));
}

// The folder that was used when it is still there, otherwise the model's name.
std::string modelOf(const engine::JobRecord &earlier)
{
    std::error_code error;
    if (!earlier.modelFolder.empty() && std::filesystem::is_directory(earlier.modelFolder, error))
        return earlier.modelFolder.string();
    return earlier.modelName;
}

std::filesystem::path modelFolder(const GenerateOptions &options, const std::optional<engine::JobRecord> &earlier)
{
    if (!options.model && !earlier)
        throw EngineFailure(ErrorCode::InvalidRequest,
                            "There is no model: name one with --model, \"--model demo\" is the one that ships with "
                            "the program.");
    return valueOrThrow(engine::findModel(options.model ? *options.model : modelOf(*earlier)));
}

// A name by which the model can be found again, and that tells nothing about this computer's folders.
std::string modelName(const engine::Checkpoint &checkpoint)
{
    const auto demo = engine::findModel(kDemo);
    std::error_code error;
    const auto *folder = std::get_if<std::filesystem::path>(&demo);
    if (folder != nullptr && std::filesystem::equivalent(*folder, checkpoint.folder(), error))
        return kDemo;
    if (checkpoint.profile().isKnown)
        return checkpoint.profile().name;
    return std::filesystem::absolute(checkpoint.folder()).lexically_normal().filename().string();
}

void throwProblems(const std::vector<engine::RequestProblem> &problems)
{
    std::string message;
    for (const auto &problem : problems)
        message += (message.empty() ? "" : " ") + problem.message;
    if (!message.empty())
        throw EngineFailure(ErrorCode::InvalidRequest, message);
}

// Only what can be known without the CUDA libraries; the engine looks closer.
void checkDevice(const GenerateOptions &options)
{
    const bool wantsGpu = options.device == engine::DeviceKind::Cuda || !options.devices.empty();
    if (options.device == engine::DeviceKind::Cpu && !options.devices.empty())
        throw EngineFailure(ErrorCode::InvalidRequest,
                            "--devices names GPUs, but --device is cpu: leave one of the two out.");
    if (options.devices.size() > static_cast<std::size_t>(options.layout.ranks()))
        throw EngineFailure(ErrorCode::InvalidRequest, "--devices names " + std::to_string(options.devices.size()) +
                                                           " GPUs for one rank: name one GPU.");
    std::error_code error;
    if (wantsGpu && !std::filesystem::exists("/proc/driver/nvidia/version", error))
        throw EngineFailure(ErrorCode::InvalidRequest,
                            "This computer has no NVIDIA driver running, so there is no GPU to use: leave --device and "
                            "--devices out, or give --device cpu.");
}

OutputPaths outputPaths(const GenerateOptions &options, const engine::ResolvedRequest &resolved)
{
    const bool isImage = resolved.mode == engine::Mode::TextToImage;
    OutputPaths paths{.master = options.output,
                      .latents = options.latents,
                      .framesRaw = options.framesRaw,
                      .overwrite = options.overwrite};
    if (paths.master.empty())
        paths.master = freshOutputName(resolved.prompt, resolved.seed, isImage ? ".png" : ".mp4");
    const auto extension = paths.master.extension();
    if (isImage && extension == ".mp4")
        throw EngineFailure(ErrorCode::Output, "An image cannot be written to " + paths.master.string() +
                                                   ": give --output a name that ends in .png, or ask for --mode t2v.");
    if (!isImage && extension == ".png")
        throw EngineFailure(ErrorCode::Output, "A video cannot be written to " + paths.master.string() +
                                                   ": give --output a name that ends in .mp4, or ask for --mode t2i.");
    return paths;
}

// float32 [C,T,H,W]
std::uint64_t latentBytes(const engine::ResolvedRequest &resolved, const engine::ModelProfile &profile)
{
    const auto latentFrames = 1 + (resolved.frames - 1) / profile.temporalFactor;
    const auto perFrame = std::int64_t{resolved.size.width / profile.spatialFactor} *
                          (resolved.size.height / profile.spatialFactor) * profile.latentChannels;
    return static_cast<std::uint64_t>(latentFrames * perFrame) * sizeof(float);
}

std::string shortText(const std::string &text)
{
    constexpr std::size_t most = 100;
    if (text.size() <= most)
        return text;
    auto end = most;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) // not inside a character
        --end;
    return text.substr(0, end) + "…";
}

std::string guidanceText(const engine::ResolvedRequest &resolved)
{
    std::ostringstream text;
    const auto [low, high] = std::minmax_element(resolved.guidance.begin(), resolved.guidance.end());
    text << "guidance " << *low;
    if (*low != *high)
        text << " to " << *high;
    if (resolved.guidanceInterval)
        text << " for time steps between " << resolved.guidanceInterval->low << " and "
             << resolved.guidanceInterval->high;
    return text.str();
}

// A prompt that was cut is not the one that was asked for.
void noteCut(std::vector<std::string> &notes, const std::string &name, const engine::BranchText &text)
{
    if (text.truncated)
        notes.push_back(name + " is longer than the " + std::to_string(text.tokenIds.size()) +
                        " tokens that are read: its end was left out.");
}

} // namespace

GeneratePlan planGenerate(const GenerateOptions &options, engine::JobRecord &record)
{
    GeneratePlan plan;
    // 1. What is asked, and of which model.
    const auto earlier = readEarlier(options);
    record.asked = makeRequest(options, earlier);
    record.layout = options.layout;
    plan.model = modelFolder(options, earlier);
    const auto checkpoint = valueOrThrow(engine::Checkpoint::open(plan.model));
    record.modelName = modelName(checkpoint);
    record.modelFolder = std::filesystem::absolute(plan.model).lexically_normal();
    if (const auto refusal = checkpoint.refusal())
        throw EngineFailure(*refusal);

    // 2. What that resolves to.
    auto checked = engine::checkRequest(record.asked, checkpoint.profile(), options.layout);
    record.resolved = checked.resolved;
    record.notes = std::move(checked.notes);
    throwProblems(checked.problems);
    checkDevice(options);
    record.tokens = valueOrThrow(checkpoint.tokenize(record.resolved));
    noteCut(record.notes, "The prompt", record.tokens->positive);
    noteCut(record.notes, "The negative prompt", record.tokens->negative);

    // 3. Where it goes.
    const auto &resolved = record.resolved;
    plan.outputs = outputPaths(options, resolved);
    plan.format = {.width = resolved.size.width,
                   .height = resolved.size.height,
                   .frames = resolved.frames,
                   .fps = resolved.fps,
                   .soundRate = resolved.sound ? kSoundRate : 0,
                   .soundChannels = resolved.sound ? 2 : 0};
    checkOutputs(plan.outputs, plan.format, latentBytes(resolved, checkpoint.profile()));
    return plan;
}

std::string planText(const GeneratePlan &plan, const engine::JobRecord &record)
{
    const auto &resolved = record.resolved;
    const bool isImage = resolved.mode == engine::Mode::TextToImage;
    std::ostringstream text;
    text << "model     " << record.modelName << " (" << record.modelFolder.string() << ")\n"
         << "prompt    " << record.tokens->positive.tokenIds.size() << " tokens: " << shortText(resolved.prompt) << "\n"
         << "negative  " << record.tokens->negative.tokenIds.size() << " tokens: " << shortText(resolved.negativePrompt)
         << "\n"
         << "size      " << resolved.size.width << "x" << resolved.size.height;
    if (isImage)
        text << ", one picture\n";
    else
        text << ", " << resolved.frames << " frames at " << resolved.fps << " a second"
             << (resolved.sound ? ", with sound" : "") << "\n";
    text << "sampling  " << resolved.steps << " steps, " << guidanceText(resolved) << ", flow shift "
         << resolved.flowShift << ", seed " << resolved.seed << "\n"
         << "output    " << plan.outputs.master.string() << "\n";
    if (!plan.outputs.latents.empty())
        text << "latents   " << plan.outputs.latents.string() << "\n";
    if (!plan.outputs.framesRaw.empty())
        text << "frames    " << plan.outputs.framesRaw.string() << "\n";
    return text.str();
}

} // namespace app
