#pragma once

#include "engine/api/published_file.h"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <vector>

namespace app {

struct TensorShape {
    std::string name;
    std::string type; // as safetensors writes it: "F32", "U8"
    std::vector<std::int64_t> shape;
};

// A safetensors file written as its bytes come: the header first, then the tensors' data in their order. Holds no
// data. All functions throw EngineFailure(Output). One thread at a time.
class TensorFile {
public:
    TensorFile(const std::filesystem::path &file, bool overwrite, const std::vector<TensorShape> &tensors);
    void append(std::span<const std::byte> data);
    void publish(); // after exactly as many bytes as the header says

private:
    engine::PublishedFile m_file;
    std::ofstream m_stream;
    std::uint64_t m_missing = 0; // bytes still to come
};

} // namespace app
