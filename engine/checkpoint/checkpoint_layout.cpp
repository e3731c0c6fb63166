#include "engine/checkpoint/checkpoint_layout.h"

#include "engine/api/outcome.h"
#include "engine/checkpoint/config_reader.h"
#include "engine/checkpoint/model_config.h"

#include <array>
#include <string>
#include <string_view>
#include <system_error>

namespace engine {

namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const std::string &message)
{
    throw EngineFailure(ErrorCode::ModelFiles, message);
}

bool isThere(const fs::path &path)
{
    std::error_code ignored;
    return fs::exists(path, ignored);
}

// Without a trailing slash, and links left as the person wrote them.
fs::path wholePath(const fs::path &folder)
{
    const auto whole = fs::absolute(folder).lexically_normal();
    return whole.has_filename() ? whole : whole.parent_path();
}

bool isPartOfModel(const fs::path &folder)
{
    constexpr std::array<std::string_view, 5> kParts{"transformer", "vae", "text_tokenizer", "scheduler",
                                                     "sound_tokenizer"};
    const auto whole = wholePath(folder);
    for (const auto part : kParts) {
        if (whole.filename() == part && isThere(whole.parent_path() / "transformer"))
            return true;
    }
    return false;
}

} // namespace

void checkLayout(const fs::path &folder)
{
    std::error_code ignored;
    if (!isThere(folder))
        refuse("The folder " + folder.string() + " does not exist; check the path.");
    if (!fs::is_directory(folder, ignored))
        refuse(folder.string() + " is a file; give the model's folder, which holds model_index.json.");
    const auto index = folder / "model_index.json";
    if (isThere(index)) {
        const ConfigReader file(readTextFile(index), "model_index.json");
        file.requireClass({"Cosmos3OmniPipeline", "Cosmos3OmniDiffusersPipeline"}, "Cosmos3OmniPipeline models");
    }
    if (isThere(folder / "transformer"))
        return;
    if (isThere(index))
        refuse("The model in " + folder.string() +
               " has no transformer/, which holds the network; download that folder too.");
    if (isPartOfModel(folder))
        refuse(folder.string() + " is one part of a model; give the folder above it, " +
               wholePath(folder).parent_path().string() + ".");
    if (const auto config = folder / "config.json"; isThere(config)) {
        const ConfigReader file(readTextFile(config), wholePath(folder).filename().string() + "/config.json");
        file.requireClass({"Cosmos3OmniTransformer"}, "Cosmos3OmniPipeline models");
        refuse(folder.string() + " is only a part of a model; give the folder that holds model_index.json.");
    }
    refuse(folder.string() +
           " holds no model (neither model_index.json nor transformer/); give a model's folder, or \"demo\".");
}

} // namespace engine
