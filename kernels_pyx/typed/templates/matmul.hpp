// Matrix products for small sizes; BLAS is faster above about 64 in each dimension.
//
// The order of operations is the same on every machine: c[i, j] starts at 0 and takes a[i, p] * b[p, j] for p = 0, 1, 2
// ..., every product and every sum rounded in the compute type (float for the narrow floats, which are rounded once at
// the end). A single column (n = 1) of floats is the exception: eight running sums over p modulo 8, added pairwise,
// then the rest in order. Error of an element: at most (k + 1) u sum_p |a[i, p] b[p, j]|, u the unit roundoff of the
// compute type.
#pragma once

#include "reduce.hpp"

namespace wb {
inline namespace WB_ISA {

template <class A, class O, class C> struct Product {
    using V = value_of<C>;

    static V dot(const A* a, const A* b, ptrdiff_t k) {
        V sum{};
        ptrdiff_t p = 0;
        if constexpr (is_float<V>) {
            typename eight<V>::type r{}, x, y;
            for (; p + 8 <= k; p += 8) {
                eight_at<V>(x, a + p);
                eight_at<V>(y, b + p);
                r += x * y;
            }
            sum = ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]));
        }
        for (; p < k; p++) sum = Add::run<C>(sum, Multiply::run<C>(get<C>(a + p), get<C>(b + p)));
        return sum;
    }

    // The same for eight rows at once, with their running sums added pairwise in parallel.
    static void eight_dots(O* out, const A* a, const A* b, ptrdiff_t k) {
        using vec = typename eight<V>::type;
        typedef decltype(vec{} == vec{}) lanes;
        // Eight variables, not an array, which would be on the stack.
        const vec zero{};
        vec r0 = zero, r1 = zero, r2 = zero, r3 = zero, r4 = zero, r5 = zero, r6 = zero, r7 = zero, x, y;
        ptrdiff_t p = 0;
#define WB_ROW(i) eight_at<V>(x, a + i * k + p), r##i += x * y
        for (; p + 8 <= k; p += 8) {
            eight_at<V>(y, b + p);
            WB_ROW(0), WB_ROW(1), WB_ROW(2), WB_ROW(3), WB_ROW(4), WB_ROW(5), WB_ROW(6), WB_ROW(7);
        }
#undef WB_ROW
        const lanes even{0, 8, 2, 10, 4, 12, 6, 14}, odd{1, 9, 3, 11, 5, 13, 7, 15};
        const lanes low{0, 1, 8, 9, 4, 5, 12, 13}, high{2, 3, 10, 11, 6, 7, 14, 15};
        const lanes left{0, 1, 2, 3, 8, 9, 10, 11}, right{4, 5, 6, 7, 12, 13, 14, 15};
#define WB_ADD(u, v, one, two) (__builtin_shuffle(u, v, one) + __builtin_shuffle(u, v, two))
        r0 = WB_ADD(r0, r1, even, odd), r2 = WB_ADD(r2, r3, even, odd);
        r4 = WB_ADD(r4, r5, even, odd), r6 = WB_ADD(r6, r7, even, odd);
        r0 = WB_ADD(r0, r2, low, high), r4 = WB_ADD(r4, r6, low, high);
        r0 = WB_ADD(r0, r4, left, right);
#undef WB_ADD
        if constexpr (same<O, V>) {
            if (p == k) {
                std::memcpy(out, &r0, sizeof r0);
                return;
            }
        }
        for (int i = 0; i < 8; i++) {
            V sum = r0[i];
            for (ptrdiff_t q = p; q < k; q++)
                sum = Add::run<C>(sum, Multiply::run<C>(get<C>(a + i * k + q), get<C>(b + q)));
            store(out + i, sum);
        }
    }

    // One row of c, Width columns: the running sums stay in registers.
    template <ptrdiff_t Width> static void strip(O* out, const A* a, const A* b, ptrdiff_t k, ptrdiff_t n) {
        V acc[Width] = {};
        for (ptrdiff_t p = 0; p < k; p++) {
            const V x = get<C>(a + p);
            const A* row = b + p * n;
            for (ptrdiff_t j = 0; j < Width; j++) acc[j] = Add::run<C>(acc[j], Multiply::run<C>(x, get<C>(row + j)));
        }
        for (ptrdiff_t j = 0; j < Width; j++) store(out + j, acc[j]);
    }

    static void call(char* out, const char* left, const char* right, ptrdiff_t m, ptrdiff_t k, ptrdiff_t n) {
        const A* b = at<A>(right);
        O* to = at<O>(out);
        const A* a = at<A>(left);
        ptrdiff_t i = 0;
        if constexpr (is_float<V>)
            if (n == 1)
                for (; i + 8 <= m; i += 8, a += 8 * k, to += 8) eight_dots(to, a, b, k);
        for (; i < m; i++, a += k, to += n) {
            if (n == 1) {
                store(to, dot(a, b, k));
                continue;
            }
            ptrdiff_t j = 0;
            for (; j + 16 <= n; j += 16) strip<16>(to + j, a, b + j, k, n);
            for (; j + 4 <= n; j += 4) strip<4>(to + j, a, b + j, k, n);
            for (; j < n; j++) strip<1>(to + j, a, b + j, k, n);
        }
    }
};

}  // namespace WB_ISA
}  // namespace wb
