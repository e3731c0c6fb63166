#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

template <typename T>
struct Bounds {
    T low;
    T high;
};

// Reads checked values out of one JSON configuration. Every method throws EngineFailure(ModelFiles) with one sentence
// that names the file and the key. A key whose value is null counts as absent.
class ConfigReader {
public:
    ConfigReader(std::string_view json, std::string_view fileName);

    [[nodiscard]] bool has(const std::string &key) const;
    // Without a fallback the key must be there.
    [[nodiscard]] std::int64_t integer(const std::string &key, Bounds<std::int64_t> bounds,
                                       std::optional<std::int64_t> fallback = {}) const;
    [[nodiscard]] double number(const std::string &key, Bounds<double> bounds,
                                std::optional<double> fallback = {}) const;
    [[nodiscard]] bool flag(const std::string &key, std::optional<bool> fallback = {}) const;
    [[nodiscard]] std::string text(const std::string &key, std::optional<std::string> fallback = {}) const;
    [[nodiscard]] std::vector<std::int64_t> integers(const std::string &key, Bounds<std::int64_t> bounds,
                                                     Bounds<std::size_t> length) const;
    [[nodiscard]] std::vector<double> numbers(const std::string &key, Bounds<double> bounds, std::size_t length) const;
    [[nodiscard]] std::vector<bool> flags(const std::string &key, std::size_t length) const;
    // The object under `key`, read by the same rules; nothing where it is absent.
    [[nodiscard]] std::optional<ConfigReader> object(const std::string &key) const;

    // For keys whose other values are features this program lacks: absent, null or `supported` pass.
    void require(const std::string &key, const nlohmann::json &supported) const;
    // The file's "_class_name" (or "architectures") must be one of `accepted`, where it says any.
    void requireClass(const std::vector<std::string_view> &accepted, std::string_view runs) const;

    // A damaged or inconsistent file: "<file>: <what>; download the file again."
    [[noreturn]] void refuse(const std::string &what) const;

private:
    ConfigReader(nlohmann::json root, std::string fileName, std::string prefix);
    [[nodiscard]] const nlohmann::json &required(const std::string &key) const;
    [[nodiscard]] const nlohmann::json &list(const std::string &key, Bounds<std::size_t> length) const;
    [[nodiscard]] std::string keyName(const std::string &key) const;
    [[nodiscard]] std::int64_t checkedInteger(const std::string &key, const nlohmann::json &value,
                                              Bounds<std::int64_t> bounds) const;
    [[nodiscard]] double checkedNumber(const std::string &key, const nlohmann::json &value,
                                       Bounds<double> bounds) const;

    nlohmann::json m_root;
    std::string m_fileName;
    std::string m_prefix; // of nested keys, in sentences: "rope_scaling."
};

} // namespace engine
