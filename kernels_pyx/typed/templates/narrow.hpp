// The narrow floats many at a time: float16 by F16C or AVX-512 if available, bfloat16 by integer operations on pairs.
// Blocks for all ops, whole vectors for ops with vector versions.
#pragma once

#include "values.hpp"

#ifdef __F16C__
#include <immintrin.h>
#endif

namespace wb {
inline namespace WB_ISA {

constexpr int LANES = 64;

template <class V, class T> inline void read(V* to, const T* from, ptrdiff_t n) {
    for (ptrdiff_t i = 0; i < n; i++) to[i] = convert<V>(load(from + i));
}
template <class T, class V> inline void write(T* to, const V* from, ptrdiff_t n) {
    for (ptrdiff_t i = 0; i < n; i++) store(to + i, from[i]);
}

#ifdef __AVX512F__
constexpr int WIDTH = 16;
#else
constexpr int WIDTH = 8;
#endif
typedef float lanes __attribute__((vector_size(4 * WIDTH)));
typedef uint32_t words __attribute__((vector_size(4 * WIDTH)));

#ifdef __F16C__
inline lanes load_lanes(const float16* p) {
#ifdef __AVX512F__
    return lanes(_mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))));
#else
    return lanes(_mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))));
#endif
}
inline void store_lanes(float16* p, lanes v) {
#ifdef __AVX512F__
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), _mm512_cvtps_ph(__m512(v), _MM_FROUND_TO_NEAREST_INT));
#else
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm256_cvtps_ph(__m256(v), _MM_FROUND_TO_NEAREST_INT));
#endif
}

// The same for fewer than WIDTH items.
inline lanes load_lanes(const float16* p, ptrdiff_t n) {
#ifdef __AVX512F__
    return lanes(_mm512_cvtph_ps(_mm256_maskz_loadu_epi16(__mmask16((1u << n) - 1), p)));
#else
    float16 some[WIDTH] = {};
    std::memcpy(some, p, size_t(n) * sizeof *p);
    return load_lanes(some);
#endif
}
inline void store_lanes(float16* p, lanes v, ptrdiff_t n) {
#ifdef __AVX512F__
    _mm256_mask_storeu_epi16(p, __mmask16((1u << n) - 1), _mm512_cvtps_ph(__m512(v), _MM_FROUND_TO_NEAREST_INT));
#else
    float16 some[WIDTH];
    store_lanes(some, v);
    std::memcpy(p, some, size_t(n) * sizeof *p);
#endif
}

inline void read(float* to, const float16* from, ptrdiff_t n) {
    ptrdiff_t i = 0;
    for (; i + WIDTH <= n; i += WIDTH) {
        const lanes v = load_lanes(from + i);
        std::memcpy(to + i, &v, sizeof v);
    }
    if (i < n) {
        const lanes v = load_lanes(from + i, n - i);
        std::memcpy(to + i, &v, sizeof v);  // the buffer has LANES items, a multiple of WIDTH
    }
}
inline void write(float16* to, const float* from, ptrdiff_t n) {
    ptrdiff_t i = 0;
    lanes v;
    for (; i + WIDTH <= n; i += WIDTH) {
        std::memcpy(&v, from + i, sizeof v);
        store_lanes(to + i, v);
    }
    if (i < n) {
        std::memcpy(&v, from + i, sizeof v);
        store_lanes(to + i, v, n - i);
    }
}
#endif

// 2 WIDTH consecutive bfloat16 as two vectors, at even and at odd positions: no shuffles in either direction.
struct pairs {
    lanes even, odd;
};
inline pairs load_pairs(const bfloat16* p) {
    words w;
    std::memcpy(&w, p, sizeof w);
    return {lanes(w << 16), lanes(w & 0xffff0000u)};
}
inline words rounded_upper(lanes v) {  // the bfloat16 is in the upper half; the lower half is undefined
    const words u = words(v);
    return (v != v) ? u | 0x00400000u : u + 0x7fffu + ((u >> 16) & 1u);
}
inline void store_pairs(bfloat16* p, const pairs& v) {
    const words w = (rounded_upper(v.even) >> 16) | (rounded_upper(v.odd) & 0xffff0000u);
    std::memcpy(p, &w, sizeof w);
}


#ifdef __AVX512BW__  // the same for fewer than 2 WIDTH items
inline pairs load_pairs(const bfloat16* p, ptrdiff_t n) {
    const words w = words(_mm512_maskz_loadu_epi16(__mmask32((uint64_t(1) << n) - 1), p));
    return {lanes(w << 16), lanes(w & 0xffff0000u)};
}
inline void store_pairs(bfloat16* p, const pairs& v, ptrdiff_t n) {
    const words w = (rounded_upper(v.even) >> 16) | (rounded_upper(v.odd) & 0xffff0000u);
    _mm512_mask_storeu_epi16(p, __mmask32((uint64_t(1) << n) - 1), __m512i(w));
}
#endif

}  // namespace WB_ISA
}  // namespace wb
