#include "engine/api/checkpoint.h"

#include <cstdlib>
#include <system_error>

namespace engine {

std::filesystem::path resourceFolder()
{
    namespace fs = std::filesystem;
    const char *chosen = std::getenv("PARALLAX_RESOURCES"); // NOLINT(concurrency-mt-unsafe): nothing sets it here
    if (chosen != nullptr && *chosen != '\0')
        return chosen;
    std::error_code error;
    const auto program = fs::read_symlink("/proc/self/exe", error);
    const auto beside = program.parent_path() / ".." / "share" / "parallax-studio";
    if (!error && fs::exists(beside / "model_profiles.json", error))
        return beside.lexically_normal();
    return PARALLAX_SOURCE_RESOURCES;
}

} // namespace engine
