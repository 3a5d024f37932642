// Short keys, straight from the dims: what nearly every lookup is. On x86-64 with AVX2 (asked at run time) the key never
// leaves a register while it is looked up; elsewhere it is encoded first. Both ways give the same ids.
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

    // Id of a shape in contiguous layout, 0 if it is not there or is no shape. `meta`: make_meta(...).
    u32 lookup_shape(int rank, const i64* dims, u32 meta) {
        u64 state;
        const u32 id = find_shape(rank, dims, meta, state);
        if (__builtin_expect(id == 0, 0)) {
            counters_.miss();
            return 0;
        }
        counters_.hit();
        if (capacity_ != 0) touch(id, state);
        return id;
    }

    // The same with one reference more; made if it is not there. 0: no shape, or no memory.
    u32 intern_shape(int rank, const i64* dims, u32 meta) {
        u64 state;
        const u32 id = find_shape(rank, dims, meta, state);
        if (__builtin_expect(id != 0, 1) && raise(id, state)) {
            counters_.hit();
            return id;
        }
        Key key;
        return encode(key, rank, dims, nullptr, meta) == Fault::none ? intern(key) : 0;
    }

    // The same for a short key whose symbols the caller has made (rank at most 7, dims below 2^32).
    u32 lookup_symbols(int rank, u64 s0, u64 s1, u64 s2, u64 s3) {
        u64 state;
        const u32 id = find_symbols(rank, s0, s1, s2, s3, state);
        if (__builtin_expect(id == 0, 0)) {
            counters_.miss();
            return 0;
        }
        counters_.hit();
        if (capacity_ != 0) touch(id, state);
        return id;
    }
    u32 intern_symbols(int rank, u64 s0, u64 s1, u64 s2, u64 s3) {
        u64 state;
        const u32 id = find_symbols(rank, s0, s1, s2, s3, state);
        if (__builtin_expect(id != 0, 1) && raise(id, state)) {
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
    u32 find_symbols(int rank, u64 s0, u64 s1, u64 s2, u64 s3, u64& state) const {
#ifdef WORKBENCH_TRIE_AVX2
        if (__builtin_expect(has_avx2, 1)) return find_symbols_avx2(rank, s0, s1, s2, s3, state);
#endif
        return find(key_of(rank, s0, s1, s2, s3), state);
    }

    u32 find_shape(int rank, const i64* dims, u32 meta, u64& state) const {
#ifdef WORKBENCH_TRIE_AVX2
        if (__builtin_expect(has_avx2 && static_cast<u32>(rank) <= SHORT_RANK, 1)) return find_avx2(rank, dims, meta, state);
#endif
        Key key;
        return encode(key, rank, dims, nullptr, meta) == Fault::none ? find(key, state) : 0;
    }

#ifdef WORKBENCH_TRIE_AVX2
    static inline const bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2");

    __attribute__((target("avx2,bmi,bmi2"))) u32 find_avx2(int rank, const i64* dims, u32 meta, u64& state) const {
        __m256i key;
        if (__builtin_expect(!pack_avx2(static_cast<u32>(rank), dims, meta, key), 0)) return find_any(rank, dims, meta, state);
        return find_packed(key, rank, state);
    }

    // The same for symbols at hand: stores followed by a wide load would wait for each other.
    __attribute__((target("avx2,bmi,bmi2"))) u32 find_symbols_avx2(int rank, u64 s0, u64 s1, u64 s2, u64 s3, u64& state) const {
        return find_packed(_mm256_set_epi64x(static_cast<long long>(s3), static_cast<long long>(s2),
                                             static_cast<long long>(s1), static_cast<long long>(s0)), rank, state);
    }

    __attribute__((target("avx2,bmi,bmi2"), always_inline)) inline u32 find_packed(__m256i key, int rank, u64& state) const {
        const u32 root = static_cast<u32>(rank) * 2, top = root_owner(root);
        const __m256i below = _mm256_permute4x64_epi64(key, _MM_SHUFFLE(3, 3, 2, 1));       // the key from level 1 on
        const u64 symbol0 = low_words(key);
        const u64 hash0 = hash_next(hash_root(root), symbol0), hash1 = hash_next(hash0, low_words(below));
        const Table t = Table::of(acquire(table_of(hash0)));
        // In a full trie half of the records hang at level 0 and half at level 1, as if drawn by lot. Both buckets are fetched
        // at once, and what is found decides by selection, not by a branch: level 1 if there is such an edge, else level 0.
        const u64* const bucket0 = t.slots + t.place(tag_of(hash0));
        const u64* const bucket1 = t.slots + t.place(tag_of(hash1));
        const u32 found0 = tags_avx2(bucket0, tag_of(hash0)), found1 = tags_avx2(bucket1, tag_of(hash1));
        const u32 id0 = static_cast<u32>(acquire(bucket0[_tzcnt_u32(found0) & 7]));
        const u32 id1 = static_cast<u32>(acquire(bucket1[_tzcnt_u32(found1) & 7]));
        const u32 id = found1 ? id1 : id0;
        const Object* const o = arena_.at(id);
        const Object* const node = arena_.at(id0);             // above o, if o was made at level 1
        const u64 seen = acquire(o->state);
        const u32 header = header_of(seen), from = level_of(header) & 1;
        const u32 above = header_of(acquire(node->state));
        const __m256i rest = _mm256_blendv_epi8(key, below, _mm256_set1_epi32(-static_cast<int>(from)));
        const bool equal = equal_words(o->w, rest, static_cast<u32>(rank) + 1 - 2 * from);
        // All checks in one word, any bit of which sends the key to the general walk: a deeper level, a bucket that
        // overflowed, a change meanwhile, a miss. An empty slot leads to place 0, where nothing lives.
        u64 wrong = (relaxed(node->parent) ^ top) | (symbol(node, 0) ^ symbol0) | (~above & (LIVE | NODE));
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        wrong |= (header_of(relaxed(node->state)) ^ above) & ~USED;
        wrong &= -static_cast<u64>(from);
        wrong |= relaxed(o->parent) ^ (from ? id0 : top);
        wrong |= (header ^ LIVE) & (LIVE | NODE | 0xFE);
        wrong |= (((header >> GENERATION) - 1) & 7) ^ id >> PLACE_BITS;
        wrong |= (header_of(relaxed(o->state)) ^ header) & ~USED;
        if (__builtin_expect(wrong != 0 || !equal, 0)) return find_slowly(key, rank, state);
        state = seen;
        return id;
    }

    __attribute__((target("avx2"), noinline)) u32 find_slowly(__m256i packed, int rank, u64& state) const {
        Key key;
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(key.sym), packed);
        key.root = static_cast<u32>(rank) * 2;
        key.words = static_cast<u32>(rank) + 1;
        return find(key, state);
    }
#endif

    __attribute__((noinline)) u32 find_any(int rank, const i64* dims, u32 meta, u64& state) const {
        Key key;
        return encode(key, rank, dims, nullptr, meta) == Fault::none ? find(key, state) : 0;
    }
};

}  // namespace workbench::trie
