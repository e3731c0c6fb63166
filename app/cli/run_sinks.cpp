#include "app/cli/run_sinks.h"

#include <array>
#include <utility>

namespace app {

namespace {

using Result = engine::FrameSink::Result;

template <typename Work>
Result asResult(Work &&work)
{
    try {
        std::forward<Work>(work)();
        return std::nullopt;
    } catch (const engine::EngineFailure &failure) {
        return failure.error();
    }
}

void throwProblem(const Result &problem)
{
    if (problem)
        throw engine::EngineFailure(*problem);
}

std::filesystem::path comparable(const std::filesystem::path &path)
{
    std::error_code error;
    return std::filesystem::weakly_canonical(std::filesystem::absolute(path, error), error);
}

void checkTensorFile(const char *option, const std::filesystem::path &file, bool overwrite, std::uint64_t bytes)
{
    if (file.empty())
        return;
    if (file.extension() != ".safetensors")
        throw engine::EngineFailure(engine::ErrorCode::Output, std::string(option) + " writes safetensors files: \"" +
                                                                   file.string() + "\" must end in .safetensors.");
    throwProblem(engine::checkPublishable(file, overwrite, bytes));
}

} // namespace

void checkOutputs(const OutputPaths &paths, const engine::VideoFormat &format, std::uint64_t latentBytes)
{
    throwProblem(engine::checkOutputFile(paths.master, format, paths.overwrite));
    const auto rawBytes = std::uint64_t{3} * static_cast<std::uint64_t>(format.width) *
                          static_cast<std::uint64_t>(format.height) * static_cast<std::uint64_t>(format.frames);
    checkTensorFile("--latents", paths.latents, paths.overwrite, latentBytes);
    checkTensorFile("--frames-raw", paths.framesRaw, paths.overwrite, rawBytes);
    if (!paths.latents.empty() && comparable(paths.latents) == comparable(paths.framesRaw))
        throw engine::EngineFailure(engine::ErrorCode::Output, "--latents and --frames-raw both name " +
                                                                   paths.latents.string() + ": give them two files.");
}

RunSinks::RunSinks(OutputPaths paths)
    : m_paths(std::move(paths)), m_master(engine::makeFileSink(m_paths.master, m_paths.overwrite))
{
}

Result RunSinks::open(const engine::VideoFormat &format)
{
    if (auto problem = m_master->open(format))
        return problem;
    return asResult([&] {
        if (!m_paths.framesRaw.empty())
            m_framesRaw.emplace(
                m_paths.framesRaw, m_paths.overwrite,
                std::vector{TensorShape{"frames", "U8", {format.frames, format.height, format.width, 3}}});
    });
}

Result RunSinks::frames(std::span<const std::uint8_t> rgb, int count)
{
    if (auto problem = m_master->frames(rgb, count))
        return problem;
    return asResult([&] {
        if (m_framesRaw)
            m_framesRaw->append(std::as_bytes(rgb));
    });
}

Result RunSinks::sound(std::span<const float> samples, int channels)
{
    return m_master->sound(samples, channels);
}

Result RunSinks::latents(std::string_view name, std::span<const float> values, std::span<const std::int64_t> shape)
{
    if (!m_paths.latents.empty())
        m_latents.push_back({{std::string(name), "F32", {shape.begin(), shape.end()}}, {values.begin(), values.end()}});
    return std::nullopt;
}

void RunSinks::writeLatents()
{
    std::vector<TensorShape> shapes;
    for (const auto &latents : m_latents)
        shapes.push_back(latents.shape);
    TensorFile file(m_paths.latents, m_paths.overwrite, shapes);
    for (const auto &latents : m_latents)
        file.append(std::as_bytes(std::span(latents.values)));
    file.publish();
}

Result RunSinks::finish(std::string_view record)
{
    if (auto problem = m_master->finish(record))
        return problem;
    return asResult([&] {
        if (m_framesRaw)
            m_framesRaw->publish();
        if (!m_paths.latents.empty())
            writeLatents();
    });
}

std::vector<engine::OutputFile> RunSinks::outputs() const
{
    std::vector<engine::OutputFile> outputs;
    const std::array candidates{engine::OutputFile{"master", m_paths.master, 0, m_master->storage()},
                                engine::OutputFile{"latents", m_paths.latents, 0, ""},
                                engine::OutputFile{"frames", m_paths.framesRaw, 0, ""}};
    for (auto output : candidates) {
        std::error_code error;
        if (output.path.empty())
            continue;
        output.bytes = static_cast<std::int64_t>(std::filesystem::file_size(output.path, error));
        if (!error)
            outputs.push_back(output);
    }
    return outputs;
}

} // namespace app
