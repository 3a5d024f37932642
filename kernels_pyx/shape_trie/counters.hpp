// Hit and miss counts not shared between threads: each thread adds to its own cache line, and a reader of the
// statistics sums them.
#pragma once

#include <mutex>

#include "key.hpp"

namespace workbench::trie {

// Number of the calling thread, unique among those alive; threads beyond the last share it.
class ThreadNumber {
  public:
    static constexpr int LINES = 32, SHARED = LINES - 1;

    static int get() {
        const int n = number_;
        return n >= 0 ? n : first_use();
    }
    // The same without initialization: as an unsigned number at least SHARED, if it is shared or not known yet.
    static u32 quick() { return static_cast<u32>(number_); }

  private:
    struct Lease {
        int number = SHARED;
        ~Lease() {
            if (number == SHARED) return;
            number_ = SHARED;              // destructors that run later may still count
            const std::lock_guard<std::mutex> hold(mutex());
            taken() &= ~(1u << number);
        }
    };
    static std::mutex& mutex() {
        static std::mutex* m = new std::mutex;   // outlives every thread
        return *m;
    }
    static u32& taken() {
        static u32 bits = 0;
        return bits;
    }
    static int first_use() {
        static thread_local Lease lease;
        const std::lock_guard<std::mutex> hold(mutex());
        const u32 free = ~taken() & ((1u << SHARED) - 1);
        if (free) {
            lease.number = __builtin_ctz(free);
            taken() |= 1u << lease.number;
        }
        return number_ = lease.number;
    }
    // initial-exec: one instruction instead of a call, also in a shared library
    __attribute__((tls_model("initial-exec"))) static inline thread_local int number_ = -1;
};

class Counters {
  public:
    void hit(u64 n = 1) { add(0, n); }
    void miss(u64 n = 1) { add(1, n); }
    u64 hits() const { return sum(0); }
    u64 misses() const { return sum(1); }

  private:
    void add(int which, u64 n) {
        const u32 line = ThreadNumber::quick();
        if (__builtin_expect(line >= ThreadNumber::SHARED, 0)) return add_slowly(which, n);
        u64& count = lines_[line].counts[which];
        __atomic_store_n(&count, __atomic_load_n(&count, __ATOMIC_RELAXED) + n, __ATOMIC_RELAXED);
    }
    __attribute__((noinline)) void add_slowly(int which, u64 n) {
        __atomic_fetch_add(&lines_[ThreadNumber::get()].counts[which], n, __ATOMIC_RELAXED);
    }
    u64 sum(int which) const {
        u64 total = 0;
        for (const Line& line : lines_) total += __atomic_load_n(&line.counts[which], __ATOMIC_RELAXED);
        return total;
    }
    struct alignas(64) Line { u64 counts[2]; };
    Line lines_[ThreadNumber::LINES] = {};
};

}  // namespace workbench::trie
