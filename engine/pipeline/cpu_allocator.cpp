#include "engine/pipeline/cpu_allocator.h"

#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/impl/alloc_cpu.h>

#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <sys/mman.h>

namespace engine {

namespace {

// Smaller blocks are the C library's business.
constexpr std::size_t kLargeBytes = 256 << 10;
constexpr std::size_t kPageBytes = 4096;

constexpr std::size_t kAlignment = 64; // what libtorch's own allocator gives

// Stands right before a tensor's data.
struct alignas(kAlignment) Block {
    std::size_t bytes = 0; // of the data; 0 for a small block
};

Block *blockOf(void *data)
{
    return static_cast<Block *>(data) - 1;
}

class BlockCache {
public:
    // A kept block that fits without wasting more than a quarter, or a new one.
    void *take(std::size_t bytes)
    {
        {
            const std::lock_guard lock(m_mutex);
            const auto found = m_kept.lower_bound(bytes);
            if (found != m_kept.end() && found->first <= bytes + bytes / 4) {
                void *data = found->second;
                m_kept.erase(found);
                return data;
            }
        }
        const auto rounded = (bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
        void *mapping = mmap(nullptr, rounded + kPageBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (mapping == MAP_FAILED)
            throw std::bad_alloc();
        void *data = static_cast<std::byte *>(mapping) + kPageBytes;
        new (blockOf(data)) Block{rounded};
        return data;
    }

    void keep(void *data)
    {
        const std::lock_guard lock(m_mutex);
        m_kept.emplace(blockOf(data)->bytes, data);
    }

    void release()
    {
        const std::lock_guard lock(m_mutex);
        for (const auto &[bytes, data] : m_kept)
            munmap(static_cast<std::byte *>(data) - kPageBytes, bytes + kPageBytes);
        m_kept.clear();
    }

private:
    std::mutex m_mutex;
    std::multimap<std::size_t, void *> m_kept;
};

// Never destroyed: tensors in static storage may outlive everything else.
BlockCache &cache()
{
    static auto *instance = new BlockCache;
    return *instance;
}

void *allocateBlock(std::size_t bytes)
{
    if (bytes >= kLargeBytes)
        return cache().take(bytes);
    auto *block = static_cast<Block *>(c10::alloc_cpu(bytes + sizeof(Block)));
    return new (block) Block{} + 1;
}

void freeBlock(void *data)
{
    if (data == nullptr)
        return;
    if (blockOf(data)->bytes > 0)
        cache().keep(data);
    else
        c10::free_cpu(blockOf(data));
}

class CachingAllocator final : public c10::Allocator {
public:
    c10::DataPtr allocate(std::size_t bytes) override
    {
        void *data = bytes == 0 ? nullptr : allocateBlock(bytes);
        return {data, data, &freeBlock, c10::Device(c10::DeviceType::CPU)};
    }

    [[nodiscard]] c10::DeleterFnPtr raw_deleter() const override { return &freeBlock; }
    void copy_data(void *to, const void *from, std::size_t bytes) const override { std::memcpy(to, from, bytes); }
};

} // namespace

void installCpuAllocator()
{
    static CachingAllocator allocator;
    static std::once_flag once;
    std::call_once(once, [] { c10::SetCPUAllocator(&allocator, /*priority=*/1); });
}

void releaseCpuBlocks()
{
    cache().release();
}

} // namespace engine
