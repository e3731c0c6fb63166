#include "engine/model/tower_layer.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>

#include <string>

namespace engine {

namespace {

struct Names {
    const char *suffix; // of norms and the MLP
    const char *q, *k, *v, *out, *qNorm, *kNorm;
};
constexpr Names kUnderstanding{"", "to_q", "to_k", "to_v", "to_out", "norm_q", "norm_k"};
constexpr Names kGeneration{"_moe_gen",   "add_q_proj",   "add_k_proj",  "add_v_proj",
                            "to_add_out", "norm_added_q", "norm_added_k"};

} // namespace

HeadShape headShape(const TransformerConfig &config)
{
    return {config.heads, config.keyValueHeads, config.headDim};
}

at::Tensor TowerLayer::addMlp(const at::Tensor &x) const
{
    const auto wide = up(postNorm(x));
    return x + down(mlp == MlpKind::SwiGlu ? swiGlu(wide) : squaredRelu(wide));
}

TowerLayer loadTowerLayer(const TransformerConfig &config, const WeightLoader &load, Tower tower, std::int64_t index,
                          bool keysOnly)
{
    const auto &names = tower == Tower::Understanding ? kUnderstanding : kGeneration;
    const auto layer = "layers." + std::to_string(index) + ".";
    const auto weight = [&](const std::string &name) { return load(layer + name + ".weight"); };
    const auto attention = [&](const char *name) { return weight(std::string("self_attn.") + name); };
    const auto rounding = config.isNemotron ? kernels::NormRounding::AfterWeight : kernels::NormRounding::BeforeWeight;
    const auto norm = [&](const at::Tensor &w) { return RmsNorm(w, config.normEpsilon, rounding); };
    const bool qkNorm = tower == Tower::Understanding ? config.textQkNorm : config.generationQkNorm;

    TowerLayer result;
    result.mlp = config.mlp;
    result.inputNorm = norm(weight(std::string("input_layernorm") + names.suffix));
    if (qkNorm)
        result.keyNorm = norm(attention(names.kNorm));
    if (tower == Tower::Understanding && config.undKeyNormForGen && !config.textQkNorm)
        result.undKeyNormForGen = norm(attention("k_norm_und_for_gen"));
    if (keysOnly) {
        result.qkv = Linear(at::cat({attention(names.k), attention(names.v)}, 0));
        return result;
    }
    if (qkNorm)
        result.queryNorm = norm(attention(names.qNorm));
    result.qkv = Linear(at::cat({attention(names.q), attention(names.k), attention(names.v)}, 0));
    result.out = Linear(attention(names.out));
    result.postNorm = norm(weight(std::string("post_attention_layernorm") + names.suffix));
    const auto mlp = std::string("mlp") + names.suffix;
    result.up = config.mlp == MlpKind::SwiGlu
                    ? Linear(at::cat({weight(mlp + ".gate_proj"), weight(mlp + ".up_proj")}, 0))
                    : Linear(weight(mlp + ".up_proj"));
    result.down = Linear(weight(mlp + ".down_proj"));
    return result;
}

} // namespace engine
