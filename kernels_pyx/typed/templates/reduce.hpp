// Reductions and running results over the middle axis of a contiguous (outer, n, inner) array.
//
// Sums of floats repeat NumPy's order bit for bit: along the last axis pairwise in blocks of 128 with eight running sums
// (error at most about log2(n / 128) + 20 roundings of sum |x|), along other axes row after row, and in chunks of
// 8192 where NumPy converts its input first. float16 is summed in float and rounded where NumPy rounds. Products
// run from the first item to the last.
#pragma once

#include "elementwise.hpp"

namespace wb {
inline namespace WB_ISA {

template <class T> struct eight;
template <> struct eight<float> { typedef float type __attribute__((vector_size(32))); };
template <> struct eight<double> { typedef double type __attribute__((vector_size(64))); };

// Eight consecutive numbers as one vector of V; the parts of a complex array count as numbers.
template <class V, class A> inline void eight_at(typename eight<V>::type& to, const A* from) {
    using vec_of [[maybe_unused]] = typename eight<V>::type;
    if constexpr (same<A, V>) std::memcpy(&to, from, sizeof to);
#ifdef __AVX512F__
    else if constexpr (same<A, float> && same<V, double>) to = vec_of(_mm512_cvtps_pd(_mm256_loadu_ps(from)));
    else if constexpr (same<A, int32_t> && same<V, double>)
        to = vec_of(_mm512_cvtepi32_pd(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from))));
#endif
#ifdef __F16C__
    else if constexpr (same<A, float16>) {
        const __m256 x = _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
        if constexpr (same<V, float>) to = vec_of(x);
#ifdef __AVX512F__
        else to = vec_of(_mm512_cvtps_pd(x));
#else
        else to = __builtin_convertvector(eight<float>::type(x), eight<double>::type);
#endif
    }
#endif
    else if constexpr (same<A, float> || same<A, int32_t>) {
        typedef A part __attribute__((vector_size(8 * sizeof(A))));
        part x;
        std::memcpy(&x, from, sizeof x);
        to = __builtin_convertvector(x, typename eight<V>::type);
    } else {
        V numbers[8];
        for (int j = 0; j < 8; j++) numbers[j] = convert<V>(load(from + j));
        std::memcpy(&to, numbers, sizeof to);
    }
}

// Vectors of the processor's width: gcc splits comparisons of wider ones item by item.
#if defined(__AVX512F__)
#define WB_VECTOR_BYTES 64
#elif defined(__AVX2__)
#define WB_VECTOR_BYTES 32
#else
#define WB_VECTOR_BYTES 16
#endif
template <class T> struct native { typedef T type __attribute__((vector_size(WB_VECTOR_BYTES))); };

template <class V, class A> V pairwise(const A* a, ptrdiff_t n) {
    if (n < 8) {
        V sum = -V(0);
        for (ptrdiff_t i = 0; i < n; i++) sum += convert<V>(load(a + i));
        return sum;
    }
    if (n <= 128) {
        typename eight<V>::type r, x;
        eight_at<V>(r, a);
        ptrdiff_t i = 8;
        for (; i < n - n % 8; i += 8) {
            eight_at<V>(x, a + i);
            r += x;
        }
        V sum = ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]));
        for (; i < n; i++) sum += convert<V>(load(a + i));
        return sum;
    }
    ptrdiff_t half = n / 2;
    half -= half % 8;
    return pairwise<V>(a, half) + pairwise<V>(a + half, n - half);
}

template <class T> Complex<T> pairwise_parts(const T* a, ptrdiff_t n) {  // n counts real and imaginary parts
    if (n < 8) {
        Complex<T> sum{-T(0), -T(0)};
        for (ptrdiff_t i = 0; i < n; i += 2) sum = {sum.re + a[i], sum.im + a[i + 1]};
        return sum;
    }
    if (n <= 128) {
        typename eight<T>::type r, x;
        std::memcpy(&r, a, sizeof r);
        ptrdiff_t i = 8;
        for (; i < n - n % 8; i += 8) {
            std::memcpy(&x, a + i, sizeof x);
            r += x;
        }
        Complex<T> sum{(r[0] + r[2]) + (r[4] + r[6]), (r[1] + r[3]) + (r[5] + r[7])};
        for (; i < n; i += 2) sum = {sum.re + a[i], sum.im + a[i + 1]};
        return sum;
    }
    ptrdiff_t half = n / 2;
    half -= half % 8;
    const Complex<T> left = pairwise_parts(a, half), right = pairwise_parts(a + half, n - half);
    return {left.re + right.re, left.im + right.im};
}

template <class V, class A> V chunked(const A* a, ptrdiff_t n, ptrdiff_t chunk) {
    V sum = 0;
    for (ptrdiff_t i = 0; i < n; i += chunk) sum = sum + pairwise<V>(a + i, n - i < chunk ? n - i : chunk);
    return sum;
}

struct MeanOf;

// The value that a running result has after it was stored as C: NumPy rounds every step of float16.
template <class Op, class C, class V> inline V stored(V v) {
    if constexpr (same<C, float16> && !same<Op, MeanOf>) {
        float16 h;
        narrow(v, h);
        return widen(h);
    } else return v;
}

