#include "tests/support/temporary_checkpoint.h"

#include <atomic>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <unistd.h>

namespace golden {

namespace fs = std::filesystem;

TemporaryCheckpoint::TemporaryCheckpoint(const fs::path &original)
{
    static std::atomic<int> counter{0};
    m_folder = fs::temp_directory_path() /
               ("parallax-checkpoint-" + std::to_string(getpid()) + "-" + std::to_string(counter++));
    fs::create_directory(m_folder);
    // Reference checkpoints share folders by links, which are followed.
    for (const auto &entry :
         fs::recursive_directory_iterator(original, fs::directory_options::follow_directory_symlink)) {
        const auto copy = m_folder / entry.path().lexically_relative(original);
        if (entry.is_directory())
            fs::create_directory(copy);
        else
            fs::create_symlink(fs::absolute(entry.path()), copy);
    }
}

TemporaryCheckpoint::~TemporaryCheckpoint()
{
    std::error_code ignored;
    fs::remove_all(m_folder, ignored);
}

std::string TemporaryCheckpoint::read(std::string_view file) const
{
    std::ifstream stream(m_folder / file, std::ios::binary);
    if (!stream)
        throw std::runtime_error("no file " + std::string(file));
    std::ostringstream text;
    text << stream.rdbuf();
    return text.str();
}

void TemporaryCheckpoint::write(std::string_view file, std::string_view content) const
{
    fs::create_directories((m_folder / file).parent_path());
    fs::remove(m_folder / file); // the link, never what it points to
    std::ofstream stream(m_folder / file, std::ios::binary);
    stream.write(content.data(), static_cast<std::streamsize>(content.size()));
    if (!stream.flush())
        throw std::runtime_error("cannot write " + std::string(file));
}

void TemporaryCheckpoint::editJson(std::string_view file, const std::function<void(nlohmann::json &)> &edit) const
{
    auto json = nlohmann::json::parse(read(file));
    edit(json);
    write(file, json.dump());
}

void TemporaryCheckpoint::editHeader(std::string_view file, const std::function<void(nlohmann::json &)> &edit) const
{
    const auto bytes = read(file);
    std::uint64_t length = 0;
    std::memcpy(&length, bytes.data(), sizeof(length));
    auto header = nlohmann::json::parse(bytes.substr(sizeof(length), length));
    edit(header);
    write(file, safetensorsBytes(header.dump(), std::string_view(bytes).substr(sizeof(length) + length)));
}

void TemporaryCheckpoint::remove(std::string_view fileOrFolder) const
{
    if (fs::remove_all(m_folder / fileOrFolder) == 0)
        throw std::runtime_error("nothing at " + std::string(fileOrFolder));
}

std::string safetensorsBytes(std::string_view header, std::string_view data)
{
    const std::uint64_t length = header.size();
    std::string bytes(sizeof(length), '\0');
    std::memcpy(bytes.data(), &length, sizeof(length));
    return bytes.append(header).append(data);
}

} // namespace golden
