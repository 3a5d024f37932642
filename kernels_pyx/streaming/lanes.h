// Eight numbers at a time, as vectors of the compiler: what one instruction does on the widest set takes more on others,
// with the same result.
#ifndef WB_EVOLUTION_LANES_H
#define WB_EVOLUTION_LANES_H

#include "evolution.h"

#include <stdint.h>
#include <string.h>
#ifdef __AVX512F__
#include <immintrin.h>
#endif

// in the set's own namespace: an inline function of another set must not take its place
namespace WB_ISA {
namespace {

typedef double Reals __attribute__((vector_size(64)));
typedef uint64_t Words __attribute__((vector_size(64)));
typedef int64_t Masks __attribute__((vector_size(64)));

const uint64_t EXPONENT = 0x7ff0000000000000ull;

template <class V> inline V load(const void* from) {
    V v;
    memcpy(&v, from, sizeof v);
    return v;
}
inline Reals magnitude(Reals v) { return (Reals)((Words)v & 0x7fffffffffffffffull); }
inline double larger(double a, double b) { return a > b ? a : b; }
inline double smaller(double a, double b) { return a < b ? a : b; }
#if defined(__AVX512F__)
inline Reals larger(Reals a, Reals b) { return (Reals)_mm512_max_pd((__m512d)a, (__m512d)b); }
inline Reals smaller(Reals a, Reals b) { return (Reals)_mm512_min_pd((__m512d)a, (__m512d)b); }
#else
inline Reals larger(Reals a, Reals b) { return a > b ? a : b; }
inline Reals smaller(Reals a, Reals b) { return a < b ? a : b; }
#endif
inline Masks not_finite(Reals v) { return ((Words)v & EXPONENT) == EXPONENT; }
inline bool any(Masks m) {
    return ((m[0] | m[1]) | (m[2] | m[3])) | ((m[4] | m[5]) | (m[6] | m[7]));
}
inline double sum_of(Reals v) { return ((v[0] + v[1]) + (v[2] + v[3])) + ((v[4] + v[5]) + (v[6] + v[7])); }
inline double top_of(Reals v) {
    double top = v[0];
    for (int l = 1; l < 8; l++) top = v[l] > top ? v[l] : top;
    return top;
}

inline bool any_equal(const uint64_t* a, const uint64_t* b, int n) {
    Masks found = {};
    int i = 0;
    for (; i + 8 <= n; i += 8) found |= load<Words>(a + i) == load<Words>(b + i);
    bool one = any(found);
    for (; i < n; i++) one |= a[i] == b[i];
    return one;
}
inline bool any_equal(const uint64_t* a, uint64_t b, int n) {
    const Words wanted = {b, b, b, b, b, b, b, b};
    Masks found = {};
    int i = 0;
    for (; i + 8 <= n; i += 8) found |= load<Words>(a + i) == wanted;
    bool one = any(found);
    for (; i < n; i++) one |= a[i] == b;
    return one;
}
inline bool all_finite(const double* x, int n) {
    Masks found = {};
    int i = 0;
    for (; i + 8 <= n; i += 8) found |= not_finite(load<Reals>(x + i));
    bool one = any(found);
    for (; i < n; i++) {
        uint64_t b;
        memcpy(&b, x + i, 8);
        one |= (b & EXPONENT) == EXPONENT;
    }
    return !one;
}

}  // namespace
}  // namespace WB_ISA
#endif
