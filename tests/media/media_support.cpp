#include "tests/media/media_support.h"

#include "engine/media/video_encoder.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <iterator>
#include <random>
#include <stdexcept>
#include <unistd.h>

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
}

namespace media {

namespace {

constexpr int kField = 16; // side of one field of a numbered frame
constexpr int kFields = 8; // bits of the number

std::uint8_t toByte(double value)
{
    return static_cast<std::uint8_t>(std::clamp(std::lround(value), 0L, 255L));
}

template <typename Colour>
Scene paint(int width, int height, int frames, Colour &&colour)
{
    Scene scene{.width = width, .height = height, .frames = frames, .rgb = {}};
    scene.rgb.reserve(scene.frameBytes() * frames);
    for (int t = 0; t < frames; ++t) {
        for (int y = 0; y < height; ++y) {
            for (int x = 0; x < width; ++x) {
                for (const double channel : colour(x, y, t))
                    scene.rgb.push_back(toByte(channel));
            }
        }
    }
    return scene;
}

} // namespace

Scene movingGradient(int width, int height, int frames)
{
    return paint(width, height, frames, [&](int x, int y, int t) {
        return std::array{255.0 * ((x + 3 * t) % width) / width, 255.0 * ((y + 2 * t) % height) / height,
                          128 + 100 * std::sin(0.02 * (x + y) + 0.1 * t)};
    });
}

Scene noisyScene(int width, int height, int frames)
{
    std::mt19937 generator(7);
    std::normal_distribution<double> noise(0, 4);
    return paint(width, height, frames, [&](int x, int y, int t) {
        const double ground =
            90 + 25 * std::sin(0.35 * x + 1.7 * std::sin(0.11 * y)) + 20 * std::sin(0.5 * y + 0.05 * x);
        const double dx = x - (40.0 + 5 * t);
        const double dy = y - (64.0 + 20 * std::sin(0.3 * t));
        const bool ball = dx * dx + dy * dy < 900;
        const double shade = 1 - (dx + dy) / 120;
        const double grain = noise(generator);
        if (ball)
            return std::array{200 * shade + grain, 50 * shade + grain, 45 * shade + grain};
        return std::array{0.6 * ground + grain, ground + grain, 0.4 * ground + grain};
    });
}

Scene numberedFrames(int frames)
{
    return paint(kField * kFields, 2 * kField, frames, [](int x, int, int t) {
        const double level = ((t >> (x / kField)) & 1) != 0 ? 235 : 20;
        return std::array{level, level, level};
    });
}

int numberIn(const Bytes &rgb)
{
    int number = 0;
    for (int bit = 0; bit < kFields; ++bit) {
        const std::size_t centre = static_cast<std::size_t>(kField) * kField * kFields + bit * kField + kField / 2;
        number |= rgb[centre * 3] > 128 ? 1 << bit : 0;
    }
    return number;
}

Bytes luma(const std::uint8_t *rgb, std::size_t pixels)
{
    Bytes plane(pixels);
    for (std::size_t i = 0; i < pixels; ++i, rgb += 3)
        plane[i] = toByte(16 + 219.0 / 255 * (0.2126 * rgb[0] + 0.7152 * rgb[1] + 0.0722 * rgb[2]));
    return plane;
}

double psnr(const Bytes &a, const Bytes &b)
{
    if (a.size() != b.size())
        throw std::invalid_argument("pictures of different sizes");
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
        sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sum == 0 ? 100 : 10 * std::log10(255.0 * 255 * static_cast<double>(a.size()) / sum);
}

ProbedFile::ProbedFile(const std::filesystem::path &file)
{
    if (avformat_open_input(&m_context, file.c_str(), nullptr, nullptr) < 0 ||
        avformat_find_stream_info(m_context, nullptr) < 0)
        throw std::runtime_error("FFmpeg cannot open " + file.string());
}

ProbedFile::~ProbedFile()
{
    avformat_close_input(&m_context);
}

const AVStream *ProbedFile::video() const
{
    const int index = av_find_best_stream(m_context, AVMEDIA_TYPE_VIDEO, -1, -1, nullptr, 0);
    return index < 0 ? nullptr : m_context->streams[index];
}

const AVStream *ProbedFile::sound() const
{
    const int index = av_find_best_stream(m_context, AVMEDIA_TYPE_AUDIO, -1, -1, nullptr, 0);
    return index < 0 ? nullptr : m_context->streams[index];
}

std::string ProbedFile::comment() const
{
    const auto *entry = av_dict_get(m_context->metadata, "comment", nullptr, AV_DICT_MATCH_CASE);
    return entry != nullptr ? entry->value : "";
}

double ProbedFile::seconds(const AVStream &stream) const
{
    return static_cast<double>(stream.duration) * av_q2d(stream.time_base);
}

std::vector<Bytes> ProbedFile::lumaPlanes()
{
    const auto *stream = video();
    auto *codec = avcodec_alloc_context3(avcodec_find_decoder(stream->codecpar->codec_id));
    avcodec_parameters_to_context(codec, stream->codecpar);
    avcodec_open2(codec, nullptr, nullptr);
    auto *packet = av_packet_alloc();
    auto *frame = av_frame_alloc();
    std::vector<Bytes> planes;
    bool more = true;
    while (more) {
        more = av_read_frame(m_context, packet) >= 0;
        if (!more || packet->stream_index == stream->index)
            avcodec_send_packet(codec, more ? packet : nullptr);
        while (avcodec_receive_frame(codec, frame) >= 0) {
            EXPECT_EQ(frame->format, AV_PIX_FMT_YUV420P);
            EXPECT_EQ(frame->colorspace, AVCOL_SPC_BT709);
            EXPECT_EQ(frame->color_primaries, AVCOL_PRI_BT709);
            EXPECT_EQ(frame->color_trc, AVCOL_TRC_BT709);
            EXPECT_EQ(frame->color_range, AVCOL_RANGE_MPEG);
            EXPECT_EQ(frame->chroma_location, AVCHROMA_LOC_LEFT);
            auto &plane = planes.emplace_back();
            for (int row = 0; row < frame->height; ++row) {
                const auto *start = frame->data[0] + static_cast<std::ptrdiff_t>(row) * frame->linesize[0];
                plane.insert(plane.end(), start, start + frame->width);
            }
        }
        av_packet_unref(packet);
    }
    av_frame_free(&frame);
    av_packet_free(&packet);
    avcodec_free_context(&codec);
    return planes;
}

FolderTest::FolderTest()
{
    auto name = (std::filesystem::temp_directory_path() / "media-XXXXXX").string();
    m_folder = ::mkdtemp(name.data());
}

FolderTest::~FolderTest()
{
    std::filesystem::remove_all(m_folder);
}

std::vector<std::string> FolderTest::names() const
{
    std::vector<std::string> found;
    for (const auto &entry : std::filesystem::directory_iterator(m_folder))
        found.push_back(entry.path().filename());
    std::sort(found.begin(), found.end());
    return found;
}

Bytes contents(const std::filesystem::path &file)
{
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

void write(const std::filesystem::path &file, const Bytes &bytes)
{
    std::ofstream stream(file, std::ios::binary);
    std::copy(bytes.begin(), bytes.end(), std::ostreambuf_iterator<char>(stream));
}

std::string encode(const std::filesystem::path &file, const Scene &scene, double fps, const std::string &record,
                   bool overwrite)
{
    engine::VideoEncoder encoder(file, overwrite);
    if (const auto error = encoder.open(scene.format(fps)))
        return error->message;
    for (int at = 0; at < scene.frames; at += 4) {
        const int count = std::min(4, scene.frames - at);
        if (const auto error = encoder.frames({scene.frame(at), scene.frameBytes() * count}, count))
            return error->message;
    }
    return sentence(encoder.finish(record));
}

} // namespace media
