#include "engine/checkpoint/checkpoint_files.h"

#include "engine/checkpoint/checkpoint_layout.h"
#include "engine/checkpoint/checkpoint_profile.h"
#include "engine/checkpoint/expected_weights.h"
#include "engine/text/prompt_template.h"
#include "engine/weights/checked_json.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>
#include <set>
#include <sstream>
#include <system_error>
#include <utility>

namespace engine {

namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const std::string &message)
{
    throw EngineFailure(ErrorCode::ModelFiles, message);
}

void refuseLater(CheckpointFiles &files, std::string message)
{
    if (!files.refusal)
        files.refusal = EngineError{ErrorCode::ModelFiles, std::move(message)};
}

std::int64_t folderBytes(const fs::path &folder)
{
    std::int64_t bytes = 0;
    std::error_code error;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
        std::error_code ignored;
        if (entry->is_regular_file(ignored))
            bytes += static_cast<std::int64_t>(entry->file_size(ignored));
    }
    return bytes;
}

std::string numberText(double number)
{
    std::ostringstream text;
    text << number;
    return text.str();
}

CheckpointPart partOf(const fs::path &checkpoint, const std::string &name, bool required)
{
    const auto folder = checkpoint / name;
    std::error_code ignored;
    CheckpointPart part;
    part.name = name;
    part.present = fs::is_directory(folder, ignored);
    part.required = required;
    if (part.present)
        part.bytes = folderBytes(folder);
    return part;
}

void compareWeights(CheckpointPart &part, const WeightIndex &weights, const std::vector<ExpectedWeight> &expected)
{
    part.tensors = static_cast<std::int64_t>(weights.names().size());
    const auto comparison = weights.compare(expected);
    part.missing = comparison.missing;
    part.unknown = comparison.unknown;
}

std::string lacksSentence(const CheckpointPart &part)
{
    const auto count = part.missing.size();
    return part.name + "/ lacks " +
           (count == 1 ? "the tensor \"" : std::to_string(count) + " tensors, the first is \"") + part.missing.front() +
           "\"; download the folder again.";
}

CheckpointPart openTransformer(CheckpointFiles &files)
{
    auto part = partOf(files.folder, "transformer", true);
    files.transformer =
        readTransformerConfig(readTextFile(files.folder / "transformer" / "config.json"), "transformer/config.json");
    files.transformerWeights = std::make_unique<WeightIndex>(files.folder / "transformer");
    compareWeights(part, *files.transformerWeights, expectedTransformerWeights(files.transformer));
    if (!part.missing.empty())
        refuseLater(files, lacksSentence(part));
    return part;
}

CheckpointPart openVae(CheckpointFiles &files)
{
    auto part = partOf(files.folder, "vae", true);
    if (!part.present) {
        refuseLater(files, "The model in " + files.folder.string() +
                               " has no vae/, which turns latents into pictures; download that folder too.");
        return part;
    }
    files.vae = readVaeConfig(readTextFile(files.folder / "vae" / "config.json"), "vae/config.json");
    if (files.vae.zDim != files.transformer.latentChannels)
        refuse("vae/config.json has " + std::to_string(files.vae.zDim) +
               " channels (z_dim) and transformer/config.json " + std::to_string(files.transformer.latentChannels) +
               " (latent_channel): the folders are of different models; download both again.");
    if (!files.transformer.saysTemporalCompression) {
        files.transformer.temporalCompression = static_cast<int>(files.vae.temporalFactor());
    } else if (files.transformer.temporalCompression != files.vae.temporalFactor()) {
        refuse("vae/config.json compresses time " + std::to_string(files.vae.temporalFactor()) +
               "-fold and transformer/config.json expects " + std::to_string(files.transformer.temporalCompression) +
               " (temporal_compression_factor): the folders are of different models; download both again.");
    }
    files.vaeWeights = std::make_unique<WeightIndex>(files.folder / "vae");
    auto expected = expectedVaeDecoderWeights(files.vae);
    const auto encoder = expectedVaeEncoderWeights(files.vae);
    expected.insert(expected.end(), encoder.begin(), encoder.end());
    compareWeights(part, *files.vaeWeights, expected);
    if (!part.missing.empty())
        refuseLater(files, lacksSentence(part));
    return part;
}

