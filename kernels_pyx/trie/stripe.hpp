// One stripe: the subtrees whose first symbol falls to it, with their lock, edge table and places.
//
// The edge table is open addressing in buckets of one cache line: 8 slots, compared at once, without a branch for the place.
// A slot is 64 bits, so it is read and written whole: 32 bits of the prefix's hash as tag, and the id of the child. The tag
// alone gives the bucket, so a larger table is filled from the old one without a look at any object. A search goes on to the
// next bucket while there is no empty slot; so a removed edge leaves a tombstone in a full bucket, and none elsewhere.
#pragma once

#include "object.hpp"

#if defined(__SANITIZE_THREAD__)
#define WORKBENCH_TRIE_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define WORKBENCH_TRIE_TSAN 1
#endif
#endif

#if defined(__SSE2__) && !defined(WORKBENCH_TRIE_TSAN)
#include <emmintrin.h>
#endif

namespace workbench::trie {

constexpr u64 TOMBSTONE = u64(0xFFFFFFFF) << 32;   // a tag, and no object
constexpr u32 BUCKET = 8;
inline u32 tag_of(u64 hash) {
    const u32 tag = static_cast<u32>(hash >> 32);
    return tag + (tag == 0);                       // 0 says empty
}
inline u64 make_slot(u32 tag, u32 id) { return static_cast<u64>(tag) << 32 | id; }
inline u32 root_owner(u32 root) { return root + 1; }              // roots as parents: small numbers, never 0
inline bool is_root(u32 owner) { return owner < FIRST_PLACE; }

// Pointer and size of a table in one word, so that readers never see one without the other.
struct Table {
    u64* slots;
    u32 log;                                       // of the number of slots, 3 at least
    static Table of(u64 word) { return {reinterpret_cast<u64*>(word & ~u64(63)), static_cast<u32>(word & 63)}; }
    u64 word() const { return reinterpret_cast<u64>(slots) | log; }
    u64 size() const { return u64(1) << log; }
    // First slot of a tag's bucket, and of the bucket behind another.
    u64 place(u32 tag) const { return (static_cast<u64>(tag) >> (35 - log)) * BUCKET; }
    u64 next(u64 bucket) const { return (bucket + BUCKET) & (size() - 1); }
};

// Bits of the slots of a bucket that have this tag, and of those that are empty.
struct Match {
    u32 tag, empty;
};
inline Match match(const u64* bucket, u32 tag) {
#if defined(__SSE2__) && !defined(WORKBENCH_TRIE_TSAN)
    // Each slot is one aligned 8-byte lane, which x86 reads whole; a candidate is read again, atomically.
    const auto* v = reinterpret_cast<const __m128*>(bucket);
    const __m128i low = _mm_castps_si128(_mm_shuffle_ps(v[0], v[1], _MM_SHUFFLE(3, 1, 3, 1)));
    const __m128i high = _mm_castps_si128(_mm_shuffle_ps(v[2], v[3], _MM_SHUFFLE(3, 1, 3, 1)));
    const __m128i wanted = _mm_set1_epi32(static_cast<int>(tag)), zero = _mm_setzero_si128();
    const auto bits = [](__m128i a, __m128i b) {
        return static_cast<u32>(_mm_movemask_ps(_mm_castsi128_ps(a)) | _mm_movemask_ps(_mm_castsi128_ps(b)) << 4);
    };
    return {bits(_mm_cmpeq_epi32(low, wanted), _mm_cmpeq_epi32(high, wanted)),
            bits(_mm_cmpeq_epi32(low, zero), _mm_cmpeq_epi32(high, zero))};
#else
    Match m{0, 0};
    for (u32 i = 0; i < BUCKET; ++i) {
        const u32 there = static_cast<u32>(__atomic_load_n(bucket + i, __ATOMIC_ACQUIRE) >> 32);
        m.tag |= static_cast<u32>(there == tag) << i;
        m.empty |= static_cast<u32>(there == 0) << i;
    }
    return m;
#endif
}

alignas(64) inline u64 no_edges[BUCKET] = {};      // the table of an empty stripe; never written

struct alignas(64) Stripe {
    u64& table;                                    // read by all; the rest under the lock
    std::mutex mutex;
    u64 filled = 0, edges = 0;                     // slots not empty; slots with an edge
    u64 entries = 0, hand = 0;
    u32 heads[16] = {};                            // first children of the roots of ranks 0 to 7
    u32* more_heads = nullptr;
    Places places;

