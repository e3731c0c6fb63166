#include "engine/weights/weight_names.h"

#include <algorithm>
#include <array>
#include <utility>

namespace engine {

namespace {

using Pair = std::pair<std::string_view, std::string_view>;

// Published checkpoints nest them: "model.", "model.language_model.", "language_model.model.", "transformer.".
constexpr std::array<std::string_view, 3> kPrefixes{"transformer.", "model.", "language_model."};

// The framework's names outside the layers; what follows ("weight", "fc.weight") is kept.
constexpr std::array kHeads{
    Pair{"vae2llm.", "proj_in."},
    Pair{"llm2vae.", "proj_out."},
    Pair{"time_embedder.mlp.0.", "time_embedder.linear_1."},
    Pair{"time_embedder.mlp.2.", "time_embedder.linear_2."},
    Pair{"sound2llm.", "audio_proj_in."},
    Pair{"llm2sound.", "audio_proj_out."},
    Pair{"action2llm.", "action_proj_in."},
    Pair{"llm2action.", "action_proj_out."},
};

// The embeddings are plain parameters; the framework's and some converters' copies are modules with a weight.
constexpr std::array kWholeNames{
    Pair{"sound_modality_embed", "audio_modality_embed"},
    Pair{"sound_modality_embed.weight", "audio_modality_embed"},
    Pair{"audio_modality_embed.weight", "audio_modality_embed"},
    Pair{"action_modality_embed.weight", "action_modality_embed"},
};

// The framework's names inside "layers.N.self_attn."; the "_moe_gen" twins belong to the generation tower.
constexpr std::array kAttention{
    Pair{"q_proj", "to_q"},
    Pair{"k_proj", "to_k"},
    Pair{"v_proj", "to_v"},
    Pair{"o_proj", "to_out"},
    Pair{"q_norm", "norm_q"},
    Pair{"k_norm", "norm_k"},
    Pair{"q_proj_moe_gen", "add_q_proj"},
    Pair{"k_proj_moe_gen", "add_k_proj"},
    Pair{"v_proj_moe_gen", "add_v_proj"},
    Pair{"o_proj_moe_gen", "to_add_out"},
    Pair{"q_norm_moe_gen", "norm_added_q"},
    Pair{"k_norm_moe_gen", "norm_added_k"},
};

// Read by nothing here: the language head and its norm, action heads, learned positions of older models, the
// reasoner's vision tower, rotary tables (they are computed), and the sound tokenizer's encoder.
constexpr std::array<std::string_view, 13> kUnusedPrefixes{
    "lm_head.",         "norm.",   "action_proj_in.", "action_proj_out.", "action_modality_embed", "action_pos_embed",
    "latent_pos_embed", "visual.", "projector.",      "vision_tower.",    "vision_encoder.",       "rotary_emb.",
    "encoder.layers.",
};

std::string attentionName(std::string_view name)
{
    constexpr std::string_view kPart = ".self_attn.";
    const auto part = name.find(kPart);
    if (!name.starts_with("layers.") || part == std::string_view::npos)
        return std::string(name);
    const auto module = part + kPart.size();
    const auto end = std::min(name.find('.', module), name.size());
    const auto *found = std::find_if(kAttention.begin(), kAttention.end(),
                                     [&](const Pair &pair) { return pair.first == name.substr(module, end - module); });
    if (found == kAttention.end())
        return std::string(name);
    return std::string(name.substr(0, module)).append(found->second).append(name.substr(end));
}

} // namespace

std::string canonicalWeightName(std::string_view stored)
{
    auto name = stored;
    for (bool found = true; found;) {
        found = false;
        for (const auto prefix : kPrefixes) {
            if (name.starts_with(prefix) && name.size() > prefix.size()) {
                name.remove_prefix(prefix.size());
                found = true;
            }
        }
    }
    for (const auto &[from, to] : kWholeNames) {
        if (name == from)
            return std::string(to);
    }
    for (const auto &[from, to] : kHeads) {
        if (name.starts_with(from))
            return std::string(to).append(name.substr(from.size()));
    }
    return attentionName(name);
}

bool isKnownUnused(std::string_view canonical)
{
    return std::any_of(kUnusedPrefixes.begin(), kUnusedPrefixes.end(),
                       [&](std::string_view prefix) { return canonical.starts_with(prefix); });
}

} // namespace engine
