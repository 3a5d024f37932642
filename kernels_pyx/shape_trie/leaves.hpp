// The leaf table of a stripe: the hash of a whole key to the id of its record. Lookups read nothing else of a stripe.
//
// Descending by edges costs a bucket per level, and the level of a record is unpredictable for the processor. Here a
// key of any length is one bucket and one record away; the record is then compared with the key (reader.hpp).
//
// Open addressing in buckets of one cache line: 8 tags of 32 bits, compared at once, and 8 ids. Tag and id are written
// one after the other, which is safe because a reader trusts only the record. The tag alone determines the bucket, so a
// larger table is filled without reading any record. A search continues to the next bucket while no tag is 0; so a
// removed record leaves a tombstone in a full bucket, and none elsewhere.
#pragma once

#include "edges.hpp"

namespace workbench::trie {

struct alignas(64) LeafBucket {
    u32 tags[BUCKET], ids[BUCKET];
};

constexpr u32 LEAF_TOMBSTONE = 0xFFFFFFFF;         // a tag with id 0

// Bits of the tags of a bucket that are this one, and of those that are 0.
inline Match match_tags(const u32* tags, u32 tag) {
#if defined(__SSE2__) && !defined(WORKBENCH_TRIE_TSAN)
    const auto* v = reinterpret_cast<const __m128i*>(tags);    // each tag is an aligned lane, which x86 reads whole
    const __m128i low = v[0], high = v[1], wanted = _mm_set1_epi32(static_cast<int>(tag)), zero = _mm_setzero_si128();
    return {lanes(_mm_cmpeq_epi32(low, wanted), _mm_cmpeq_epi32(high, wanted)),
            lanes(_mm_cmpeq_epi32(low, zero), _mm_cmpeq_epi32(high, zero))};
#else
    Match m{0, 0};
    for (u32 i = 0; i < BUCKET; ++i) {
        const u32 there = acquire(tags[i]);
        m.tag |= static_cast<u32>(there == tag) << i;
        m.empty |= static_cast<u32>(there == 0) << i;
    }
    return m;
#endif
}

alignas(64) inline LeafBucket no_leaves = {};      // the table of an empty stripe; never written

// Pointer, size and version in one word: the low 6 bits are the shift that makes a tag the number of its bucket, the
// high 16 count the tables that the stripe has had. A retired table may return to its stripe: without the count, a
// suspended reader that then reads it while it is being filled again would mistake the old word for the new one, and
// miss an existing key.
struct Leaves {
    static constexpr int VERSION = 48;             // addresses of a process end below
    static constexpr u64 ADDRESS = ((u64(1) << VERSION) - 1) & ~u64(63);
    LeafBucket* buckets;
    u32 shift;
    static Leaves of(u64 word) { return {reinterpret_cast<LeafBucket*>(word & ADDRESS), static_cast<u32>(word & 63)}; }
    static Leaves of(u64* slots, u32 log) { return {reinterpret_cast<LeafBucket*>(slots), 35 - log}; }
    u64 word_after(u64 before) const { return reinterpret_cast<u64>(buckets) | shift | ((before >> VERSION) + 1) << VERSION; }
    u64* slots() const { return reinterpret_cast<u64*>(buckets); }
    u32 log() const { return 35 - shift; }         // log2 of the number of slots, at least 3
    u64 size() const { return u64(1) << log(); }
    u64 place(u32 tag) const { return static_cast<u64>(tag) >> shift; }
    u64 next(u64 bucket) const { return (bucket + 1) & ((u64(1) << (32 - shift)) - 1); }

    // All functions below require the stripe's lock. Returns whether an empty slot was used.
    bool put(u32 tag, u32 id) const {
        for (u64 at = place(tag);; at = next(at)) {
            LeafBucket& b = buckets[at];
            for (u32 i = 0; i < BUCKET; ++i) {
                if (relaxed(b.ids[i]) != 0) continue;
                const bool fresh = relaxed(b.tags[i]) == 0;
                set_release(b.ids[i], id);
                set_release(b.tags[i], tag);
                return fresh;
            }
        }
    }
    // Whether the slot is empty again.
    bool erase(u32 tag, u32 id) const {
        for (u64 at = place(tag);; at = next(at)) {
            LeafBucket& b = buckets[at];
            for (u32 i = 0; i < BUCKET; ++i) {
                if (relaxed(b.ids[i]) != id) continue;
                const bool ends_here = match_tags(b.tags, 0).empty != 0;
                set_release(b.tags[i], ends_here ? 0 : LEAF_TOMBSTONE);
                set_release(b.ids[i], 0u);
                return ends_here;
            }
        }
    }
    void copy_to(const Leaves& other) const {
        for (u64 at = 0; at < size() / BUCKET; ++at)
            for (u32 i = 0; i < BUCKET; ++i)
                if (const u32 id = relaxed(buckets[at].ids[i])) other.put(relaxed(buckets[at].tags[i]), id);
    }
    u64 filled() const {
        u64 n = 0;
        for (u64 at = 0; at < size() / BUCKET; ++at)
            for (u32 i = 0; i < BUCKET; ++i) n += relaxed(buckets[at].tags[i]) != 0;
        return n;
    }
};

}  // namespace workbench::trie
