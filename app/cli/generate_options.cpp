#include "app/cli/generate_options.h"

#include "app/cli/option_values.h"
#include "app/cli/text_files.h"
#include "engine/api/request_check.h"

#include <CLI/CLI.hpp>

namespace app {

namespace {

constexpr const char *kExamples = R"(Examples:
  parallax generate --model demo --prompt "A red ball bouncing on green grass."
      a clip of the demo world that ships with the program; no GPU needed
  parallax generate --model demo --mode t2i --prompt "A blue ring on snow." --output ring.png
      one picture
  parallax generate --model nvidia/Cosmos3-Nano --prompt-file scene.json --size 832x480 --frames 121 --seed 7
      a published model from the Hugging Face cache, with a JSON prompt
  parallax generate --record clip.mp4 --seed 8 --output again.mp4
      the settings of an earlier clip again, with another seed
  parallax generate --model demo --prompt "A cube." --dry-run --json
      what would be done, token by token, without loading the weights

Exit status: 0 done, 2 the request or a file was refused, 3 failed, 130 stopped with Ctrl-C.)";

// Declares options whose text a function of option_values.h turns into the value.
class OptionAdder {
public:
    explicit OptionAdder(CLI::App &command) : m_command(command) {}

    void group(std::string name) { m_group = std::move(name); }

    template <typename Target, typename Parse>
    void value(const std::string &name, Target &target, Parse parse, const std::string &type, const std::string &help)
    {
        m_command
            .add_option_function<std::string>(
                name, [name, &target, parse](const std::string &text) { target = parse(name, text); }, help)
            ->type_name(type)
            ->take_last() // a script's own options can be followed by its user's
            ->group(m_group);
    }

    template <typename Target>
    void text(const std::string &name, Target &target, const std::string &type, const std::string &help)
    {
        value(
            name, target, [](const std::string &, const std::string &text) { return text; }, type, help);
    }

