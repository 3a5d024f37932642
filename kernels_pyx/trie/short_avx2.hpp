// Body of ShortReader::find_avx2 (short.hpp): the walk of Reader::find for keys of at most eight words, which stay in one
// register from the dims to the comparison with the record. No branch depends on the rank.
#pragma once

#include <immintrin.h>

namespace workbench::trie {

// Ones in the first n of 8 words: a window that slides from eight ones to eight zeros.
alignas(64) constexpr std::int32_t sliding_ones[24] = {-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0,
                                                       0,  0,  0,  0,  0,  0,  0,  0,  0, 0, 0, 0};

#define WORKBENCH_AVX2 __attribute__((target("avx2,bmi,bmi2"), always_inline)) static inline

WORKBENCH_AVX2 __m256i first_words(u32 n) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(sliding_ones + 8 - n));
}

// Dims as 8 words with the meta word behind them; false if one is negative or wide.
WORKBENCH_AVX2 bool pack_avx2(u32 rank, const i64* dims, u32 meta, __m256i& key) {
    const __m256i n = _mm256_set1_epi64x(rank);
    const __m256i m0 = _mm256_cmpgt_epi64(n, _mm256_setr_epi64x(0, 1, 2, 3));
    const __m256i m1 = _mm256_cmpgt_epi64(n, _mm256_setr_epi64x(4, 5, 6, 7));
    const __m256i a = _mm256_maskload_epi64(reinterpret_cast<const long long*>(dims), m0);
    const __m256i b = _mm256_maskload_epi64(reinterpret_cast<const long long*>(dims) + 4, m1);
    if (!_mm256_testz_si256(_mm256_or_si256(a, b), _mm256_set1_epi64x(static_cast<long long>(0xFFFFFFFF00000000ull)))) return false;
    const __m256i low = _mm256_castps_si256(
        _mm256_shuffle_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b), _MM_SHUFFLE(2, 0, 2, 0)));
    const __m256i words = _mm256_permute4x64_epi64(low, _MM_SHUFFLE(3, 1, 2, 0));
    const __m256i at_rank = _mm256_cmpeq_epi32(_mm256_set1_epi32(static_cast<int>(rank)), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
    key = _mm256_or_si256(words, _mm256_and_si256(at_rank, _mm256_set1_epi32(static_cast<int>(meta))));
    return true;
}

WORKBENCH_AVX2 u64 low_words(__m256i key) { return static_cast<u64>(_mm_cvtsi128_si64(_mm256_castsi256_si128(key))); }

// Whether the first n words at w are those of the key.
WORKBENCH_AVX2 bool equal_words(const u32* w, __m256i key, u32 n) {
    const __m256i there = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(w));
    return _mm256_testz_si256(_mm256_xor_si256(there, key), first_words(n));
}

// Bits of the slots of a bucket that have this tag.
WORKBENCH_AVX2 u32 tags_avx2(const u64* bucket, u32 tag) {
    const auto* v = reinterpret_cast<const __m256*>(bucket);
    // tags of slots 0 1 4 5 | 2 3 6 7, put in order by the permutation
    const __m256i tags = _mm256_permute4x64_epi64(
        _mm256_castps_si256(_mm256_shuffle_ps(v[0], v[1], _MM_SHUFFLE(3, 1, 3, 1))), _MM_SHUFFLE(3, 1, 2, 0));
    const __m256i same = _mm256_cmpeq_epi32(tags, _mm256_set1_epi32(static_cast<int>(tag)));
    return static_cast<u32>(_mm256_movemask_ps(_mm256_castsi256_ps(same)));
}

}  // namespace workbench::trie
