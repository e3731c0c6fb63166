#include "engine/media/png_codec.h"

#include "engine/api/outcome.h"

#include <array>
#include <cerrno>
#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <memory>
#include <png.h>
#include <system_error>
#include <vector>

namespace engine::png {

namespace {

constexpr char kRecordKey[] = "comment";
constexpr std::size_t kLargestPicture = std::size_t{1} << 28U; // pixels

struct CloseFile {
    void operator()(std::FILE *file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

struct Problem {
    std::array<char, 160> text{};
    int systemError = 0;
};

[[noreturn]] void onError(png_structp codec, png_const_charp text)
{
    auto *problem = static_cast<Problem *>(png_get_error_ptr(codec));
    problem->systemError = errno;
    std::strncpy(problem->text.data(), text, problem->text.size() - 1);
    png_longjmp(codec, 1);
}

void onWarning(png_structp, png_const_charp) {}

// libpng's pair of structs and what went wrong in them.
struct Reader {
    Problem problem;
    png_structp codec = png_create_read_struct(PNG_LIBPNG_VER_STRING, &problem, onError, onWarning);
    png_infop info = codec != nullptr ? png_create_info_struct(codec) : nullptr;
    Reader() = default;
    Reader(const Reader &) = delete;
    Reader &operator=(const Reader &) = delete;
    ~Reader() { png_destroy_read_struct(&codec, &info, nullptr); }
};

struct Writer {
    Problem problem;
    png_structp codec = png_create_write_struct(PNG_LIBPNG_VER_STRING, &problem, onError, onWarning);
    png_infop info = codec != nullptr ? png_create_info_struct(codec) : nullptr;
    Writer() = default;
    Writer(const Writer &) = delete;
    Writer &operator=(const Writer &) = delete;
    ~Writer() { png_destroy_write_struct(&codec, &info); }
};

// The next three may be left by longjmp: plain locals only.

bool readHeader(Reader &reader, std::FILE *file, png_uint_32 largestSide)
{
    if (setjmp(png_jmpbuf(reader.codec)) != 0)
        return false;
    png_set_user_limits(reader.codec, largestSide, largestSide);
    png_init_io(reader.codec, file);
    png_read_info(reader.codec, reader.info);
    png_set_expand(reader.codec);
    png_set_scale_16(reader.codec);
    png_set_gray_to_rgb(reader.codec);
    png_set_strip_alpha(reader.codec);
    png_set_interlace_handling(reader.codec);
    png_read_update_info(reader.codec, reader.info);
    return true;
}

bool readRows(Reader &reader, png_bytepp rows)
{
    if (setjmp(png_jmpbuf(reader.codec)) != 0)
        return false;
    png_read_image(reader.codec, rows);
    png_read_end(reader.codec, reader.info);
    return true;
}

bool writeAll(Writer &writer, std::FILE *file, const Picture &picture)
{
    if (setjmp(png_jmpbuf(writer.codec)) != 0)
        return false;
    png_init_io(writer.codec, file);
    png_set_IHDR(writer.codec, writer.info, static_cast<png_uint_32>(picture.width),
                 static_cast<png_uint_32>(picture.height), 8, PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_set_sRGB_gAMA_and_cHRM(writer.codec, writer.info, PNG_sRGB_INTENT_PERCEPTUAL);
    png_text text{};
    text.compression = PNG_ITXT_COMPRESSION_zTXt;
    text.key = const_cast<char *>(kRecordKey); // libpng copies both
    text.text = const_cast<char *>(picture.record.c_str());
    text.itxt_length = picture.record.size();
    if (!picture.record.empty())
        png_set_text(writer.codec, writer.info, &text, 1);
    png_write_info(writer.codec, writer.info);
    for (int row = 0; row < picture.height; ++row)
        png_write_row(writer.codec, picture.rgb.data() + static_cast<std::size_t>(row) * picture.width * 3);
    png_write_end(writer.codec, writer.info);
    return true;
}

std::string recordIn(const Reader &reader)
{
    png_textp texts = nullptr;
    int count = 0;
    png_get_text(reader.codec, reader.info, &texts, &count);
    for (int i = 0; i < count; ++i) {
        if (::strcasecmp(texts[i].key, kRecordKey) == 0)
            return {texts[i].text,
                    texts[i].compression >= PNG_ITXT_COMPRESSION_NONE ? texts[i].itxt_length : texts[i].text_length};
    }
    return {};
}

[[noreturn]] void refuseReading(const std::filesystem::path &file, const Problem &problem)
{
    throw EngineFailure(ErrorCode::InvalidRequest,
                        file.string() + " is not a PNG picture, or it is damaged; use another copy.",
                        problem.text.data());
}

[[noreturn]] void refuseWriting(const std::filesystem::path &target, int systemError, const char *detail)
{
    throw EngineFailure(ErrorCode::Output,
                        target.string() + " could not be written (" + std::generic_category().message(systemError) +
                            "); free some space or choose another place.",
                        detail);
}

} // namespace

Picture read(const std::filesystem::path &file, int largestSide)
{
    const File stream(std::fopen(file.c_str(), "rbe"));
    if (!stream) {
        throw EngineFailure(ErrorCode::InvalidRequest, file.string() + " cannot be opened (" +
                                                           std::generic_category().message(errno) +
                                                           "); check the name.");
    }
    Reader reader;
    if (reader.info == nullptr)
        throw std::bad_alloc();
    if (!readHeader(reader, stream.get(), static_cast<png_uint_32>(largestSide)))
        refuseReading(file, reader.problem);
    Picture picture;
    picture.width = static_cast<int>(png_get_image_width(reader.codec, reader.info));
    picture.height = static_cast<int>(png_get_image_height(reader.codec, reader.info));
    const auto rowBytes = static_cast<std::size_t>(picture.width) * 3;
    if (png_get_rowbytes(reader.codec, reader.info) != rowBytes ||
        static_cast<std::size_t>(picture.width) * static_cast<std::size_t>(picture.height) > kLargestPicture)
        refuseReading(file, reader.problem);
    picture.rgb.resize(rowBytes * static_cast<std::size_t>(picture.height));
    std::vector<png_bytep> rows;
    for (std::size_t at = 0; at < picture.rgb.size(); at += rowBytes)
        rows.push_back(picture.rgb.data() + at);
    if (!readRows(reader, rows.data()))
        refuseReading(file, reader.problem);
    picture.record = recordIn(reader);
    return picture;
}

void write(const std::filesystem::path &file, const Picture &picture, const std::filesystem::path &target)
{
    File stream(std::fopen(file.c_str(), "wbe"));
    if (!stream)
        refuseWriting(target, errno, "fopen");
    {
        Writer writer;
        if (writer.info == nullptr)
            throw std::bad_alloc();
        if (!writeAll(writer, stream.get(), picture))
            refuseWriting(target, writer.problem.systemError, writer.problem.text.data());
    }
    if (std::fclose(stream.release()) != 0)
        refuseWriting(target, errno, "fclose");
}

} // namespace engine::png
