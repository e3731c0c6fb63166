#include "app/cli/text_files.h"

#include "app/cli/value_or_throw.h"
#include "engine/media/video_metadata.h"

#include <array>
#include <fstream>
#include <iostream>

namespace app {

namespace {

constexpr std::size_t kMaxBytes = 64U << 20U; // of a record; a prompt's own limit is checkRequest's business

[[noreturn]] void refuse(const std::string &sentence)
{
    throw engine::EngineFailure(engine::ErrorCode::InvalidRequest, sentence);
}

void checkIsFile(const std::filesystem::path &file, const std::string &thing)
{
    std::error_code error;
    const auto status = std::filesystem::status(file, error);
    if (!std::filesystem::exists(status))
        refuse("The " + thing + " " + file.string() + " does not exist: check its name.");
    if (std::filesystem::is_directory(status))
        refuse("The " + thing + " " + file.string() + " is a folder: name a file in it.");
}

std::string readAll(std::istream &stream, const std::string &name)
{
    std::string text;
    std::array<char, 65536> buffer{};
    while (stream.read(buffer.data(), buffer.size()) || stream.gcount() > 0) {
        text.append(buffer.data(), static_cast<std::size_t>(stream.gcount()));
        if (text.size() > kMaxBytes)
            refuse(name + " is larger than 64 MB: choose another file.");
    }
    if (stream.bad())
        refuse(name + " cannot be read: check the disk it is on.");
    return text;
}

std::string readFile(const std::filesystem::path &file, const std::string &thing)
{
    checkIsFile(file, thing);
    std::ifstream stream(file, std::ios::binary);
    if (!stream)
        refuse("The " + thing + " " + file.string() + " cannot be read: check its permissions.");
    return readAll(stream, "The " + thing + " " + file.string());
}

} // namespace

std::string readPromptFile(const std::string &file)
{
    auto text = file == "-" ? readAll(std::cin, "Standard input") : readFile(file, "prompt file");
    if (text.starts_with("\xef\xbb\xbf"))
        text.erase(0, 3);
    if (text.ends_with('\n'))
        text.pop_back();
    if (text.ends_with('\r'))
        text.pop_back();
    return text;
}

std::string readRecordFile(const std::filesystem::path &file)
{
    if (file.extension() == ".json")
        return readFile(file, "record");
    checkIsFile(file, "clip");
    return valueOrThrow(engine::readRecordText(file));
}

} // namespace app