    Stripe(Arena& arena, u64& table_now) : table(table_now), places(arena) { table = empty_table(); }
    ~Stripe() { delete[] more_heads; }

    u32& head(u32 root) {
        if (root < 16) return heads[root];
        if (more_heads == nullptr) more_heads = new u32[ROOTS]();
        return more_heads[root];
    }
    u32 head_or_none(u32 root) const { return root < 16 ? heads[root] : more_heads ? more_heads[root] : 0; }

    bool has_table() const { return Table::of(table).slots != no_edges; }

    // Room for `more` edges at a load of at most 13/16 (tombstones count); false without memory.
    bool reserve(u64 more, Tables& tables, u64& bytes) {
        const Table now = Table::of(table);
        const u64 size = has_table() ? now.size() : 0;
        if ((filled + more) * 16 <= size * 13) return true;
        u32 log = now.log < Tables::MIN_LOG ? Tables::MIN_LOG : now.log;
        while ((edges + more) * 16 > (u64(11) << log)) ++log;
        return resize(log, tables, bytes);
    }

    // Smaller again when little is left of it.
    void shrink(Tables& tables, u64& bytes) {
        const Table now = Table::of(table);
        if (!has_table() || (now.log <= Tables::MIN_LOG ? edges != 0 : edges * 8 > now.size())) return;
        if (edges == 0) {
            set_release(table, empty_table());
            tables.give(now.slots, now.log);
            bytes -= now.size() * 8;
            filled = hand = 0;
        } else {
            u32 log = Tables::MIN_LOG;
            while (edges * 2 > (u64(1) << log)) ++log;
            resize(log, tables, bytes);
        }
    }

    bool resize(u32 log, Tables& tables, u64& bytes) {
        const Table old = Table::of(table), fresh{tables.take(log), log};
        if (fresh.slots == nullptr) return false;
        for (u64 i = 0; i < old.size(); ++i) {
            const u64 slot = relaxed(old.slots[i]);
            if (static_cast<u32>(slot) != 0) set_relaxed(fresh.slots[vacancy(fresh, static_cast<u32>(slot >> 32))], slot);
        }
        const bool had = has_table();
        set_release(table, fresh.word());
        bytes += fresh.size() * 8;
        if (had) {
            bytes -= old.size() * 8;
            tables.give(old.slots, old.log);
        }
        filled = edges;
        hand = 0;
        return true;
    }

    void put(u64 hash, u32 id) {
        const Table t = Table::of(table);
        const u64 at = vacancy(t, tag_of(hash));
        filled += relaxed(t.slots[at]) == 0;
        ++edges;
        set_release(t.slots[at], make_slot(tag_of(hash), id));
    }

    // The slot of an edge that is there.
    u64* slot_of(u64 hash, u32 id) const {
        const Table t = Table::of(table);
        const u64 slot = make_slot(tag_of(hash), id);
        for (u64 bucket = t.place(tag_of(hash));; bucket = t.next(bucket))
            for (u32 i = 0; i < BUCKET; ++i)
                if (relaxed(t.slots[bucket + i]) == slot) return t.slots + bucket + i;
    }

    void erase(u64 hash, u32 id) {
        u64* slot = slot_of(hash, id);
        const u64* bucket = reinterpret_cast<u64*>(reinterpret_cast<std::size_t>(slot) & ~std::size_t(63));
        const bool ends_here = match(bucket, 0).empty != 0;
        set_release(*slot, ends_here ? 0 : TOMBSTONE);
        filled -= ends_here;
        --edges;
    }

  private:
    static u64 empty_table() { return reinterpret_cast<u64>(no_edges) | 3; }

    // The first slot without an edge on the way of a tag.
    static u64 vacancy(const Table& t, u32 tag) {
        for (u64 bucket = t.place(tag);; bucket = t.next(bucket))
            for (u32 i = 0; i < BUCKET; ++i)
                if (static_cast<u32>(relaxed(t.slots[bucket + i])) == 0) return bucket + i;
    }
};

}  // namespace workbench::trie
