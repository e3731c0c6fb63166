#include "engine/media/image_file.h"

#include "engine/api/published_file.h"
#include "engine/media/media_result.h"
#include "engine/media/png_codec.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <fstream>
#include <utility>

namespace engine {

namespace {

constexpr int kLargestSide = 32'768;

} // namespace

bool isPng(const std::filesystem::path &file)
{
    constexpr std::array<char, 8> kSignature{'\x89', 'P', 'N', 'G', '\r', '\n', '\x1a', '\n'};
    std::array<char, 8> start{};
    std::ifstream stream(file, std::ios::binary);
    return stream.read(start.data(), start.size()) && start == kSignature;
}

std::variant<Picture, EngineError> readPng(const std::filesystem::path &file)
{
    return asValue([&] { return png::read(file, kLargestSide); });
}

ImageWriter::ImageWriter(std::filesystem::path file, bool overwrite) : m_path(std::move(file)), m_overwrite(overwrite)
{
}

ImageWriter::~ImageWriter() = default;

std::uint64_t ImageWriter::checkFormat(const VideoFormat &format)
{
    if (format.frames != 1)
        throw EngineFailure(ErrorCode::Output, "A PNG file holds one frame, not " + std::to_string(format.frames) +
                                                   "; write an .mp4 file or ask for an image.");
    if (format.soundRate != 0)
        throw EngineFailure(ErrorCode::Output, "A PNG file holds no sound; write an .mp4 file or leave the sound out.");
    if (format.width < 1 || format.height < 1 || format.width > kLargestSide || format.height > kLargestSide) {
        throw EngineFailure(ErrorCode::Output,
                            "A PNG of " + std::to_string(format.width) + "x" + std::to_string(format.height) +
                                " cannot be written; choose sides up to " + std::to_string(kLargestSide) + ".");
    }
    return static_cast<std::uint64_t>(format.width) * static_cast<std::uint64_t>(format.height) * 3 + 1'000'000;
}

FrameSink::Result ImageWriter::open(const VideoFormat &format)
{
    return asResult([&] {
        checkFormat(format);
        m_file = std::make_unique<PublishedFile>(m_path, m_overwrite);
        m_picture = {.width = format.width, .height = format.height, .rgb = {}, .record = {}};
    });
}

FrameSink::Result ImageWriter::frames(std::span<const std::uint8_t> rgb, int count)
{
    const auto bytes = static_cast<std::size_t>(m_picture.width) * static_cast<std::size_t>(m_picture.height) * 3;
    auto result = asResult([&] {
        if (!m_file || count != 1 || rgb.size() != bytes || !m_picture.rgb.empty())
            throw EngineFailure(ErrorCode::Internal, "The frames do not have the announced form; please report this.");
        m_picture.rgb.assign(rgb.begin(), rgb.end());
    });
    if (result)
        m_file.reset();
    return result;
}

FrameSink::Result ImageWriter::sound(std::span<const float>, int)
{
    m_file.reset();
    return EngineError{ErrorCode::Internal, "A PNG file holds no sound; please report this.", {}};
}

FrameSink::Result ImageWriter::finish(std::string_view record)
{
    auto result = asResult([&] {
        if (!m_file || m_picture.rgb.empty())
            throw EngineFailure(ErrorCode::Internal, "No frame came for the PNG file; please report this.");
        m_picture.record = record;
        png::write(m_file->temporaryPath(), m_picture, m_file->target());
        m_file->publish();
    });
    m_file.reset();
    return result;
}

} // namespace engine
