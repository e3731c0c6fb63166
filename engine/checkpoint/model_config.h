#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// The configuration files of a checkpoint as plain values. Every reader throws EngineFailure(ModelFiles) with one
// sentence that names the file and the key when a number is missing, of the wrong type or absurd, and says "this is
// a …" when the file belongs to another architecture. The readers take the JSON text, so that they can be fuzzed.
namespace engine {

enum class MlpKind {
    SwiGlu,      // down(silu(gate(x)) * up(x))
    SquaredRelu, // down(relu(up(x))²), no gate
};

// transformer/config.json: the one truth about the network (published models keep misleading files in the root).
struct TransformerConfig {
    std::int64_t hiddenSize = 0;
    std::int64_t layers = 0;
    std::int64_t heads = 0;
    std::int64_t keyValueHeads = 0;
    std::int64_t headDim = 0; // heads * headDim may differ from hiddenSize
    std::int64_t intermediateSize = 0;
    std::int64_t vocabulary = 0;
    MlpKind mlp = MlpKind::SwiGlu;
    // Nemotron-like (Edge) norms multiply by the weight in fp32 before rounding, Qwen-like ones after.
    bool isNemotron = false;
    double normEpsilon = 1e-6;
    bool textQkNorm = true;        // qk_norm_for_text
    bool generationQkNorm = true;  // qk_norm_for_diffusion
    bool undKeyNormForGen = false; // use_und_k_norm_for_gen (k_norm_und_for_gen weights)
    double ropeTheta = 0;
    std::vector<int> mropeSection; // {T, H, W}; T is never read
    std::int64_t latentChannels = 48;
    std::int64_t latentPatch = 2;
    double timestepScale = 0.001;
    int temporalMargin = 15000;  // unified_3d_mrope_temporal_modality_margin
    bool resetSpatialIds = true; // unified_3d_mrope_reset_spatial_ids
    bool fpsModulation = true;   // enable_fps_modulation
    double baseFps = 24;
    int temporalCompression = 4; // temporal_compression_factor; openCheckpoint takes the VAE's where it is not said
    bool saysTemporalCompression = false;
    bool sound = false; // sound_gen
    std::int64_t soundDim = 64;
    double soundLatentFps = 25;
    bool action = false; // action_gen: known, its heads are not used here
    std::int64_t actionDim = 64;
    std::int64_t embodimentDomains = 0;
    [[nodiscard]] std::int64_t patchDim() const { return latentPatch * latentPatch * latentChannels; }
};

// vae/config.json (AutoencoderKLWan with residual blocks, the Wan 2.2 structure).
struct VaeConfig {
    std::int64_t baseDim = 0;        // encoder width
    std::int64_t decoderBaseDim = 0; // decoder width
    std::int64_t zDim = 48;
    std::vector<std::int64_t> dimMult;
    std::int64_t resBlocks = 2;           // the decoder has one more per stage
    std::vector<bool> temporalDownsample; // one per stage but the last
    std::int64_t inChannels = 12;         // 3 * patchSize²
    std::int64_t outChannels = 12;
    std::int64_t patchSize = 2;
    std::vector<double> latentsMean; // zDim values
    std::vector<double> latentsStd;
    // What the structure gives: pixels per latent side, frames per latent frame after the first.
    [[nodiscard]] std::int64_t spatialFactor() const;
    [[nodiscard]] std::int64_t temporalFactor() const;
};

// The half of the sound tokenizer that reads waveforms (enc_* of its config.json).
struct SoundEncoderConfig {
    std::int64_t channels = 2; // of the waveform: input_channels, twice that when stereo
    std::int64_t dim = 192;
    std::vector<std::int64_t> channelMults{1, 2, 4};
    std::vector<std::int64_t> strides{4, 5, 6}; // as listed and applied; times fftHop: the tokenizer's hop
    std::int64_t blocks = 2;                    // ConvNeXt blocks before each stride
    std::int64_t fftSize = 64;
    std::int64_t fftHop = 16;
    bool normalizeVolume = true;
};

// sound_tokenizer/config.json (AVAE with an Oobleck decoder).
struct SoundConfig {
    std::int64_t latentDim = 64; // vocoder_input_dim
    std::int64_t decoderDim = 0;
    std::vector<std::int64_t> channelMults;
    std::vector<std::int64_t> strides; // as listed; applied last to first
    std::int64_t outChannels = 2;
    int sampleRate = 48000;
    int hopSize = 1920; // product of the strides
    // Nothing when the file says that there is none, or describes one of another kind or for another decoder: decoding
    // does not need it. The weights of a described encoder may be missing all the same.
    std::optional<SoundEncoderConfig> encoder{};
};

// scheduler/scheduler_config.json and the scheduling keys of model_index.json.
struct SchedulerConfig {
    std::string className;
    bool karras = false;
    double flowShift = 1;
    double sigmaMin = 0.147;
    double sigmaMax = 200;
    int trainTimesteps = 1000;
};

TransformerConfig readTransformerConfig(std::string_view json, std::string_view fileName);
VaeConfig readVaeConfig(std::string_view json, std::string_view fileName);
SoundConfig readSoundConfig(std::string_view json, std::string_view fileName);
SchedulerConfig readSchedulerConfig(std::string_view json, std::string_view fileName);

// The whole of a text file; throws EngineFailure(ModelFiles) when it cannot be read or exceeds maxBytes.
std::string readTextFile(const std::filesystem::path &file, std::int64_t maxBytes = 64 << 20);

} // namespace engine
