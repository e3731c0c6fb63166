#include "engine/api/log.h"
#include "engine/pipeline/local_engine.h"
#include "engine/runtime/failure.h"

#include <exception>

// The one symbol libparallax-engine.so exports; engine_loader looks it up by name.
extern "C" __attribute__((visibility("default"))) void parallaxCreateEngine(const engine::EngineConfig &config,
                                                                            const engine::LogFunction &logFunction,
                                                                            engine::EngineOrError &result)
{
    engine::setLogFunction(logFunction);
    try {
        result = std::make_unique<engine::LocalEngine>(config);
    } catch (...) {
        result = engine::errorOf(std::current_exception());
    }
}
