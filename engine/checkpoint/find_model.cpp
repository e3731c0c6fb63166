#include "engine/api/checkpoint.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <map>
#include <numeric>
#include <optional>
#include <system_error>

namespace engine {

namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 3> kPublished{"nvidia/Cosmos3-Nano", "nvidia/Cosmos3-Super",
                                                     "nvidia/Cosmos3-Edge"};

std::string environment(const char *name)
{
    const char *value = std::getenv(name); // NOLINT(concurrency-mt-unsafe): nothing here ever sets a variable
    return value == nullptr ? "" : value;
}

fs::path cacheFolder()
{
    if (const auto hub = environment("HF_HUB_CACHE"); !hub.empty())
        return hub;
    if (const auto home = environment("HF_HOME"); !home.empty())
        return fs::path(home) / "hub";
    if (const auto cache = environment("XDG_CACHE_HOME"); !cache.empty())
        return fs::path(cache) / "huggingface" / "hub";
    return fs::path(environment("HOME")) / ".cache" / "huggingface" / "hub";
}

// The revision that "main" points to, else the newest one that is there.
std::optional<fs::path> snapshotOf(const fs::path &model)
{
    std::error_code error;
    std::string revision;
    std::ifstream(model / "refs" / "main") >> revision;
    if (!revision.empty() && revision.find('/') == std::string::npos &&
        fs::is_directory(model / "snapshots" / revision, error))
        return model / "snapshots" / revision;
    std::optional<fs::path> newest;
    fs::file_time_type time;
    for (fs::directory_iterator entry(model / "snapshots", error), end; !error && entry != end;
         entry.increment(error)) {
        std::error_code ignored;
        if (entry->is_directory(ignored) && (!newest || entry->last_write_time(ignored) > time)) {
            newest = entry->path();
            time = entry->last_write_time(ignored);
        }
    }
    return newest;
}

// Name ("nvidia/Cosmos3-Nano") -> snapshot, of every model in the cache: models--ORG--NAME/snapshots/REVISION.
std::map<std::string, fs::path> cachedModels(const fs::path &cache)
{
    constexpr std::string_view kPrefix = "models--";
    std::map<std::string, fs::path> models;
    std::error_code error;
    for (fs::directory_iterator entry(cache, error), end; !error && entry != end; entry.increment(error)) {
        auto name = entry->path().filename().string();
        if (!name.starts_with(kPrefix))
            continue;
        name.erase(0, kPrefix.size());
        if (const auto dashes = name.find("--"); dashes != std::string::npos)
            name.replace(dashes, 2, "/");
        if (const auto snapshot = snapshotOf(entry->path()))
            models.emplace(name, *snapshot);
    }
    return models;
}

std::string_view withoutOwner(std::string_view name)
{
    return name.substr(name.find('/') + 1); // npos + 1 is 0
}

// Levenshtein distance, letters compared without case.
std::size_t distance(std::string_view a, std::string_view b)
{
    const auto lower = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < a.size(); ++i) {
        auto diagonal = row[0];
        row[0] = i + 1;
        for (std::size_t j = 0; j < b.size(); ++j) {
            const auto changed = diagonal + (lower(a[i]) == lower(b[j]) ? 0 : 1);
            diagonal = row[j + 1];
            row[j + 1] = std::min({changed, row[j] + 1, row[j + 1] + 1});
        }
    }
    return row.back();
}

std::string nearestName(std::string_view name, const std::map<std::string, fs::path> &cached)
{
    std::vector<std::string> known{"demo"};
    for (const auto &[model, snapshot] : cached)
        known.push_back(model);
    known.insert(known.end(), kPublished.begin(), kPublished.end());
    const auto away = [&](const std::string &candidate) {
        return std::min(distance(name, candidate), distance(withoutOwner(name), withoutOwner(candidate)));
    };
    return *std::min_element(known.begin(), known.end(),
                             [&](const auto &a, const auto &b) { return away(a) < away(b); });
}

bool looksLikePath(std::string_view name)
{
    return name.starts_with('/') || name.starts_with('.') || name.starts_with('~') ||
           std::count(name.begin(), name.end(), '/') > 1;
}

EngineError unknown(const std::string &message)
{
    return EngineError{ErrorCode::ModelFiles, message};
}

std::variant<fs::path, EngineError> findCached(std::string_view name)
{
    const auto cache = cacheFolder();
    const auto cached = cachedModels(cache);
    std::vector<std::string> matches;
    for (const auto &[model, snapshot] : cached) {
        if (model == name)
            return snapshot;
        if (withoutOwner(model) == name)
            matches.push_back(model);
    }
    if (const auto official = cached.find("nvidia/" + std::string(name)); official != cached.end())
        return official->second;
    if (matches.size() == 1)
        return cached.at(matches.front());
    const auto quotedName = "\"" + std::string(name) + "\"";
    if (matches.size() > 1)
        return unknown("There are several models named " + quotedName + " in " + cache.string() + "; write \"" +
                       matches[0] + "\" or \"" + matches[1] + "\".");
    for (const auto published : kPublished) {
        if (published == name || withoutOwner(published) == name)
            return unknown("The model " + quotedName + " is not in the Hugging Face cache (" + cache.string() +
                           "); download " + std::string(published) + " or give its folder.");
    }
    return unknown("No model " + quotedName + " is known, neither as a folder nor in the Hugging Face cache (" +
                   cache.string() + "); did you mean \"" + nearestName(name, cached) + "\"?");
}

} // namespace

std::variant<fs::path, EngineError> findModel(std::string_view nameOrFolder)
{
    std::error_code ignored;
    if (nameOrFolder.empty())
        return unknown("The model's name is empty; give \"demo\", a folder or a name such as \"Cosmos3-Nano\".");
    if (nameOrFolder == "demo") {
        const auto demo = resourceFolder() / "demo-world" / "checkpoint";
        if (fs::is_directory(demo, ignored))
            return demo;
        return unknown("The demo world is not at " + demo.string() + "; install the program's resources again.");
    }
    const fs::path path(nameOrFolder);
    if (fs::exists(path, ignored))
        return path;
    if (looksLikePath(nameOrFolder))
        return unknown("The folder " + path.string() + " does not exist; check the path.");
    return findCached(nameOrFolder);
}

} // namespace engine
