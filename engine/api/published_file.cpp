#include "engine/api/published_file.h"

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <fcntl.h>
#include <random>
#include <string>
#include <string_view>
#include <system_error>
#include <unistd.h>

namespace engine {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kNameBytesKept = 200; // of the 255 a file name may have; the rest is for the random part

[[noreturn]] void refuse(const std::string &sentence, const std::string &detail = {})
{
    throw EngineFailure(ErrorCode::Output, sentence, detail);
}

[[noreturn]] void refuseWriting(const fs::path &target, const char *call)
{
    const auto reason = std::generic_category().message(errno);
    refuse(target.string() + " could not be written (" + reason + "); free some space or choose another place.", call);
}

[[noreturn]] void refuseExisting(const fs::path &target)
{
    refuse(target.string() + " exists already; choose another name or allow it to be overwritten.");
}

fs::path folderOf(const fs::path &target)
{
    return target.has_parent_path() ? target.parent_path() : fs::path(".");
}

// The file that the name means: a link to a plain file is followed, so that the link survives.
fs::path checkedTarget(const fs::path &target, bool overwrite)
{
    if (!target.has_filename() || target.filename() == "." || target.filename() == "..")
        refuse("\"" + target.string() + "\" names no file; give a file name.");
    std::error_code error;
    const auto status = fs::status(target, error);
    if (fs::is_directory(status))
        refuse(target.string() + " is a folder; give a file name.");
    if (fs::exists(status) && !fs::is_regular_file(status))
        refuse(target.string() + " is not a plain file; choose another name.");
    if (fs::exists(status) && !overwrite)
        refuseExisting(target);
    const auto folder = folderOf(target);
    if (!fs::is_directory(folder, error))
        refuse("The folder " + folder.string() + " does not exist; create it or choose another place.");
    return fs::is_symlink(fs::symlink_status(target, error)) && fs::exists(status) ? fs::canonical(target) : target;
}

std::string randomHex()
{
    std::random_device device;
    const auto value = (static_cast<std::uint64_t>(device()) << 32U) | device();
    std::array<char, 16> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value, 16).ptr;
    return {digits.data(), end};
}

fs::path createTemporary(const fs::path &target)
{
    const auto name = target.filename().string().substr(0, kNameBytesKept);
    while (true) {
        auto path = folderOf(target) / ("." + name + "." + randomHex() + ".part");
        const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (file >= 0) {
            ::close(file);
            return path;
        }
        if (errno != EEXIST) {
            const auto reason = std::generic_category().message(errno);
            refuse("The folder " + folderOf(target).string() + " does not take new files (" + reason +
                       "); choose another place or change its permissions.",
                   "open " + path.string());
        }
    }
}

void syncToDisk(const fs::path &path, const fs::path &target, int flags)
{
    const int file = ::open(path.c_str(), flags | O_CLOEXEC);
    if (file < 0)
        refuseWriting(target, "open for fsync");
    const int result = ::fsync(file);
    const int reason = errno;
    ::close(file);
    errno = reason;
    if (result != 0 && errno != EINVAL) // EINVAL: a file system that cannot sync this kind of file
        refuseWriting(target, "fsync");
}

// Atomically never over an existing file; where the file system cannot promise that, as close as it gets.
void renameWithoutReplacing(const fs::path &from, const fs::path &target)
{
    if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, target.c_str(), RENAME_NOREPLACE) == 0)
        return;
    if (errno == EEXIST)
        refuseExisting(target);
    if (errno != EINVAL && errno != ENOSYS)
        refuseWriting(target, "renameat2");
    std::error_code error;
    if (fs::exists(fs::symlink_status(target, error)))
        refuseExisting(target);
    if (std::rename(from.c_str(), target.c_str()) != 0)
        refuseWriting(target, "rename");
}

std::string megabytes(std::uint64_t bytes)
{
    return std::to_string((bytes + 999'999) / 1'000'000) + " MB";
}

} // namespace

PublishedFile::PublishedFile(const fs::path &target, bool overwrite)
    : m_target(checkedTarget(target, overwrite)), m_temporary(createTemporary(m_target)), m_overwrite(overwrite)
{
}

PublishedFile::~PublishedFile()
{
    if (!m_published)
        ::unlink(m_temporary.c_str());
}

void PublishedFile::publish()
{
    syncToDisk(m_temporary, m_target, O_WRONLY);
    if (!m_overwrite)
        renameWithoutReplacing(m_temporary, m_target);
    else if (std::rename(m_temporary.c_str(), m_target.c_str()) != 0)
        refuseWriting(m_target, "rename");
    m_published = true;
    syncToDisk(folderOf(m_target), m_target, O_RDONLY | O_DIRECTORY);
}

std::optional<EngineError> checkPublishable(const fs::path &target, bool overwrite, std::uint64_t bytes)
{
    try {
        const PublishedFile trial(target, overwrite);
        std::error_code error;
        const auto space = fs::space(folderOf(trial.target()), error);
        if (!error && space.available < bytes) {
            refuse("The disk of " + target.string() + " has " + megabytes(space.available) + " free and about " +
                   megabytes(bytes) + " are needed; free some space or choose another place.");
        }
    } catch (const EngineFailure &failure) {
        return failure.error();
    }
    return std::nullopt;
}

} // namespace engine
