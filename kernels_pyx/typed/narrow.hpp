// Blocks of items read into value buffers and written back; float16 through F16C or AVX-512 where the unit has them.
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

#ifdef __F16C__
inline void read(float* to, const float16* from, ptrdiff_t n) {
    float16 rest[LANES];
    if (n < LANES) {
        std::memset(rest, 0, sizeof rest);
        std::memcpy(rest, from, size_t(n) * sizeof(float16));
        from = rest;
    }
#ifdef __AVX512F__
    for (int i = 0; i < LANES; i += 16)
        _mm512_storeu_ps(to + i, _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + i))));
#else
    for (int i = 0; i < LANES; i += 8)
        _mm256_storeu_ps(to + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i))));
#endif
}

inline void write(float16* to, const float* from, ptrdiff_t n) {
    float16 rest[LANES];
    float16* target = n < LANES ? rest : to;
#ifdef __AVX512F__
    for (int i = 0; i < LANES; i += 16)
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(target + i),
                            _mm512_cvtps_ph(_mm512_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT));
#else
    for (int i = 0; i < LANES; i += 8)
        _mm_storeu_si128(reinterpret_cast<__m128i*>(target + i),
                         _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT));
#endif
    if (n < LANES) std::memcpy(to, rest, size_t(n) * sizeof(float16));
}
#endif

}  // namespace WB_ISA
}  // namespace wb
