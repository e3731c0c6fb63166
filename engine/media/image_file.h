#pragma once

#include "engine/media/file_sink.h"

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace engine {

class PublishedFile;

struct Picture {
    int width = 0;
    int height = 0;
    std::vector<std::uint8_t> rgb; // [height, width, 3], sRGB
    std::string record;            // the text chunk "comment", "" when there is none
};

// Reads a PNG of any kind as 8-bit RGB: palettes and grey become colours, 16 bits are rounded, transparency is
// dropped. An unreadable file comes back as one sentence (InvalidRequest).
std::variant<Picture, EngineError> readPng(const std::filesystem::path &file);

// Whether the file starts as a PNG does, whatever its name is.
bool isPng(const std::filesystem::path &file);

// Writes one frame as PNG, 8-bit sRGB, with the record as UTF-8 text in a compressed iTXt chunk "comment".
class ImageWriter final : public FileSink {
public:
    ImageWriter(std::filesystem::path file, bool overwrite); // touches nothing before open()
    ~ImageWriter() override;

    // Throws EngineFailure(Output) unless the format is one frame of a possible size, without sound. Returns the most
    // bytes that the file can have, a long record left out.
    static std::uint64_t checkFormat(const VideoFormat &format);

    Result open(const VideoFormat &format) override;
    Result frames(std::span<const std::uint8_t> rgb, int count) override;
    Result sound(std::span<const float> samples, int channels) override;
    Result finish(std::string_view record) override;
    [[nodiscard]] std::string storage() const override { return "png"; }

private:
    std::filesystem::path m_path;
    bool m_overwrite;
    std::unique_ptr<PublishedFile> m_file; // from open() to finish() or the first error
    Picture m_picture;
};

} // namespace engine
