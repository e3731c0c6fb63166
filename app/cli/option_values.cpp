#include "app/cli/option_values.h"

#include "app/cli/nearest_name.h"
#include "engine/api/outcome.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

namespace app {

namespace {

[[noreturn]] void refuse(const std::string &option, const std::string &text, const std::string &rest)
{
    throw engine::EngineFailure(engine::ErrorCode::InvalidRequest, option + " \"" + text + "\" " + rest);
}

// The whole text as a number; nothing when it is none or does not fit.
template <typename Number>
std::optional<Number> parsed(std::string_view text)
{
    if (text.starts_with('+'))
        text.remove_prefix(1);
    Number value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc{} && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

template <typename Number>
std::optional<std::pair<Number, Number>> parsedPair(std::string_view text, std::string_view separators)
{
    const auto middle = text.find_first_of(separators);
    if (middle == std::string_view::npos)
        return std::nullopt;
    const auto first = parsed<Number>(text.substr(0, middle));
    const auto second = parsed<Number>(text.substr(middle + 1));
    return first && second ? std::optional(std::pair(*first, *second)) : std::nullopt;
}

template <typename Integer>
Integer integer(const std::string &option, const std::string &text)
{
    const auto value = parsed<Integer>(text);
    if (!value)
        refuse(option, text, "is not a whole number that fits: give digits, such as 25.");
    return *value;
}

template <typename Value, std::size_t Count>
Value named(const std::string &option, const std::string &text,
            const std::array<std::pair<const char *, Value>, Count> &values)
{
    std::vector<std::string> names;
    std::string known;
    for (const auto &[name, value] : values) {
        if (text == name)
            return value;
        names.emplace_back(name);
        known += (known.empty() ? "" : " or ") + names.back();
    }
    refuse(option, text, "is not known here: give " + known + didYouMean(text, names, "."));
}

} // namespace

int wholeNumber(const std::string &option, const std::string &text)
{
    return integer<int>(option, text);
}

std::int64_t longNumber(const std::string &option, const std::string &text)
{
    return integer<std::int64_t>(option, text);
}

double number(const std::string &option, const std::string &text)
{
    const auto value = parsed<double>(text);
    if (!value)
        refuse(option, text, "is not a number: give one such as 6 or 29.97.");
    return *value;
}

engine::PixelSize pixelSize(const std::string &option, const std::string &text)
{
    const auto sides = parsedPair<int>(text, "xX");
    if (!sides)
        refuse(option, text, "is not a size: give WIDTHxHEIGHT, such as 320x192.");
    return {.width = sides->first, .height = sides->second};
}

engine::AspectRatio aspectRatio(const std::string &option, const std::string &text)
{
    const auto sides = parsedPair<int>(text, ",:");
    if (!sides)
        refuse(option, text, "is not an aspect ratio: give WIDTH,HEIGHT, such as 16,9.");
    return {.width = sides->first, .height = sides->second};
}

engine::TimestepInterval timestepInterval(const std::string &option, const std::string &text)
{
    const auto limits = parsedPair<double>(text, ",");
    if (!limits)
        refuse(option, text, "is not an interval: give LOW,HIGH, such as 400,1000.");
    return {.low = limits->first, .high = limits->second};
}

std::vector<int> deviceList(const std::string &option, const std::string &text)
{
    std::vector<int> devices;
    std::string_view rest = text;
    while (true) {
        const auto comma = rest.find(',');
        const auto device = parsed<int>(rest.substr(0, comma));
        if (!device || *device < 0)
            refuse(option, text, "is not a list of GPUs: give their numbers, such as 0 or 0,1.");
        if (std::ranges::find(devices, *device) != devices.end())
            refuse(option, text, "names GPU " + std::to_string(*device) + " twice: name each GPU once.");
        devices.push_back(*device);
        if (comma == std::string_view::npos)
            return devices;
        rest.remove_prefix(comma + 1);
    }
}

engine::Mode mode(const std::string &option, const std::string &text)
{
    constexpr std::array modes{std::pair{"t2v", engine::Mode::TextToVideo},
                               std::pair{"t2i", engine::Mode::TextToImage}};
    return named(option, text, modes);
}

engine::DataType dataType(const std::string &option, const std::string &text)
{
    constexpr std::array types{std::pair{"float32", engine::DataType::Float32},
                               std::pair{"bfloat16", engine::DataType::BFloat16}};
    return named(option, text, types);
}

engine::DeviceKind deviceKind(const std::string &option, const std::string &text)
{
    constexpr std::array kinds{std::pair{"cpu", engine::DeviceKind::Cpu}, std::pair{"cuda", engine::DeviceKind::Cuda}};
    return named(option, text, kinds);
}

} // namespace app
