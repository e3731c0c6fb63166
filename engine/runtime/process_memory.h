#pragma once

#include <cstdint>

namespace engine {

// Memory of this process that is really in RAM, in bytes, as Linux counts it; 0 where the system does not tell.
std::int64_t residentBytes();
// The largest residentBytes() since the last reset, or since the process began.
std::int64_t peakResidentBytes();
// Lets peakResidentBytes() begin anew. Where the kernel refuses, the old peak stays and later ones are upper bounds.
void resetPeakResidentBytes();
// Gives freed memory back to the system, so that a phase does not carry what the one before it needed.
void releaseFreedMemory();

} // namespace engine
