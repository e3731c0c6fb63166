#pragma once

#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace golden {

// A copy of a reference checkpoint in a folder of its own, to be damaged; removed with this object. Files are links to
// the originals until they are edited.
class TemporaryCheckpoint {
public:
    explicit TemporaryCheckpoint(const std::filesystem::path &original);
    ~TemporaryCheckpoint();
    TemporaryCheckpoint(const TemporaryCheckpoint &) = delete;
    TemporaryCheckpoint &operator=(const TemporaryCheckpoint &) = delete;

    [[nodiscard]] const std::filesystem::path &folder() const { return m_folder; }
    [[nodiscard]] std::string read(std::string_view file) const;
    void write(std::string_view file, std::string_view content) const;
    void editJson(std::string_view file, const std::function<void(nlohmann::json &)> &edit) const;
    // Edits the header of a safetensors file; the data stays as it is.
    void editHeader(std::string_view file, const std::function<void(nlohmann::json &)> &edit) const;
    void remove(std::string_view fileOrFolder) const;

private:
    std::filesystem::path m_folder;
};

// The bytes of a safetensors file made of a header and its data.
std::string safetensorsBytes(std::string_view header, std::string_view data);

} // namespace golden