struct SumOf {
    template <class V> static V start() { return V{}; }
    template <class C, class V> static V step(V acc, V x) { return Add::run<C>(acc, x); }
    template <class C, class A, class V> static V line(const A* a, ptrdiff_t n) {
        if constexpr (is_complex<V>) {
            if constexpr (same<A, V>) {
                const V sum = pairwise_parts(&a->re, 2 * n);
                return {sum.re + 0, sum.im + 0};
            } else {
                V sum{};
                for (ptrdiff_t i = 0; i < n; i++) sum = step<C>(sum, get<C>(a + i));
                return sum;
            }
        } else if constexpr (is_float<V>) {
            return chunked<V>(a, n, same<A, C> ? n : 8192);
        } else {
            V sum = 0;
            for (ptrdiff_t i = 0; i < n; i++) sum = step<C>(sum, get<C>(a + i));
            return sum;
        }
    }
    template <class V> static V last(V acc, ptrdiff_t) { return acc; }
};
struct MeanOf : SumOf {
    template <class C, class A, class V> static V line(const A* a, ptrdiff_t n) {
        if constexpr (is_narrow<C>) return chunked<V>(a, n, 8192);  // NumPy takes the mean of float16 in float32
        else return SumOf::line<C, A, V>(a, n);
    }
    template <class V> static V last(V acc, ptrdiff_t n) {
        if constexpr (is_complex<V>) {  // as in NumPy, whose count is an int64: divided by a complex number, in double
            const complex128 mean = smith(complex128{acc.re, acc.im}, complex128{double(n), 0});
            return convert<V>(mean);
        } else return acc / V(n);
    }
};
struct ProdOf {
    template <class V> static V start() {
        if constexpr (is_complex<V>) return {1, 0};
        else return V(1);
    }
    template <class C, class V> static V step(V acc, V x) { return Multiply::run<C>(acc, x); }
    template <class C, class A, class V> static V line(const A* a, ptrdiff_t n) {
        V acc = start<V>();
        for (ptrdiff_t i = 0; i < n; i++) acc = step<C>(acc, get<C>(a + i));
        return acc;
    }
    template <class V> static V last(V acc, ptrdiff_t) { return acc; }
};

// The greatest or smallest; the first NaN wins, and -0 is smaller than 0, so that it does not depend on the order of
// the items.
template <bool Greatest> struct Extreme {
    template <class V> static bool negative(V x) { return __builtin_signbit(x) != 0; }
    // The final value if `acc` is a zero or a NaN, for items at distance `step`.
    template <class C, class A, class V> static V settled(V acc, const A* a, ptrdiff_t n, ptrdiff_t step) {
        if constexpr (is_float<V>) {
            if (acc == 0 && negative(acc) == Greatest) {
                for (ptrdiff_t i = 0; i < n; i++) {
                    const V x = get<C>(a + i * step);
                    if (x == 0 && negative(x) != Greatest) return x;
                }
            } else if (acc != acc) {
                for (ptrdiff_t i = 0; i < n; i++) {
                    const V x = get<C>(a + i * step);
                    if (x != x) return x;
                }
            }
        }
        return acc;
    }
    template <class C, class V> static V step(V acc, V x) {
        return Greatest ? (x > acc || x != x ? x : acc) : (x < acc || x != x ? x : acc);
    }
    template <class C, class A, class V> static V line(const A* a, ptrdiff_t n) {
        V acc = get<C>(a);
        ptrdiff_t i = 1;
        if constexpr (is_float<V>) {
            // 32 running extrema for any vector width, so that the same NaN wins on every processor
            typedef typename native<V>::type vec;
            constexpr int ITEMS = 32, WIDE = sizeof(vec) / sizeof(V), VECTORS = ITEMS / WIDE;
            V room[ITEMS];
            const auto block = [&](const A* from) {
                if constexpr (same<A, V>) {
                    return from;
                } else {
                    for (int k = 0; k < ITEMS; k += 8) {
                        typename eight<V>::type some;
                        eight_at<V>(some, from + k);
                        std::memcpy(room + k, &some, sizeof some);
                    }
                    return (const V*)room;
                }
            };
            if (n >= ITEMS) {
                vec m[VECTORS], x;
                std::memcpy(m, block(a), sizeof m);
                for (i = ITEMS; i + ITEMS <= n; i += ITEMS) {
                    const V* from = block(a + i);
                    for (int k = 0; k < VECTORS; k++) {
                        std::memcpy(&x, from + WIDE * k, sizeof x);
                        m[k] = (Greatest ? (x > m[k]) | (x != x) : (x < m[k]) | (x != x)) ? x : m[k];
                    }
                }
                for (int k = 0; k < ITEMS; k++) acc = step<C>(acc, V(m[k / WIDE][k % WIDE]));
            }
        }
        for (; i < n; i++) acc = step<C>(acc, get<C>(a + i));
        return settled<C>(acc, a, n, 1);
    }
    template <class V> static V last(V acc, ptrdiff_t) { return acc; }
};
using MaxOf = Extreme<true>;
using MinOf = Extreme<false>;

