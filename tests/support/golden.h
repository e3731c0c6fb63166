#pragma once

#include "engine/weights/safetensors_file.h"

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// Reference numbers from tests/golden: NAME.safetensors holds the tensors, NAME.json says what each is.
namespace golden {

std::filesystem::path folder();                          // tests/golden
std::filesystem::path checkpoint(std::string_view name); // "tiny-nano", "tiny-super", "tiny-edge"
std::filesystem::path demoWorld();                       // resources/demo-world

class Table {
public:
    explicit Table(const std::filesystem::path &safetensors) : m_file(safetensors) {}
    explicit Table(std::string_view topic); // tests/golden/TOPIC.safetensors
    explicit Table(const char *topic) : Table(std::string_view(topic)) {}
    [[nodiscard]] bool has(std::string_view name) const;
    [[nodiscard]] std::vector<std::int64_t> shape(std::string_view name) const;
    [[nodiscard]] std::vector<float> floats(std::string_view name) const;          // any float tensor
    [[nodiscard]] std::vector<std::int64_t> integers(std::string_view name) const; // int64, int32, uint8
    [[nodiscard]] const engine::SafetensorsFile &file() const { return m_file; }

private:
    engine::SafetensorsFile m_file;
};

std::string json(std::string_view topic); // the text of tests/golden/TOPIC.json

// ‖a−b‖/‖b‖ over the whole tensor, in double.
double relativeError(std::span<const float> a, std::span<const float> reference);
// max|a−b| / max|b|
double largestRelativeError(std::span<const float> a, std::span<const float> reference);

// The tolerances of the reference tables, by their names there.
inline constexpr double kUlp = 1e-6;       // largestRelativeError
inline constexpr double kFp32 = 1e-5;      // relativeError, single stages
inline constexpr double kFp32Chain = 1e-4; // relativeError, whole loops
inline constexpr double kBf16 = 2e-2;
inline constexpr double kBf16Chain = 5e-2;
inline constexpr double kRope32 = 4e-3; // absolute: one fp32 ulp of an angle near 15000 rad is 1e-3
inline constexpr double kRope16 = 8e-3; // absolute: the same after rounding to bf16
// Second criterion for bf16: distance to the stored fp32 result, as a multiple of the stored bf16 result's distance.
inline constexpr double kBf16OwnErrorFactor = 1.3;

} // namespace golden
