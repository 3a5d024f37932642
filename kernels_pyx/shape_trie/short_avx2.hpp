// Steps of ShortReader::find_avx2 (short.hpp), for keys of at most eight words, which stay in one register from the dims to
// the comparison with the record. No branch depends on the rank.
#pragma once

#include <immintrin.h>

namespace workbench::trie {

#define WORKBENCH_AVX2_MEMBER __attribute__((target("avx2,bmi,bmi2"), always_inline)) inline
#define WORKBENCH_AVX2 static WORKBENCH_AVX2_MEMBER

// Sliding windows by rank: `rank` ones, then zeros; and a single one.
struct Windows {
    alignas(64) i64 ones[16];
    alignas(64) std::int32_t one[16];
    alignas(32) i64 high_halves[4];
};
alignas(64) inline constexpr Windows windows = {{-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0},
                                                {0, 0, 0, 0, 0, 0, 0, -1, 0, 0, 0, 0, 0, 0, 0, 0},
                                                {~0xFFFFFFFFLL, ~0xFFFFFFFFLL, ~0xFFFFFFFFLL, ~0xFFFFFFFFLL}};
template <class T> WORKBENCH_AVX2 __m256i load(const T* p) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)); }

// Dims as 8 words followed by the meta word; false if one is negative or wide.
WORKBENCH_AVX2 bool pack_avx2(u32 rank, const i64* dims, u32 meta, __m256i& key) {
    const i64* const ones = windows.ones + 8 - rank;
    const __m256i a = _mm256_maskload_epi64(reinterpret_cast<const long long*>(dims), load(ones));
    const __m256i b = _mm256_maskload_epi64(reinterpret_cast<const long long*>(dims) + 4, load(ones + 4));
    if (!_mm256_testz_si256(_mm256_or_si256(a, b), load(windows.high_halves))) return false;
    const __m256i low = _mm256_castps_si256(
        _mm256_shuffle_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b), _MM_SHUFFLE(2, 0, 2, 0)));
    const __m256i words = _mm256_permute4x64_epi64(low, _MM_SHUFFLE(3, 1, 2, 0));
    const __m256i last = _mm256_and_si256(_mm256_set1_epi32(static_cast<int>(meta)), load(windows.one + 7 - rank));
    key = _mm256_or_si256(words, last);
    return true;
}

WORKBENCH_AVX2 u64 low_word(__m128i half) { return static_cast<u64>(_mm_cvtsi128_si64(half)); }
WORKBENCH_AVX2 u64 high_word(__m128i half) { return static_cast<u64>(_mm_extract_epi64(half, 1)); }

// Whether the words at w equal those of the key where the mask has ones.
WORKBENCH_AVX2 bool equal_words(const u32* w, __m256i key, const u64* mask) {
    return _mm256_testz_si256(_mm256_xor_si256(load(w), key), load(mask));
}

// Bits of the tags of a bucket that are this one.
WORKBENCH_AVX2 u32 tags_avx2(const u32* tags, u32 tag) {
    const __m256i there = _mm256_load_si256(reinterpret_cast<const __m256i*>(tags));
    return static_cast<u32>(_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(there, _mm256_set1_epi32(static_cast<int>(tag))))));
}

}  // namespace workbench::trie
