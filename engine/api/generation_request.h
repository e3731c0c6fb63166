#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace engine {

enum class Mode { TextToVideo, TextToImage };

// The type the networks compute in. Automatic takes what the device does fast; the record says which it was.
enum class DataType { Automatic, Float32, BFloat16 };

enum class DeviceKind { Automatic, Cpu, Cuda };

// Where the noise levels of a run come from: the framework's own grid, or one of the grids other programs publish.
enum class SigmaGrid { Native, DiffusersFlow, Karras };

struct PixelSize {
    int width = 0;
    int height = 0;
    bool operator==(const PixelSize &) const = default;
};

struct AspectRatio {
    int width = 0;
    int height = 0;
    bool operator==(const AspectRatio &) const = default;
};

// Guidance acts on the steps whose integer timestep t (0..1000) lies strictly inside: low < t < high.
struct TimestepInterval {
    double low = 0;
    double high = 0;
    bool operator==(const TimestepInterval &) const = default;
};

// What a person asked for. An empty optional means "the model's default for this mode"; checkRequest fills it in.
struct GenerationRequest {
    Mode mode = Mode::TextToVideo;
    std::string prompt;                        // UTF-8 text, or a JSON object in UTF-8
    std::optional<std::string> negativePrompt; // "" is the empty text, nothing is the model's default
    std::optional<PixelSize> size;
    std::optional<AspectRatio> aspectRatio; // picks a published size when `size` is empty; enters JSON prompts
    std::optional<int> frames;
    std::optional<double> fps;
    std::optional<int> steps;
    std::optional<double> guidanceScale;
    std::vector<double> guidanceCurve; // one scale per step; empty: guidanceScale at every step
    std::optional<TimestepInterval> guidanceInterval;
    std::optional<double> flowShift;
    SigmaGrid grid = SigmaGrid::Native;
    std::optional<std::int64_t> seed; // nothing: a fresh one is drawn
    bool sound = false;
    DataType dataType = DataType::Automatic;
    bool operator==(const GenerationRequest &) const = default;
};

// A checked request with every default filled in: all that the engine needs to know.
struct ResolvedRequest {
    Mode mode = Mode::TextToVideo;
    std::string prompt;
    std::string negativePrompt;
    bool negativeIsModelDefault = false;
    PixelSize size;
    std::optional<AspectRatio> aspectRatio; // only when the request named one
    int frames = 1;                         // 4k + 1
    double fps = 24;
    int steps = 35;
    std::vector<double> guidance; // one scale per step, before the interval is applied
    std::optional<TimestepInterval> guidanceInterval;
    double flowShift = 1;
    SigmaGrid grid = SigmaGrid::Native;
    std::uint32_t seed = 0;
    bool sound = false;
    DataType dataType = DataType::Automatic;
    bool operator==(const ResolvedRequest &) const = default;
};

} // namespace engine
