#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace engine {

// json.dumps of one value with Python's defaults.
std::string pythonString(std::string_view utf8); // quoted, everything but printable ASCII as \uXXXX
std::string pythonFloat(double value);           // repr: the shortest text that reads back as the same number

// A JSON object as Python's json module reads and writes it: members keep their order, a repeated key keeps its first
// place and its last value, integers stay exact, NaN and Infinity are numbers. Values are held as json.dumps writes
// them, since nothing here looks inside.
class PythonJsonObject {
public:
    // What json.loads gives for the text (valid UTF-8), when that is an object. Throws EngineFailure(InvalidRequest)
    // for an object nested deeper than Python's own recursion limit.
    static std::optional<PythonJsonObject> parse(std::string_view text);

    // `value` is in the form of json.dumps. Both take keys as UTF-8.
    void set(std::string_view key, std::string value) { setDumped(pythonString(key), std::move(value)); }
    void erase(std::string_view key);
    [[nodiscard]] std::string dump() const;

private:
    friend class PythonJsonParser;
    void setDumped(std::string key, std::string value);

    struct Member {
        std::string key; // as json.dumps writes it
        std::string value;
    };
    std::vector<Member> m_members;
    std::unordered_map<std::string, std::size_t> m_places; // in m_members, by key
};

} // namespace engine
