// One pass over a tensor and the previous one, tile by tile in the first-level cache: sums, largest change, numbers
// that are not finite, a hash of the bits; then the tile replaces the previous one.
#include "evolution.h"
#include "lanes.h"
#include "widen.h"

#include <math.h>
#include <stddef.h>

namespace WB_ISA {

namespace {

enum { TILE = 512, LANES = 8, STREAMS = 4, ROUND = STREAMS * 8 * LANES, PAIR = 2 * LANES };

// Sums of squares by size (J. L. Blue, ACM TOMS 4, 1978), separate for tiles whose squares overflow or vanish.
struct Squares {
    double middle, large, small;
};
const double LEAST = 1e-270, MOST = 1e300, DOWN = 0x1p-600, UP = 0x1p600;

double root(const Squares& s) {
    if (s.large > 0) return sqrt(s.large + s.middle * DOWN * DOWN) * UP;
    if (!(s.middle < LEAST)) return sqrt(s.middle);
    return sqrt(s.small + s.middle * UP * UP) * DOWN;
}

struct Sums {
    Squares norm, step;
    Reals sum_d;
    double max_d;
    int64_t nan, inf;
};

inline double largest(const double* x, int n) {
    Reals top = {};
    for (int i = 0; i < n; i += LANES) top = larger(magnitude(load<Reals>(x + i)), top);
    return top_of(top);
}

// The squares of x - y again, scaled, because their sum was too large or too small.
void rescaled(Squares& to, bool large, const double* x, const double* y, int n) {
    Reals sums = {};
    for (int i = 0; i < n; i += LANES) {
        Reals v = load<Reals>(x + i) * (large ? DOWN : UP);
        if (y) v -= load<Reals>(y + i) * (large ? DOWN : UP);
        sums += v * v;
    }
    (large ? to.large : to.small) += sum_of(sums);
}

// n numbers, a multiple of a pair of lanes, and the previous ones; or the sizes of their changes, if known.
template <bool KNOWN> void add_tile(Sums& s, const double* x, const double* y, const double* sizes, int n) {
    Reals norm[2] = {}, step[2] = {}, sum_d[2] = {}, max_d[2] = {};
    for (int i = 0; i < n; i += PAIR) {
        for (int k = 0; k < 2; k++) {  // two, so that no sum waits for itself
            const Reals v = load<Reals>(x + i + k * LANES);
            const Reals size = KNOWN ? load<Reals>(sizes + i + k * LANES) : magnitude(v - load<Reals>(y + i + k * LANES));
            norm[k] += v * v;
            step[k] += size * size;
            sum_d[k] += size;
            max_d[k] = larger(size, max_d[k]);
        }
    }
    s.sum_d += sum_d[0] + sum_d[1];
    const double squares = sum_of(norm[0] + norm[1]), steps = sum_of(step[0] + step[1]);
    const double top = top_of(larger(max_d[0], max_d[1]));
    if (top > s.max_d) s.max_d = top;
    int64_t nan = 0, inf = 0;
    if (!(squares < MOST)) {
        for (int i = 0; i < n; i++) {
            nan += isnan(x[i]) != 0;
            inf += isinf(x[i]) != 0;
        }
    }
    s.nan += nan;
    s.inf += inf;
    const bool known = !(nan | inf);  // sums that are therefore not finite stay so
    if (known && !(squares < MOST)) rescaled(s.norm, true, x, NULL, n);
    else if (squares < LEAST && largest(x, n) > 0) rescaled(s.norm, false, x, NULL, n);
    else s.norm.middle += squares;
    const double* from = KNOWN ? sizes : x;
    const double* less = KNOWN ? NULL : y;
    if (known && !(steps < MOST) && !(steps != steps)) rescaled(s.step, true, from, less, n);
    else if (steps < LEAST && top > 0) rescaled(s.step, false, from, less, n);
    else s.step.middle += steps;
}

// A tile of any type: float64 in place, others widened.
template <class T> void add(Sums& s, const char* now, const char* before, int n) {
    if constexpr (sizeof(T) == 8 && !Integer<T>::exact) {
        add_tile<false>(s, (const double*)now, (const double*)before, NULL, n);
    } else {
        double x[TILE], y[TILE];
        const T* a = (const T*)now;
        const T* b = (const T*)before;
        for (int i = 0; i < n; i++) x[i] = wide(a[i]);
        if constexpr (Integer<T>::is_wide) {
            for (int i = 0; i < n; i++) y[i] = change(a[i], b[i]);
            add_tile<true>(s, x, NULL, y, n);
        } else {
            for (int i = 0; i < n; i++) y[i] = wide(b[i]);
            add_tile<false>(s, x, y, NULL, n);
        }
    }
}

const uint64_t MULTIPLIER = 0xd6e8feb86659fd93ull, SEED = 0x9e3779b97f4a7c15ull;

inline uint64_t stirred(uint64_t h, uint64_t w) {
    h = (h ^ w) * MULTIPLIER;
    return h ^ (h >> 32);
}

// A bijection of each word, so that different words stay different.
inline Words mixed(Words h, Words w) {
    h = (h ^ w) * MULTIPLIER;
    return h ^ (h >> 32);
}

// Rounds of bytes into the hash, and from `now` to `before`.
void add_hash(Words* hash, const char* now, char* before, int rounds) {
    Words h[STREAMS];
    for (int k = 0; k < STREAMS; k++) h[k] = hash[k];
    for (int r = 0; r < rounds; r++, now += ROUND, before += ROUND) {
        for (int k = 0; k < STREAMS; k++) {
            const Words w = load<Words>(now + k * 8 * LANES);
            h[k] = mixed(h[k], w);
            for (int p = 0; p < PARTS; p++) memcpy(before + k * 8 * LANES + BYTES * p, &w.part[p], BYTES);
        }
    }
    for (int k = 0; k < STREAMS; k++) hash[k] = h[k];
}

template <class T> void run(const char* now, char* before, int64_t count, int compare, WbPass* out) {
    Words lanes[STREAMS];
    Sums s = {};
    for (int l = 0; l < STREAMS * LANES; l++) lanes[l / LANES].part[l % LANES / WIDE][l % WIDE] = SEED * (l + 1);
    const int64_t whole = count / TILE * TILE;
    for (int64_t at = 0; at < whole; at += TILE, now += TILE * sizeof(T), before += TILE * sizeof(T)) {
        add<T>(s, now, compare ? before : now, TILE);
        add_hash(lanes, now, before, TILE * sizeof(T) / ROUND);
    }
    if (count > whole) {  // the last numbers, padded with zeros
        alignas(64) char fresh[TILE * sizeof(T) + ROUND], old[TILE * sizeof(T) + ROUND];
        const int n = (int)(count - whole), bytes = n * (int)sizeof(T), padded = (bytes + ROUND - 1) / ROUND * ROUND;
        memset(fresh + bytes, 0, padded - bytes);
        memset(old + bytes, 0, padded - bytes);
        memcpy(fresh, now, bytes);
        memcpy(old, compare ? before : now, bytes);
        add<T>(s, fresh, old, (n + PAIR - 1) & -PAIR);
        memcpy(before, fresh, bytes);
        add_hash(lanes, fresh, old, padded / ROUND);
    }
    out->norm = root(s.norm);
    out->step = root(s.step);
    out->sum_abs_d = sum_of(s.sum_d);
    out->max_abs_d = s.max_d;
    out->nan = s.nan;
    out->inf = s.inf;
    uint64_t h = stirred(0x243f6a8885a308d3ull, (uint64_t)count);
    for (int l = 0; l < STREAMS * LANES; l++) h = stirred(h, lanes[l / LANES][l % LANES]);
    out->hash = stirred(h, h >> 29);
}

template <class T> void changes(const char* now, const char* before, int64_t n, double* moved) {
    for (int64_t i = 0; i < n; i++) {
        T a, b;
        memcpy(&a, now + i * sizeof(T), sizeof(T));
        memcpy(&b, before + i * sizeof(T), sizeof(T));
        const double size = change(a, b);
        moved[i] = isfinite(size) ? size : INFINITY;
    }
}

}  // namespace

void pass(const char* now, char* before, int type, int64_t n, int compare, WbPass* out) {
    of_type(type, [&](auto sort) { run<decltype(sort)>(now, before, n, compare, out); });
}

void moved(const char* now, const char* before, int type, int64_t n, double* found) {
    of_type(type, [&](auto sort) { changes<decltype(sort)>(now, before, n, found); });
}

}  // namespace WB_ISA
