#include "app/cli/tensor_file.h"

#include <bit>
#include <nlohmann/json.hpp>

namespace app {

static_assert(std::endian::native == std::endian::little, "safetensors files are little-endian");

namespace {

[[noreturn]] void fail(const std::filesystem::path &file, const std::string &what)
{
    throw engine::EngineFailure(engine::ErrorCode::Output, file.string() + " " + what);
}

std::uint64_t byteCount(const TensorShape &tensor)
{
    std::uint64_t bytes = tensor.type == "F32" ? 4 : 1;
    for (const auto side : tensor.shape)
        bytes *= static_cast<std::uint64_t>(side);
    return bytes;
}

} // namespace

TensorFile::TensorFile(const std::filesystem::path &file, bool overwrite, const std::vector<TensorShape> &tensors)
    : m_file(file, overwrite), m_stream(m_file.temporaryPath(), std::ios::binary)
{
    auto header = nlohmann::json::object();
    for (const auto &tensor : tensors) {
        const auto begin = m_missing;
        m_missing += byteCount(tensor);
        header[tensor.name] = {{"dtype", tensor.type},
                               {"shape", tensor.shape},
                               {"data_offsets", nlohmann::json::array({begin, m_missing})}};
    }
    auto text = header.dump();
    text.resize((text.size() + 7) / 8 * 8, ' '); // the data begins at a multiple of 8, as the format asks for
    const std::uint64_t length = text.size();
    m_stream.write(reinterpret_cast<const char *>(&length), sizeof length);
    m_stream << text;
    if (!m_stream)
        fail(file, "cannot be written: free some space or choose another place.");
}

void TensorFile::append(std::span<const std::byte> data)
{
    if (data.size() > m_missing)
        fail(m_file.target(), "got more data than its tensors hold; please report this.");
    m_missing -= data.size();
    m_stream.write(reinterpret_cast<const char *>(data.data()), static_cast<std::streamsize>(data.size()));
    if (!m_stream)
        fail(m_file.target(), "cannot be written to its end: free some space or choose another place.");
}

void TensorFile::publish()
{
    if (m_missing != 0)
        fail(m_file.target(), "got less data than its tensors hold; please report this.");
    m_stream.close();
    if (!m_stream)
        fail(m_file.target(), "cannot be written to its end: free some space or choose another place.");
    m_file.publish();
}

} // namespace app
