// Element-wise kernels: one op on one item, on contiguous arrays, with one operand a single item, and strided.
#pragma once

#include "narrow.hpp"
#include "operators.hpp"
#include "table.hpp"

namespace wb {
inline namespace WB_ISA {

template <class C, class T> inline value_of<C> get(const T* p) { return convert<value_of<C>>(load(p)); }
template <class T> inline const T* at(const char* p) { return reinterpret_cast<const T*>(p); }
template <class T> inline T* at(char* p) { return reinterpret_cast<T*>(p); }

// float16 has special instructions with F16C: whole blocks are converted, computed in float, converted back.
#ifdef __F16C__
template <class C, class... T> constexpr bool in_blocks = same<C, float16> || (same<T, float16> || ...);
#else
template <class C, class... T> constexpr bool in_blocks = false;
#endif
// One operand is a single item: a separate loop is used only where memory bandwidth depends on it.
template <class Op> constexpr bool own_loops = false;
template <> constexpr bool own_loops<Add> = true;
template <> constexpr bool own_loops<Subtract> = true;
template <> constexpr bool own_loops<Multiply> = true;
template <> constexpr bool own_loops<Divide> = true;

// Whole vectors of float16, or of bfloat16 in pairs, for ops with vector versions.
#ifdef __F16C__
template <class Op, class... T> constexpr bool in_lanes = own_loops<Op> && (same<T, float16> && ...);
#else
template <class Op, class... T> constexpr bool in_lanes = false;
#endif
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
template <class Op, class... T> constexpr bool in_pairs = own_loops<Op> && (same<T, bfloat16> && ...);
#else
template <class Op, class... T> constexpr bool in_pairs = false;
#endif

// Short arrays of small items: vectors of eight, four and two items, where a long loop would process single items.
template <int Count, class Body> inline void fixed(ptrdiff_t& i, const Body& body) {
#pragma GCC ivdep
    for (int j = 0; j < Count; j++) body(i + j);
    i += Count;
}
template <class Body> inline void short_loop(ptrdiff_t i, ptrdiff_t n, const Body& body) {
    while (i + 8 <= n) fixed<8>(i, body);
    if ((n - i) & 4) fixed<4>(i, body);
    if ((n - i) & 2) fixed<2>(i, body);
    if ((n - i) & 1) fixed<1>(i, body);
}
constexpr ptrdiff_t SHORT = 32;

// Kernels may work in place (out is exactly one of the inputs, of its size), so no operand is declared restrict; the
// pragma says that nothing else overlaps.
template <class Op, class A, class O, class C> struct Unary {
    static void scalar(char* out, const char* a, const char*, const char*) {
        store(at<O>(out), Op::template run<C>(get<C>(at<A>(a))));
    }
    static void vv(char* out, const char* a, const char*, const char*, ptrdiff_t n) {
        if constexpr (in_blocks<C, A, O>) {
            value_of<C> x[LANES];
            using R = decltype(Op::template run<C>(x[0]));
            R r[LANES];
            for (ptrdiff_t i = 0; i < n; i += LANES) {
                const ptrdiff_t m = n - i < LANES ? n - i : LANES;
                read(x, at<A>(a) + i, m);
                for (int j = 0; j < LANES; j++) r[j] = Op::template run<C>(x[j]);
                write(at<O>(out) + i, r, m);
            }
        } else {
#pragma GCC ivdep
            for (ptrdiff_t i = 0; i < n; i++) store(at<O>(out) + i, Op::template run<C>(get<C>(at<A>(a) + i)));
        }
    }
    static constexpr wb_plan plan{vv, nullptr, nullptr, 1, {sizeof(A), sizeof(O), 0, 0}};
    static void strided(char** args, const ptrdiff_t* dims, const ptrdiff_t* steps, void*) {
        wb_run_strided(&plan, args, dims, steps);
    }
    static constexpr wb_row row(const char* name) { return {name, scalar, vv, nullptr, nullptr, strided}; }
};

template <class Op, class A, class B, class O, class C> struct Binary {
    static void scalar(char* out, const char* a, const char* b, const char*) {
        store(at<O>(out), Op::template run<C>(get<C>(at<A>(a)), get<C>(at<B>(b))));
    }
    static void vv(char* out, const char* a, const char* b, const char*, ptrdiff_t n) {
        const auto one = [&](ptrdiff_t i) {
            store(at<O>(out) + i, Op::template run<C>(get<C>(at<A>(a) + i), get<C>(at<B>(b) + i)));
        };
        if constexpr (in_lanes<Op, A, B, O, C>) {
            ptrdiff_t i = 0;
            for (; i + WIDTH <= n; i += WIDTH)
                store_lanes(at<O>(out) + i,
                            Op::template run<C>(load_lanes(at<A>(a) + i), load_lanes(at<B>(b) + i)));
            if (i < n)
                store_lanes(at<O>(out) + i,
                            Op::template run<C>(load_lanes(at<A>(a) + i, n - i), load_lanes(at<B>(b) + i, n - i)), n - i);
        } else if constexpr (in_pairs<Op, A, B, O, C>) {
            ptrdiff_t i = 0;
            for (; i + 2 * WIDTH <= n; i += 2 * WIDTH) {
                const pairs x = load_pairs(at<A>(a) + i), y = load_pairs(at<B>(b) + i);
                store_pairs(at<O>(out) + i, {Op::template run<C>(x.even, y.even), Op::template run<C>(x.odd, y.odd)});
            }
#ifdef __AVX512BW__
            if (i < n) {
                const pairs x = load_pairs(at<A>(a) + i, n - i), y = load_pairs(at<B>(b) + i, n - i);
                store_pairs(at<O>(out) + i, {Op::template run<C>(x.even, y.even), Op::template run<C>(x.odd, y.odd)},
                            n - i);
            }
#else
            short_loop(i, n, one);
#endif
        } else if constexpr (in_blocks<C, A, B, O>) {
            value_of<C> x[LANES], y[LANES];
            using R = decltype(Op::template run<C>(x[0], y[0]));
            R r[LANES];
            for (ptrdiff_t i = 0; i < n; i += LANES) {
                const ptrdiff_t m = n - i < LANES ? n - i : LANES;
                read(x, at<A>(a) + i, m);
                read(y, at<B>(b) + i, m);
                for (int j = 0; j < LANES; j++) r[j] = Op::template run<C>(x[j], y[j]);
                write(at<O>(out) + i, r, m);
            }
        } else {
            if constexpr (own_loops<Op> && sizeof(O) <= 2)
                if (n < SHORT) return short_loop(0, n, one);
#pragma GCC ivdep
            for (ptrdiff_t i = 0; i < n; i++) one(i);
        }
    }
    static void vs(char* out, const char* a, const char* b, const char*, ptrdiff_t n) {
        if constexpr (own_loops<Op> && !in_blocks<C, A, B, O>) {
            const auto y = get<C>(at<B>(b));
#pragma GCC ivdep
            for (ptrdiff_t i = 0; i < n; i++) store(at<O>(out) + i, Op::template run<C>(get<C>(at<A>(a) + i), y));
        } else wb_run_repeated(&plan, 1, out, a, b, n);
    }
    static void sv(char* out, const char* a, const char* b, const char*, ptrdiff_t n) {
        if constexpr (own_loops<Op> && !in_blocks<C, A, B, O>) {
            const auto x = get<C>(at<A>(a));
#pragma GCC ivdep
            for (ptrdiff_t i = 0; i < n; i++) store(at<O>(out) + i, Op::template run<C>(x, get<C>(at<B>(b) + i)));
        } else wb_run_repeated(&plan, 0, out, a, b, n);
    }
    static constexpr wb_plan plan{vv, vs, sv, 2, {sizeof(A), sizeof(B), sizeof(O), 0}};
    static void strided(char** args, const ptrdiff_t* dims, const ptrdiff_t* steps, void*) {
        wb_run_strided(&plan, args, dims, steps);
    }
    static constexpr wb_row row(const char* name) { return {name, scalar, vv, vs, sv, strided}; }
};

template <class Op> constexpr bool is_chain = false;
template <class X, class Y> constexpr bool is_chain<Chain<X, Y>> = true;
template <class X, class Y> constexpr bool is_chain<Reverse<X, Y>> = true;

template <class Op, class T, class C> struct Ternary {  // one type for all operands: clip and the chains
    static void scalar(char* out, const char* a, const char* b, const char* c) {
        store(at<T>(out), Op::template run<C>(get<C>(at<T>(a)), get<C>(at<T>(b)), get<C>(at<T>(c))));
    }
    static void vv(char* out, const char* a, const char* b, const char* c, ptrdiff_t n) {
#pragma GCC ivdep
        for (ptrdiff_t i = 0; i < n; i++) {
            store(at<T>(out) + i,
                  Op::template run<C>(get<C>(at<T>(a) + i), get<C>(at<T>(b) + i), get<C>(at<T>(c) + i)));
        }
    }
    // Chains of two ops have loops for a single c and a single a.
    static void vvs(char* out, const char* a, const char* b, const char* c, ptrdiff_t n) {
        const auto z = get<C>(at<T>(c));
#pragma GCC ivdep
        for (ptrdiff_t i = 0; i < n; i++)
            store(at<T>(out) + i, Op::template run<C>(get<C>(at<T>(a) + i), get<C>(at<T>(b) + i), z));
    }
    static void svv(char* out, const char* a, const char* b, const char* c, ptrdiff_t n) {
        const auto x = get<C>(at<T>(a));
#pragma GCC ivdep
        for (ptrdiff_t i = 0; i < n; i++)
            store(at<T>(out) + i, Op::template run<C>(x, get<C>(at<T>(b) + i), get<C>(at<T>(c) + i)));
    }
    static constexpr wb_plan plan{vv, nullptr, nullptr, 3, {sizeof(T), sizeof(T), sizeof(T), sizeof(T)}};
    static void strided(char** args, const ptrdiff_t* dims, const ptrdiff_t* steps, void*) {
        wb_run_strided(&plan, args, dims, steps);
    }
    static constexpr wb_row row(const char* name) {
        if constexpr (is_chain<Op>) return {name, scalar, vv, vvs, svv, strided};
        else return {name, scalar, vv, nullptr, nullptr, strided};
    }
};

// where(condition, x, y). If all types are equal the bits are copied, including NaN payloads.
template <class If, class A, class B, class O, class C> struct Select {
    static inline void one(O* out, const If* condition, const A* x, const B* y) {
        if constexpr (same<A, O> && same<B, O>) {
            if constexpr (is_narrow<O>) out->bits = truth(load(condition)) ? x->bits : y->bits;
            else {
                const O left = *x, right = *y;
                *out = truth(load(condition)) ? left : right;
            }
        } else {
            const auto left = get<C>(x), right = get<C>(y);
            store(out, truth(load(condition)) ? left : right);
        }
    }
    static void scalar(char* out, const char* a, const char* b, const char* c) { one(at<O>(out), at<If>(a), at<A>(b), at<B>(c)); }
    static void vv(char* out, const char* a, const char* b, const char* c, ptrdiff_t n) {
#pragma GCC ivdep
        for (ptrdiff_t i = 0; i < n; i++) one(at<O>(out) + i, at<If>(a) + i, at<A>(b) + i, at<B>(c) + i);
    }
    static constexpr wb_plan plan{vv, nullptr, nullptr, 3, {sizeof(If), sizeof(A), sizeof(B), sizeof(O)}};
    static void strided(char** args, const ptrdiff_t* dims, const ptrdiff_t* steps, void*) {
        wb_run_strided(&plan, args, dims, steps);
    }
    static constexpr wb_row row(const char* name) { return {name, scalar, vv, nullptr, nullptr, strided}; }
};

}  // namespace WB_ISA
}  // namespace wb
