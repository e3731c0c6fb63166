#include "engine/api/checkpoint.h"

#include "engine/checkpoint/checkpoint_files.h"

#include <exception>
#include <utility>

namespace engine {

namespace {

// Runs `work` and turns what it throws into a value: nothing crosses engine/api by exception.
template <typename Value, typename Work>
std::variant<Value, EngineError> asValue(Work work)
{
    try {
        return work();
    } catch (const EngineFailure &failure) {
        return failure.error();
    } catch (const std::exception &error) {
        return EngineError{ErrorCode::Internal, "The model's files could not be read; please report this.",
                           error.what()};
    }
}

} // namespace

struct Checkpoint::Contents {
    std::shared_ptr<const CheckpointFiles> files;
};

Checkpoint::Checkpoint(std::shared_ptr<const Contents> contents) : m_contents(std::move(contents)) {}

std::variant<Checkpoint, EngineError> Checkpoint::open(const std::filesystem::path &folder)
{
    return asValue<Checkpoint>(
        [&] { return Checkpoint(std::make_shared<const Contents>(Contents{openCheckpoint(folder)})); });
}

const std::filesystem::path &Checkpoint::folder() const
{
    return m_contents->files->folder;
}

const ModelProfile &Checkpoint::profile() const
{
    return m_contents->files->profile;
}

const CheckpointSummary &Checkpoint::summary() const
{
    return m_contents->files->summary;
}

std::optional<EngineError> Checkpoint::refusal() const
{
    return m_contents->files->refusal;
}

std::variant<PromptTokens, EngineError> Checkpoint::tokenize(const ResolvedRequest &request) const
{
    return asValue<PromptTokens>([&] { return tokenizePrompts(*m_contents->files, request); });
}

} // namespace engine
