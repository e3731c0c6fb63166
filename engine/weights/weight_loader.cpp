#include "engine/weights/weight_loader.h"

#include "engine/api/outcome.h"

#include <ATen/ops/from_blob.h>

#include <utility>

namespace engine {

namespace {

at::ScalarType scalarType(TensorType type, const std::string &name)
{
    switch (type) {
    case TensorType::BFloat16:
        return at::kBFloat16;
    case TensorType::Float16:
        return at::kHalf;
    case TensorType::Float32:
        return at::kFloat;
    default:
        throw EngineFailure(ErrorCode::ModelFiles, "Tensor \"" + name + "\" is stored as " + tensorTypeName(type) +
                                                       "; use a checkpoint in bf16, fp16 or fp32.");
    }
}

} // namespace

WeightLoader::WeightLoader(const WeightIndex &index, at::ScalarType type, at::Device device, Progress progress)
    : m_index(index), m_type(type), m_device(device), m_progress(std::move(progress))
{
}

at::Tensor WeightLoader::stored(const std::string &name) const
{
    const auto view = m_index.view(name);
    // from_blob takes a mutable pointer; the mapping is read only and nothing writes to weights.
    auto *data = const_cast<std::byte *>(view.data.data());
    return at::from_blob(data, view.shape, at::TensorOptions(scalarType(view.type, name)));
}

at::Tensor WeightLoader::load(const std::string &name, at::ScalarType type) const
{
    auto tensor = stored(name).to(at::TensorOptions(m_device).dtype(type));
    if (m_progress)
        m_progress(++m_taken);
    return tensor;
}

} // namespace engine
