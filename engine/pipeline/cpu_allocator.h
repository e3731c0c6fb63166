#pragma once

namespace engine {

// Puts an allocator in front of libtorch's for CPU tensors: large blocks that are freed are kept and handed out again.
// A pass asks for the same sizes over and over; the C library would either fault every page in anew each time or let
// its heap fragment, which made the memory of a run grow with the length of the clip (measured: docs/measurements.md).
// Once a process; safe from any thread.
void installCpuAllocator();

// Gives the kept blocks back to the system: between phases, whose sizes differ.
void releaseCpuBlocks();

} // namespace engine
