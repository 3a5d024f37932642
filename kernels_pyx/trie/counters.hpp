// Hit and miss counts that no two threads share: each thread adds to a line of its own, a reader of the statistics sums.
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
        return __builtin_expect(n >= 0, 1) ? n : first_use();
    }

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
        const int line = ThreadNumber::get();
        u64& count = lines_[line].counts[which];
        if (__builtin_expect(line != ThreadNumber::SHARED, 1))
            __atomic_store_n(&count, __atomic_load_n(&count, __ATOMIC_RELAXED) + n, __ATOMIC_RELAXED);
        else
            __atomic_fetch_add(&count, n, __ATOMIC_RELAXED);
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
