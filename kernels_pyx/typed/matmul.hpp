// Matrix products for small sizes; BLAS is faster above about 64 in each dimension.
//
// Order, the same on every machine: c[i, j] starts at 0 and takes a[i, p] * b[p, j] for p = 0, 1, 2 ..., every product and
// every sum rounded in the compute type (float for the narrow floats, which are rounded once at the end). A single
// column (n = 1) of floats is the exception: eight running sums over p modulo 8, added pairwise, then the rest in order.
// Error of an element: at most (k + 1) u sum_p |a[i, p] b[p, j]|, u the unit roundoff of the compute type.
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
        for (ptrdiff_t i = 0; i < m; i++, a += k, to += n) {
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