    // `target` takes `value` when the flag is there.
    template <typename Target>
    void flag(const std::string &name, Target &target, bool value, const std::string &help)
    {
        m_command
            .add_flag_callback(
                name, [&target, value] { target = value; }, help)
            ->group(m_group);
    }

private:
    CLI::App &m_command;
    std::string m_group;
};

engine::RankLayout layoutFrom(const std::string &option, const std::string &text)
{
    const auto layout = engine::rankLayoutFromText(text);
    if (!layout)
        throw engine::EngineFailure(engine::ErrorCode::InvalidRequest,
                                    option + " \"" + text +
                                        "\" is not a layout: write it like \"cfg2 x ulysses2 x tensor1\".");
    return *layout;
}

void addPromptOptions(OptionAdder &add, GenerateOptions &options)
{
    add.group("What to make");
    add.text("--model", options.model, "DIR|demo|NAME",
             "the model: a folder, \"demo\" for the demo world, or a name in the Hugging Face cache");
    add.text("--prompt", options.prompt, "TEXT", "what the clip shows: a sentence, or a JSON object");
    add.text("--prompt-file", options.promptFile, "FILE", "the same from a UTF-8 file, - for standard input");
    add.text("--negative-prompt", options.negativePrompt, "TEXT",
             "what it must not look like; \"\" for nothing, left out for the model's default");
    add.text("--negative-prompt-file", options.negativePromptFile, "FILE", "the same from a UTF-8 file");
    add.value("--mode", options.mode, mode, "t2v|t2i", "text to video, or text to image (default t2v)");
    add.text("--record", options.record, "FILE",
             "start from the settings of an earlier clip, picture or job.json; other options override them");
}

void addSettings(OptionAdder &add, GenerateOptions &options)
{
    add.group("How (left out: the model's default for the mode)");
    add.value("--size", options.size, pixelSize, "WxH", "pixels, multiples of the model's factor; wins over the ratio");
    add.value("--aspect-ratio", options.aspectRatio, aspectRatio, "W,H", "1,1 4,3 3,4 16,9 or 9,16");
    add.value("--frames", options.frames, wholeNumber, "N", "length; rounded up to 4k + 1");
    add.value("--fps", options.fps, number, "R", "frames a second");
    add.value("--steps", options.steps, wholeNumber, "N", "denoising steps, 1 to 200");
    add.value("--guidance-scale", options.guidanceScale, number, "G", "how closely to follow the prompt, 0 to 20");
    add.value("--guidance-interval", options.guidanceInterval, timestepInterval, "LO,HI",
              "guide only where LO < time step < HI, out of 0 to 1000");
    add.value("--flow-shift", options.flowShift, number, "S",
              "where the steps lie: more than 1 spends them on the coarse");
    add.value("--seed", options.seed, longNumber, "K",
              "0 to 4294967295; left out: a fresh one, which the record tells");
    add.flag("--sound", options.sound, true, "with sound, where the model has it");
    add.flag("--no-sound", options.sound, false, "without sound, where a record has it");
}

void addMachineOptions(OptionAdder &add, GenerateOptions &options)
{
    add.group("Where");
    add.value("--dtype", options.dataType, dataType, "float32|bfloat16",
              "the type of the networks (default: what is fast)");
    add.value("--device", options.device, deviceKind, "cpu|cuda", "(default: a GPU when there is one)");
    add.value("--devices", options.devices, deviceList, "0,1", "the GPUs to use, by number");
    add.value("--layout", options.layout, layoutFrom, "TEXT", "how GPUs share the work, \"cfg2 x ulysses2 x tensor1\"");
    add.value("--cfg-parallel-size", options.layout.cfg, wholeNumber, "N",
              "GPUs that share the two guidance branches; above 1 not yet");
    add.value("--tensor-parallel-size", options.layout.tensor, wholeNumber, "N",
              "GPUs that share each layer; above 1 not yet");
    add.value("--ulysses-degree", options.layout.ulysses, wholeNumber, "N",
              "GPUs that share each clip; above 1 not yet");
}

void addOutputOptions(OptionAdder &add, GenerateOptions &options)
{
    add.group("Results");
    add.text("--output", options.output, "FILE", ".mp4, or .png for a picture (default: a fresh name in this folder)");
    add.text("--latents", options.latents, "FILE", "also the final latents, as .safetensors");
    add.text("--frames-raw", options.framesRaw, "FILE", "also the frames as 8-bit RGB, as .safetensors");
    add.flag("--overwrite", options.overwrite, true, "replace files that exist");
    add.flag("--json", options.json, true, "print one JSON object, the job's record, on standard output");
    add.flag("--dry-run", options.dryRun, true, "check everything and show what would be done; loads no weights");
    add.flag("--quiet", options.quiet, true, "no progress and no notes");
}

template <typename Value>
void overrideWith(Value &target, const std::optional<Value> &typed)
{
    if (typed)
        target = *typed;
}

template <typename Value>
void overrideWith(std::optional<Value> &target, const std::optional<Value> &typed)
{
    if (typed)
        target = typed;
}

std::optional<std::string> typedText(const std::string &option, const std::optional<std::string> &text,
                                     const std::optional<std::string> &file)
{
    if (text && file)
        throw engine::EngineFailure(engine::ErrorCode::InvalidRequest,
                                    option + " and " + option + "-file are both given: leave one of them out.");
    return file ? readPromptFile(*file) : text;
}

// The earlier clip's settings. Another mode keeps what is said about the content and takes its own numbers.
engine::GenerationRequest requestFrom(const engine::JobRecord &earlier, const GenerateOptions &options)
{
    auto request = engine::toRequest(earlier.resolved);
    if (earlier.report)
        request.dataType = earlier.report->dataType;
    if (earlier.resolved.negativeIsModelDefault && (options.model || options.mode))
        request.negativePrompt.reset();
    if (options.mode.value_or(request.mode) == request.mode)
        return request;
    engine::GenerationRequest other;
    other.mode = *options.mode;
    other.prompt = request.prompt;
    other.negativePrompt = request.negativePrompt;
    other.seed = request.seed;
    other.dataType = request.dataType;
    return other;
}

} // namespace

void addGenerateOptions(CLI::App &command, GenerateOptions &options)
{
    OptionAdder add(command);
    addPromptOptions(add, options);
    addSettings(add, options);
    addMachineOptions(add, options);
    addOutputOptions(add, options);
    command.footer(kExamples);
}

engine::GenerationRequest makeRequest(const GenerateOptions &options, const std::optional<engine::JobRecord> &earlier)
{
    const auto prompt = typedText("--prompt", options.prompt, options.promptFile);
    if (!prompt && !earlier)
        throw engine::EngineFailure(engine::ErrorCode::InvalidRequest,
                                    "There is no prompt: say what to make with --prompt TEXT or --prompt-file FILE.");
    auto request = earlier ? requestFrom(*earlier, options) : engine::GenerationRequest{};
    overrideWith(request.mode, options.mode);
    overrideWith(request.prompt, prompt);
    overrideWith(request.negativePrompt,
                 typedText("--negative-prompt", options.negativePrompt, options.negativePromptFile));
    if (options.aspectRatio && !options.size)
        request.size.reset();
    overrideWith(request.size, options.size);
    overrideWith(request.aspectRatio, options.aspectRatio);
    overrideWith(request.frames, options.frames);
    overrideWith(request.fps, options.fps);
    overrideWith(request.steps, options.steps);
    if (options.guidanceScale)
        request.guidanceCurve.clear();
    overrideWith(request.guidanceScale, options.guidanceScale);
    overrideWith(request.guidanceInterval, options.guidanceInterval);
    overrideWith(request.flowShift, options.flowShift);
    overrideWith(request.seed, options.seed);
    overrideWith(request.sound, options.sound);
    overrideWith(request.dataType, options.dataType);
    return request;
}

} // namespace app
