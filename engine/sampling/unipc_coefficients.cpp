#include "engine/sampling/unipc_coefficients.h"

#include <cmath>
#include <cstddef>

namespace engine {

namespace {

// Half the log signal-to-noise ratio of a flow: ln((1-sigma)/sigma). +inf at sigma 0, -inf at 1; the formulas below
// stay finite there because expm1(-inf) is -1 and every quotient has the infinity in its denominator.
double logRatio(double sigma)
{
    return std::log(1 - sigma) - std::log(sigma);
}

class UniPc {
public:
    explicit UniPc(const std::vector<float> &sigmas) : m_sigmas(sigmas.begin(), sigmas.end())
    {
        for (const double sigma : m_sigmas)
            m_lambdas.push_back(logRatio(sigma));
    }

    [[nodiscard]] std::size_t steps() const { return m_sigmas.size() - 1; }
    [[nodiscard]] bool endsAtZero(std::size_t step) const { return m_sigmas[step + 1] == 0; }
    // Order of the predictor of a step: 1 at both ends, 2 between.
    [[nodiscard]] int order(std::size_t step) const { return step == 0 || step + 1 == steps() ? 1 : 2; }

    void predict(std::size_t i, UniPcStep &step) const
    {
        const double h = m_lambdas[i + 1] - m_lambdas[i];
        const double scale = -(1 - m_sigmas[i + 1]) * std::expm1(-h);
        step.predictKeep = m_sigmas[i + 1] / m_sigmas[i];
        step.predictCurrent = scale;
        if (order(i) == 1)
            return;
        const double r = (m_lambdas[i - 1] - m_lambdas[i]) / h;
        step.usesPrevious = true;
        step.predictPrevious = scale * 0.5 / r;
        step.predictCurrent -= step.predictPrevious;
    }

    void correct(std::size_t i, UniPcStep &step) const
    {
        const double h = m_lambdas[i] - m_lambdas[i - 1];
        const double e = std::expm1(-h);
        const double scale = -(1 - m_sigmas[i]) * e;
        step.corrects = true;
        step.keep = m_sigmas[i] / m_sigmas[i - 1];
        double current = 0.5; // rho1 over the differences to m[i-1]
        double older = 0;     // rho0 / r
        if (order(i - 1) == 2) {
            const double r = (m_lambdas[i - 2] - m_lambdas[i - 1]) / h;
            const double phi = e / -h - 1;
            const double b1 = phi / e;
            const double b2 = 2 * (phi / -h - 0.5) / e;
            const double rho0 = (b1 - b2) / (1 - r);
            current = b1 - rho0;
            older = rho0 / r;
            step.usesOlder = true;
        }
        step.current = scale * current;
        step.older = scale * older;
        step.previous = scale * (1 - current - older);
    }

private:
    std::vector<double> m_sigmas;
    std::vector<double> m_lambdas;
};

} // namespace

std::vector<UniPcStep> unipcSteps(const std::vector<float> &sigmas)
{
    const UniPc solver(sigmas);
    std::vector<UniPcStep> steps(solver.steps());
    for (std::size_t i = 0; i < steps.size(); ++i) {
        // A step to sigma 0 is m[i] itself, which a corrector cannot change.
        if (i > 0 && !solver.endsAtZero(i))
            solver.correct(i, steps[i]);
        solver.predict(i, steps[i]);
    }
    return steps;
}

} // namespace engine
