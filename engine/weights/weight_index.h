#pragma once

#include "engine/weights/safetensors_file.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

struct WeightView {
    TensorType type = TensorType::Float32;
    std::vector<std::int64_t> shape;
    std::span<const std::byte> data; // into the mapped file, valid while the WeightIndex lives
};

struct ExpectedWeight {
    std::string name; // canonical (diffusers) name
    std::vector<std::int64_t> shape;
    bool optional = false;
};

// All tensors of one part of a checkpoint (transformer/, vae/, sound_tokenizer/): one file, or shards by the index
// file beside them. Names are canonical: known prefixes are taken off and the framework's names translated.
class WeightIndex {
public:
    // Opens and checks every shard. Throws EngineFailure(ModelFiles): no weights, index naming a missing file,
    // a tensor not in the shard the index names, two tensors with one canonical name.
    explicit WeightIndex(const std::filesystem::path &folder);

    [[nodiscard]] bool has(std::string_view name) const;
    [[nodiscard]] WeightView view(std::string_view name) const; // throws EngineFailure(ModelFiles) when it is missing
    [[nodiscard]] std::vector<std::string> names() const;
    [[nodiscard]] std::uint64_t fileBytes() const;
    [[nodiscard]] const std::filesystem::path &folder() const { return m_folder; }
    // Takes the files' pages out of this process's memory; they are read again when a view is touched.
    void releasePages() const;

    struct Comparison {
        std::vector<std::string> missing; // needed and not there
        std::vector<std::string> unknown; // there and nobody reads them
    };
    // Throws EngineFailure(ModelFiles) for a tensor of the wrong shape or of a type that weights cannot have.
    [[nodiscard]] Comparison compare(const std::vector<ExpectedWeight> &expected) const;

private:
    struct Place {
        std::size_t file = 0;
        std::string storedName;
    };
    std::filesystem::path m_folder;
    std::vector<std::unique_ptr<SafetensorsFile>> m_files;
    std::map<std::string, Place, std::less<>> m_places;
};

} // namespace engine
