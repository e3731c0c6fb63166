#include "engine/weights/safetensors_file.h"
#include "tests/fuzz/fuzz_support.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

// The input is a whole safetensors file, read from a file in memory. Every byte of every tensor is touched.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
    const int descriptor = memfd_create("fuzz", MFD_CLOEXEC);
    if (descriptor < 0 || write(descriptor, data, size) != static_cast<ssize_t>(size))
        std::abort();
    fuzz::run([&] {
        const engine::SafetensorsFile file("/proc/self/fd/" + std::to_string(descriptor));
        std::size_t bytes = 0;
        unsigned sum = 0;
        for (const auto &[name, entry] : file.header().tensors) {
            for (const auto byte : file.data(entry))
                sum += static_cast<unsigned>(byte);
            bytes += file.data(entry).size();
        }
        volatile unsigned keep = sum;
        static_cast<void>(keep);
        if (bytes > size)
            std::abort();
    });
    close(descriptor);
    return 0;
}
