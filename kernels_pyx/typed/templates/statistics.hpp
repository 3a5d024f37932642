// Seven numbers of an array in one pass: count, NaN count, Inf count, min, max, sum, sum of squares.
//
// A NaN is only counted. An infinity is counted and included in min and max, not in the sums. Without other numbers,
// min is +inf and max -inf. Everything is computed in double (int64 and uint64 beyond 2^53 are rounded first). Blocks
// of 1024 are summed in 16 running sums, the blocks by Neumaier's compensated sum: the error of a sum is at most about
// 70 u sum |x|, u = 2^-53, whatever n. A finite sum of squares may overflow to inf.
#pragma once

#include "reduce.hpp"

#ifdef __AVX2__
#include <immintrin.h>
#endif

namespace wb {
inline namespace WB_ISA {

template <class A> struct Statistics {
    typedef eight<double>::type vec;
    static constexpr ptrdiff_t BLOCK = 1024;
    // Floats are compared as floats, half as wide as the doubles in which they are summed.
    using Rank = choose<same<A, float> || is_narrow<A>, float, double>;
    typedef typename eight<Rank>::type ranks;

    // s + x * one, where one is 1: a sum with one rounding, which processors compute in their multiplication units.
    // Otherwise, with two units of each kind, minima, maxima and sums would all run on the same two.
    static vec sum_by_product(const vec& s, const vec& x, [[maybe_unused]] const vec& one) {
#ifdef __AVX512F__
        return vec(_mm512_fmadd_pd(__m512d(x), __m512d(one), __m512d(s)));
#else
        return s + x;
#endif
    }
    // The square of a float is exact in double, so one rounding is the same as two.
    static void add_square(vec& q, const vec& x, const vec& one) {
#ifdef __AVX512F__
        if constexpr (same<Rank, float>) {
            q = vec(_mm512_fmadd_pd(__m512d(x), __m512d(x), __m512d(q)));
            return;
        }
#endif
        q = sum_by_product(q, x * x, one);
    }

    struct Total {  // A. Neumaier, ZAMM 54 (1974)
        double sum = 0, rest = 0;
        void add(double x) {
            const double next = sum + x;
            rest += absolute(sum) >= absolute(x) ? (sum - next) + x : (x - next) + sum;
            sum = next;
        }
        double value() const {  // once the sum has overflowed, the rest is NaN
            const double both = sum + rest;
            return both == both ? both : sum;
        }
    };

    template <class T> static T plus(T x, T y) { return x + y; }
    // y if x is a NaN, as in the instructions, which gcc does not use for comparisons of whole vectors.
    template <class T> static T lesser(T x, T y) {
#ifdef __AVX512F__
        if constexpr (same<T, vec>) return T(_mm512_min_pd(__m512d(x), __m512d(y)));
        else if constexpr (same<T, ranks>) return T(_mm256_min_ps(__m256(x), __m256(y)));
#endif
        return x < y ? x : y;
    }
    template <class T> static T greater(T x, T y) {
#ifdef __AVX512F__
        if constexpr (same<T, vec>) return T(_mm512_max_pd(__m512d(x), __m512d(y)));
        else if constexpr (same<T, ranks>) return T(_mm256_max_ps(__m256(x), __m256(y)));
#endif
        return x > y ? x : y;
    }
    // The eight lanes of a vector reduced by halves.
    template <class T> static double across(T x, T (*both)(T, T)) {
        typedef decltype(T{} == T{}) lanes;
        x = both(x, __builtin_shuffle(x, lanes{4, 5, 6, 7, 0, 1, 2, 3}));
        x = both(x, __builtin_shuffle(x, lanes{2, 3, 0, 1, 6, 7, 4, 5}));
        x = both(x, __builtin_shuffle(x, lanes{1, 0, 3, 2, 5, 4, 7, 6}));
        return double(x[0]);
    }

#if defined(__AVX2__) && !defined(__AVX512F__)
    // Vectors of the machine's width: gcc splits wider ones item by item.
    typedef double quad __attribute__((vector_size(32)));
    static double all_of(quad x) { return (x[0] + x[2]) + (x[1] + x[3]); }
    // Four consecutive numbers as doubles.
    static quad four_at(const A* p) {
        if constexpr (same<A, double>) return quad(_mm256_loadu_pd(p));
        else if constexpr (same<A, float>) return quad(_mm256_cvtps_pd(_mm_loadu_ps(p)));
        else if constexpr (same<A, int32_t>)
            return quad(_mm256_cvtepi32_pd(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))));
        else if constexpr (same<A, int16_t>) return of_ints(_mm_cvtepi16_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p))));
        else if constexpr (same<A, uint16_t>) return of_ints(_mm_cvtepu16_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p))));
        else if constexpr (same<A, int8_t>) return of_ints(_mm_cvtepi8_epi32(_mm_loadu_si32(p)));
        else if constexpr (same<A, uint8_t>) return of_ints(_mm_cvtepu8_epi32(_mm_loadu_si32(p)));
