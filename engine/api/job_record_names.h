#pragma once

#include "engine/api/generation_request.h"
#include "engine/api/outcome.h"

#include <array>
#include <string_view>

// The words by which job records name the values of enumerations; written and read from the same tables.
namespace engine {

template <typename Value>
struct RecordName {
    Value value;
    std::string_view name;
};
template <typename Value>
RecordName(Value, std::string_view) -> RecordName<Value>; // clang 16 deduces no aggregates

inline constexpr std::string_view kRecordSchema = "parallax.job/1";

inline constexpr std::array kModeNames{RecordName{Mode::TextToVideo, "text_to_video"},
                                       RecordName{Mode::TextToImage, "text_to_image"}};

inline constexpr std::array kDataTypeNames{RecordName{DataType::Automatic, "automatic"},
                                           RecordName{DataType::Float32, "float32"},
                                           RecordName{DataType::BFloat16, "bfloat16"}};

inline constexpr std::array kGridNames{RecordName{SigmaGrid::Native, "native"},
                                       RecordName{SigmaGrid::DiffusersFlow, "diffusers_flow"},
                                       RecordName{SigmaGrid::Karras, "karras"}};

inline constexpr std::array kPhaseNames{RecordName{Phase::Load, std::string_view(phaseName(Phase::Load))},
                                        RecordName{Phase::Text, std::string_view(phaseName(Phase::Text))},
                                        RecordName{Phase::Denoise, std::string_view(phaseName(Phase::Denoise))},
                                        RecordName{Phase::Decode, std::string_view(phaseName(Phase::Decode))},
                                        RecordName{Phase::Write, std::string_view(phaseName(Phase::Write))}};

inline constexpr std::array kErrorCodeNames{RecordName{ErrorCode::InvalidRequest, "invalid_request"},
                                            RecordName{ErrorCode::ModelFiles, "model_files"},
                                            RecordName{ErrorCode::MissingLibrary, "missing_library"},
                                            RecordName{ErrorCode::OutOfMemory, "out_of_memory"},
                                            RecordName{ErrorCode::Device, "device"},
                                            RecordName{ErrorCode::Communication, "communication"},
                                            RecordName{ErrorCode::Output, "output"},
                                            RecordName{ErrorCode::Internal, "internal"}};

template <typename Value, std::size_t Count>
constexpr std::string_view recordName(const std::array<RecordName<Value>, Count> &names, Value value)
{
    for (const auto &entry : names)
        if (entry.value == value)
            return entry.name;
    return {};
}

} // namespace engine
