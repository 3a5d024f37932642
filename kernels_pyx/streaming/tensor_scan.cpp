// What is kept of a tensor that an op gave: counts of NaN, infinities and zeros, range, mean, size and a hash of its
// values, in one pass of eight lanes. No multiply-add is fused, so an instruction set changes no result.
#include "evolution.h"
#include "lanes.h"
#include "widen.h"

#include <math.h>
#include <string.h>

namespace WB_ISA {

namespace {

enum { TILE = 8 };  // vectors that are looked at together for numbers that are not finite

const uint64_t MIX = 0x9e3779b97f4a7c15ull;

inline uint32_t capped(int64_t n) { return n > 0xffffffffll ? 0xffffffffu : (uint32_t)n; }
inline uint64_t mixed(uint64_t h, uint64_t w) {
    h = (h ^ w) * MIX;
    return h ^ (h >> 32);
}

// One to one in h and in w, so that a single other number is another hash.
inline Words stirred(Words h, Words w) {
    h = ((h << 9) | (h >> 55)) ^ w;
    return h + (h << 3);
}

struct Scan {
    Reals sum[2] = {}, squares[2] = {}, low, high;
    Masks zeros[2] = {};
    Words hash[2] = {};
    int64_t nan = 0, inf = 0, first_bad = -1, finite = 0;
    double odd_sum = 0, odd_squares = 0;

    Scan() {
        for (int l = 0; l < 8; l++) low[l] = INFINITY, high[l] = -INFINITY;
    }
    inline void add(const Reals v, int k) {
        hash[k] = stirred(hash[k], (Words)v);
        zeros[k] -= v == Reals{};
        low = smaller(v, low);
        high = larger(v, high);
        sum[k] += v;
        squares[k] += v * v;
    }
    // Eight numbers of which some are not finite: these are counted and stay out of the sums.
    void add_odd(const Reals v, int64_t at, int k) {
        hash[k] = stirred(hash[k], (Words)v);
        for (int l = 0; l < 8; l++) {
            const double x = v[l];
            if (isfinite(x)) {
                odd_sum += x;
                odd_squares += x * x;
                zeros[k][l] += x == 0;
            } else {
                if (first_bad < 0) first_bad = at + l;
                nan += isnan(x) != 0;
                inf += isinf(x) != 0;
            }
            if (!isnan(x)) {
                low[l] = x < low[l] ? x : low[l];
                high[l] = x > high[l] ? x : high[l];
            }
        }
    }
};

template <class T> struct Eight {
    static inline Reals at(const char* from) {
        typedef T Vector __attribute__((vector_size(8 * sizeof(T))));
        return __builtin_convertvector(load<Vector>(from), Reals);
    }
};
// Types of which the compiler has no vectors.
template <class T> inline Reals one_by_one(const char* from) {
    Reals v;
    for (int l = 0; l < 8; l++) {
        T x;
        memcpy(&x, from + l * sizeof(T), sizeof(T));
        v[l] = wide(x);
    }
    return v;
}
template <> struct Eight<Half> { static inline Reals at(const char* from) { return one_by_one<Half>(from); } };
template <> struct Eight<Brain> { static inline Reals at(const char* from) { return one_by_one<Brain>(from); } };
template <> struct Eight<Flag> { static inline Reals at(const char* from) { return one_by_one<Flag>(from); } };

template <class T> void run(const char* data, int64_t n, WbTensorRow* out) {
    Scan s;
    int64_t i = 0;
    for (; i + 8 * TILE <= n; i += 8 * TILE) {
        Reals v[TILE];
        Masks odd = {};
        for (int k = 0; k < TILE; k++) {
            v[k] = Eight<T>::at(data + (i + 8 * k) * sizeof(T));
            odd |= not_finite(v[k]);
        }
        if (__builtin_expect(any(odd), 0))
            for (int k = 0; k < TILE; k++) s.add_odd(v[k], i + 8 * k, k & 1);
        else
            for (int k = 0; k < TILE; k++) s.add(v[k], k & 1);
    }
    uint64_t tail = (uint64_t)n;
    int64_t zeros = 0;
    double low = INFINITY, high = -INFINITY, sum = s.odd_sum, squares = s.odd_squares;
    for (; i < n; i++) {
        T given;
        memcpy(&given, data + i * sizeof(T), sizeof(T));
        const double x = wide(given);
        tail = mixed(tail, bits_of(x));
        if (isfinite(x)) {
            sum += x;
            squares += x * x;
            zeros += x == 0;
        } else {
            if (s.first_bad < 0) s.first_bad = i;
            s.nan += isnan(x) != 0;
            s.inf += isinf(x) != 0;
        }
        low = x < low ? x : low;
        high = x > high ? x : high;
    }
    const Masks counts = s.zeros[0] + s.zeros[1];
    for (int l = 0; l < 8; l++) {
        zeros += counts[l];
        low = s.low[l] < low ? s.low[l] : low;
        high = s.high[l] > high ? s.high[l] : high;
        tail = mixed(mixed(tail, s.hash[0][l]), s.hash[1][l]);
    }
    sum += sum_of(s.sum[0] + s.sum[1]);
    squares += sum_of(s.squares[0] + s.squares[1]);
    const int64_t finite = n - s.nan - s.inf;
    out->nan = capped(s.nan);
    out->inf = capped(s.inf);
    out->zeros = capped(zeros);
    out->count = capped(n);
    out->least = n > s.nan ? low : NAN;
    out->largest = n > s.nan ? high : NAN;
    out->mean = finite ? sum / (double)finite : NAN;
    out->rms = finite ? (float)sqrt(squares / (double)finite) : NAN;
    out->hash = tail;
    out->first_bad = s.first_bad < 0 ? 0xffffffffu : capped(s.first_bad);
}

}  // namespace

void scan(const char* data, int type, int64_t n, WbTensorRow* out) {
    of_type(type, [&](auto sort) { run<decltype(sort)>(data, n, out); });
}

}  // namespace WB_ISA