#ifdef __F16C__
        else if constexpr (same<A, float16>)
            return quad(_mm256_cvtps_pd(_mm_cvtph_ps(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)))));
#endif
        else {
            quad x;
            for (int k = 0; k < 4; k++) x[k] = convert<double>(load(p + k));
            return x;
        }
    }
    static quad of_ints(__m128i x) { return quad(_mm256_cvtepi32_pd(x)); }
#endif

    // The source of the numbers: an array in memory, ...
    struct There {
        const A* a;
#if defined(__AVX2__) && !defined(__AVX512F__)
        quad four(ptrdiff_t i) const { return four_at(a + i); }
#else
        void next(ptrdiff_t i, vec& x, ranks& r) const {
            eight_at<double>(x, a + i);
            if constexpr (same<Rank, double>) r = x;
            else eight_at<Rank>(r, a + i);
        }
#endif
        static constexpr bool by_products(int k) { return k == 1; }
        void rest(ptrdiff_t, ptrdiff_t) const {}
    };
    // ... or an op on two arrays, or on an array and a single item, whose result is also written.
    template <class Op, bool AIsSingle, bool BIsSingle> struct Made {
        A* out;
        const A *a, *b;
        A one;  // the single item
        template <class T> static T both(const T& x, const T& y) {
            if constexpr (same<Op, Add>) return x + y;
            else if constexpr (same<Op, Subtract>) return x - y;
            else if constexpr (same<Op, Multiply>) return x * y;
            else return x / y;
        }
        template <class T> T some(const A* from, ptrdiff_t i, bool single) const {
            T x;
            if (single) return one - T{};  // all lanes; a sum with 0 would lose the sign of -0
            std::memcpy(&x, from + i, sizeof x);
            return x;
        }
        template <class T> T made(ptrdiff_t i) const {
            const T x = both<T>(some<T>(a, i, AIsSingle), some<T>(b, i, BIsSingle));
            std::memcpy(out + i, &x, sizeof x);
            return x;
        }
#if defined(__AVX2__) && !defined(__AVX512F__)
        quad four(ptrdiff_t i) const {
            typedef A items __attribute__((vector_size(4 * sizeof(A))));
            if constexpr (same<A, double>) return made<quad>(i);
            else return quad(_mm256_cvtps_pd(__m128(made<items>(i))));
        }
#else
        void next(ptrdiff_t i, vec& x, ranks& r) const {
            r = made<ranks>(i);
            if constexpr (same<A, double>) x = r;
#ifdef __AVX512F__
            else x = vec(_mm512_cvtps_pd(__m256(r)));
#else
            else x = __builtin_convertvector(r, vec);
#endif
        }
#endif
        static constexpr bool by_products(int) { return same<Op, Add> || same<Op, Subtract>; }  // as many of each
        void rest(ptrdiff_t i, ptrdiff_t n) const {
            for (; i < n; i++) out[i] = both<A>(AIsSingle ? one : a[i], BIsSingle ? one : b[i]);
        }
    };

    static void call(const char* in, ptrdiff_t n, double* out) { run(at<A>(in), There{at<A>(in)}, n, out); }
    template <class Op, bool AIsSingle, bool BIsSingle>
    static void of_op(char* to, const char* a, const char* b, ptrdiff_t n, double* out) {
        const A one = AIsSingle ? *at<A>(a) : BIsSingle ? *at<A>(b) : A();
        run(at<A>(to), Made<Op, AIsSingle, BIsSingle>{at<A>(to), at<A>(a), at<A>(b), one}, n, out);
    }

    // `a`: address of the numbers after the source has returned them.
    template <class Source> static void run(const A* a, Source given, ptrdiff_t n, double* out) {
        const Source source = given;  // in registers: writes might alias it
        Total sum, squares;
        double nans = 0, infs = 0, low = __builtin_inf(), high = -low;
        const auto one_by_one = [&](const A* from, ptrdiff_t m) {
            double s = 0, q = 0;
            for (ptrdiff_t i = 0; i < m; i++) {
                const double x = convert<double>(load(from + i));
                const bool nan = x != x, inf = absolute(x) == __builtin_inf();
                nans += nan;
                infs += inf;
                low = x < low ? x : low;
                high = x > high ? x : high;
                s += nan || inf ? 0 : x;
                q += nan || inf ? 0 : x * x;
            }
            sum.add(s);
            squares.add(q);
        };
        ptrdiff_t i = 0;
#if defined(__AVX2__) && !defined(__AVX512F__)
        quad least[2], most[2];
        for (int k = 0; k < 2; k++) least[k] = quad{} + low, most[k] = quad{} + high;
        for (ptrdiff_t m; (m = n - i < BLOCK ? (n - i) & ~ptrdiff_t(7) : BLOCK) > 0; i += m) {
            quad s[4] = {}, q[4] = {}, below[2] = {least[0], least[1]}, over[2] = {most[0], most[1]};
            const auto add = [&](ptrdiff_t from, int k) {
                const quad x = source.four(from);
                s[k] += x;
                q[k] += x * x;
                below[k & 1] = quad(_mm256_min_pd(__m256d(x), __m256d(below[k & 1])));
                over[k & 1] = quad(_mm256_max_pd(__m256d(x), __m256d(over[k & 1])));
            };
            ptrdiff_t b = 0;
            for (; b + 16 <= m; b += 16) {
#pragma GCC unroll 4
                for (int k = 0; k < 4; k++) add(i + b + 4 * k, k);
            }
            if (b < m) add(i + b, 0), add(i + b + 4, 1);
            const double total = all_of((s[0] + s[2]) + (s[1] + s[3])), square = all_of((q[0] + q[2]) + (q[1] + q[3]));
            if (total - total != 0) {
                one_by_one(a + i, m);
                continue;
            }
            sum.add(total);
            squares.add(square);
            for (int k = 0; k < 2; k++) least[k] = below[k], most[k] = over[k];
        }
        source.rest(i, n);
        one_by_one(a + i, n - i);
        double under = low, above = high;
        for (int k = 0; k < 2; k++) {
            for (int j = 0; j < 4; j++) {
                under = least[k][j] < under ? least[k][j] : under;
                above = most[k][j] > above ? most[k][j] : above;
            }
        }
#else
        ranks least[2], most[2];
        for (int k = 0; k < 2; k++)
            for (int j = 0; j < 8; j++) least[k][j] = Rank(low), most[k][j] = Rank(high);
        for (ptrdiff_t m; (m = n - i < BLOCK ? (n - i) & ~ptrdiff_t(7) : BLOCK) > 0; i += m) {
            // A block of finite numbers, as nearly all are, needs no masks: a NaN or Inf would be visible in its sum.
            vec s[2] = {}, q[2] = {}, one = vec{} + 1, x;
#ifdef __AVX512F__
            asm("" : "+v"(one)); // a constant 1 would be compiled to plain sums again
#endif
            ranks below[2] = {least[0], least[1]}, over[2] = {most[0], most[1]}, r;
            const auto add = [&](ptrdiff_t from, int k) {
                source.next(from, x, r);
                s[k] = Source::by_products(k) ? sum_by_product(s[k], x, one) : s[k] + x;
                add_square(q[k], x, one);
                below[k] = lesser<ranks>(r, below[k]);
                over[k] = greater<ranks>(r, over[k]);
            };
            ptrdiff_t b = 0;
            for (; b + 16 <= m; b += 16) add(i + b, 0), add(i + b + 8, 1);
            if (b < m) add(i + b, 0);
            const double total = across<vec>(s[0] + s[1], plus), square = across<vec>(q[0] + q[1], plus);
            if (total - total != 0) {
                one_by_one(a + i, m);
                continue;
            }
            sum.add(total);
            squares.add(square);
            for (int k = 0; k < 2; k++) least[k] = below[k], most[k] = over[k];
        }
        source.rest(i, n);
        one_by_one(a + i, n - i);
        const double under = across<ranks>(lesser(least[0], least[1]), lesser);
        const double above = across<ranks>(greater(most[0], most[1]), greater);
#endif
        low = under < low ? under : low;
        high = above > high ? above : high;
        const double result[7] = {double(n), nans, infs, low, high, sum.value(), squares.value()};
        std::memcpy(out, result, sizeof result);
    }
};

// The same beside add, subtract, multiply and divide of floats: two arrays, an array and an item, an item and an array.
template <class A, bool Yes = is_float<A>> struct OfOps {
    static constexpr const wb_of_op* table = nullptr;
};
template <class A> struct OfOps<A, true> {
    typedef Statistics<A> S;
#define WB_THREE_FORMS(Op) S::template of_op<Op, false, false>, S::template of_op<Op, false, true>, S::template of_op<Op, true, false>
    static constexpr wb_of_op table[12] = {WB_THREE_FORMS(Add), WB_THREE_FORMS(Subtract), WB_THREE_FORMS(Multiply), WB_THREE_FORMS(Divide)};
#undef WB_THREE_FORMS
};

}  // namespace WB_ISA
}  // namespace wb
