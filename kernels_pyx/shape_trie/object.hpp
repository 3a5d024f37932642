// Nodes and records, and the arena in which they are stored.
//
//   state    64 bits, atomic: low half the count (references of a record, children of a node), high half the header
//   parent   id of the node (or number of the root) under which the object was made; never changes while it lives
//   next     neighbours among the children of its current node; writers only
//   prev
//   w[]      node: the two words of its edge, then its first child. Record: all words from its edge's first word on
//
// A record keeps the words of its unshared tail inline. When a second key shares part of that tail, nodes are inserted
// above the record, but the record itself is unchanged: it still names the place where it was created (`from`,
// `parent`), and a descent compares it from there. So data visible to readers is never changed in place.
//
// The id of a record is the place in the arena (28 bits, in steps of 16 bytes) and 3 bits of the generation, which
// increases with each reuse of the place; freed places wait in a queue first. Both distinguish a stale id from a live
// one. The highest bit marks the ids of nodes, which never leave the trie, so that the kind of a slot's object is known
// before it is read.
#pragma once

#include "memory.hpp"

namespace workbench::trie {

struct Object {
    u64 state;
    u32 parent, next, prev;
    u32 w[3];
};
static_assert(sizeof(Object) == 32 && offsetof(Object, w) == 20, "a node fills 32 bytes");

// Header: level of the edge 0..7, live 8, node 9, recently used 10, generation 11..31.
constexpr u32 LIVE = 1u << 8, NODE = 1u << 9, USED = 1u << 10;
constexpr int GENERATION = 11;
inline u32 level_of(u32 header) { return header & 0xFF; }
inline u32 header_of(u64 state) { return static_cast<u32>(state >> 32); }
inline u64 make_state(u32 header, u32 count) { return static_cast<u64>(header) << 32 | count; }

constexpr int PLACE_BITS = 28;
constexpr u32 PLACE_MASK = (1u << PLACE_BITS) - 1;
constexpr std::size_t STEP = 16;
static_assert(STEP << PLACE_BITS == std::size_t(1) << 32, "32 bits of id * STEP are the offset of a place");
constexpr u32 FIRST_PLACE = 256;                   // root numbers are below
static_assert(ROOTS < FIRST_PLACE, "roots and places do not mix");

template <class T> inline T relaxed(const T& x) { return __atomic_load_n(&x, __ATOMIC_RELAXED); }
template <class T> inline T acquire(const T& x) { return __atomic_load_n(&x, __ATOMIC_ACQUIRE); }
template <class T> inline void set_relaxed(T& x, T v) { __atomic_store_n(&x, v, __ATOMIC_RELAXED); }
template <class T> inline void set_release(T& x, T v) { __atomic_store_n(&x, v, __ATOMIC_RELEASE); }

constexpr u32 NODE_ID = 1u << 31;
inline u32 make_id(u32 header, u32 place) {
    return (((header >> GENERATION) - 1) << PLACE_BITS & ~NODE_ID) | (header & NODE ? NODE_ID : 0) | place;
}
inline u32 record_bytes(u32 words) { return 20 + 4 * words; }
inline u32 steps_of(u32 words) { return (record_bytes(words) + STEP - 1) / STEP; }
constexpr u32 NODE_STEPS = 2, MAX_STEPS = (20 + 4 * MAX_WORDS + STEP - 1) / STEP;

// The objects of one trie: a range of memory, and a bit for each place that marks the beginning of a live record.
class Arena {
  public:
    Arena() : objects_(STEP << PLACE_BITS), starts_((std::size_t(1) << PLACE_BITS) / 8) {
        if (!objects_.commit(FIRST_PLACE * STEP) || !starts_.commit(FIRST_PLACE / 8)) throw std::bad_alloc();
    }

    Object* at(u32 id) const {
        return reinterpret_cast<Object*>(objects_.base() + static_cast<std::size_t>(id * u32(STEP)));  // drops bits 28..31
    }

    // `steps` consecutive places, aligned to 64 bytes; 0 without memory.
    u32 extend(u32 steps) {
        const std::lock_guard<std::mutex> hold(mutex_);
        const u32 place = end_;
        // Slack after the last object: a reader of a place in reuse may read up to the length of the longest record.
        const std::size_t upto = (static_cast<std::size_t>(place) + steps + MAX_STEPS + 4) * STEP;
        if (!objects_.commit(upto) || !starts_.commit(upto / STEP / 8 + 8)) return 0;
        set_release(end_, place + ((steps + 3) & ~3u));
        return place;
    }

    void mark(u32 id, bool on) {
        u64& word = bits()[(id & PLACE_MASK) >> 6];
        const u64 bit = u64(1) << (id & 63);
        if (on) __atomic_fetch_or(&word, bit, __ATOMIC_RELEASE);
        else __atomic_fetch_and(&word, ~bit, __ATOMIC_RELEASE);
    }
    // Whether a record begins at this id's place; valid for any number.
    bool marked(u32 id) const {
        const u32 place = id & PLACE_MASK;
        return place >= FIRST_PLACE && place < acquire(end_) && (acquire(bits()[place >> 6]) >> (place & 63) & 1);
    }

  private:
    u64* bits() const { return reinterpret_cast<u64*>(starts_.base()); }

    std::mutex mutex_;
    Range objects_, starts_;
    u32 end_ = FIRST_PLACE;
};

// The places of one stripe: objects of equal size in separate chunks (32-byte objects then never cross a cache line),
// freed ones in queues by size. Under the stripe's lock.
class Places {
  public:
    explicit Places(Arena& arena) : arena_(arena) {}
    ~Places() { delete[] large_; }
    Places(const Places&) = delete;
    Places& operator=(const Places&) = delete;

    // A place for an object, 0 without memory. Its header is dead and keeps the generation of its last user.
    u32 take(u32 steps) {
        Queue& queue = queue_of(steps);
        if (queue.count > WAITING) {
            const u32 place = queue.head;
            queue.head = arena_.at(place)->next;
            --queue.count;
            return place;
        }
        Chunk& chunk = chunks_[steps <= SMALL ? steps - 1 : 0];
        if (chunk.end - chunk.at < steps) {
            // A small part of the current size, so that little memory is idle.
            u32 more = held_ / 64 & ~3u;
            more = more < 32 ? 32 : more > 4096 ? 4096 : more;
            if (more < steps) more = (steps + 3) & ~3u;
            const u32 place = arena_.extend(more);
            if (place == 0) return 0;
            chunk = {place, place + more};
            held_ += more;
        }
        const u32 place = chunk.at;
        chunk.at += steps;
        return place;
    }

    void give(u32 place, u32 steps) {
        Queue& queue = queue_of(steps);
        arena_.at(place)->next = 0;
        if (queue.count++ == 0) queue.head = place;
        else arena_.at(queue.tail)->next = place;
        queue.tail = place;
    }

  private:
    static constexpr u32 SMALL = 4, WAITING = 16;
    struct Queue { u32 head, tail, count; };
    struct Chunk { u32 at, end; };

    Queue& queue_of(u32 steps) {
        if (steps <= SMALL) return small_[steps - 1];
        if (large_ == nullptr) large_ = new Queue[MAX_STEPS + 1]();
        return large_[steps];
    }

    Arena& arena_;
    Queue small_[SMALL] = {};
    Queue* large_ = nullptr;
    Chunk chunks_[SMALL] = {};
    u32 held_ = 0;
};

}  // namespace workbench::trie
