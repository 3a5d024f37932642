// The ops on values in registers. C is the compute type as named in the tables, V the type of its values (float
// for the narrow floats). Sources: NumPy's umath loops for all cases that C leaves open.
#pragma once

#include "values.hpp"

namespace wb {
inline namespace WB_ISA {

// --- small parts
template <class V> inline bool truth(V v) {
    if constexpr (is_complex<V>) return (v.re != 0) | (v.im != 0);
    else return v != 0;
}
template <class V> inline bool is_nan(V v) {
    if constexpr (is_complex<V>) return (v.re != v.re) | (v.im != v.im);
    else return v != v;
}
inline float absolute(float v) { return __builtin_fabsf(v); }
inline double absolute(double v) { return __builtin_fabs(v); }
inline float hypotenuse(float a, float b) { return __builtin_hypotf(a, b); }
inline double hypotenuse(double a, double b) { return __builtin_hypot(a, b); }

// Lexicographic, false if a NaN is involved, as NumPy orders complex numbers.
template <class T> inline bool complex_above(Complex<T> a, Complex<T> b, bool equal) {
    const bool clear = (a.re > b.re) & (a.im == a.im) & (b.im == b.im);
    return clear | ((a.re == b.re) & (equal ? a.im >= b.im : a.im > b.im));
}
template <class V> inline bool above(V a, V b) {
    if constexpr (is_complex<V>) return complex_above(a, b, false);
    else return a > b;
}
template <class V> inline bool not_below(V a, V b) {
    if constexpr (is_complex<V>) return complex_above(a, b, true);
    else return a >= b;
}

// R. L. Smith, "Algorithm 116: Complex division", CACM 5 (1962), in the form that NumPy uses.
template <class T> inline Complex<T> smith(Complex<T> a, Complex<T> b) {
    const T re = absolute(b.re), im = absolute(b.im);
    if (re >= im) {
        if (re == 0 && im == 0) return {a.re / re, a.im / re};
        const T ratio = b.im / b.re, scale = T(1) / (b.re + b.im * ratio);
        return {(a.re + a.im * ratio) * scale, (a.im - a.re * ratio) * scale};
    }
    const T ratio = b.re / b.im, scale = T(1) / (b.im + b.re * ratio);
    return {(a.re * ratio + a.im) * scale, (a.im * ratio - a.re) * scale};
}

// --- arithmetic
struct Add {
    template <class C, class V> static V run(V a, V b) {
        if constexpr (is_complex<V>) return {a.re + b.re, a.im + b.im};
        else if constexpr (same<V, bool>) return a | b;
        else return V(a + b);
    }
};
struct Subtract {
    template <class C, class V> static V run(V a, V b) {
        if constexpr (is_complex<V>) return {a.re - b.re, a.im - b.im};
        else return V(a - b);
    }
};
struct Multiply {
    template <class C, class V> static V run(V a, V b) {
        if constexpr (is_complex<V>) return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
        else if constexpr (same<V, bool>) return a & b;
        else if constexpr (sizeof(V) < 4) return V(uint32_t(a) * uint32_t(b));
        else return V(a * b);
    }
};
struct Divide {
    template <class C, class V> static V run(V a, V b) {
        if constexpr (is_complex<V>) return smith(a, b);
        else return a / b;
    }
};

// Of two equal numbers NumPy's loops over float and double return the second, over float16 the first: the sign of a zero
// depends on it. bfloat16 follows ml_dtypes.
template <class C> constexpr bool first_of_equals = same<C, float16> || is_complex<C>;
struct Maximum {
    template <class C, class V> static V run(V a, V b) {
        if constexpr (first_of_equals<C>) return not_below(a, b) || is_nan(a) ? a : b;
        else return a > b || a != a ? a : b;
    }
};
struct Minimum {
    template <class C, class V> static V run(V a, V b) {
        if constexpr (first_of_equals<C>) return not_below(b, a) || is_nan(a) ? a : b;
        else return a < b || a != a ? a : b;
    }
};
struct Fmax {
    template <class C, class V> static V run(V a, V b) {
        if constexpr (first_of_equals<C>) return not_below(a, b) || is_nan(b) ? a : b;
        else return a > b || b != b ? a : b;
    }
};
struct Fmin {
    template <class C, class V> static V run(V a, V b) {
        if constexpr (first_of_equals<C>) return not_below(b, a) || is_nan(b) ? a : b;
        else return a < b || b != b ? a : b;
    }
};
struct Copysign {
    template <class C> static float run(float a, float b) { return __builtin_copysignf(a, b); }
    template <class C> static double run(double a, double b) { return __builtin_copysign(a, b); }
};
struct Clip {  // a zero at a zero bound keeps its sign, any NaN wins
    template <class C, class V> static V run(V x, V low, V high) {
        const V up = x < low || low != low ? low : x;
        return up > high || high != high ? high : up;
    }
};

// (a x b) y c and c y (a x b): two rounded steps in one pass.
template <class X, class Y> struct Chain {
    template <class C, class V> static V run(V a, V b, V c) { return Y::template run<C>(X::template run<C>(a, b), c); }
};
template <class X, class Y> struct Reverse {
    template <class C, class V> static V run(V a, V b, V c) { return Y::template run<C>(c, X::template run<C>(a, b)); }
};

// --- comparison. Signed and unsigned 64 bits are compared exactly, as in NumPy, although their common type is float64.
template <class V> inline bool equals(V a, V b) {
    if constexpr (is_complex<V>) return (a.re == b.re) & (a.im == b.im);
    else return a == b;
}
struct Equal { template <class C, class V> static bool run(V a, V b) { return equals(a, b); } };
struct NotEqual { template <class C, class V> static bool run(V a, V b) { return !equals(a, b); } };
struct Less { template <class C, class V> static bool run(V a, V b) { return above(b, a); } };
struct LessEqual { template <class C, class V> static bool run(V a, V b) { return not_below(b, a); } };
struct Greater { template <class C, class V> static bool run(V a, V b) { return above(a, b); } };
struct GreaterEqual { template <class C, class V> static bool run(V a, V b) { return not_below(a, b); } };

// --- logical, select, cast
struct LogicalAnd { template <class C, class V> static bool run(V a, V b) { return truth(a) & truth(b); } };
struct LogicalOr { template <class C, class V> static bool run(V a, V b) { return truth(a) | truth(b); } };
struct LogicalXor { template <class C, class V> static bool run(V a, V b) { return truth(a) != truth(b); } };
struct LogicalNot { template <class C, class V> static bool run(V a) { return !truth(a); } };
struct Cast { template <class C, class V> static V run(V a) { return a; } };

// --- bitwise. A shift by the width or more (or by a negative number) shifts everything out.
template <class V> constexpr unsigned width = sizeof(V) * 8;
struct BitwiseAnd { template <class C, class V> static V run(V a, V b) { return V(a & b); } };
struct BitwiseOr { template <class C, class V> static V run(V a, V b) { return V(a | b); } };
struct BitwiseXor { template <class C, class V> static V run(V a, V b) { return V(a ^ b); } };
struct LeftShift {
    template <class C, class V> static V run(V a, V b) {
        return uint64_t(b) < width<V> ? V(choose<sizeof(V) == 8, uint64_t, uint32_t>(a) << (b & (width<V> - 1))) : V(0);
    }
};
struct RightShift {
    template <class C, class V> static V run(V a, V b) {
        const V out = is_signed<V> && a < 0 ? V(-1) : V(0);
        return uint64_t(b) < width<V> ? V(a >> (b & (width<V> - 1))) : out;
    }
};
struct Invert {
    template <class C, class V> static V run(V a) {
        if constexpr (same<V, bool>) return !a;
        else return V(~a);
    }
};
struct BitwiseCount {  // of the absolute value, as in NumPy
    template <class C, class V> static uint8_t run(V a) {
        const V magnitude = is_signed<V> && a < 0 ? V(-a) : a;
        uint64_t u = uint64_t(magnitude) & (~uint64_t(0) >> (64 - width<V>));
        u -= (u >> 1) & 0x5555555555555555u;
        u = (u & 0x3333333333333333u) + ((u >> 2) & 0x3333333333333333u);
        u = (u + (u >> 4)) & 0x0f0f0f0f0f0f0f0fu;
        return uint8_t((u * 0x0101010101010101u) >> 56);
    }
};

// --- unary
struct Negative {
    template <class C, class V> static V run(V a) {
        if constexpr (is_complex<V>) return {-a.re, -a.im};
        else return V(-a);
    }
};
struct Positive { template <class C, class V> static V run(V a) { return a; } };
struct Conj { template <class C, class V> static V run(V a) { return {a.re, -a.im}; } };
struct Abs {
    template <class C, class V> static auto run(V a) {
        if constexpr (is_complex<V>) return hypotenuse(a.re, a.im);
        else if constexpr (is_float<V>) return absolute(a);
        else if constexpr (is_signed<V>) return V(a < 0 ? -a : a);
        else return a;
    }
};
struct Sign {
    template <class C, class V> static V run(V a) {
        if constexpr (is_complex<V>) {  // a / |a|; on the axes at infinity, NaN between them
            const auto size = hypotenuse(a.re, a.im);
            if (is_nan(a) || size != size) return {size - size + a.re - a.re, size - size + a.re - a.re};
            if (size - size != 0) {
                const bool re = a.re - a.re != 0, im = a.im - a.im != 0;
                if (re && im) return {size - size, size - size};
                if (re) return {a.re > 0 ? decltype(a.re)(1) : decltype(a.re)(-1), 0};
                if (im) return {0, a.im > 0 ? decltype(a.re)(1) : decltype(a.re)(-1)};
            }
            if (size == 0) return {0, 0};
            return {a.re / size, a.im / size};
        } else if constexpr (is_float<V>) return a > 0 ? V(1) : a < 0 ? V(-1) : a == 0 && !same<C, bfloat16> ? V(0) : a;
        else return V(int(a > 0) - int(is_signed<V> && a < 0));
    }
};
struct Square { template <class C, class V> static V run(V a) { return Multiply::run<C>(a, a); } };
struct Reciprocal {
    template <class C, class V> static V run(V a) {
        if constexpr (is_complex<V>) {
            if (absolute(a.im) <= absolute(a.re)) {
                const auto ratio = a.im / a.re, scale = a.re + a.im * ratio;
                return {1 / scale, -ratio / scale};
            }
            const auto ratio = a.re / a.im, scale = a.re * ratio + a.im;
            return {ratio / scale, -1 / scale};
        } else if constexpr (is_float<V>) return V(1) / a;
        else return convert<V>(1.0 / double(a));
    }
};
struct Sqrt {
    template <class C> static float run(float a) { return __builtin_sqrtf(a); }
    template <class C> static double run(double a) { return __builtin_sqrt(a); }
};
#define WB_ROUNDING(Name, function)                                               \
    struct Name {                                                                 \
        template <class C> static float run(float a) { return function##f(a); }   \
        template <class C> static double run(double a) { return function(a); }    \
    }
WB_ROUNDING(Floor, __builtin_floor);
WB_ROUNDING(Ceil, __builtin_ceil);
WB_ROUNDING(Trunc, __builtin_trunc);
WB_ROUNDING(Round, __builtin_rint);
#undef WB_ROUNDING

struct Isnan { template <class C, class V> static bool run(V a) { return is_nan(a); } };
struct Isfinite {
    template <class C, class V> static bool run(V a) {
        if constexpr (is_complex<V>) return (a.re - a.re == 0) & (a.im - a.im == 0);
        else return a - a == 0;
    }
};
struct Isinf {
    template <class C, class V> static bool run(V a) {
        if constexpr (is_complex<V>) return Isinf::run<C>(a.re) | Isinf::run<C>(a.im);
        else return absolute(a) == V(__builtin_inf());
    }
};
struct Signbit {
    template <class C> static bool run(float a) { return bits_as<uint32_t>(a) >> 31; }
    template <class C> static bool run(double a) { return bits_as<uint64_t>(a) >> 63; }
};

}  // namespace WB_ISA
}  // namespace wb
