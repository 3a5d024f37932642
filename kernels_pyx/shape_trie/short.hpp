// Lookups of short keys directly from the dims, as nearly all lookups are. On x86-64 with AVX2 (detected at run time)
// the key stays in a register during the lookup; otherwise it is encoded first. Both give the same ids.
#pragma once

#include "writer.hpp"

#if defined(__x86_64__) && defined(__SSE2__) && !defined(WORKBENCH_TRIE_TSAN)
#define WORKBENCH_TRIE_AVX2 1
#include "short_avx2.hpp"
#endif

namespace workbench::trie {

class ShortReader : public Writer {
  public:
    using Writer::Writer;

    // Id of a shape in contiguous layout, 0 if it is missing or not a shape. `meta`: make_meta(...).
    u32 lookup_shape(int rank, const i64* dims, u32 meta) { return answer(find_shape(rank, dims, meta)); }

    // The same with an added reference; created if it is missing. 0: not a shape, or no memory.
    u32 intern_shape(int rank, const i64* dims, u32 meta) {
        const Found found = find_shape(rank, dims, meta);
        const u32 id = static_cast<u32>(found.id);
        if (__builtin_expect(id != 0, 1) && raise(id, found.state)) {
            counters_.hit();
            return id;
        }
        Key key;
        return encode(key, rank, dims, nullptr, meta) == Fault::none ? intern(key) : 0;
    }

    // The same for a short key with the symbols computed by the caller (rank at most 7, dims below 2^32).
    u32 lookup_symbols(int rank, u64 s0, u64 s1, u64 s2, u64 s3) { return answer(find_symbols(rank, s0, s1, s2, s3)); }
    u32 intern_symbols(int rank, u64 s0, u64 s1, u64 s2, u64 s3) {
        const Found found = find_symbols(rank, s0, s1, s2, s3);
        const u32 id = static_cast<u32>(found.id);
        if (__builtin_expect(id != 0, 1) && raise(id, found.state)) {
            counters_.hit();
            return id;
        }
        return intern(key_of(rank, s0, s1, s2, s3));
    }

  private:
    static Key key_of(int rank, u64 s0, u64 s1, u64 s2, u64 s3) {
        Key key;
        key.root = static_cast<u32>(rank) * 2;
        key.words = static_cast<u32>(rank) + 1;
        key.sym[0] = s0;
        key.sym[1] = s1;
        key.sym[2] = s2;
        key.sym[3] = s3;
        return key;
    }
    // `s3` holds the meta word of a key of rank 6 or 7; others have it before, and 0 after it.
    Found find_symbols(int rank, u64 s0, u64 s1, u64 s2, u64 s3) const {
#ifdef WORKBENCH_TRIE_AVX2
        if (__builtin_expect(has_avx2, 1)) return find_symbols_avx2(rank, s0, s1, s2, s3);
#endif
        return find(key_of(rank, s0, s1, s2, s3));
    }

    Found find_shape(int rank, const i64* dims, u32 meta) const {
#ifdef WORKBENCH_TRIE_AVX2
        if (__builtin_expect(has_avx512 && static_cast<u32>(rank) <= SHORT_RANK, 1)) return find_avx512(rank, dims, meta);
        if (__builtin_expect(has_avx2 && static_cast<u32>(rank) <= SHORT_RANK, 1)) return find_avx2(rank, dims, meta);
#endif
        return find_any(rank, dims, meta);
    }

#ifdef WORKBENCH_TRIE_AVX2
    static inline const bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2");

#ifdef WORKBENCH_TRIE_NO_AVX512                    // for tests of the other version on processors that support both
    static constexpr bool USE_AVX512 = false;
#else
    static constexpr bool USE_AVX512 = true;
#endif
    static inline const bool has_avx512 = has_avx2 && USE_AVX512 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl");

    // The same with the dims packed by one instruction.
    __attribute__((target("avx2,bmi,bmi2,avx512f,avx512vl"))) Found find_avx512(int rank, const i64* dims, u32 meta) const {
        const __m512i wide = _mm512_maskz_loadu_epi64(static_cast<__mmask8>((1u << rank) - 1), dims);
        if (__builtin_expect(_mm512_test_epi64_mask(wide, _mm512_set1_epi64(~0xFFFFFFFFLL)) != 0, 0)) return find_any(rank, dims, meta);
        const __m256i key = _mm256_mask_set1_epi32(_mm512_maskz_cvtepi64_epi32(0xFF, wide), static_cast<__mmask8>(1u << rank),
                                                   static_cast<int>(meta));
        const __m128i high = _mm256_extracti128_si256(key, 1);
        return find_packed(key, static_cast<u32>(rank), low_word(_mm256_castsi256_si128(key)),
                           high_word(_mm256_castsi256_si128(key)), low_word(high), high_word(high),
                           [=] { return find_any(rank, dims, meta); });
    }

