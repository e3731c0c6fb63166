#pragma once

#include "engine/api/job_record_names.h"
#include "engine/api/outcome.h"

#include <array>
#include <concepts>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace engine {

// The fields of one JSON object, read by name. A field that is missing or null keeps the target's value; one of the
// wrong type or out of range is an EngineFailure that names it.
class RecordFields {
public:
    RecordFields(const nlohmann::json &object, std::string_view origin, std::string prefix)
        : m_object(object), m_origin(origin), m_prefix(std::move(prefix))
    {
        if (!object.is_object())
            throw EngineFailure(ErrorCode::InvalidRequest,
                                std::string(origin) + " is no job record: \"" +
                                    (m_prefix.empty() ? "record" : m_prefix) +
                                    "\" must be an object; choose a file this program wrote.");
    }

    [[noreturn]] void fail(const std::string &key, const std::string &what) const
    {
        throw EngineFailure(ErrorCode::InvalidRequest, std::string(m_origin) + " is no job record: \"" + name(key) +
                                                           "\" must be " + what +
                                                           "; choose a file this program wrote.");
    }

    [[nodiscard]] const nlohmann::json *find(const std::string &key) const
    {
        const auto found = m_object.find(key);
        return found == m_object.end() || found->is_null() ? nullptr : &*found;
    }

    [[nodiscard]] std::optional<RecordFields> object(const std::string &key) const
    {
        const auto *json = find(key);
        return json == nullptr ? std::nullopt : std::optional(RecordFields(*json, m_origin, name(key)));
    }

    [[nodiscard]] RecordFields required(const std::string &key) const
    {
        const auto fields = object(key);
        if (!fields)
            fail(key, "there");
        return *fields;
    }

    void read(const std::string &key, std::string &value) const
    {
        if (const auto *json = find(key))
            value = textFrom(*json, key);
    }

    void read(const std::string &key, std::filesystem::path &value) const
    {
        if (const auto *json = find(key))
            value = textFrom(*json, key);
    }

    void read(const std::string &key, bool &value) const
    {
        if (const auto *json = find(key)) {
            if (!json->is_boolean())
                fail(key, "true or false");
            value = json->get<bool>();
        }
    }

    void read(const std::string &key, double &value) const
    {
        if (const auto *json = find(key)) {
            if (!json->is_number())
                fail(key, "a number");
            value = json->get<double>();
        }
    }

    template <std::integral Integer>
    void read(const std::string &key, Integer &value) const
    {
        if (const auto *json = find(key))
            value = integerFrom<Integer>(*json, key);
    }

    template <typename Value>
    void read(const std::string &key, std::optional<Value> &value) const
    {
        if (find(key) != nullptr) {
            value.emplace();
            read(key, *value);
        }
    }

    template <typename Value>
    void read(const std::string &key, std::vector<Value> &values) const
    {
        const auto *json = find(key);
        if (json == nullptr)
            return;
        if (!json->is_array())
            fail(key, "a list");
        values.clear();
        for (const auto &item : *json) {
            if constexpr (std::is_same_v<Value, std::string>) {
                values.push_back(textFrom(item, key));
            } else if constexpr (std::is_integral_v<Value>) {
                values.push_back(integerFrom<Value>(item, key));
            } else {
                if (!item.is_number())
                    fail(key, "a list of numbers");
                values.push_back(item.get<double>());
            }
        }
    }

    template <typename Value, std::size_t Count>
    void read(const std::string &key, Value &value, const std::array<RecordName<Value>, Count> &names) const
    {
        std::string text;
        read(key, text);
        if (find(key) == nullptr)
            return;
        for (const auto &entry : names) {
            if (entry.name == text) {
                value = entry.value;
                return;
            }
        }
        std::string known;
        for (const auto &entry : names)
            known += (known.empty() ? "" : ", ") + std::string(entry.name);
        fail(key, "one of " + known);
    }

    // The objects of a list.
    [[nodiscard]] std::vector<RecordFields> list(const std::string &key) const
    {
        std::vector<RecordFields> items;
        if (const auto *json = find(key)) {
            if (!json->is_array())
                fail(key, "a list");
            for (const auto &item : *json)
                items.emplace_back(item, m_origin, name(key));
        }
        return items;
    }

private:
    [[nodiscard]] std::string name(const std::string &key) const
    {
        return m_prefix.empty() ? key : m_prefix + "." + key;
    }

    [[nodiscard]] std::string textFrom(const nlohmann::json &json, const std::string &key) const
    {
        if (!json.is_string())
            fail(key, "text");
        return json.get<std::string>();
    }

    template <std::integral Integer>
    [[nodiscard]] Integer integerFrom(const nlohmann::json &json, const std::string &key) const
    {
        using Limits = std::numeric_limits<Integer>;
        const bool fits = json.is_number_unsigned()
                              ? std::in_range<Integer>(json.get<std::uint64_t>())
                              : json.is_number_integer() && std::in_range<Integer>(json.get<std::int64_t>());
        if (!fits)
            fail(key, "a whole number from " + std::to_string(Limits::min()) + " to " + std::to_string(Limits::max()));
        return json.get<Integer>();
    }

    const nlohmann::json &m_object;
    std::string_view m_origin;
    std::string m_prefix;
};

} // namespace engine