template <class Op, class A, class O, class C> struct Reduce {
    using V = value_of<C>;
    static constexpr bool ranked = same<Op, MaxOf> || same<Op, MinOf>;
    static void call(char* out, const char* in, ptrdiff_t outer, ptrdiff_t n, ptrdiff_t inner) {
        constexpr ptrdiff_t TILE = 64;
        O* to = at<O>(out);
        const A* a = at<A>(in);
        if (inner == 1) {
            for (ptrdiff_t i = 0; i < outer; i++)
                store(to + i, Op::last(Op::template line<C, A, V>(a + i * n, n), n));
            return;
        }
        for (ptrdiff_t i = 0; i < outer; i++, a += n * inner, to += inner) {
            for (ptrdiff_t j = 0; j < inner; j += TILE) {
                const ptrdiff_t m = inner - j < TILE ? inner - j : TILE;
                V acc[TILE];
                for (ptrdiff_t t = 0; t < m; t++) {
                    if constexpr (ranked) acc[t] = get<C>(a + j + t);
                    else acc[t] = Op::template start<V>();
                }
                for (ptrdiff_t k = ranked; k < n; k++) {
                    const A* row = a + k * inner + j;
                    for (ptrdiff_t t = 0; t < m; t++) acc[t] = stored<Op, O>(Op::template step<C>(acc[t], get<C>(row + t)));
                }
                for (ptrdiff_t t = 0; t < m; t++) {
                    if constexpr (ranked) acc[t] = Op::template settled<C>(acc[t], a + j + t, n, inner);
                    store(to + j + t, Op::last(acc[t], n));
                }
            }
        }
    }
};

// any and all: whether an item (or no item) differs from zero; checks whole blocks, and stops at the first that
// decides.
template <class A, bool All> struct Truth {
    static void call(char* out, const char* in, ptrdiff_t outer, ptrdiff_t n, ptrdiff_t inner) {
        constexpr ptrdiff_t BLOCK = 1024;
        const A* a = at<A>(in);
        for (ptrdiff_t i = 0; i < outer; i++, a += n * inner) {
            for (ptrdiff_t j = 0; j < inner; j++) {
                bool found = false;
                for (ptrdiff_t k = 0; k < n && !found; k += BLOCK) {
                    const ptrdiff_t m = n - k < BLOCK ? n - k : BLOCK;
                    unsigned char some = 0;
                    if (inner == 1)
                        for (ptrdiff_t t = 0; t < m; t++) some |= (unsigned char)(truth(load(a + k + t)) != All);
                    else
                        for (ptrdiff_t t = 0; t < m; t++)
                            some |= (unsigned char)(truth(load(a + (k + t) * inner + j)) != All);
                    found = some != 0;
                }
                out[i * inner + j] = char(found != All);
            }
        }
    }
};

// The first position of the greatest or smallest item, or of the first NaN if there is one.
template <class A, class O, bool Greatest> struct Position {
    using V = value_of<A>;
    static void call(char* out, const char* in, ptrdiff_t outer, ptrdiff_t n, ptrdiff_t inner) {
        const A* a = at<A>(in);
        O* to = at<O>(out);
        for (ptrdiff_t i = 0; i < outer; i++, a += n * inner) {
            for (ptrdiff_t j = 0; j < inner; j++, to++) {
                ptrdiff_t best = 0;
                if (inner == 1) {
                    const V wanted = Extreme<Greatest>::template line<A, A, V>(a, n);
                    while (best < n && !(load(a + best) == wanted || (wanted != wanted && load(a + best) != load(a + best))))
                        best++;
                } else {
                    V found = load(a + j);
                    for (ptrdiff_t k = 1; k < n && found == found; k++) {
                        const V x = load(a + k * inner + j);
                        if ((Greatest ? x > found : x < found) || x != x) {
                            found = x;
                            best = k;
                        }
                    }
                }
                *to = O(best);
            }
        }
    }
};

// Running results: every step is rounded to the output type, as NumPy's accumulate stores it.
template <class Op, class A, class O, class C> struct Cumulate {
    static void call(char* out, const char* in, ptrdiff_t outer, ptrdiff_t n, ptrdiff_t inner) {
        const A* a = at<A>(in);
        O* to = at<O>(out);
        for (ptrdiff_t i = 0; i < outer && n > 0; i++, a += n * inner, to += n * inner) {
            if (inner == 1) {
                auto acc = get<C>(a);
                store(to, acc);
                for (ptrdiff_t k = 1; k < n; k++) {
                    acc = Op::template run<C>(acc, get<C>(a + k));
                    store(to + k, acc);
                    if constexpr (is_narrow<O>) acc = get<C>(to + k);
                }
                continue;
            }
            for (ptrdiff_t t = 0; t < inner; t++) store(to + t, get<C>(a + t));
            for (ptrdiff_t k = inner; k < n * inner; k += inner)
#pragma GCC ivdep
                for (ptrdiff_t t = 0; t < inner; t++)
                    store(to + k + t, Op::template run<C>(get<C>(to + k - inner + t), get<C>(a + k + t)));
        }
    }
};

}  // namespace WB_ISA
}  // namespace wb
