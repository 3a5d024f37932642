// Ops dominated by libm or by integer division. One version serves all processors, because wider vectors would not
// help.
#pragma once

#include "operators.hpp"

namespace wb {
inline namespace WB_ISA {

inline float c_fmod(float a, float b) { return __builtin_fmodf(a, b); }
inline double c_fmod(double a, double b) { return __builtin_fmod(a, b); }
inline float c_floor(float a) { return __builtin_floorf(a); }
inline double c_floor(double a) { return __builtin_floor(a); }
inline float c_copysign(float a, float b) { return __builtin_copysignf(a, b); }
inline double c_copysign(double a, double b) { return __builtin_copysign(a, b); }

// Division by zero gives 0, and the smallest number divided by -1 itself.
struct FloorDivide {
    template <class C, class V> static V run(V a, V b) {
        if constexpr (is_float<V>) {
            if (b == 0) return a / b;
            const V rest = c_fmod(a, b);
            V quotient = (a - rest) / b;
            if (rest != 0 && (b < 0) != (rest < 0)) quotient -= V(1);
            if (quotient == 0) return c_copysign(V(0), a / b);
            V whole = c_floor(quotient);
            if (quotient - whole > V(0.5)) whole += V(1);
            return whole;
        } else {
            if (b == 0) return 0;
            if (is_signed<V> && b == V(-1)) return V(-a);
            const V quotient = V(a / b);
            return V(quotient - V((a % b != 0) & ((a < 0) != (b < 0))));
        }
    }
};
struct TruncateDivide {
    template <class C, class V> static V run(V a, V b) {
        if (b == 0) return 0;
        if (is_signed<V> && b == V(-1)) return V(-a);
        return V(a / b);
    }
};
struct Remainder {
    template <class C, class V> static V run(V a, V b) {
        if constexpr (is_float<V>) {
            const V rest = c_fmod(a, b);
            if (b == 0) return rest;
            if (rest == 0) return c_copysign(V(0), b);
            return (b < 0) != (rest < 0) ? rest + b : rest;
        } else {
            if (b == 0 || (is_signed<V> && b == V(-1))) return 0;
            const V rest = V(a % b);
            return rest != 0 && ((rest < 0) != (b < 0)) ? V(rest + b) : rest;
        }
    }
};
struct Fmod {
    template <class C, class V> static V run(V a, V b) {
        if constexpr (is_float<V>) return c_fmod(a, b);
        else return b == 0 || (is_signed<V> && b == V(-1)) ? V(0) : V(a % b);
    }
};

// Powers of integers by repeated squaring, wrapping around. A negative exponent, which NumPy refuses, gives the integer
// part of the reciprocal.
struct Power {
    template <class C> static float run(float a, float b) { return __builtin_powf(a, b); }
    template <class C> static double run(double a, double b) { return __builtin_pow(a, b); }
    template <class C, class V> static V run(V a, V b) {
        if (is_signed<V> && b < 0) return a == V(1) ? V(1) : a == V(-1) ? ((b & 1) ? V(-1) : V(1)) : V(0);
        using U = choose<sizeof(V) == 8, uint64_t, uint32_t>;
        U base = U(a), result = 1;
        for (uint64_t e = uint64_t(b); e; e >>= 1) {
            if (e & 1) result *= base;
            base *= base;
        }
        return V(result);
    }
};
struct Gcd {
    template <class C, class V> static V run(V a, V b) {
        if (is_signed<V>) {
            a = a < 0 ? V(-a) : a;
            b = b < 0 ? V(-b) : b;
        }
        using U = choose<sizeof(V) == 8, uint64_t, uint32_t>;
        const uint64_t mask = ~uint64_t(0) >> (64 - width<V>);
        U x = U(uint64_t(a) & mask), y = U(uint64_t(b) & mask);
        while (x != 0) {
            const U rest = y % x;
            y = x;
            x = rest;
        }
        return V(y);
    }
};

#define WB_FUNCTION1(Name, function)                                                        \
    struct Name {                                                                           \
        template <class C> static float run(float a) { return __builtin_##function##f(a); } \
        template <class C> static double run(double a) { return __builtin_##function(a); }  \
    }
#define WB_FUNCTION2(Name, function)                                                                    \
    struct Name {                                                                                       \
        template <class C> static float run(float a, float b) { return __builtin_##function##f(a, b); } \
        template <class C> static double run(double a, double b) { return __builtin_##function(a, b); } \
    }
WB_FUNCTION2(Hypot, hypot);
WB_FUNCTION2(Arctan2, atan2);
WB_FUNCTION2(Nextafter, nextafter);
WB_FUNCTION1(Exp, exp);
WB_FUNCTION1(Exp2, exp2);
WB_FUNCTION1(Expm1, expm1);
WB_FUNCTION1(Log, log);
WB_FUNCTION1(Log2, log2);
WB_FUNCTION1(Log10, log10);
WB_FUNCTION1(Log1p, log1p);
WB_FUNCTION1(Sin, sin);
WB_FUNCTION1(Cos, cos);
WB_FUNCTION1(Tan, tan);
WB_FUNCTION1(Arcsin, asin);
WB_FUNCTION1(Arccos, acos);
WB_FUNCTION1(Arctan, atan);
WB_FUNCTION1(Cbrt, cbrt);
WB_FUNCTION1(Sinh, sinh);
WB_FUNCTION1(Cosh, cosh);
WB_FUNCTION1(Tanh, tanh);
WB_FUNCTION1(Arcsinh, asinh);
WB_FUNCTION1(Arccosh, acosh);
WB_FUNCTION1(Arctanh, atanh);
#undef WB_FUNCTION1
#undef WB_FUNCTION2

}  // namespace WB_ISA
}  // namespace wb
