#include "engine/api/engine_loader.h"

#include "engine/api/log.h"

#include <array>
#include <dlfcn.h>
#include <string>

namespace engine {

namespace {

constexpr const char *kLibraryName = "libparallax-engine.so";
constexpr const char *kFactoryName = "parallaxCreateEngine";

// What libparallax-engine.so exports. It fills `result` and never throws. The library has a log function of its own,
// which is given ours.
using Factory = void (*)(const EngineConfig &config, const LogFunction &logFunction, EngineOrError &result);

std::filesystem::path programFolder()
{
    std::error_code error;
    return std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
}

// dlopen's text names the first library that is missing: "libcudart.so.13: cannot open shared object file: …".
EngineError missingLibrary(const std::string &reason)
{
    const auto name = reason.substr(0, reason.find(':'));
    if (name.find(kLibraryName) != std::string::npos && reason.find("cannot open") != std::string::npos)
        return {ErrorCode::MissingLibrary,
                std::string("The engine library ") + kLibraryName +
                    " is not beside this program; build it, or keep the program in its folder.",
                reason};
    return {ErrorCode::MissingLibrary,
            "The engine could not be loaded because of " + name + "; run packaging/setup.sh to fetch libtorch again.",
            reason};
}

} // namespace

EngineOrError createEngine(const EngineConfig &config)
{
    const auto folder = programFolder();
    const std::array places{folder / kLibraryName, folder.parent_path() / "lib" / kLibraryName};
    auto library = places.front();
    for (const auto &place : places) {
        std::error_code error;
        if (std::filesystem::exists(place, error)) {
            library = place;
            break;
        }
    }
    // Never closed: libtorch does not survive being unloaded.
    void *handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
        const char *reason = dlerror(); // NOLINT(concurrency-mt-unsafe): thread-local in glibc
        return missingLibrary(reason == nullptr ? "unknown reason" : reason);
    }
    const auto factory = reinterpret_cast<Factory>(dlsym(handle, kFactoryName));
    if (factory == nullptr)
        return EngineError{ErrorCode::MissingLibrary,
                           std::string(kLibraryName) +
                               " beside this program belongs to another version; build both again.",
                           library.string()};
    EngineOrError result;
    factory(config, log, result);
    return result;
}

} // namespace engine
