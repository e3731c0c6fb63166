#include "app/cli/exit_codes.h"
#include "app/cli/generate_command.h"
#include "app/cli/inspect_command.h"
#include "app/cli/nearest_name.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

namespace {

constexpr const char *kExamples = R"(Examples:
  parallax generate --model demo --prompt "A red ball bouncing on green grass."
  parallax inspect demo
  parallax generate --help)";

constexpr const char *kInspectExamples = R"(Examples:
  parallax inspect demo                     the demo world that ships with the program
  parallax inspect ~/models/Cosmos3-Nano    a model folder: variant, sizes, parts there or missing, memory
  parallax inspect clip.mp4                 how a clip was made
  parallax inspect clip.mp4 --json          the same for programs, and for parallax generate --record)";

struct Program {
    CLI::App app{"Generates video, images and sound with world models, from text.", "parallax"};
    CLI::App *generate = nullptr;
    CLI::App *inspect = nullptr;
    app::GenerateOptions generateOptions;
    std::string inspectTarget;
    bool inspectJson = false;
};

void declare(Program &program)
{
    program.app.set_version_flag("--version", "parallax " PARALLAX_VERSION);
    program.app.footer(kExamples);
    program.app.allow_extras();
    program.generate = program.app.add_subcommand("generate", "makes a clip or a picture from a prompt");
    app::addGenerateOptions(*program.generate, program.generateOptions);
    program.inspect = program.app.add_subcommand("inspect", "shows what a model is, or how a clip was made");
    program.inspect
        ->add_option("TARGET", program.inspectTarget, "a model folder or name, a clip, a picture or a job.json")
        ->type_name("DIR|FILE");
    program.inspect->add_flag("--json", program.inspectJson, "print one JSON object on standard output");
    program.inspect->footer(kInspectExamples);
    for (auto *command : {program.generate, program.inspect})
        command->allow_extras();
}

[[noreturn]] void refuse(const std::string &sentence)
{
    throw engine::EngineFailure(engine::ErrorCode::InvalidRequest, sentence);
}

// What nothing declared took: an unknown option, an unknown command, or a word too many.
void refuseRest(const CLI::App &command, const std::string &program, const std::vector<std::string> &commands)
{
    const auto rest = command.remaining();
    if (rest.empty())
        return;
    const auto &word = rest.front();
    std::vector<std::string> options;
    for (const auto *option : command.get_options())
        for (const auto &name : option->get_lnames())
            options.push_back("--" + name);
    const auto seeHelp = ": see " + program + " --help.";
    if (word.starts_with('-'))
        refuse("There is no option " + word + app::didYouMean(word.substr(0, word.find('=')), options, seeHelp));
    if (commands.empty())
        refuse("\"" + word + "\" belongs to no option (quote texts that have spaces)" + seeHelp);
    refuse("There is no command " + word + app::didYouMean(word, commands, seeHelp));
}

int dispatch(Program &program)
{
    const std::vector<std::string> commands{"generate", "inspect"};
    if (program.generate->parsed()) {
        refuseRest(*program.generate, "parallax generate", {});
        return app::runGenerate(program.generateOptions);
    }
    if (program.inspect->parsed()) {
        refuseRest(*program.inspect, "parallax inspect", {});
        if (program.inspectTarget.empty())
            refuse("There is nothing to inspect: name a model folder, a clip, a picture or a job.json.");
        return app::runInspect(program.inspectTarget, program.inspectJson);
    }
    refuseRest(program.app, "parallax", commands);
    refuse("There is no command: say generate or inspect, or see parallax --help.");
}

// Last first, as the parser takes them. "--name=" becomes "--name" and an empty text, which the parser would miss.
std::vector<std::string> arguments(int argc, char **argv)
{
    std::vector<std::string> arguments;
    for (int i = 1; i < argc; ++i) {
        std::string argument = argv[i];
        const bool isEmptyValue = argument.starts_with("--") && argument.find('=') == argument.size() - 1;
        if (isEmptyValue)
            argument.pop_back();
        arguments.push_back(argument);
        if (isEmptyValue)
            arguments.emplace_back();
    }
    std::ranges::reverse(arguments);
    return arguments;
}

int refused(const engine::EngineError &error, bool json)
{
    spdlog::error("{}", error.message);
    if (json) {
        auto record = engine::newJobRecord();
        record.state = "failed";
        record.problem = error;
        std::cout << engine::toJson(record, engine::RecordCopy::Full) << "\n";
    }
    return app::exitCode(error.code);
}

int run(int argc, char **argv)
{
    const bool json = std::find(argv, argv + argc, std::string_view("--json")) != argv + argc;
    Program program;
    declare(program);
    try {
        program.app.parse(arguments(argc, argv));
        return dispatch(program);
    } catch (const CLI::Success &help) { // --help, --version
        return program.app.exit(help);
    } catch (const CLI::ArgumentMismatch &error) { // its text begins with the option's name
        const std::string text = error.what();
        return refused({engine::ErrorCode::InvalidRequest,
                        text.substr(0, text.find(':')) + " needs a value after it: see parallax generate --help.",
                        {}},
                       json);
    } catch (const CLI::ParseError &error) {
        return refused({engine::ErrorCode::InvalidRequest, std::string(error.what()) + ": see parallax --help.", {}},
                       json);
    } catch (const engine::EngineFailure &failure) {
        return refused(failure.error(), json);
    }
}

// The OpenMP library lets a thread that waits for the others spin for a long time: beside one other busy program a clip
// took ten times as long (docs/measurements.md). It reads its settings when the program is loaded, so the program
// starts itself again with a short spin, unless the user has chosen. Where that fails, it goes on as it is.
void shortenOpenMpSpin(char **arguments)
{
    if (std::getenv("GOMP_SPINCOUNT") != nullptr || std::getenv("OMP_WAIT_POLICY") != nullptr)
        return;
    setenv("GOMP_SPINCOUNT", "3000", 1);
    std::error_code error;
    const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
    if (!error)
        execv(program.c_str(), arguments);
}

} // namespace

int main(int argc, char **argv)
{
    shortenOpenMpSpin(argv);
    spdlog::set_default_logger(spdlog::stderr_color_mt("parallax"));
    spdlog::set_pattern("%^%l:%$ %v");
    try {
        return run(argc, argv);
    } catch (const std::exception &error) {
        spdlog::error("parallax failed in a way it did not expect ({}); please report this.", error.what());
        return app::kExitFailed;
    }
}
