// Eight numbers at a time, in as many vectors as the processor needs for them, so that results do not depend on the
// instruction set. For vectors wider than the processor's, gcc generates code that splits them number by number, or
// goes through memory.
#ifndef WB_EVOLUTION_LANES_H
#define WB_EVOLUTION_LANES_H

#include "evolution.h"

#include <stdint.h>
#include <string.h>
#ifdef __AVX2__
#include <immintrin.h>
#endif

// in the set's own namespace, so that an inline function of another set cannot replace it
namespace WB_ISA {
namespace {

#if defined(__AVX512F__)
enum { BYTES = 64 };
#elif defined(__AVX2__)
enum { BYTES = 32 };
#else
enum { BYTES = 16 };
#endif
enum { PARTS = 64 / BYTES, WIDE = 8 / PARTS };

typedef double Doubles __attribute__((vector_size(BYTES)));
typedef float Floats __attribute__((vector_size(BYTES)));
typedef uint64_t Bits __attribute__((vector_size(BYTES)));
typedef int64_t Masks __attribute__((vector_size(BYTES)));

#if defined(__AVX512F__)
inline Doubles larger(Doubles a, Doubles b) { return (Doubles)_mm512_max_pd((__m512d)a, (__m512d)b); }
inline Doubles smaller(Doubles a, Doubles b) { return (Doubles)_mm512_min_pd((__m512d)a, (__m512d)b); }
inline Floats larger(Floats a, Floats b) { return (Floats)_mm512_max_ps((__m512)a, (__m512)b); }
inline Floats smaller(Floats a, Floats b) { return (Floats)_mm512_min_ps((__m512)a, (__m512)b); }
#else
inline Doubles larger(Doubles a, Doubles b) { return a > b ? a : b; }
inline Doubles smaller(Doubles a, Doubles b) { return a < b ? a : b; }
inline Floats larger(Floats a, Floats b) { return a > b ? a : b; }
inline Floats smaller(Floats a, Floats b) { return a < b ? a : b; }
#endif
inline double larger(double a, double b) { return a > b ? a : b; }
inline double smaller(double a, double b) { return a < b ? a : b; }

template <class V> inline V load(const void* from) {
    V v;
    memcpy(&v, from, sizeof v);
    return v;
}

// Eight lanes of E, used in computations as one vector. Copies are made vector by vector: copies of whole structures by
// the compiler go through memory in halves of a vector, and delay the following loads.
template <class E, class V> struct Eight {
    V part[PARTS];
    Eight() : part{} {}
    Eight(const Eight& other) { *this = other; }
    Eight& operator=(const Eight& other) {
        for (int p = 0; p < PARTS; p++) part[p] = other.part[p];
        return *this;
    }
    E operator[](int lane) const { return part[lane / WIDE][lane % WIDE]; }
};
typedef Eight<double, Doubles> Reals;
typedef Eight<uint64_t, Bits> Words;
template <> inline Reals load<Reals>(const void* from) {
    Reals v;
    for (int p = 0; p < PARTS; p++) v.part[p] = load<Doubles>((const char*)from + BYTES * p);
    return v;
}
template <> inline Words load<Words>(const void* from) {
    Words v;
    for (int p = 0; p < PARTS; p++) v.part[p] = load<Bits>((const char*)from + BYTES * p);
    return v;
}

#define WB_LANEWISE(op)                                                                                             \
    template <class E, class V> inline Eight<E, V> operator op(Eight<E, V> a, const Eight<E, V>& b) {               \
        for (int p = 0; p < PARTS; p++) a.part[p] = a.part[p] op b.part[p];                                         \
        return a;                                                                                                   \
    }                                                                                                               \
    template <class E, class V> inline Eight<E, V> operator op(Eight<E, V> a, E b) {                                \
        for (int p = 0; p < PARTS; p++) a.part[p] = a.part[p] op b;                                                 \
        return a;                                                                                                   \
    }
WB_LANEWISE(+)
WB_LANEWISE(-)
WB_LANEWISE(*)
WB_LANEWISE(^)
#undef WB_LANEWISE
template <class E, class V> inline void operator+=(Eight<E, V>& a, const Eight<E, V>& b) { a = a + b; }
template <class E, class V> inline void operator-=(Eight<E, V>& a, const Eight<E, V>& b) { a = a - b; }
inline Words operator>>(Words a, int by) {
    for (int p = 0; p < PARTS; p++) a.part[p] >>= by;
    return a;
}
inline Reals larger(Reals a, const Reals& b) {
    for (int p = 0; p < PARTS; p++) a.part[p] = larger(a.part[p], b.part[p]);
    return a;
}
inline Reals smaller(Reals a, const Reals& b) {
    for (int p = 0; p < PARTS; p++) a.part[p] = smaller(a.part[p], b.part[p]);
    return a;
}
inline Reals magnitude(Reals a) {
    for (int p = 0; p < PARTS; p++) a.part[p] = (Doubles)((Bits)a.part[p] & 0x7fffffffffffffffull);
    return a;
}
inline double sum_of(const Reals& v) { return ((v[0] + v[1]) + (v[2] + v[3])) + ((v[4] + v[5]) + (v[6] + v[7])); }
inline double top_of(const Reals& v) {
    double top = v[0];
    for (int l = 1; l < 8; l++) top = v[l] > top ? v[l] : top;
    return top;
}

const uint64_t EXPONENT = 0x7ff0000000000000ull;

inline bool any(Masks m) {
#if defined(__AVX512F__)
    return _mm512_test_epi64_mask((__m512i)m, (__m512i)m) != 0;
#elif defined(__AVX2__)
    return !_mm256_testz_si256((__m256i)m, (__m256i)m);
#else
    return m[0] | m[1];
#endif
}

inline bool any_equal(const uint64_t* a, const uint64_t* b, int n) {
    Masks found = {};
    int i = 0;
    for (; i + WIDE <= n; i += WIDE) found |= load<Bits>(a + i) == load<Bits>(b + i);
    bool one = any(found);
    for (; i < n; i++) one |= a[i] == b[i];
    return one;
}
inline bool any_equal(const uint64_t* a, uint64_t b, int n) {
    const Bits wanted = Bits{} + b;
    Masks found = {};
    int i = 0;
    for (; i + WIDE <= n; i += WIDE) found |= load<Bits>(a + i) == wanted;
    bool one = any(found);
    for (; i < n; i++) one |= a[i] == b;
    return one;
}
inline bool all_finite(const double* x, int n) {
    Masks found = {};
    int i = 0;
    for (; i + WIDE <= n; i += WIDE) found |= (load<Bits>(x + i) & EXPONENT) == EXPONENT;
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
