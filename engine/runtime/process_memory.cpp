#include "engine/runtime/process_memory.h"

#include <fstream>
#include <limits>
#include <malloc.h>
#include <string>

namespace engine {

namespace {

// A "Key:   123 kB" line of /proc/self/status, in bytes.
std::int64_t statusBytes(const std::string &key)
{
    std::ifstream status("/proc/self/status");
    std::string word;
    while (status >> word) {
        std::int64_t kibibytes = 0;
        if (word == key && status >> kibibytes)
            return 1024 * kibibytes;
        status.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
    }
    return 0;
}

} // namespace

std::int64_t residentBytes()
{
    return statusBytes("VmRSS:");
}

std::int64_t peakResidentBytes()
{
    return statusBytes("VmHWM:");
}

void resetPeakResidentBytes()
{
    std::ofstream("/proc/self/clear_refs") << '5'; // 5: set the high-water mark to what is resident now (proc(5))
}

void releaseFreedMemory()
{
    malloc_trim(0);
}

} // namespace engine
