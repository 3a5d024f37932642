// The edge table of a stripe: the hash of a prefix to the child there. Only for writers and walks, which hold the
// stripe's lock; lookups use the leaf table (leaves.hpp).
//
// Open addressing in buckets of one cache line: 8 slots, compared at once, without a branch for the place. A slot is 32
// bits of the prefix's hash as tag, and the id of the child. The tag alone determines the bucket, so a larger table is
// filled from the old one without reading any object. A search continues to the next bucket while there is no empty
// slot; so a removed edge leaves a tombstone in a full bucket, and none elsewhere.
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

// Points at which a test makes threads wait for each other; empty in a build.
#ifndef WORKBENCH_TRIE_STEP
#define WORKBENCH_TRIE_STEP(place, what) ((void)0)
#endif

namespace workbench::trie {

constexpr u64 TOMBSTONE = u64(0xFFFFFFFF) << 32;   // a tag without an object
constexpr u32 BUCKET = 8;
inline u32 tag_of(u64 hash) {
    return static_cast<u32>(hash >> 32) | 1;       // 0 means empty
}
inline u64 make_slot(u32 tag, u32 id) { return static_cast<u64>(tag) << 32 | id; }
inline u32 root_owner(u32 root) { return root + 1; }              // roots as parents: small numbers, never 0
inline bool is_root(u32 owner) { return owner < FIRST_PLACE; }

// Pointer and size of a table in one word.
struct Table {
    u64* slots;
    u32 log;                                       // log2 of the number of slots, at least 3
    static Table of(u64 word) { return {reinterpret_cast<u64*>(word & ~u64(63)), static_cast<u32>(word & 63)}; }
    u64 word() const { return reinterpret_cast<u64>(slots) | log; }
    u64 size() const { return u64(1) << log; }
    // First slot of a tag's bucket, and of the bucket after another.
    u64 place(u32 tag) const { return (static_cast<u64>(tag) >> (35 - log)) * BUCKET; }
    u64 next(u64 bucket) const { return (bucket + BUCKET) & (size() - 1); }
};

// Bits of the slots of a bucket that have this tag, and of those that are empty.
struct Match {
    u32 tag, empty;
};
#if defined(__SSE2__) && !defined(WORKBENCH_TRIE_TSAN)
inline u32 lanes(__m128i a, __m128i b) {
    return static_cast<u32>(_mm_movemask_ps(_mm_castsi128_ps(a)) | _mm_movemask_ps(_mm_castsi128_ps(b)) << 4);
}
#endif
inline Match match(const u64* bucket, u32 tag) {
#if defined(__SSE2__) && !defined(WORKBENCH_TRIE_TSAN)
    const auto* v = reinterpret_cast<const __m128*>(bucket);
    const __m128i low = _mm_castps_si128(_mm_shuffle_ps(v[0], v[1], _MM_SHUFFLE(3, 1, 3, 1)));
    const __m128i high = _mm_castps_si128(_mm_shuffle_ps(v[2], v[3], _MM_SHUFFLE(3, 1, 3, 1)));
    const __m128i wanted = _mm_set1_epi32(static_cast<int>(tag)), zero = _mm_setzero_si128();
    return {lanes(_mm_cmpeq_epi32(low, wanted), _mm_cmpeq_epi32(high, wanted)),
            lanes(_mm_cmpeq_epi32(low, zero), _mm_cmpeq_epi32(high, zero))};
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

}  // namespace workbench::trie
