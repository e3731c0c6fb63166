#pragma once

#include "engine/weights/weight_index.h"

#include <ATen/core/Tensor.h>

#include <functional>
#include <string>
#include <string_view>

namespace engine {

// Turns a checkpoint part's mapped tensors into tensors on a device. What it returns is owned, or, where type and
// device need no change, a view into the mapped file, which the caller repacks or clones: so that the mapping can be
// closed after loading and no weight is in memory twice.
class WeightLoader {
public:
    // Called after each tensor with the number of tensors taken so far; may throw to stop loading.
    using Progress = std::function<void(int tensors)>;

    WeightLoader(const WeightIndex &index, at::ScalarType type, at::Device device, Progress progress = {});

    [[nodiscard]] at::ScalarType type() const { return m_type; }
    [[nodiscard]] at::Device device() const { return m_device; }
    [[nodiscard]] bool has(std::string_view name) const { return m_index.has(name); }
    // The tensor in the loader's type, or in `type`. Throws EngineFailure(ModelFiles) when it is missing.
    [[nodiscard]] at::Tensor operator()(const std::string &name) const { return load(name, m_type); }
    [[nodiscard]] at::Tensor load(const std::string &name, at::ScalarType type) const;
    // A view of the stored values: stored type, on the CPU, valid while the WeightIndex lives.
    [[nodiscard]] at::Tensor stored(const std::string &name) const;

private:
    const WeightIndex &m_index;
    at::ScalarType m_type;
    at::Device m_device;
    Progress m_progress;
    mutable int m_taken = 0;
};

} // namespace engine
