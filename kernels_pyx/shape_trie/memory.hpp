// Memory for readers without locks: address space is reserved once, committed as it grows, and never unmapped while the
// trie exists. A late reader may find old or recycled contents, which it detects (see trie.hpp), but never faults.
// Pages that are no longer needed are returned to the system and read as zero.
#pragma once

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <mutex>
#include <new>

#include "key.hpp"

namespace workbench::trie {

constexpr std::size_t PAGE = 4096, HUGE_PAGE = std::size_t(2) << 20;

// Bytes of address space that a range may take: a 64th of the process's remaining limit, unbounded without a limit.
inline std::size_t share_of_address_space() {
    rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return ~std::size_t(0);
    unsigned long long pages = 0;  // in use, if the system reports it
    if (FILE* told = fopen("/proc/self/statm", "re")) {
        if (fscanf(told, "%llu", &pages) != 1) pages = 0;
        fclose(told);
    }
    const unsigned long long used = pages * static_cast<unsigned long long>(sysconf(_SC_PAGESIZE));
    return used < limit.rlim_cur ? (limit.rlim_cur - used) / 64 : 0;
}

// A range of address space that is committed from its beginning.
class Range {
  public:
    explicit Range(std::size_t wanted) {
        // Under an address space limit (ulimit -v) the others need most of it, and the system may refuse even a share;
        // a smaller range only lowers the capacity.
        const std::size_t most = share_of_address_space();
        while (wanted > most && wanted > HUGE_PAGE) wanted /= 2;
        for (bytes_ = wanted; bytes_ >= HUGE_PAGE; bytes_ /= 2) {
            void* p = mmap(nullptr, bytes_ + HUGE_PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
            if (p != MAP_FAILED) {
                mapped_ = static_cast<char*>(p);
                base_ = mapped_ + ((HUGE_PAGE - 1) & -reinterpret_cast<std::size_t>(p));
                return;
            }
        }
        throw std::bad_alloc();
    }
    Range(const Range&) = delete;
    Range& operator=(const Range&) = delete;
    ~Range() { munmap(mapped_, bytes_ + HUGE_PAGE); }

    char* base() const { return base_; }
    std::size_t size() const { return bytes_; }

    // Makes the first `upto` bytes usable; the steps grow with the range, so that there are few calls.
    bool commit(std::size_t upto) {
        if (upto <= committed_) return true;
        if (upto > bytes_) return false;
        std::size_t step = committed_ / 4;
        step = step < 16 * PAGE ? 16 * PAGE : step > 8 * HUGE_PAGE ? 8 * HUGE_PAGE : step;
        // Small tries use small pages; large ones avoid most TLB misses by huge pages, which the system provides only
        // on the first use of a whole one.
        const std::size_t unit = upto + step >= 8 * HUGE_PAGE ? HUGE_PAGE : PAGE;
        std::size_t next = (upto + step + unit - 1) & ~(unit - 1);
        if (next > bytes_) next = bytes_;
        if (mprotect(base_ + committed_, next - committed_, PROT_READ | PROT_WRITE) != 0) return false;
        committed_ = next;
        if (!huge_ && unit == HUGE_PAGE) huge_ = madvise(base_, bytes_, MADV_HUGEPAGE) == 0;
        return true;
    }

    // Returns whole pages inside [at, at + size) to the system; they read as zero from now on.
    static void discard(char* at, std::size_t size) {
        const std::size_t from = (reinterpret_cast<std::size_t>(at) + PAGE - 1) & ~(PAGE - 1);
        const std::size_t to = (reinterpret_cast<std::size_t>(at) + size) & ~(PAGE - 1);
        if (to > from) madvise(reinterpret_cast<void*>(from), to - from, MADV_DONTNEED);
    }

  private:
    char *mapped_ = nullptr, *base_ = nullptr;
    std::size_t bytes_ = 0, committed_ = 0;
    bool huge_ = false;
};

// Tables: powers of two of 8-byte slots, aligned to 64 bytes. A retired table is reused only as a table.
class Tables {
  public:
    static constexpr u32 MIN_LOG = 4, MAX_LOG = 31;

    Tables() : range_(std::size_t(8) << 30) {}

    // A zeroed table of 2^log slots, or null.
    u64* take(u32 log) {
        const std::lock_guard<std::mutex> hold(mutex_);
        const std::size_t size = std::size_t(8) << log;
        if (free_[log]) {
            u64* table = at(free_[log]);
            free_[log] = static_cast<u32>(__atomic_load_n(table, __ATOMIC_RELAXED) >> 32);
            const std::size_t dirty = size >= 2 * PAGE ? 1 : size / 8;
            for (std::size_t i = 0; i < dirty; ++i) __atomic_store_n(table + i, 0, __ATOMIC_RELAXED);
            return table;
        }
        if (size >= PAGE) used_ = (used_ + PAGE - 1) & ~(PAGE - 1);
        if (!range_.commit(used_ + size)) return nullptr;
        used_ += size;
        return at(static_cast<u32>((used_ - size) / UNIT) + 1);
    }

    void give(u64* table, u32 log) {
        const std::size_t size = std::size_t(8) << log;
        if (size >= 2 * PAGE) Range::discard(reinterpret_cast<char*>(table), size);
        const std::lock_guard<std::mutex> hold(mutex_);
        // The chain of free tables is stored in place of tags, not ids, so that a late reader skips it.
        __atomic_store_n(table, static_cast<u64>(free_[log]) << 32, __ATOMIC_RELAXED);
        free_[log] = static_cast<u32>((reinterpret_cast<char*>(table) - range_.base()) / UNIT) + 1;
    }

  private:
    static constexpr std::size_t UNIT = 8 << MIN_LOG;
    u64* at(u32 place) const { return reinterpret_cast<u64*>(range_.base() + (place - 1) * UNIT); }

    std::mutex mutex_;
    Range range_;
    std::size_t used_ = 0;
    u32 free_[MAX_LOG + 1] = {};
};

}  // namespace workbench::trie
