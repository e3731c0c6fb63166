#include "engine/weights/safetensors_file.h"

#include "engine/api/outcome.h"
#include "engine/api/published_file.h"
#include "engine/weights/checked_json.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <sys/mman.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace engine {

namespace {

using Json = nlohmann::json;

// The format's own limit on the header (safetensors reference implementation).
constexpr std::uint64_t kMaxHeaderBytes = 100'000'000;

struct TypeRow {
    TensorType type;
    const char *name;
    std::size_t size;
};
constexpr std::array kTypes{
    TypeRow{TensorType::BFloat16, "BF16", 2},      TypeRow{TensorType::Float16, "F16", 2},
    TypeRow{TensorType::Float32, "F32", 4},        TypeRow{TensorType::Float64, "F64", 8},
    TypeRow{TensorType::Int64, "I64", 8},          TypeRow{TensorType::Int32, "I32", 4},
    TypeRow{TensorType::Int16, "I16", 2},          TypeRow{TensorType::Int8, "I8", 1},
    TypeRow{TensorType::UInt8, "U8", 1},           TypeRow{TensorType::Bool, "BOOL", 1},
    TypeRow{TensorType::Float8E4M3, "F8_E4M3", 1}, TypeRow{TensorType::Float8E5M2, "F8_E5M2", 1},
};

const TypeRow &row(TensorType type)
{
    return *std::find_if(kTypes.begin(), kTypes.end(), [type](const TypeRow &r) { return r.type == type; });
}

[[noreturn]] void refuse(std::string_view fileName, const std::string &what)
{
    throw EngineFailure(ErrorCode::ModelFiles, std::string(fileName) + " " + what + "; download the file again.");
}

std::uint64_t unsignedNumber(const Json &value, std::string_view fileName, const std::string &tensor)
{
    if (!value.is_number_unsigned())
        refuse(fileName,
               "is damaged: tensor " + quotedText(tensor) + " has a size or offset that is not a whole number");
    return value.get<std::uint64_t>();
}

// Bytes of the tensor by its shape; refuses products that do not fit.
std::uint64_t shapeBytes(const TensorEntry &entry, std::string_view fileName, const std::string &tensor)
{
    std::uint64_t bytes = tensorTypeSize(entry.type);
    for (const auto extent : entry.shape) {
        const auto count = static_cast<std::uint64_t>(extent);
        if (count != 0 && bytes > std::numeric_limits<std::uint64_t>::max() / count)
            refuse(fileName, "is damaged: the shape of tensor " + quotedText(tensor) + " is absurd");
        bytes *= count;
    }
    return bytes;
}

TensorEntry parseEntry(const std::string &name, const Json &value, std::uint64_t dataBytes, std::string_view fileName)
{
    if (!value.is_object() || !value.contains("dtype") || !value.contains("shape") || !value.contains("data_offsets"))
        refuse(fileName, "is damaged: the entry of tensor " + quotedText(name) + " lacks dtype, shape or data_offsets");
    TensorEntry entry;
    const auto &typeName = value["dtype"];
    const auto type = std::find_if(kTypes.begin(), kTypes.end(), [&](const TypeRow &r) { return typeName == r.name; });
    if (type == kTypes.end())
        throw EngineFailure(ErrorCode::ModelFiles, std::string(fileName) + ": tensor " + quotedText(name) +
                                                       " has the unknown type " + quotedJson(typeName) +
                                                       "; use a checkpoint in bf16, fp16 or fp32.");
    entry.type = type->type;
    if (!value["shape"].is_array())
        refuse(fileName, "is damaged: the shape of tensor " + quotedText(name) + " is not a list");
    for (const auto &extent : value["shape"]) {
        const auto count = unsignedNumber(extent, fileName, name);
        if (count > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
            refuse(fileName, "is damaged: the shape of tensor " + quotedText(name) + " is absurd");
        entry.shape.push_back(static_cast<std::int64_t>(count));
    }
    const auto &offsets = value["data_offsets"];
    if (!offsets.is_array() || offsets.size() != 2)
        refuse(fileName, "is damaged: the offsets of tensor " + quotedText(name) + " are not a pair");
    entry.begin = unsignedNumber(offsets[0], fileName, name);
    entry.end = unsignedNumber(offsets[1], fileName, name);
    if (entry.begin > entry.end || entry.end > dataBytes)
        refuse(fileName, "is truncated or damaged: tensor " + quotedText(name) + " ends at byte " +
                             std::to_string(entry.end) + " of a data part of " + std::to_string(dataBytes) + " bytes");
    if (shapeBytes(entry, fileName, name) != entry.end - entry.begin)
        refuse(fileName, "is damaged: the shape of tensor " + quotedText(name) + " does not fit its " +
                             std::to_string(entry.end - entry.begin) + " bytes");
    return entry;
}

// The tensors must tile the data part: no overlap, no hole.
void checkTiling(const SafetensorsHeader &header, std::uint64_t dataBytes, std::string_view fileName)
{
    std::vector<std::pair<const TensorEntry *, const std::string *>> order;
    order.reserve(header.tensors.size());
    for (const auto &[name, entry] : header.tensors)
        order.emplace_back(&entry, &name);
    std::sort(order.begin(), order.end(), [](const auto &a, const auto &b) {
        return std::pair(a.first->begin, a.first->end) < std::pair(b.first->begin, b.first->end);
    });
    std::uint64_t position = 0;
    for (const auto &[entry, name] : order) {
        if (entry->begin < position)
            refuse(fileName, "is damaged: tensor " + quotedText(*name) + " overlaps the one before it");
        if (entry->begin > position)
            refuse(fileName, "is damaged: there is a hole before tensor " + quotedText(*name));
        position = entry->end;
    }
    if (position != dataBytes)
        refuse(fileName,
               "is damaged: " + std::to_string(dataBytes - position) + " bytes at its end belong to no tensor");
}

std::string lastSystemError()
{
    return std::error_code(errno, std::generic_category()).message();
}

class FileDescriptor {
public:
    explicit FileDescriptor(int value) : m_value(value) {}
    ~FileDescriptor()
    {
        if (m_value >= 0)
            close(m_value);
    }
    FileDescriptor(const FileDescriptor &) = delete;
    FileDescriptor &operator=(const FileDescriptor &) = delete;
    [[nodiscard]] int get() const { return m_value; }

private:
    int m_value;
};

} // namespace

const char *tensorTypeName(TensorType type)
{
    return row(type).name;
}

std::size_t tensorTypeSize(TensorType type)
{
    return row(type).size;
}

SafetensorsHeader parseSafetensorsHeader(std::string_view json, std::uint64_t dataBytes, std::string_view fileName)
{
    const auto root = parseCheckedJson(json, fileName);
    SafetensorsHeader header;
    for (const auto &[name, value] : root.items()) {
        if (name == "__metadata__") {
            if (!value.is_object())
                refuse(fileName, "is damaged: its metadata is not a JSON object");
            for (const auto &[key, text] : value.items()) {
                if (!text.is_string())
                    refuse(fileName, "is damaged: its metadata holds something that is not text");
                header.metadata.emplace(key, text.get<std::string>());
            }
            continue;
        }
        header.tensors.emplace(name, parseEntry(name, value, dataBytes, fileName));
    }
    checkTiling(header, dataBytes, fileName);
    return header;
}

SafetensorsFile::SafetensorsFile(const std::filesystem::path &file) : m_path(file)
{
    const auto name = shortPath(file);
    // Without O_NONBLOCK opening a pipe would wait for its writer.
    const FileDescriptor descriptor(open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)); // NOLINT(*-vararg)
    if (descriptor.get() < 0)
        throw EngineFailure(ErrorCode::ModelFiles, file.string() + " cannot be opened (" + lastSystemError() +
                                                       "); check the path and its permissions.");
    struct stat status {};
    if (fstat(descriptor.get(), &status) != 0 || !S_ISREG(status.st_mode))
        throw EngineFailure(ErrorCode::ModelFiles, file.string() + " is not a regular file; check the path.");
    m_bytes = static_cast<std::uint64_t>(status.st_size);
    if (m_bytes < sizeof(std::uint64_t))
        refuse(name, "is truncated: it holds " + std::to_string(m_bytes) + " bytes");
    void *mapping = mmap(nullptr, m_bytes, PROT_READ, MAP_SHARED, descriptor.get(), 0);
    if (mapping == MAP_FAILED)
        throw EngineFailure(ErrorCode::ModelFiles, file.string() + " cannot be mapped into memory (" +
                                                       lastSystemError() + "); close other programs and try again.");
    m_mapping = static_cast<const std::byte *>(mapping);
    try {
        readHeader(name);
    } catch (...) {
        munmap(mapping, m_bytes);
        throw;
    }
}

