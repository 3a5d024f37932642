// The parts shared by all of a trie: arena, tables, stripes and counters; and the checks by which readers detect a
// change.
#pragma once

#include "counters.hpp"
#include "stripe.hpp"

namespace workbench::trie {

struct Stats {
    u64 entries, peak_entries, bytes, peak_bytes, nodes, hits, misses, evictions, idle, capacity;
};

class Core {
  public:
    static constexpr int STRIPE_BITS = 6;
    static constexpr u32 STRIPES = 1u << STRIPE_BITS;
    static constexpr u32 STICKY = 0xFFFFFFFF;      // a count that reached this is fixed: the record is never reclaimed

    explicit Core(u64 capacity) : capacity_(capacity) {
        stripes_ = static_cast<Stripe*>(::operator new(sizeof(Stripe) * STRIPES, std::align_val_t(64)));
        for (u32 i = 0; i < STRIPES; ++i) new (stripes_ + i) Stripe(arena_, leaves_now_[i]);
        bytes_ = peak_bytes_ = sizeof(Core) + sizeof(Stripe) * STRIPES;
    }
    ~Core() {
        for (u32 i = 0; i < STRIPES; ++i) stripes_[i].~Stripe();
        ::operator delete(stripes_, std::align_val_t(64));
    }
    Core(const Core&) = delete;
    Core& operator=(const Core&) = delete;

    // O(1): a fixed number of counters for any content.
    Stats stats() const {
        return {relaxed(entries_), relaxed(peak_entries_), relaxed(bytes_), relaxed(peak_bytes_), relaxed(nodes_),
                counters_.hits(), counters_.misses(), relaxed(evictions_), relaxed(idle_), capacity_};
    }

  protected:
    Stripe& stripe_of(const Key& key) const { return stripes_[stripe_number(key.root, key.sym[0], STRIPE_BITS)]; }
    const u64& leaves_of(u32 root, u64 s0) const { return leaves_now_[stripe_number(root, s0, STRIPE_BITS)]; }

    static bool is_record(u32 id, u32 header) {
        return (header & (LIVE | NODE)) == LIVE && make_id(header, id & PLACE_MASK) == id;
    }
    static bool swap(u64& x, u64& expected, u64 wanted) {
        return __atomic_compare_exchange_n(&x, &expected, wanted, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    }
    // Whether an object is still the one that was read; all reads before this one come first.
    static bool same(const Object* o, u32 header) {
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        return ((header_of(relaxed(o->state)) ^ header) & ~USED) == 0;
    }

    void count_bytes(i64 change) { count(bytes_, peak_bytes_, change); }
    void count_entries(i64 change) { count(entries_, peak_entries_, change); }

    // The leaf tables in use, one per stripe: all that a reader needs of a stripe, in adjacent memory.
    alignas(64) u64 leaves_now_[STRIPES];
    Arena arena_;
    Tables edge_tables_, leaf_tables_;             // separate: a late reader may read a leaf table as ids
    Stripe* stripes_;
    const u64 capacity_;
    // Written by writers only; readers of shapes do not access this cache line.
    alignas(64) u64 entries_ = 0;
    u64 peak_entries_ = 0, bytes_ = 0, peak_bytes_ = 0, nodes_ = 0, evictions_ = 0, idle_ = 0, cursor_ = 0;
    Counters counters_;

  private:
    static void count(u64& value, u64& peak, i64 change) {
        const u64 now = __atomic_add_fetch(&value, static_cast<u64>(change), __ATOMIC_RELAXED);
        u64 top = relaxed(peak);
        while (static_cast<i64>(now) > static_cast<i64>(top) &&
               !__atomic_compare_exchange_n(&peak, &top, now, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {}
    }
};

}  // namespace workbench::trie
