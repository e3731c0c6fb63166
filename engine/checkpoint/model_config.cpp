#include "engine/checkpoint/model_config.h"

#include "engine/api/outcome.h"
#include "engine/checkpoint/config_reader.h"
#include "engine/weights/checked_json.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <numeric>
#include <optional>
#include <system_error>

namespace engine {

namespace {

// Sizes far above every published model and far below what would overflow a product of them.
constexpr Bounds<std::int64_t> kWidth{1, 1 << 17};
constexpr Bounds<std::int64_t> kCount{1, 4096};
constexpr Bounds<std::int64_t> kVocabulary{1, 1 << 24};
constexpr Bounds<std::int64_t> kPatch{1, 16};
constexpr Bounds<std::int64_t> kStride{1, 1024};
constexpr std::size_t kMaxStages = 8;
constexpr std::int64_t kMaxHop = 1 << 20;
constexpr Bounds<double> kFps{1e-3, 1e6};

void readRope(const ConfigReader &file, TransformerConfig &config)
{
    config.ropeTheta = file.number("rope_theta", {1.0, 1e12});
    constexpr Bounds<std::int64_t> kSection{0, 4096};
    std::vector<std::int64_t> section;
    if (file.has("rope_axes_dim"))
        section = file.integers("rope_axes_dim", kSection, {3, 3});
    if (const auto scaling = file.object("rope_scaling")) {
        scaling->require("rope_type", "default");
        scaling->require("mrope_interleaved", true);
        if (scaling->has("mrope_section")) {
            const auto other = scaling->integers("mrope_section", kSection, {3, 3});
            if (!section.empty() && other != section)
                file.refuse("\"rope_axes_dim\" and \"rope_scaling.mrope_section\" contradict each other");
            section = other;
        }
    }
    if (section.empty())
        file.refuse("\"rope_axes_dim\" is missing");
    config.mropeSection.assign(section.begin(), section.end());
}

void readLatents(const ConfigReader &file, TransformerConfig &config)
{
    config.latentChannels = file.integer("latent_channel", kCount);
    config.latentPatch = file.integer("latent_patch_size", kPatch);
    if (file.integer("patch_latent_dim", {1, 1 << 24}, config.patchDim()) != config.patchDim())
        file.refuse("\"patch_latent_dim\" is not latent_patch_size² · latent_channel = " +
                    std::to_string(config.patchDim()));
    config.timestepScale = file.number("timestep_scale", {1e-9, 1e3}, config.timestepScale);
    config.temporalMargin = static_cast<int>(
        file.integer("unified_3d_mrope_temporal_modality_margin", {0, 1 << 24}, config.temporalMargin));
    file.require("unified_3d_mrope_reset_spatial_ids", true);
    config.fpsModulation = file.flag("enable_fps_modulation", config.fpsModulation);
    config.baseFps = file.number("base_fps", kFps, config.baseFps);
    config.saysTemporalCompression = file.has("temporal_compression_factor");
    config.temporalCompression =
        static_cast<int>(file.integer("temporal_compression_factor", {1, 256}, config.temporalCompression));
}

void readHeads(const ConfigReader &file, TransformerConfig &config)
{
    config.sound = file.flag("sound_gen", false);
    if (config.sound)
        config.soundDim = file.integer("sound_dim", kCount);
    config.soundLatentFps = file.number("sound_latent_fps", kFps, config.soundLatentFps);
    config.action = file.flag("action_gen", false);
    if (config.action) {
        config.actionDim = file.integer("action_dim", kCount, file.integer("max_action_dim", kCount, config.actionDim));
        config.embodimentDomains = file.integer("num_embodiment_domains", kCount, 32);
    }
}

// Every stage's shortcut copies or averages whole channels, so its channel counts must divide.
void checkShortcuts(const ConfigReader &file, const VaeConfig &config)
{
    const auto stages = config.dimMult.size();
    std::int64_t before = 1; // multiplier of the encoder's stage before
    for (std::size_t i = 0; i < stages; ++i) {
        const bool last = i + 1 == stages;
        const std::int64_t factor = last ? 1 : (config.temporalDownsample[i] ? 8 : 4);
        if (before * factor % config.dimMult[i] != 0)
            file.refuse("\"dim_mult\" gives stage " + std::to_string(i + 1) +
                        " a width its shortcut cannot average to");
        before = config.dimMult[i];
    }
    std::int64_t above = config.dimMult.back(); // multiplier of the decoder's stage before
    for (std::size_t i = 0; i + 1 < stages; ++i) {
        const auto mult = config.dimMult[stages - 1 - i];
        const std::int64_t factor = config.temporalDownsample[stages - 2 - i] ? 8 : 4;
        if (mult * factor % above != 0)
            file.refuse("\"dim_mult\" gives stage " + std::to_string(stages - i) +
                        " a width its shortcut cannot repeat to");
        above = mult;
    }
}

// The samples one latent covers; nothing above kMaxHop.
std::optional<std::int64_t> hopOf(std::int64_t first, const std::vector<std::int64_t> &strides)
{
    auto hop = first;
    for (const auto stride : strides) {
        hop *= stride;
        if (hop > kMaxHop)
            return std::nullopt;
    }
    return hop;
}

bool saysKnownSoundEncoder(const ConfigReader &file)
{
    const auto bottleneck = file.object("bottleneck");
    const auto kind = file.text("bottleneck_type", "vae");
    return file.flag("encoder_enabled", true) && file.flag("use_wav_as_input", true) &&
           file.text("enc_type", "spec_convnext") == "spec_convnext" && file.flag("enc_use_snake", true) &&
           file.text("padding_mode", "zeros") == "zeros" && kind == "vae" &&
           (!bottleneck || bottleneck->text("type", kind) == "vae");
}

// Absent keys have the defaults of the format, as its own reader takes them. Early files carry these defaults beside
// any decoder, so an encoder that does not fit the decoder counts as none.
std::optional<SoundEncoderConfig> readSoundEncoder(const ConfigReader &file, const SoundConfig &sound)
{
    if (!saysKnownSoundEncoder(file))
        return std::nullopt;
    SoundEncoderConfig config;
    config.channels = file.integer("input_channels", {1, 8}, 1) * (file.flag("stereo", true) ? 2 : 1);
    config.dim = file.integer("enc_dim", kCount, config.dim);
    if (file.has("enc_c_mults"))
        config.channelMults = file.integers("enc_c_mults", {1, 64}, {1, kMaxStages});
    const auto stages = config.channelMults.size();
    if (file.has("enc_strides") || stages != config.strides.size())
        config.strides = file.integers("enc_strides", kStride, {stages, stages});
    config.blocks = file.integer("enc_num_blocks", {0, 64}, config.blocks);
    config.fftSize = file.integer("enc_n_fft", {2, 1 << 16}, config.fftSize);
    if (config.fftSize % 2 != 0)
        file.refuse("\"enc_n_fft\" is " + std::to_string(config.fftSize) + ", and must be even");
    config.fftHop = file.integer("enc_hop_length", {1, config.fftSize}, config.fftHop);
    config.normalizeVolume = file.flag("normalize_volume", config.normalizeVolume);
    const bool fits = hopOf(config.fftHop, config.strides) == sound.hopSize &&
                      file.integer("enc_latent_dim", {1, 2 * kCount.high}, 128) == 2 * sound.latentDim;
    return fits ? std::optional(config) : std::nullopt;
}

} // namespace

TransformerConfig readTransformerConfig(std::string_view json, std::string_view fileName)
{
    const ConfigReader file(json, fileName);
    file.requireClass({"Cosmos3OmniTransformer"}, "Cosmos3OmniTransformer models");
    TransformerConfig config;
    config.hiddenSize = file.integer("hidden_size", kWidth);
    config.layers = file.integer("num_hidden_layers", kCount);
    config.heads = file.integer("num_attention_heads", kCount);
    config.keyValueHeads = file.integer("num_key_value_heads", kCount);
    config.headDim = file.integer("head_dim", kCount);
    config.intermediateSize = file.integer("intermediate_size", {1, 1 << 20});
    config.vocabulary = file.integer("vocab_size", kVocabulary);
    if (config.heads % config.keyValueHeads != 0)
        file.refuse("\"num_attention_heads\" (" + std::to_string(config.heads) +
                    ") is no multiple of \"num_key_value_heads\" (" + std::to_string(config.keyValueHeads) + ")");
    if (config.headDim % 2 != 0)
        file.refuse("\"head_dim\" is " + std::to_string(config.headDim) + ", and must be even");
    file.require("attention_bias", false);

    const auto activation = file.text("hidden_act", "silu");
    const auto backbone = file.text("backbone_type", "");
    if (activation != "silu" && activation != "relu2")
        throw EngineFailure(ErrorCode::ModelFiles, std::string(fileName) + " sets \"hidden_act\" to " +
                                                       quotedText(activation) +
                                                       ", where Parallax only knows \"silu\" and \"relu2\"; "
                                                       "choose another model.");
    config.mlp = activation == "relu2" ? MlpKind::SquaredRelu : MlpKind::SwiGlu;
    config.isNemotron = activation == "relu2" || backbone.find("nemotron") != std::string::npos;
    constexpr Bounds<double> kEpsilon{1e-12, 0.1};
    config.normEpsilon = file.number("rms_norm_eps", kEpsilon,
                                     file.number("layer_norm_epsilon", kEpsilon, config.isNemotron ? 1e-5 : 1e-6));
    config.textQkNorm = file.flag("qk_norm_for_text", true);
    config.generationQkNorm = file.flag("qk_norm_for_diffusion", true);
    config.undKeyNormForGen =
        file.flag("use_und_k_norm_for_gen", false) && config.generationQkNorm && !config.textQkNorm;
    readRope(file, config);
    readLatents(file, config);
    readHeads(file, config);
    return config;
}

std::int64_t VaeConfig::spatialFactor() const
{
    return patchSize << (dimMult.size() - 1);
}

std::int64_t VaeConfig::temporalFactor() const
{
    return std::int64_t{1} << std::count(temporalDownsample.begin(), temporalDownsample.end(), true);
}

VaeConfig readVaeConfig(std::string_view json, std::string_view fileName)
{
    const ConfigReader file(json, fileName);
    file.requireClass({"AutoencoderKLWan"}, "AutoencoderKLWan autoencoders of the Wan 2.2 kind");
    if (!file.flag("is_residual", false))
        throw EngineFailure(ErrorCode::ModelFiles,
                            std::string(fileName) + " describes an autoencoder of the Wan 2.1 kind (\"is_residual\" is "
                                                    "not true); Parallax runs the Wan 2.2 kind of Cosmos 3 models.");
    VaeConfig config;
    config.baseDim = file.integer("base_dim", kCount);
    config.decoderBaseDim = file.integer("decoder_base_dim", kCount, config.baseDim);
    config.zDim = file.integer("z_dim", kCount);
    config.dimMult = file.integers("dim_mult", {1, 64}, {1, kMaxStages});
    config.resBlocks = file.integer("num_res_blocks", {1, 64});
    config.temporalDownsample = file.flags("temperal_downsample", config.dimMult.size() - 1);
    config.patchSize = file.integer("patch_size", kPatch, 1);
    const auto pixelChannels = 3 * config.patchSize * config.patchSize;
    config.inChannels = file.integer("in_channels", kCount);
    config.outChannels = file.integer("out_channels", kCount);
    if (config.inChannels != pixelChannels || config.outChannels != pixelChannels)
        file.refuse("\"in_channels\" and \"out_channels\" must be 3 · patch_size² = " + std::to_string(pixelChannels));
    checkShortcuts(file, config);
    const auto length = static_cast<std::size_t>(config.zDim);
    config.latentsMean = file.numbers("latents_mean", {-1e4, 1e4}, length);
    config.latentsStd = file.numbers("latents_std", {1e-6, 1e4}, length);
    if (file.integer("scale_factor_spatial", kCount, config.spatialFactor()) != config.spatialFactor())
        file.refuse("\"scale_factor_spatial\" is not the " + std::to_string(config.spatialFactor()) +
                    " that patch_size and dim_mult give");
    if (file.integer("scale_factor_temporal", kCount, config.temporalFactor()) != config.temporalFactor())
        file.refuse("\"scale_factor_temporal\" is not the " + std::to_string(config.temporalFactor()) +
                    " that temperal_downsample gives");
    return config;
}

SoundConfig readSoundConfig(std::string_view json, std::string_view fileName)
{
    const ConfigReader file(json, fileName);
    file.requireClass({"Cosmos3AVAEAudioTokenizer"}, "Cosmos3AVAEAudioTokenizer sound tokenizers");
    file.require("model_type", "autoencoder_v2");
    file.require("dec_type", "oobleck");
    file.require("activation", "snakebeta");
    for (const auto *key : {"dec_use_snake", "snake_logscale"})
        file.require(key, true);
    for (const auto *key : {"dec_final_tanh", "dec_use_tanh_at_final", "dec_anti_aliasing", "dec_use_nearest_upsample",
                            "anti_aliasing", "causal"})
        file.require(key, false);
    for (const auto *key : {"latent_mean", "latent_std"})
        file.require(key, nullptr);
    SoundConfig config;
    config.latentDim = file.integer("vocoder_input_dim", kCount);
    config.decoderDim = file.integer("dec_dim", kCount);
    config.channelMults = file.integers("dec_c_mults", {1, 64}, {1, kMaxStages});
    config.strides = file.integers("dec_strides", kStride, {config.channelMults.size(), config.channelMults.size()});
    config.outChannels = file.integer("dec_out_channels", {1, 2});
    config.sampleRate = static_cast<int>(file.integer("sampling_rate", {1000, 768'000}));
    const auto hop = hopOf(1, config.strides);
    if (!hop)
        file.refuse("\"dec_strides\" multiply to more than " + std::to_string(kMaxHop));
    if (file.integer("hop_size", {1, kMaxHop}, hop) != *hop)
        file.refuse("\"hop_size\" is not the product " + std::to_string(*hop) + " of \"dec_strides\"");
    config.hopSize = static_cast<int>(*hop);
    config.encoder = readSoundEncoder(file, config);
    return config;
}

SchedulerConfig readSchedulerConfig(std::string_view json, std::string_view fileName)
{
    const ConfigReader file(json, fileName);
    SchedulerConfig config;
    config.className = file.text("_class_name");
    file.require("prediction_type", "flow_prediction");
    config.karras = file.flag("use_karras_sigmas", false);
    config.flowShift = file.number("flow_shift", {1e-3, 1e3}, config.flowShift);
    config.sigmaMin = file.number("sigma_min", {1e-9, 1e6}, config.sigmaMin);
    config.sigmaMax = file.number("sigma_max", {1e-9, 1e6}, config.sigmaMax);
    if (config.sigmaMin >= config.sigmaMax)
        file.refuse("\"sigma_min\" must be smaller than \"sigma_max\"");
    config.trainTimesteps =
        static_cast<int>(file.integer("num_train_timesteps", {1, 1'000'000}, config.trainTimesteps));
    return config;
}

std::string readTextFile(const std::filesystem::path &file, std::int64_t maxBytes)
{
    std::error_code error;
    const auto refuse = [&](const std::string &what) {
        throw EngineFailure(ErrorCode::ModelFiles, shortPath(file) + " " + what, file.string());
    };
    const auto status = std::filesystem::status(file, error);
    if (!std::filesystem::exists(status))
        refuse("is missing; download the file.");
    if (!std::filesystem::is_regular_file(status))
        refuse("is not a regular file; replace it by the published file.");
    const auto bytes = std::filesystem::file_size(file, error);
    if (error || bytes > static_cast<std::uintmax_t>(maxBytes))
        refuse("is larger than such a file can be (" + std::to_string(maxBytes >> 20) + " MiB); download it again.");
    std::ifstream stream(file, std::ios::binary);
    std::string text(bytes, '\0');
    if (!stream || !stream.read(text.data(), static_cast<std::streamsize>(bytes)))
        refuse("cannot be read; check its permissions.");
    return text;
}

} // namespace engine
