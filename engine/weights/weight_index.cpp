#include "engine/weights/weight_index.h"

#include "engine/api/outcome.h"
#include "engine/weights/checked_json.h"
#include "engine/weights/weight_names.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

namespace engine {

namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 2> kStems{"diffusion_pytorch_model", "model"};
constexpr std::string_view kSuffix = ".safetensors";
constexpr std::string_view kIndexSuffix = ".safetensors.index.json";
constexpr std::uintmax_t kMaxIndexBytes = 64U << 20U; // Super's 1425 tensors take 0.2 MB

[[noreturn]] void refuse(const std::string &message)
{
    throw EngineFailure(ErrorCode::ModelFiles, message);
}

bool isFile(const fs::path &file)
{
    std::error_code ignored;
    return fs::is_regular_file(file, ignored);
}

// The first of the usual names with `suffix`, else the only other file with it.
std::optional<fs::path> findFile(const fs::path &folder, std::string_view suffix)
{
    for (const auto stem : kStems) {
        if (const auto file = folder / std::string(stem).append(suffix); isFile(file))
            return file;
    }
    std::vector<fs::path> others;
    std::error_code error;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
        if (entry->path().filename().string().ends_with(suffix) && isFile(entry->path()))
            others.push_back(entry->path());
    }
    return others.size() == 1 ? std::optional(others.front()) : std::nullopt;
}

std::string readIndexText(const fs::path &file)
{
    std::error_code error;
    const auto bytes = fs::file_size(file, error);
    std::ifstream stream(file, std::ios::binary);
    if (error || !stream || bytes > kMaxIndexBytes)
        refuse(shortPath(file) + " cannot be read or is far too large for an index; download the file again.");
    std::string text(bytes, '\0');
    stream.read(text.data(), static_cast<std::streamsize>(bytes));
    text.resize(static_cast<std::size_t>(stream.gcount()));
    return text;
}

// Tensor -> shard, by the index file. A shard is a plain file name: an index must not reach outside its folder.
std::map<std::string, std::string> readShardNames(const fs::path &index)
{
    const auto name = shortPath(index);
    const auto root = parseCheckedJson(readIndexText(index), name);
    const auto map = root.find("weight_map");
    if (map == root.end() || !map->is_object() || map->empty())
        refuse(name + " lacks its \"weight_map\"; download the file again.");
    std::map<std::string, std::string> shards;
    for (const auto &[tensor, shard] : map->items()) {
        if (!shard.is_string())
            refuse(name + " is damaged: the file of tensor " + quotedText(tensor) +
                   " is not a text; download the file again.");
        const auto &file = shard.get_ref<const std::string &>();
        if (file.find_first_of(std::string_view("/\\\0", 3)) != std::string::npos || !file.ends_with(kSuffix))
            refuse(name + " names " + quotedText(file) +
                   ", which is not a safetensors file of its own folder; download the file again.");
        shards.emplace(tensor, file);
    }
    return shards;
}

bool isWeightType(TensorType type)
{
    return type == TensorType::BFloat16 || type == TensorType::Float16 || type == TensorType::Float32;
}

std::string shapeText(const std::vector<std::int64_t> &shape)
{
    std::string text;
    for (const auto extent : shape)
        text += (text.empty() ? "" : ", ") + std::to_string(extent);
    return "[" + text + "]";
}

} // namespace

WeightIndex::WeightIndex(const fs::path &folder) : m_folder(folder)
{
    const auto name = folder.filename().string();
    const auto add = [&](std::size_t file, const std::string &stored, const std::string &where) {
        const auto canonical = canonicalWeightName(stored);
        if (!m_places.emplace(canonical, Place{file, stored}).second && !isKnownUnused(canonical))
            refuse(where + " holds the tensor " + quotedText(canonical) +
                   " under two names; keep only one set of weights in the folder.");
    };
    if (const auto index = findFile(folder, kIndexSuffix)) {
        std::map<std::string, std::size_t> opened;
        for (const auto &[tensor, shard] : readShardNames(*index)) {
            const auto file = folder / shard;
            const auto [place, isNew] = opened.emplace(shard, m_files.size());
            if (isNew) {
                if (!isFile(file))
                    refuse(shortPath(*index) + " names " + quotedText(shard) +
                           ", which is not there; download that file.");
                m_files.push_back(std::make_unique<SafetensorsFile>(file));
            }
            if (!m_files[place->second]->header().tensors.contains(tensor))
                refuse(shortPath(*index) + " looks for the tensor " + quotedText(tensor) + " in " + quotedText(shard) +
                       ", which does not hold it; download both files again.");
            add(place->second, tensor, shortPath(*index));
        }
        return;
    }
    const auto single = findFile(folder, kSuffix);
    if (!single)
        refuse("The folder " + folder.string() + " holds no weights (neither " + std::string(kStems.front()) +
               std::string(kSuffix) + " nor shards with an index); download " + name + "/ again.");
    m_files.push_back(std::make_unique<SafetensorsFile>(*single));
    for (const auto &[tensor, entry] : m_files.front()->header().tensors)
        add(0, tensor, shortPath(*single));
}

bool WeightIndex::has(std::string_view name) const
{
    return m_places.contains(name);
}

WeightView WeightIndex::view(std::string_view name) const
{
    const auto found = m_places.find(name);
    if (found == m_places.end())
        refuse(m_folder.filename().string() + "/ lacks the tensor " + quotedText(name) +
               "; download the folder again.");
    const auto &file = *m_files[found->second.file];
    const auto &entry = file.header().tensors.find(found->second.storedName)->second;
    return WeightView{.type = entry.type, .shape = entry.shape, .data = file.data(entry)};
}

std::vector<std::string> WeightIndex::names() const
{
    std::vector<std::string> all;
    all.reserve(m_places.size());
    for (const auto &[name, place] : m_places)
        all.push_back(name);
    return all;
}

std::uint64_t WeightIndex::fileBytes() const
{
    std::uint64_t bytes = 0;
    for (const auto &file : m_files)
        bytes += file->fileBytes();
    return bytes;
}

WeightIndex::Comparison WeightIndex::compare(const std::vector<ExpectedWeight> &expected) const
{
    Comparison result;
    std::set<std::string_view> read;
    for (const auto &weight : expected) {
        read.insert(weight.name);
        const auto found = m_places.find(weight.name);
        if (found == m_places.end()) {
            if (!weight.optional)
                result.missing.push_back(weight.name);
            continue;
        }
        const auto stored = view(weight.name);
        const auto where = shortPath(m_files[found->second.file]->path()) + ": the tensor " + quotedText(weight.name);
        if (stored.type == TensorType::Float8E4M3 || stored.type == TensorType::Float8E5M2)
            refuse(where + " is quantised to 8 bits (" + tensorTypeName(stored.type) +
                   "); use the model's bf16 revision.");
        if (!isWeightType(stored.type))
            refuse(where + " has the type " + tensorTypeName(stored.type) +
                   ", which weights cannot have; use a checkpoint in bf16, fp16 or fp32.");
        if (stored.shape != weight.shape)
            refuse(where + " has the shape " + shapeText(stored.shape) + " where the configuration asks for " +
                   shapeText(weight.shape) + "; the files do not belong together, download the folder again.");
    }
    for (const auto &[name, place] : m_places) {
        if (!read.contains(name) && !isKnownUnused(name))
            result.unknown.push_back(name);
    }
    return result;
}

void WeightIndex::releasePages() const
{
    for (const auto &file : m_files)
        file->releasePages();
}

} // namespace engine
