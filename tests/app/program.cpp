#include "tests/app/program.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

namespace program {

namespace {

std::string quoted(const std::string &text)
{
    std::string result = "'";
    for (const char c : text)
        result += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return result + "'";
}

std::string read(const std::filesystem::path &file)
{
    std::ifstream stream(file, std::ios::binary);
    std::ostringstream text;
    text << stream.rdbuf();
    return text.str();
}

} // namespace

std::filesystem::path freshFolder()
{
    static int count = 0;
    const auto *test = testing::UnitTest::GetInstance()->current_test_info();
    auto name = std::string(test->test_suite_name()) + "." + test->name() + "." + std::to_string(getpid()) + "." +
                std::to_string(count++);
    for (auto &c : name)
        if (c == '/')
            c = '_';
    const auto folder = std::filesystem::path(testing::TempDir()) / name;
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
    return folder;
}

void write(const std::filesystem::path &file, const std::string &text)
{
    std::ofstream(file, std::ios::binary) << text;
}

Result runProgram(const std::filesystem::path &program, const std::vector<std::string> &arguments,
                  const std::filesystem::path &folder, const std::string &input)
{
    const auto logs = freshFolder();
    write(logs / "in", input);
    std::string command = "cd " + quoted(folder.string()) + " && " + quoted(program.string());
    for (const auto &argument : arguments)
        command += " " + quoted(argument);
    command += " < " + quoted((logs / "in").string()) + " > " + quoted((logs / "out").string()) + " 2> " +
               quoted((logs / "err").string());
    const int status = std::system(command.c_str());
    Result result{WIFEXITED(status) ? WEXITSTATUS(status) : -1, read(logs / "out"), read(logs / "err")};
    std::filesystem::remove_all(logs);
    return result;
}

Result run(const std::vector<std::string> &arguments, const std::filesystem::path &folder, const std::string &input)
{
    return runProgram(PARALLAX_PROGRAM, arguments, folder, input);
}

Result run(const std::vector<std::string> &arguments)
{
    const auto folder = freshFolder();
    auto result = run(arguments, folder);
    std::filesystem::remove_all(folder);
    return result;
}

} // namespace program