CheckpointPart openTokenizer(CheckpointFiles &files)
{
    auto part = partOf(files.folder, "text_tokenizer", true);
    if (!part.present) {
        refuseLater(files, "The model in " + files.folder.string() +
                               " has no text_tokenizer/, which reads prompts; download that folder too.");
        return part;
    }
    files.tokenizer = BpeTokenizer::fromFolder(files.folder / "text_tokenizer");
    if (files.tokenizer->size() > files.transformer.vocabulary)
        refuse("text_tokenizer/ knows " + std::to_string(files.tokenizer->size()) +
               " tokens and transformer/config.json only " + std::to_string(files.transformer.vocabulary) +
               " (vocab_size): the folders are of different models; download both again.");
    static_cast<void>(chatTokens(*files.tokenizer, "", "", 1 << 20)); // all special tokens are there
    return part;
}

CheckpointPart openScheduler(CheckpointFiles &files)
{
    auto part = partOf(files.folder, "scheduler", false);
    if (!part.present) {
        part.note = "Without scheduler/ the published noise levels of the family are used.";
        return part;
    }
    files.scheduler = readSchedulerConfig(readTextFile(files.folder / "scheduler" / "scheduler_config.json"),
                                          "scheduler/scheduler_config.json");
    constexpr std::array kKnown{"UniPCMultistepScheduler", "Cosmos3EdgeUniPCMultistepScheduler"};
    if (files.scheduler.className == "FlowMatchEulerDiscreteScheduler")
        refuseLater(files,
                    "The model in " + files.folder.string() +
                        " is a distilled few-step one (FlowMatchEulerDiscreteScheduler), which Parallax does not "
                        "run; choose the full model.");
    else if (std::find(kKnown.begin(), kKnown.end(), files.scheduler.className) == kKnown.end())
        part.note = "The scheduler " + quotedText(files.scheduler.className) + " is unknown; UniPC is used.";
    return part;
}

std::string missingSoundHead(const CheckpointFiles &files)
{
    for (const auto &weight : expectedTransformerWeights(files.transformer)) {
        if (weight.name.starts_with("audio_") && !files.transformerWeights->has(weight.name))
            return weight.name;
    }
    return "";
}

// Sound heads or a sound tokenizer that are not there are legal: the model then makes silent clips, and the note says
// why. Without a note the model has sound.
CheckpointPart openSound(CheckpointFiles &files)
{
    auto part = partOf(files.folder, "sound_tokenizer", false);
    if (!files.transformer.sound) {
        part.note = "The model makes no sound.";
        return part;
    }
    if (!part.present) {
        part.note = "There is no sound tokenizer, so clips have no sound.";
        return part;
    }
    const std::string name = "sound_tokenizer/config.json";
    const auto sound = readSoundConfig(readTextFile(files.folder / name), name);
    const auto rate = static_cast<double>(sound.sampleRate) / sound.hopSize;
    if (sound.latentDim != files.transformer.soundDim ||
        std::abs(rate - files.transformer.soundLatentFps) > 1e-6 * rate)
        refuse(name + " (vocoder_input_dim " + std::to_string(sound.latentDim) + ", sampling_rate / hop_size " +
               numberText(rate) + ") does not fit transformer/config.json (sound_dim " +
               std::to_string(files.transformer.soundDim) + ", sound_latent_fps " +
               numberText(files.transformer.soundLatentFps) + "); download both folders again.");
    files.sound = sound;
    files.soundWeights = std::make_unique<WeightIndex>(files.folder / "sound_tokenizer");
    compareWeights(part, *files.soundWeights, expectedSoundDecoderWeights(sound));
    if (const auto head = missingSoundHead(files); !head.empty())
        part.note = "The transformer lacks its sound head \"" + head + "\", so clips have no sound.";
    else if (!part.missing.empty())
        part.note = "Clips have no sound: " + lacksSentence(part);
    return part;
}

