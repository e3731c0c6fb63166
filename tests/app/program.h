#pragma once

#include <filesystem>
#include <initializer_list>
#include <string>
#include <vector>

// Runs the built `parallax` as a process.
namespace program {

struct Result {
    int exit = -1;
    std::string out;
    std::string err;
};

// A new empty folder of the running test.
std::filesystem::path freshFolder();

// `folder` is the working folder; `input` goes to standard input.
Result run(const std::vector<std::string> &arguments, const std::filesystem::path &folder,
           const std::string &input = {});
Result run(const std::vector<std::string> &arguments);
// The same with another program file.
Result runProgram(const std::filesystem::path &program, const std::vector<std::string> &arguments,
                  const std::filesystem::path &folder, const std::string &input = {});

void write(const std::filesystem::path &file, const std::string &text);

} // namespace program
