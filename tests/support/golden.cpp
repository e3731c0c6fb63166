#include "tests/support/golden.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace golden {

namespace {

float halfToFloat(std::uint16_t bits)
{
    const auto sign = static_cast<std::uint32_t>(bits >> 15U) << 31U;
    const int exponent = (bits >> 10U) & 31;
    const auto fraction = static_cast<std::uint32_t>(bits & 1023U);
    if (exponent == 0)
        return (sign != 0U ? -1.0F : 1.0F) * std::ldexp(static_cast<float>(fraction), -24);
    const auto wide = exponent == 31 ? 255U : static_cast<std::uint32_t>(exponent + 112);
    return std::bit_cast<float>(sign | (wide << 23U) | (fraction << 13U));
}

template <typename T>
std::vector<T> read(std::span<const std::byte> bytes)
{
    std::vector<T> values(bytes.size() / sizeof(T));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
}

template <typename To, typename From>
std::vector<To> convert(const std::vector<From> &from)
{
    std::vector<To> values;
    values.reserve(from.size());
    for (const auto value : from)
        values.push_back(static_cast<To>(value));
    return values;
}

} // namespace

std::filesystem::path folder()
{
    return PARALLAX_GOLDEN;
}

std::filesystem::path checkpoint(std::string_view name)
{
    return folder() / name;
}

std::filesystem::path demoWorld()
{
    return std::filesystem::path(PARALLAX_RESOURCES_SOURCE) / "demo-world";
}

Table::Table(std::string_view topic) : m_file(folder() / (std::string(topic) + ".safetensors")) {}

bool Table::has(std::string_view name) const
{
    return m_file.header().tensors.contains(name);
}

std::vector<std::int64_t> Table::shape(std::string_view name) const
{
    const auto found = m_file.header().tensors.find(name);
    if (found == m_file.header().tensors.end())
        throw std::out_of_range("no reference tensor " + std::string(name));
    return found->second.shape;
}

std::vector<float> Table::floats(std::string_view name) const
{
    static_cast<void>(shape(name));
    const auto &entry = m_file.header().tensors.find(name)->second;
    const auto bytes = m_file.data(entry);
    switch (entry.type) {
    case engine::TensorType::Float32:
        return read<float>(bytes);
    case engine::TensorType::Float64:
        return convert<float>(read<double>(bytes));
    case engine::TensorType::BFloat16: {
        std::vector<float> values;
        for (const auto bits : read<std::uint16_t>(bytes))
            values.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16U));
        return values;
    }
    case engine::TensorType::Float16: {
        std::vector<float> values;
        for (const auto bits : read<std::uint16_t>(bytes))
            values.push_back(halfToFloat(bits));
        return values;
    }
    default:
        throw std::invalid_argument("reference tensor " + std::string(name) + " is not a float tensor");
    }
}

std::vector<std::int64_t> Table::integers(std::string_view name) const
{
    static_cast<void>(shape(name));
    const auto &entry = m_file.header().tensors.find(name)->second;
    const auto bytes = m_file.data(entry);
    switch (entry.type) {
    case engine::TensorType::Int64:
        return read<std::int64_t>(bytes);
    case engine::TensorType::Int32:
        return convert<std::int64_t>(read<std::int32_t>(bytes));
    case engine::TensorType::UInt8:
        return convert<std::int64_t>(read<std::uint8_t>(bytes));
    default:
        throw std::invalid_argument("reference tensor " + std::string(name) + " is not an integer tensor");
    }
}

std::string json(std::string_view topic)
{
    std::ifstream stream(folder() / (std::string(topic) + ".json"));
    if (!stream)
        throw std::runtime_error("no reference table " + std::string(topic));
    std::ostringstream text;
    text << stream.rdbuf();
    return text.str();
}

double relativeError(std::span<const float> a, std::span<const float> reference)
{
    if (a.size() != reference.size())
        throw std::invalid_argument("sizes differ: " + std::to_string(a.size()) + " and " +
                                    std::to_string(reference.size()));
    double difference = 0;
    double norm = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        const double d = static_cast<double>(a[i]) - static_cast<double>(reference[i]);
        difference += d * d;
        norm += static_cast<double>(reference[i]) * static_cast<double>(reference[i]);
    }
    if (std::isnan(difference))
        return INFINITY;
    return norm == 0 ? std::sqrt(difference) : std::sqrt(difference / norm);
}

double largestRelativeError(std::span<const float> a, std::span<const float> reference)
{
    if (a.size() != reference.size())
        throw std::invalid_argument("sizes differ: " + std::to_string(a.size()) + " and " +
                                    std::to_string(reference.size()));
    double difference = 0;
    double largest = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        const double d = std::abs(static_cast<double>(a[i]) - static_cast<double>(reference[i]));
        if (std::isnan(d))
            return INFINITY;
        difference = std::max(difference, d);
        largest = std::max(largest, std::abs(static_cast<double>(reference[i])));
    }
    return largest == 0 ? difference : difference / largest;
}

} // namespace golden