void SafetensorsFile::readHeader(std::string_view name)
{
    const std::string_view content(reinterpret_cast<const char *>(m_mapping), m_bytes);
    if (content.starts_with("version https://git-lfs"))
        throw EngineFailure(ErrorCode::ModelFiles, std::string(name) + " is only a Git LFS pointer to the weights; run "
                                                                       "\"git lfs pull\" in the model's folder.");
    std::uint64_t headerBytes = 0; // little endian, as this machine
    std::memcpy(&headerBytes, m_mapping, sizeof(headerBytes));
    if (headerBytes > kMaxHeaderBytes || headerBytes > m_bytes - sizeof(headerBytes))
        refuse(name, "is truncated or no safetensors file: its header should take " + std::to_string(headerBytes) +
                         " bytes, the file has " + std::to_string(m_bytes));
    m_dataOffset = sizeof(headerBytes) + headerBytes;
    m_header = parseSafetensorsHeader(content.substr(sizeof(headerBytes), headerBytes), m_bytes - m_dataOffset, name);
}

SafetensorsFile::~SafetensorsFile()
{
    munmap(const_cast<std::byte *>(m_mapping), m_bytes);
}

void SafetensorsFile::releasePages() const
{
    madvise(const_cast<std::byte *>(m_mapping), m_bytes, MADV_DONTNEED); // advice: failing changes nothing
}

