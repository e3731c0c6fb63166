#include "engine/checkpoint/config_reader.h"

#include "engine/api/outcome.h"
#include "engine/weights/checked_json.h"

#include <algorithm>
#include <limits>
#include <sstream>
#include <utility>

namespace engine {

namespace {

template <typename T>
std::string boundsText(Bounds<T> bounds)
{
    std::ostringstream text;
    text << bounds.low << " to " << bounds.high;
    return text.str();
}

std::string lengthText(Bounds<std::size_t> length)
{
    return length.low == length.high ? std::to_string(length.low) : boundsText(length);
}

} // namespace

ConfigReader::ConfigReader(std::string_view json, std::string_view fileName)
    : m_root(parseCheckedJson(json, fileName)), m_fileName(fileName)
{
}

ConfigReader::ConfigReader(nlohmann::json root, std::string fileName, std::string prefix)
    : m_root(std::move(root)), m_fileName(std::move(fileName)), m_prefix(std::move(prefix))
{
}

void ConfigReader::refuse(const std::string &what) const
{
    throw EngineFailure(ErrorCode::ModelFiles, m_fileName + ": " + what + "; download the file again.");
}

bool ConfigReader::has(const std::string &key) const
{
    const auto found = m_root.find(key);
    return found != m_root.end() && !found->is_null();
}

std::string ConfigReader::keyName(const std::string &key) const
{
    return quotedText(m_prefix + key);
}

const nlohmann::json &ConfigReader::required(const std::string &key) const
{
    if (!has(key))
        refuse(keyName(key) + " is missing");
    return m_root[key];
}

std::int64_t ConfigReader::checkedInteger(const std::string &key, const nlohmann::json &value,
                                          Bounds<std::int64_t> bounds) const
{
    if (!value.is_number_integer())
        refuse(keyName(key) + " must be a whole number, not " + quotedJson(value));
    const bool huge = value.is_number_unsigned() &&
                      value.get<std::uint64_t>() > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    const auto number = huge ? 0 : value.get<std::int64_t>();
    if (huge || number < bounds.low || number > bounds.high)
        refuse(keyName(key) + " is " + quotedJson(value) + ", which is not within " + boundsText(bounds));
    return number;
}

double ConfigReader::checkedNumber(const std::string &key, const nlohmann::json &value, Bounds<double> bounds) const
{
    if (!value.is_number())
        refuse(keyName(key) + " must be a number, not " + quotedJson(value));
    const auto number = value.get<double>();
    if (!(number >= bounds.low && number <= bounds.high))
        refuse(keyName(key) + " is " + quotedJson(value) + ", which is not within " + boundsText(bounds));
    return number;
}

std::int64_t ConfigReader::integer(const std::string &key, Bounds<std::int64_t> bounds,
                                   std::optional<std::int64_t> fallback) const
{
    return fallback && !has(key) ? *fallback : checkedInteger(key, required(key), bounds);
}

double ConfigReader::number(const std::string &key, Bounds<double> bounds, std::optional<double> fallback) const
{
    return fallback && !has(key) ? *fallback : checkedNumber(key, required(key), bounds);
}

bool ConfigReader::flag(const std::string &key, std::optional<bool> fallback) const
{
    if (fallback && !has(key))
        return *fallback;
    const auto &value = required(key);
    if (!value.is_boolean())
        refuse(keyName(key) + " must be true or false, not " + quotedJson(value));
    return value.get<bool>();
}

std::string ConfigReader::text(const std::string &key, std::optional<std::string> fallback) const
{
    if (fallback && !has(key))
        return *fallback;
    const auto &value = required(key);
    if (!value.is_string())
        refuse(keyName(key) + " must be a text, not " + quotedJson(value));
    return value.get<std::string>();
}

const nlohmann::json &ConfigReader::list(const std::string &key, Bounds<std::size_t> length) const
{
    const auto &value = required(key);
    if (!value.is_array())
        refuse(keyName(key) + " must be a list, not " + quotedJson(value));
    if (value.size() < length.low || value.size() > length.high)
        refuse(keyName(key) + " has " + std::to_string(value.size()) + " entries instead of " + lengthText(length));
    return value;
}

std::vector<std::int64_t> ConfigReader::integers(const std::string &key, Bounds<std::int64_t> bounds,
                                                 Bounds<std::size_t> length) const
{
    std::vector<std::int64_t> values;
    for (const auto &value : list(key, length))
        values.push_back(checkedInteger(key, value, bounds));
    return values;
}

std::vector<double> ConfigReader::numbers(const std::string &key, Bounds<double> bounds, std::size_t length) const
{
    std::vector<double> values;
    for (const auto &value : list(key, {length, length}))
        values.push_back(checkedNumber(key, value, bounds));
    return values;
}

std::vector<bool> ConfigReader::flags(const std::string &key, std::size_t length) const
{
    std::vector<bool> values;
    for (const auto &value : list(key, {length, length})) {
        if (!value.is_boolean())
            refuse(keyName(key) + " must hold true and false only, not " + quotedJson(value));
        values.push_back(value.get<bool>());
    }
    return values;
}

std::optional<ConfigReader> ConfigReader::object(const std::string &key) const
{
    if (!has(key))
        return std::nullopt;
    const auto &value = required(key);
    if (!value.is_object())
        refuse(keyName(key) + " must be an object, not " + quotedJson(value));
    return ConfigReader(value, m_fileName, m_prefix + key + ".");
}

void ConfigReader::require(const std::string &key, const nlohmann::json &supported) const
{
    if (has(key) && m_root[key] != supported)
        throw EngineFailure(ErrorCode::ModelFiles, m_fileName + " sets " + keyName(key) + " to " +
                                                       quotedJson(m_root[key]) + ", where Parallax only knows " +
                                                       supported.dump() + "; choose another model.");
}

void ConfigReader::requireClass(const std::vector<std::string_view> &accepted, std::string_view runs) const
{
    std::string name;
    if (has("_class_name")) {
        name = text("_class_name");
    } else if (has("architectures")) {
        const auto &all = list("architectures", {1, 16});
        name = all.front().is_string() ? all.front().get<std::string>() : quotedJson(all.front());
    }
    if (name.empty() || std::find(accepted.begin(), accepted.end(), name) != accepted.end())
        return;
    const bool vowel = std::string_view("AEIOUaeiou").find(name.front()) != std::string_view::npos;
    const auto shown = quotedText(name);
    throw EngineFailure(ErrorCode::ModelFiles, m_fileName + " describes " + (vowel ? "an " : "a ") +
                                                   shown.substr(1, shown.size() - 2) + "; Parallax runs " +
                                                   std::string(runs) + ".");
}

} // namespace engine
