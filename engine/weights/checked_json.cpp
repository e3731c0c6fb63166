#include "engine/weights/checked_json.h"

#include "engine/api/outcome.h"

#include <nlohmann/json.hpp>
#include <set>
#include <vector>

namespace engine {

namespace {

using Json = nlohmann::json;

// Copying and printing a JSON value recurse, so its depth must be bounded; real files nest four levels.
constexpr int kMaxDepth = 64;
constexpr std::size_t kMaxQuoted = 100;

[[noreturn]] void refuse(std::string_view fileName, const std::string &what)
{
    throw EngineFailure(ErrorCode::ModelFiles,
                        std::string(fileName) + " is damaged: " + what + "; download the file again.");
}

} // namespace

nlohmann::json parseCheckedJson(std::string_view text, std::string_view fileName)
{
    std::vector<std::set<std::string>> keys;
    std::string lastKey;
    const auto watch = [&](int depth, Json::parse_event_t event, Json &parsed) {
        if (depth > kMaxDepth)
            refuse(fileName, "its JSON nests deeper than " + std::to_string(kMaxDepth) + " levels");
        if (event == Json::parse_event_t::object_start) {
            keys.emplace_back();
        } else if (event == Json::parse_event_t::object_end) {
            keys.pop_back();
        } else if (event == Json::parse_event_t::key) {
            lastKey = parsed.get_ref<const std::string &>();
            if (!keys.back().insert(lastKey).second)
                refuse(fileName, quotedText(lastKey) + " occurs twice in it");
        }
        return true;
    };
    Json root;
    try {
        root = Json::parse(text, watch);
    } catch (const Json::exception &) {
        refuse(fileName, lastKey.empty() ? std::string("it is not JSON")
                                         : "what follows its key " + quotedText(lastKey) + " is not JSON");
    }
    if (!root.is_object())
        refuse(fileName, "it is not a JSON object");
    return root;
}

std::string quotedText(std::string_view text)
{
    std::string shown = "\"";
    for (const char c : text.substr(0, kMaxQuoted))
        shown += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
    if (text.size() > kMaxQuoted) {
        while (!shown.empty() && (static_cast<unsigned char>(shown.back()) & 0xC0U) == 0x80U)
            shown.pop_back(); // the cut may lie inside a UTF-8 sequence
        if (static_cast<unsigned char>(shown.back()) >= 0xC0U)
            shown.pop_back();
        shown += "…";
    }
    return shown + "\"";
}

std::string quotedJson(const nlohmann::json &value)
{
    if (value.is_string())
        return quotedText(std::string_view(value.get_ref<const std::string &>()));
    const auto text = quotedText(std::string_view(value.dump(-1, ' ', true, Json::error_handler_t::replace)));
    return text.substr(1, text.size() - 2);
}

std::string shortPath(const std::filesystem::path &file)
{
    return (file.parent_path().filename() / file.filename()).string();
}

} // namespace engine
