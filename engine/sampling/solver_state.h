#pragma once

#include "engine/sampling/sigma_schedule.h"
#include "engine/sampling/unipc_coefficients.h"

#include <ATen/core/Tensor.h>

#include <array>
#include <vector>

namespace engine {

// The noisy sample of one modality on its way to the clip: UniPC steps over fp32 tensors, counted, not looked up by
// timestep. Four tensors of the sample's size live as long as the object; used by one thread at a time.
class SolverState {
public:
    // `start` (fp32, any shape) is taken over and changed in place: sigma_0-level noise, or what conditioning made of
    // it.
    SolverState(at::Tensor start, const SigmaSchedule &schedule);

    [[nodiscard]] const at::Tensor &state() const { return m_state; }
    [[nodiscard]] int step() const { return m_step; } // finished steps
    [[nodiscard]] bool done() const { return m_step == static_cast<int>(m_steps.size()); }
    // One step by the guided velocity (the state's shape, fp32 or bf16). sigma*v takes sigma as fp32 and is rounded
    // once, to the velocity's type; everything after it is fp32 (cosmos3 reference 4.4).
    void advance(const at::Tensor &velocity);

private:
    void writeModelOutput(const at::Tensor &velocity, at::Tensor &output) const;

    std::vector<float> m_sigmas;
    std::vector<UniPcStep> m_steps;
    int m_step = 0;
    at::Tensor m_state;
    at::Tensor m_corrected;             // the corrected sample of the last step
    std::array<at::Tensor, 2> m_models; // x - sigma*v: step i's at i mod 2
};

} // namespace engine
