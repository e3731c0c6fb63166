#include "engine/weights/weight_names.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>

namespace {

using engine::canonicalWeightName;
using engine::isKnownUnused;

TEST(WeightNames, TakesOffEveryDocumentedPrefix)
{
    for (const std::string prefix : {"", "model.", "model.language_model.", "language_model.", "language_model.model.",
                                     "transformer.", "transformer.model."}) {
        EXPECT_EQ(canonicalWeightName(prefix + "layers.3.mlp_moe_gen.up_proj.weight"),
                  "layers.3.mlp_moe_gen.up_proj.weight");
        EXPECT_EQ(canonicalWeightName(prefix + "embed_tokens.weight"), "embed_tokens.weight");
    }
}

TEST(WeightNames, TranslatesTheFrameworksNames)
{
    using Pair = std::pair<std::string_view, std::string_view>;
    for (const auto &[stored, canonical] : {
             Pair{"vae2llm.weight", "proj_in.weight"},
             Pair{"llm2vae.bias", "proj_out.bias"},
             Pair{"time_embedder.mlp.0.weight", "time_embedder.linear_1.weight"},
             Pair{"time_embedder.mlp.2.bias", "time_embedder.linear_2.bias"},
             Pair{"sound2llm.weight", "audio_proj_in.weight"},
             Pair{"llm2sound.bias", "audio_proj_out.bias"},
             Pair{"sound_modality_embed", "audio_modality_embed"},
             Pair{"audio_modality_embed.weight", "audio_modality_embed"},
             Pair{"action2llm.fc.weight", "action_proj_in.fc.weight"},
             Pair{"llm2action.bias.weight", "action_proj_out.bias.weight"},
             Pair{"language_model.model.layers.0.self_attn.q_proj.weight", "layers.0.self_attn.to_q.weight"},
             Pair{"language_model.model.layers.0.self_attn.k_proj.weight", "layers.0.self_attn.to_k.weight"},
             Pair{"language_model.model.layers.0.self_attn.v_proj.weight", "layers.0.self_attn.to_v.weight"},
             Pair{"language_model.model.layers.0.self_attn.o_proj.weight", "layers.0.self_attn.to_out.weight"},
             Pair{"language_model.model.layers.0.self_attn.q_norm.weight", "layers.0.self_attn.norm_q.weight"},
             Pair{"language_model.model.layers.0.self_attn.k_norm.weight", "layers.0.self_attn.norm_k.weight"},
             Pair{"layers.11.self_attn.q_proj_moe_gen.weight", "layers.11.self_attn.add_q_proj.weight"},
             Pair{"layers.11.self_attn.k_proj_moe_gen.weight", "layers.11.self_attn.add_k_proj.weight"},
             Pair{"layers.11.self_attn.v_proj_moe_gen.weight", "layers.11.self_attn.add_v_proj.weight"},
             Pair{"layers.11.self_attn.o_proj_moe_gen.weight", "layers.11.self_attn.to_add_out.weight"},
             Pair{"layers.11.self_attn.q_norm_moe_gen.weight", "layers.11.self_attn.norm_added_q.weight"},
             Pair{"layers.11.self_attn.k_norm_moe_gen.weight", "layers.11.self_attn.norm_added_k.weight"},
         })
        EXPECT_EQ(canonicalWeightName(stored), canonical) << stored;
}

TEST(WeightNames, LeavesOtherNamesAlone)
{
    for (const std::string name :
         {"layers.0.self_attn.k_norm_und_for_gen.weight", "layers.0.self_attn.to_add_out.weight",
          "decoder.mid_block.attentions.0.to_qkv.weight", "decoder.block.0.conv_t1.weight_g",
          "encoder.down_blocks.0.resnets.0.norm1.gamma", "norm_moe_gen.weight", "model.", ""})
        EXPECT_EQ(canonicalWeightName(name), name);
}

TEST(WeightNames, KnowsWhatGenerationNeverReads)
{
    for (const auto *name : {"lm_head.weight", "norm.weight", "action_proj_in.fc.weight", "action_modality_embed",
                             "latent_pos_embed.pos_embed", "visual.blocks.0.norm1.weight", "encoder.layers.0.weight_g"})
        EXPECT_TRUE(isKnownUnused(name)) << name;
    for (const auto *name : {"norm_moe_gen.weight", "layers.0.input_layernorm.weight", "embed_tokens.weight",
                             "encoder.conv_in.weight", "audio_modality_embed", "layers.0.mlp.up_proj.weight_scale"})
        EXPECT_FALSE(isKnownUnused(name)) << name;
}

} // namespace
