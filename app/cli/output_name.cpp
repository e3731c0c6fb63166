#include "app/cli/output_name.h"

#include <array>
#include <cctype>
#include <ctime>

namespace app {

namespace {

constexpr std::size_t kMaxWords = 6;
constexpr std::size_t kMaxBytes = 48;

bool isAscii(char c)
{
    return static_cast<unsigned char>(c) < 0x80;
}

std::string today()
{
    const auto now = std::time(nullptr);
    std::tm local{};
    localtime_r(&now, &local);
    std::array<char, 16> text{};
    return {text.data(), std::strftime(text.data(), text.size(), "%Y%m%d", &local)};
}

} // namespace

std::string fileNameWords(const std::string &text)
{
    std::string words;
    std::string word;
    std::size_t count = 0;
    for (const char c : text + ' ') {
        if (!isAscii(c) || std::isalnum(static_cast<unsigned char>(c)) != 0) {
            word += isAscii(c) ? static_cast<char>(std::tolower(static_cast<unsigned char>(c))) : c;
            continue;
        }
        if (word.empty())
            continue;
        if (++count > kMaxWords || words.size() + word.size() + 1 > kMaxBytes)
            break;
        words += (words.empty() ? "" : "-") + word;
        word.clear();
    }
    return words;
}

std::filesystem::path freshOutputName(const std::string &prompt, std::uint32_t seed, const std::string &extension)
{
    const auto words = fileNameWords(prompt);
    const auto stem = "parallax-" + today() + (words.empty() ? "" : "-" + words) + "-" + std::to_string(seed);
    std::filesystem::path path = stem + extension;
    std::error_code error;
    for (int i = 2; std::filesystem::exists(std::filesystem::symlink_status(path, error)); ++i)
        path = stem + "-" + std::to_string(i) + extension;
    return path;
}

} // namespace app
