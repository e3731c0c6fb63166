#pragma once

#include "engine/api/frame_sink.h"
#include "engine/media/video_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <variant>
#include <vector>

struct AVFormatContext;
struct AVStream;

namespace media {

using Bytes = std::vector<std::uint8_t>;

// Frames of one size, [frames, height, width, 3].
struct Scene {
    int width = 0;
    int height = 0;
    int frames = 0;
    Bytes rgb;
    [[nodiscard]] std::size_t frameBytes() const { return static_cast<std::size_t>(width) * height * 3; }
    [[nodiscard]] const std::uint8_t *frame(int index) const { return rgb.data() + frameBytes() * index; }
    [[nodiscard]] engine::VideoFormat format(double fps) const
    {
        return {.width = width, .height = height, .frames = frames, .fps = fps};
    }
};

Scene movingGradient(int width, int height, int frames);
// Textured shapes that move before a textured ground, with camera noise.
Scene noisyScene(int width, int height, int frames);
// Each frame carries its own number in large black and white fields.
Scene numberedFrames(int frames);
int numberIn(const Bytes &rgb);

// BT.709 luma, limited range, in double: Y = 16 + 219 (0.2126 R + 0.7152 G + 0.0722 B), [height, width].
Bytes luma(const std::uint8_t *rgb, std::size_t pixels);
double psnr(const Bytes &a, const Bytes &b);

// The file as FFmpeg sees it, without any of our own code.
class ProbedFile {
public:
    explicit ProbedFile(const std::filesystem::path &file);
    ~ProbedFile();
    ProbedFile(const ProbedFile &) = delete;
    ProbedFile &operator=(const ProbedFile &) = delete;
    [[nodiscard]] const AVFormatContext &context() const { return *m_context; }
    [[nodiscard]] const AVStream *video() const;
    [[nodiscard]] const AVStream *sound() const;
    [[nodiscard]] std::string comment() const;
    [[nodiscard]] double seconds(const AVStream &stream) const;
    // Every decoded frame's luma plane. Also checks that each frame is tagged BT.709, limited range, chroma left.
    std::vector<Bytes> lumaPlanes();

private:
    AVFormatContext *m_context = nullptr;
};

// A fresh folder for each test.
class FolderTest : public testing::Test {
public:
    FolderTest();
    ~FolderTest() override;

protected:
    [[nodiscard]] std::filesystem::path file(const std::string &name) const { return m_folder / name; }
    [[nodiscard]] std::vector<std::string> names() const; // what lies in the folder, sorted

private:
    std::filesystem::path m_folder;
};

Bytes contents(const std::filesystem::path &file);
void write(const std::filesystem::path &file, const Bytes &bytes);

// Encodes the whole scene, some frames at a time. The error's sentence, "" when all went well.
std::string encode(const std::filesystem::path &file, const Scene &scene, double fps, const std::string &record = "",
                   bool overwrite = false);

template <typename T>
T value(std::variant<T, engine::EngineError> result)
{
    if (const auto *error = std::get_if<engine::EngineError>(&result))
        throw std::runtime_error(error->message + " | " + error->detail);
    return std::get<T>(std::move(result));
}

template <typename T>
std::string sentence(const std::variant<T, engine::EngineError> &result)
{
    const auto *error = std::get_if<engine::EngineError>(&result);
    return error != nullptr ? error->message : "";
}

inline std::string sentence(const engine::FrameSink::Result &result)
{
    return result ? result->message : "";
}

} // namespace media
