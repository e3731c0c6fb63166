#pragma once

#include "engine/api/outcome.h"

#include <cstdint>
#include <filesystem>
#include <optional>

namespace engine {

// A file that appears under its name only when it is complete: the owner writes to temporaryPath(), which lies in
// the target's folder, and publish() makes it durable and gives it its name. Unless published, the temporary file is
// removed with this object, so a cancelled or failed run leaves nothing. One thread at a time.
class PublishedFile {
public:
    // Creates the empty temporary file. Throws EngineFailure(Output): the folder is missing or refuses new files, the
    // target is no plain file, or it exists and `overwrite` is not set.
    PublishedFile(const std::filesystem::path &target, bool overwrite);
    ~PublishedFile();
    PublishedFile(const PublishedFile &) = delete;
    PublishedFile &operator=(const PublishedFile &) = delete;

    [[nodiscard]] const std::filesystem::path &target() const { return m_target; }
    [[nodiscard]] const std::filesystem::path &temporaryPath() const { return m_temporary; }
    // fsync of the file, rename, fsync of the folder. Call once, after everything is written and closed. Throws
    // EngineFailure(Output), also when the target has come into being meanwhile and `overwrite` is not set.
    void publish();

private:
    std::filesystem::path m_target;
    std::filesystem::path m_temporary;
    bool m_overwrite;
    bool m_published = false;
};

// Whether `target` could be published now and the disk has room for `bytes`; otherwise the reason in one sentence.
// Meant for checking a request before anything is loaded: it tries with an empty file and takes that away again.
std::optional<EngineError> checkPublishable(const std::filesystem::path &target, bool overwrite, std::uint64_t bytes);

} // namespace engine
