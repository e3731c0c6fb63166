#pragma once

#include "engine/api/generation_request.h"

#include <cstdint>
#include <string>
#include <vector>

// The text behind an option as a value. Each throws EngineFailure(InvalidRequest) with a sentence that names the
// option, the text and an example; whether the value makes sense is checkRequest's business.
namespace app {

int wholeNumber(const std::string &option, const std::string &text);
std::int64_t longNumber(const std::string &option, const std::string &text);
double number(const std::string &option, const std::string &text);
engine::PixelSize pixelSize(const std::string &option, const std::string &text);               // "1280x720"
engine::AspectRatio aspectRatio(const std::string &option, const std::string &text);           // "16,9"
engine::TimestepInterval timestepInterval(const std::string &option, const std::string &text); // "400,1000"
std::vector<int> deviceList(const std::string &option, const std::string &text);               // "0,1"
engine::Mode mode(const std::string &option, const std::string &text);
engine::DataType dataType(const std::string &option, const std::string &text);
engine::DeviceKind deviceKind(const std::string &option, const std::string &text);

} // namespace app
