#pragma once

#include "app/cli/tensor_file.h"
#include "engine/api/job_record.h"
#include "engine/media/file_sink.h"

#include <memory>
#include <optional>
#include <vector>

namespace app {

struct OutputPaths {
    std::filesystem::path master;  // the clip or picture
    std::filesystem::path latents; // "" for none, as below
    std::filesystem::path framesRaw;
    bool overwrite = false;
};

// Whether every file could be written: names, folders, existing files, room. Throws EngineFailure(Output).
// `latentBytes` is about what the latents need.
void checkOutputs(const OutputPaths &paths, const engine::VideoFormat &format, std::uint64_t latentBytes);

// Passes a run's results to every file that was asked for. Nothing appears before finish(). One thread at a time.
class RunSinks final : public engine::FrameSink {
public:
    explicit RunSinks(OutputPaths paths);

    Result open(const engine::VideoFormat &format) override;
    Result frames(std::span<const std::uint8_t> rgb, int count) override;
    Result sound(std::span<const float> samples, int channels) override;
    Result latents(std::string_view name, std::span<const float> values, std::span<const std::int64_t> shape) override;

    // Gives the files their names, the clip with `record` in its comment.
    Result finish(std::string_view record);
    // What finish() has left on the disk.
    [[nodiscard]] std::vector<engine::OutputFile> outputs() const;

private:
    void writeLatents();

    struct Latents {
        TensorShape shape;
        std::vector<float> values;
    };
    OutputPaths m_paths;
    std::unique_ptr<engine::FileSink> m_master;
    std::optional<TensorFile> m_framesRaw;
    std::vector<Latents> m_latents;
};

} // namespace app
