#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

enum class TensorType { BFloat16, Float16, Float32, Float64, Int64, Int32, Int16, Int8, UInt8, Bool, Float8E4M3, Float8E5M2 };

const char *tensorTypeName(TensorType type);          // as safetensors writes it: "BF16", "F32", …
std::size_t tensorTypeSize(TensorType type);          // bytes an element

struct TensorEntry {
    TensorType type = TensorType::Float32;
    std::vector<std::int64_t> shape;
    std::uint64_t begin = 0; // bytes from the start of the data part
    std::uint64_t end = 0;
};

struct SafetensorsHeader {
    std::map<std::string, TensorEntry, std::less<>> tensors;
    std::map<std::string, std::string> metadata;
};

// Checks and reads a header (the JSON after the 8 length bytes) against the size of the data part in bytes: offsets
// inside the file, no overlap, no hole, size = product of the shape. Throws EngineFailure(ModelFiles); `fileName`
// names the file in the sentence.
SafetensorsHeader parseSafetensorsHeader(std::string_view json, std::uint64_t dataBytes, std::string_view fileName);

// A safetensors file mapped into memory, read only. Tensors are views; nothing is copied or read until touched.
// Safe to use from several threads.
class SafetensorsFile {
public:
    // Throws EngineFailure(ModelFiles): missing, truncated, header longer than the file, bad entries.
    explicit SafetensorsFile(const std::filesystem::path &file);
    ~SafetensorsFile();
    SafetensorsFile(const SafetensorsFile &) = delete;
    SafetensorsFile &operator=(const SafetensorsFile &) = delete;

    [[nodiscard]] const std::filesystem::path &path() const { return m_path; }
    [[nodiscard]] const SafetensorsHeader &header() const { return m_header; }
    [[nodiscard]] std::uint64_t fileBytes() const { return m_bytes; }
    [[nodiscard]] std::span<const std::byte> data(const TensorEntry &entry) const;
    // Takes the mapped pages out of this process's memory; they are read again when touched.
    void releasePages() const;

private:
    void readHeader(std::string_view name);

    std::filesystem::path m_path;
    SafetensorsHeader m_header;
    std::uint64_t m_bytes = 0;
    const std::byte *m_mapping = nullptr;
    std::uint64_t m_dataOffset = 0;
};

struct TensorToWrite {
    std::string name;
    TensorType type = TensorType::Float32;
    std::vector<std::int64_t> shape;
    std::span<const std::byte> data;
};

// Writes a safetensors file: to a temporary file beside it, fsynced, then renamed. Throws EngineFailure(Output).
// The data must stay valid during the call. An existing file is replaced only when `overwrite` is set.
void writeSafetensors(const std::filesystem::path &file, const std::vector<TensorToWrite> &tensors, bool overwrite);

} // namespace engine
