#include "tests/support/png_pixels.h"

#include <png.h>
#include <stdexcept>

namespace png {

Pixels read(const std::filesystem::path &file)
{
    png_image image{};
    image.version = PNG_IMAGE_VERSION;
    if (png_image_begin_read_from_file(&image, file.c_str()) == 0)
        throw std::runtime_error(file.string() + ": " + image.message);
    image.format = PNG_FORMAT_RGB;
    Pixels pixels{static_cast<int>(image.width), static_cast<int>(image.height), {}};
    pixels.rgb.resize(PNG_IMAGE_SIZE(image));
    if (png_image_finish_read(&image, nullptr, pixels.rgb.data(), 0, nullptr) == 0)
        throw std::runtime_error(file.string() + ": " + image.message);
    return pixels;
}

} // namespace png