    __attribute__((target("avx2,bmi,bmi2"))) Found find_avx2(int rank, const i64* dims, u32 meta) const {
        __m256i key;
        if (__builtin_expect(!pack_avx2(static_cast<u32>(rank), dims, meta, key), 0)) return find_any(rank, dims, meta);
        const __m128i high = _mm256_extracti128_si256(key, 1);
        return find_packed(key, static_cast<u32>(rank), low_word(_mm256_castsi256_si128(key)),
                           high_word(_mm256_castsi256_si128(key)), low_word(high), high_word(high),
                           [=] { return find_any(rank, dims, meta); });
    }

    // The same for given symbols: stores followed by a wide load would stall.
    __attribute__((target("avx2,bmi,bmi2"))) Found find_symbols_avx2(int rank, u64 s0, u64 s1, u64 s2, u64 s3) const {
        const __m256i key = _mm256_set_epi64x(static_cast<long long>(s3), static_cast<long long>(s2),
                                              static_cast<long long>(s1), static_cast<long long>(s0));
        return find_packed(key, static_cast<u32>(rank), s0, s1, s2, s3, [=] { return find_slowly(rank, s0, s1, s2, s3); });
    }

    // One bucket, one record, and no branch except the last: whether a record was created at level 0 or 1 is
    // unpredictable, so both cases are computed and one is masked. Any bit of `wrong` sends the key to the general
    // search: a deeper level, an overflowed bucket, a concurrent change, a miss. A missing tag leads to the first id,
    // which has another key; a free slot leads to place 0, which is never in use.
    template <class F> WORKBENCH_AVX2_MEMBER
    Found find_packed(__m256i key, u32 rank, u64 s0, u64 s1, u64 s2, u64 s3, F&& slowly) const {
        constexpr u32 AGE = 7u << GENERATION;                  // the part of the generation in an id
        const u32 root = rank * 2;
        const u32 tag = tag_of(hash_whole(root, s0, s1, s2, s3));
        const Leaves t = Leaves::of(acquire(leaves_of(root, s0)));
        const LeafBucket& bucket = t.buckets[t.place(tag)];
        const u32 id = acquire(bucket.ids[_tzcnt_u32(tags_avx2(bucket.tags, tag)) & (BUCKET - 1)]);
        const Object* const o = arena_.at(id);
        const u64 seen = acquire(o->state);
        const u32 header = header_of(seen), above = relaxed(o->parent), from = level_of(header) & 1;
        const u64 below = -static_cast<u64>(from);             // ones if the record was created below a node
        const Object* const node = arena_.at(above);           // a root reads memory before the first place
        // The words of a record created at level 1 are those of the key from there on: so the key's words begin 8 bytes
        // lower.
        const bool equal = equal_words(o->w - 2 * from, key, tail_masks.of[from][rank + 1]);
        u64 wrong = (symbol(node, 0) ^ s0) & below;
        wrong |= (((relaxed(node->parent) ^ above) & below) ^ above) ^ root_owner(root);
        wrong |= ((header - (1u << GENERATION)) ^ LIVE ^ (id >> (PLACE_BITS - GENERATION) & AGE)) & (AGE | LIVE | NODE | 0xFE);
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        wrong |= (header_of(relaxed(o->state)) ^ header) & ~USED;
        if (__builtin_expect(wrong != 0 || !equal, 0)) return slowly();
        return {seen, id};
    }

    __attribute__((noinline)) Found find_slowly(int rank, u64 s0, u64 s1, u64 s2, u64 s3) const {
        return find(key_of(rank, s0, s1, s2, s3));
    }
#endif

    __attribute__((noinline)) Found find_any(int rank, const i64* dims, u32 meta) const {
        Key key;
        return encode(key, rank, dims, nullptr, meta) == Fault::none ? find(key) : Found{0, 0};
    }
};

}  // namespace workbench::trie
