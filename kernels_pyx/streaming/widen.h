// Exact widening of every type: to float64 (64-bit integers: rounded), and to the 64-bit word that defines equality of
// values.
#ifndef WB_EVOLUTION_WIDEN_H
#define WB_EVOLUTION_WIDEN_H

#include "lanes.h"

#include <stdint.h>
#include <string.h>

// in the set's own namespace, so that an inline function of another set cannot replace it
namespace WB_ISA {
namespace {

struct Half { uint16_t bits; };
struct Brain { uint16_t bits; };
struct Flag { uint8_t bits; };

inline uint64_t bits_of(double x) { uint64_t b; memcpy(&b, &x, 8); return b; }
inline float float_of(uint32_t b) { float x; memcpy(&x, &b, 4); return x; }
inline double double_of(uint64_t b) { double x; memcpy(&x, &b, 8); return x; }

// IEEE 754 binary16: subnormals are multiples of 2^-24, other exponents move by 127 - 15.
inline float narrow(Half h) {
    const int32_t em = h.bits & 0x7fff;
    const uint32_t sign = (uint32_t)(h.bits & 0x8000) << 16;
    const float tiny = (float)em * 5.9604644775390625e-8f;
    uint32_t small;
    memcpy(&small, &tiny, 4);
    const uint32_t normal = ((uint32_t)em << 13) + (em >= 0x7c00 ? 0x70000000u : 0x38000000u);
    return float_of(sign | (em < 0x400 ? small : normal));
}
inline float narrow(Brain b) { return float_of((uint32_t)b.bits << 16); }
inline float narrow(float v) { return v; }

// uint64 -> float64, rounded once: both halves are exact.
inline double wide_of(uint64_t v) {
    const double high = double_of((v >> 32) | 0x4530000000000000ull) - 19342813118337666422669312.0;  // 2^84 + 2^52
    return high + double_of((v & 0xffffffffull) | 0x4330000000000000ull);
}

template <class T> inline double wide(T v) { return (double)v; }
template <> inline double wide(Half v) { return (double)narrow(v); }
template <> inline double wide(Brain v) { return (double)narrow(v); }
template <> inline double wide(Flag v) { return v.bits ? 1.0 : 0.0; }

template <class T> struct Integer { enum { exact = 0, is_signed = 0, is_wide = 0 }; };
#define WB_INTEGER(T, S, W) template <> struct Integer<T> { enum { exact = 1, is_signed = S, is_wide = W }; }
WB_INTEGER(int64_t, 1, 1);
WB_INTEGER(int32_t, 1, 0);
WB_INTEGER(int16_t, 1, 0);
WB_INTEGER(int8_t, 1, 0);
WB_INTEGER(uint64_t, 0, 1);
WB_INTEGER(uint32_t, 0, 0);
WB_INTEGER(uint16_t, 0, 0);
WB_INTEGER(uint8_t, 0, 0);
#undef WB_INTEGER

template <class T> inline uint64_t word(T v) {
    if constexpr (!Integer<T>::exact) return bits_of(wide(v));
    else if constexpr (Integer<T>::is_signed) return (uint64_t)(int64_t)v;
    else return (uint64_t)v;
}
template <> inline uint64_t word(Flag v) { return v.bits != 0; }

// |a - b|; for integers exact, then rounded.
template <class T> inline double change(T a, T b) {
    if constexpr (Integer<T>::is_wide) return wide_of(a >= b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a);
    else return __builtin_fabs(wide(a) - wide(b));
}

// Calls f with a value of the C++ type of a WbType.
template <class F> inline void of_type(int type, F f) {
    switch (type) {
        case WB_F8: f(double()); break;
        case WB_F4: f(float()); break;
        case WB_F2: f(Half()); break;
        case WB_BF2: f(Brain()); break;
        case WB_I8: f(int64_t()); break;
        case WB_I4: f(int32_t()); break;
        case WB_I2: f(int16_t()); break;
        case WB_I1: f(int8_t()); break;
        case WB_U8: f(uint64_t()); break;
        case WB_U4: f(uint32_t()); break;
        case WB_U2: f(uint16_t()); break;
        case WB_U1: f(uint8_t()); break;
        default: f(Flag()); break;
    }
}

}  // namespace
}  // namespace WB_ISA
#endif