// What inspecting shows of one part's weights: elements of those that generation loads, and their types.
struct LoadedWeights {
    std::int64_t elements = 0;
    std::set<TensorType> types;
};

void countLoaded(LoadedWeights &loaded, const WeightIndex &weights, const std::vector<ExpectedWeight> &expected,
                 bool withSound)
{
    for (const auto &weight : expected) {
        const bool soundHead = withSound && weight.name.starts_with("audio_");
        if ((weight.optional && !soundHead) || !weights.has(weight.name))
            continue;
        loaded.elements +=
            std::accumulate(weight.shape.begin(), weight.shape.end(), std::int64_t{1}, std::multiplies<>());
        loaded.types.insert(weights.view(weight.name).type);
    }
}

std::string typeText(const std::set<TensorType> &types)
{
    if (types.size() != 1)
        return "mixed";
    switch (*types.begin()) {
    case TensorType::BFloat16:
        return "bfloat16";
    case TensorType::Float16:
        return "float16";
    default:
        return "float32";
    }
}

void summarize(CheckpointFiles &files)
{
    auto &summary = files.summary;
    summary.variant = files.transformer.isNemotron ? "Nemotron-like (Edge)" : "Qwen-like";
    summary.hiddenSize = files.transformer.hiddenSize;
    summary.headDim = files.transformer.headDim;
    summary.vocabulary = files.transformer.vocabulary;
    LoadedWeights network;
    countLoaded(network, *files.transformerWeights, expectedTransformerWeights(files.transformer),
                files.profile.hasSound);
    LoadedWeights decoders;
    if (files.vaeWeights)
        countLoaded(decoders, *files.vaeWeights, expectedVaeDecoderWeights(files.vae), false);
    if (files.profile.hasSound)
        countLoaded(decoders, *files.soundWeights, expectedSoundDecoderWeights(*files.sound), false);
    summary.parameters = network.elements;
    summary.weightType = typeText(network.types);
    summary.memoryFloat32 = 4 * (network.elements + decoders.elements);
    summary.memoryBFloat16 = 2 * (network.elements + decoders.elements);
}

} // namespace

std::shared_ptr<const CheckpointFiles> openCheckpoint(const fs::path &folder)
{
    checkLayout(folder);
    auto files = std::make_shared<CheckpointFiles>();
    files->folder = folder;
    auto &parts = files->summary.parts;
    parts.push_back(openTransformer(*files));
    parts.push_back(openVae(*files));
    parts.push_back(openTokenizer(*files));
    parts.push_back(openScheduler(*files));
    parts.push_back(openSound(*files));
    files->profile = checkpointProfile(*files, parts.back().note.empty());
    summarize(*files);
    return files;
}

PromptTokens tokenizePrompts(const CheckpointFiles &files, const ResolvedRequest &request)
{
    if (!files.tokenizer)
        throw EngineFailure(*files.refusal);
    const bool image = request.mode == Mode::TextToImage;
    const ClipMetadata metadata{.width = request.size.width,
                                .height = request.size.height,
                                .frames = image ? 1 : request.frames,
                                .fps = request.fps,
                                .aspectRatio = request.aspectRatio};
    const auto system = files.profile.useSystemPrompt ? systemPrompt(request.mode) : std::string_view();
    const auto tokens = [&](const std::string &prompt, Branch branch) {
        return chatTokens(*files.tokenizer, promptText(prompt, branch, metadata), system, files.profile.maxTextTokens);
    };
    return {.positive = tokens(request.prompt, Branch::Positive),
            .negative = tokens(request.negativePrompt, Branch::Negative)};
}

} // namespace engine
