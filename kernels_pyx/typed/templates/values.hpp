// The element types, their reads from and writes to memory, and the conversions between them.
//
// Everything here is in a namespace named after the instruction set of the including unit, so that the linker never
// uses a function compiled for AVX-512 in place of the one for any x86-64.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#ifndef WB_ISA
#define WB_ISA baseline
#endif

namespace wb {
inline namespace WB_ISA {

using std::int8_t;
using std::int16_t;
using std::int32_t;
using std::int64_t;
using std::uint8_t;
using std::uint16_t;
using std::uint32_t;
using std::uint64_t;

struct float16 { uint16_t bits; };
struct bfloat16 { uint16_t bits; };

template <class T> struct Complex {
    T re, im;
};
using complex64 = Complex<float>;
using complex128 = Complex<double>;

template <class A, class B> constexpr bool same = false;
template <class A> constexpr bool same<A, A> = true;
template <class T> constexpr bool is_float = same<T, float> || same<T, double>;
template <class T> constexpr bool is_complex = same<T, complex64> || same<T, complex128>;
template <class T> constexpr bool is_narrow = same<T, float16> || same<T, bfloat16>;
template <class T> constexpr bool is_integer = !is_float<T> && !is_complex<T> && !is_narrow<T> && !same<T, bool>;
template <class T> constexpr bool is_signed = is_integer<T> && T(-1) < T(0);

template <bool Yes, class A, class B> struct choose_type { using type = A; };
template <class A, class B> struct choose_type<false, A, B> { using type = B; };
template <bool Yes, class A, class B> using choose = typename choose_type<Yes, A, B>::type;

// The type of a value in a register: the narrow floats are computed in float.
template <class T> using value_of = choose<is_narrow<T>, float, T>;

template <class To, class From> inline To bits_as(From from) {
    static_assert(sizeof(To) == sizeof(From));
    To to;
    std::memcpy(&to, &from, sizeof to);
    return to;
}

// --- float16 and bfloat16 without branches, so that loops over them become vector code on any machine. Rounding is to
// nearest even; a NaN keeps its sign and its upper payload and becomes quiet, as with the F16C instructions.
inline float widen(float16 h) {
    const int32_t magnitude = h.bits & 0x7fff;
    // subnormals are multiples of 2^-24; no intermediate number is below float's range, which a thread may flush
    const uint32_t small = bits_as<uint32_t>(float(magnitude) * 0x1p-24f);
    const uint32_t normal = (uint32_t(magnitude) << 13) + (magnitude >= 0x7c00 ? 0x70000000u : 0x38000000u);
    const uint32_t quiet = magnitude > 0x7c00 ? 0x00400000u : 0u;
    return bits_as<float>((magnitude < 0x400 ? small : normal) | quiet | (uint32_t(h.bits) & 0x8000u) << 16);
}

inline float widen(bfloat16 h) { return bits_as<float>(uint32_t(h.bits) << 16); }

inline void narrow(float value, float16& out) {
    uint32_t u = bits_as<uint32_t>(value);
    const uint32_t sign = u & 0x80000000u;
    u ^= sign;
    const uint32_t special = u > 0x7f800000u ? 0x7e00u | ((u >> 13) & 0x1ffu) : 0x7c00u;
    const uint32_t small = bits_as<uint32_t>(bits_as<float>(u) + 0.5f) - 0x3f000000u;
    const uint32_t normal = (u - 0x38000000u + 0xfffu + ((u >> 13) & 1u)) >> 13;
    const uint32_t finite = u < 0x38800000u ? small : normal;
    out.bits = uint16_t((u >= 0x47800000u ? special : finite) | sign >> 16);
}

inline void narrow(float value, bfloat16& out) {
    const uint32_t u = bits_as<uint32_t>(value);
    const uint32_t rounded = (u + 0x7fffu + ((u >> 16) & 1u)) >> 16;
    out.bits = uint16_t((u & 0x7fffffffu) > 0x7f800000u ? u >> 16 | 0x40u : rounded);
}

// Rounded to odd first, so that the second rounding is correct.
inline void narrow(double value, float16& out) {
    float once = float(value);
    uint32_t u = bits_as<uint32_t>(once);
    if (double(once) != value && (u & 1u) == 0)
        u = __builtin_fabs(double(once)) > __builtin_fabs(value) ? u - 1 : u | 1;
    narrow(bits_as<float>(u), out);
}

inline void narrow(double value, bfloat16& out) { narrow(float(value), out); }

// --- reading and writing one item
template <class T> inline value_of<T> load(const T* p) {
    if constexpr (is_narrow<T>) return widen(*p);
    else if constexpr (same<T, bool>) return *reinterpret_cast<const uint8_t*>(p) != 0;
    else return *p;
}

// --- conversions. Float to integer is undefined in C where the value does not fit; NumPy on x86-64 returns the result
// of the processor's truncating conversion to int32 (for 8, 16 and 32 bits) or int64, and so do these on all
// processors.
template <class F> inline int32_t truncate32(F x) {
    return x < F(0x1p31) && x > F(-0x1p31) - F(1) ? int32_t(x) : INT32_MIN;
}
template <class F> inline int64_t truncate64(F x) {
    return x < F(0x1p63) && x >= F(-0x1p63) ? int64_t(x) : INT64_MIN;
}

template <class O, class V> inline O convert(V v) {
    if constexpr (same<O, V>) return v;
    else if constexpr (is_complex<V>) {
        if constexpr (same<O, bool>) return (v.re != 0) | (v.im != 0);
        else if constexpr (is_complex<O>) return {decltype(O::re)(v.re), decltype(O::re)(v.im)};
        else return convert<O>(v.re);
    } else if constexpr (is_complex<O>) return {convert<decltype(O::re)>(v), 0};
    else if constexpr (same<O, bool>) return v != 0;
    else if constexpr (is_float<V> && is_integer<O>) {
        if constexpr (same<O, uint64_t>) {
            const bool high = v >= V(0x1p63);
            return uint64_t(truncate64(high ? v - V(0x1p63) : v)) ^ uint64_t(high) << 63;
        } else if constexpr (same<O, int64_t> || same<O, uint32_t>) return O(truncate64(v));
        else return O(truncate32(v));
    } else return O(v);
}

template <class T, class V> inline void store(T* p, V v) {
    if constexpr (is_narrow<T>) {
        if constexpr (is_float<V>) narrow(v, *p);
        else narrow(convert<float>(v), *p);
    } else *p = convert<T>(v);
}

}  // namespace WB_ISA
}  // namespace wb