std::span<const std::byte> SafetensorsFile::data(const TensorEntry &entry) const
{
    return {m_mapping + m_dataOffset + entry.begin, static_cast<std::size_t>(entry.end - entry.begin)};
}

namespace {

// The length and the header, padded with blanks so that the data part starts at a multiple of eight.
std::string headerOf(const std::vector<const TensorToWrite *> &order)
{
    Json header;
    header["__metadata__"]["format"] = "pt"; // what other readers expect to find
    std::uint64_t position = 0;
    for (const auto *tensor : order) {
        std::uint64_t bytes = tensorTypeSize(tensor->type);
        for (const auto extent : tensor->shape)
            bytes *= static_cast<std::uint64_t>(extent);
        if (bytes != tensor->data.size() || header.contains(tensor->name))
            throw EngineFailure(ErrorCode::Internal, "The tensor " + quotedText(tensor->name) +
                                                         " cannot be written: its name repeats or its shape does not "
                                                         "fit its data; please report this.");
        header[tensor->name] = {{"dtype", tensorTypeName(tensor->type)},
                                {"shape", tensor->shape},
                                {"data_offsets", {position, position + bytes}}};
        position += bytes;
    }
    auto json = header.dump();
    json.resize((json.size() + 7) / 8 * 8, ' ');
    const std::uint64_t length = json.size();
    std::string bytes(sizeof(length), '\0');
    std::memcpy(bytes.data(), &length, sizeof(length));
    return bytes + json;
}

} // namespace

void writeSafetensors(const std::filesystem::path &file, const std::vector<TensorToWrite> &tensors, bool overwrite)
{
    std::vector<const TensorToWrite *> order;
    order.reserve(tensors.size());
    for (const auto &tensor : tensors)
        order.push_back(&tensor);
    // Large elements first, as the format's own writer does: every tensor is then aligned to its element.
    std::stable_sort(order.begin(), order.end(),
                     [](const auto *a, const auto *b) { return tensorTypeSize(a->type) > tensorTypeSize(b->type); });
    const auto header = headerOf(order);
    PublishedFile output(file, overwrite);
    std::ofstream stream(output.temporaryPath(), std::ios::binary | std::ios::trunc);
    stream.write(header.data(), static_cast<std::streamsize>(header.size()));
    for (const auto *tensor : order)
        stream.write(reinterpret_cast<const char *>(tensor->data.data()),
                     static_cast<std::streamsize>(tensor->data.size()));
    stream.close();
    if (!stream)
        throw EngineFailure(ErrorCode::Output, file.string() + " could not be written (" + lastSystemError() +
                                                   "); free some space or choose another place.");
    output.publish();
}

} // namespace engine
