#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace golden {

// The SHA-256 digest (FIPS 180-4) as 64 lower-case hexadecimal digits: long reference streams are stored as digests.
std::string sha256(std::span<const std::byte> bytes);

} // namespace golden
