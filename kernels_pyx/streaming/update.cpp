// Updates the state of one scalar variable with values, a chunk at a time: each step is one loop over the chunk that
// the compiler turns into vector code; rare cases (not finite, a return to the slot) are handled one by one.
#include "evolution.h"
#include "lanes.h"
#include "widen.h"

#include <math.h>

namespace WB_ISA {

namespace {

enum { CHUNK = 256 };

struct Chunk {
    double x[CHUNK], d[CHUNK];
    uint64_t w[CHUNK];
    int m;
    int first;       // 1 if the first value has no previous one
    bool all_finite;
};

inline int sign_of(double d) { return (d > 0) - (d < 0); }

void open_block(WbScalar* s) {
    for (int l = 0; l < WB_LANES; l++) s->sum[l] = s->sumsq[l] = s->sum_d[l] = 0.0;
    s->low = s->min_d = INFINITY;
    s->high = -INFINITY;
    s->max_d = 0.0;
    s->fill = 0;
}

void close_block(WbScalar* s) {
    if (s->n_blocks == WB_BLOCKS) {
        for (int i = 0; i < WB_BLOCKS / 2; i++) {
            const double* a = s->blocks + 2 * i * WB_FIELDS;
            const double* b = a + WB_FIELDS;
            const double both[WB_FIELDS] = {a[0] + b[0], a[1] + b[1], smaller(a[2], b[2]), larger(a[3], b[3]),
                                            a[4] + b[4], larger(a[5], b[5]), smaller(a[6], b[6])};
            memcpy(s->blocks + i * WB_FIELDS, both, sizeof both);
        }
        s->n_blocks = WB_BLOCKS / 2;
        s->block_size *= 2;
        return;  // the full block is now half of one
    }
    double* to = s->blocks + s->n_blocks++ * WB_FIELDS;
    to[0] = sum_of(load<Reals>(s->sum));
    to[1] = sum_of(load<Reals>(s->sumsq));
    to[2] = s->low;
    to[3] = s->high;
    to[4] = sum_of(load<Reals>(s->sum_d));
    to[5] = s->max_d;
    to[6] = s->min_d;
    open_block(s);
}

// Adds any one value to the block in progress.
inline void add_one(WbScalar* s, const Chunk& c, int i) {
    const int l = (int)((s->n + i) & (WB_LANES - 1));
    const double x = c.x[i];
    if (isfinite(x)) {
        if (!s->has_origin) {
            s->origin = x;
            s->has_origin = 1;
        }
        const double v = x - s->origin, size = fabs(c.d[i]);
        s->sum[l] += v;
        s->sumsq[l] += v * v;
        s->low = smaller(x, s->low);
        s->high = larger(x, s->high);
        if (i >= c.first && isfinite(size)) {
            s->sum_d[l] += size;
            s->max_d = larger(size, s->max_d);
            s->min_d = smaller(size, s->min_d);
        }
        return;
    }
    const int64_t at = s->n + s->skipped + i;
    s->nonfinite++;
    if (isnan(x)) s->first_nan = s->first_nan < 0 ? at : s->first_nan;
    else s->first_inf = s->first_inf < 0 ? at : s->first_inf;
}

// Finite values i to stop, in whole rounds of the lanes.
void add_rounds(WbScalar* s, const Chunk& c, int i, int stop) {
    Reals sum = load<Reals>(s->sum), sumsq = load<Reals>(s->sumsq), sum_d = load<Reals>(s->sum_d);
    Reals low = load<Reals>(c.x + i), high = low, min_d = magnitude(load<Reals>(c.d + i)), max_d = min_d;
    for (; i < stop; i += WB_LANES) {
        const Reals x = load<Reals>(c.x + i), v = x - s->origin, size = magnitude(load<Reals>(c.d + i));
        sum += v;
        sumsq += v * v;
        sum_d += size;
        low = smaller(x, low);
        high = larger(x, high);
        max_d = larger(size, max_d);
        min_d = smaller(size, min_d);
    }
    memcpy(s->sum, &sum, sizeof sum);
    memcpy(s->sumsq, &sumsq, sizeof sumsq);
    memcpy(s->sum_d, &sum_d, sizeof sum_d);
    for (int l = 0; l < WB_LANES; l++) {
        s->low = smaller(low[l], s->low), s->high = larger(high[l], s->high);
        s->max_d = larger(max_d[l], s->max_d), s->min_d = smaller(min_d[l], s->min_d);
    }
}

void blocks(WbScalar* s, const Chunk& c) {
    for (int i = 0; i < c.m;) {
        const int64_t room = s->block_size - s->fill;
        const int start = i, stop = room < c.m - i ? i + (int)room : c.m;
        while (i < stop && (!c.all_finite || i < c.first || ((s->n + i) & (WB_LANES - 1)))) add_one(s, c, i++);
        if (c.all_finite) {
            const int whole = i + ((stop - i) & -WB_LANES);
            if (whole > i) add_rounds(s, c, i, whole);
            for (i = whole; i < stop; i++) add_one(s, c, i);
        }
        s->fill += stop - start;
        if (s->fill >= s->block_size) close_block(s);
    }
}

// Runs of equal words, of one sign of the difference, and of alternating signs, each as of the end.
void runs(WbScalar* s, const Chunk& c) {
    if (!any_equal(c.w + 1, c.w, c.m - 1) && (c.first || c.w[0] != s->last_word)) {
        s->longest_const = s->const_run > s->longest_const ? s->const_run : s->longest_const;
        s->longest_const = c.m > 1 && s->longest_const < 1 ? 1 : s->longest_const;
        s->const_run = 1;
    } else {
        int64_t run = s->const_run, longest = s->longest_const;
        uint64_t before = c.first ? ~c.w[0] : s->last_word;
        for (int i = 0; i < c.m; i++) {
            const int64_t same = -(int64_t)(c.w[i] == before);  // no branches: noise is hard to predict
            const int64_t closed = run & ~same;
            longest = closed > longest ? closed : longest;
            run = (run & same) + 1;
            before = c.w[i];
        }
        s->const_run = run;
        s->longest_const = longest;
    }
    if (c.m == c.first) {
        s->mono_run = s->alt_run = s->mono_sign = 0;
        return;
    }
    const int sign = sign_of(c.d[c.m - 1]);
    const int before = c.first ? 0 : s->mono_sign;
    int k = c.m - 1, wanted = sign;
    while (sign && k >= c.first && sign_of(c.d[k]) == sign) k--;
    const int64_t mono = c.m - 1 - k + (sign && k < c.first && before == sign ? s->mono_run : 0);
    for (k = c.m - 1; sign && k >= c.first && sign_of(c.d[k]) == wanted; k--) wanted = -wanted;
    const int64_t alt = c.m - 1 - k + (sign && k < c.first && before == wanted ? s->alt_run : 0);
    s->mono_run = mono;
    s->alt_run = alt;
    s->mono_sign = sign;
}

// R. P. Brent, BIT 20 (1980): a slot that moves at powers of two (here up to the ring's size, because no longer period
// could be verified); a return to it suggests a period, which every further value must confirm.
void recurrence(WbScalar* s, const Chunk& c) {
    int i = 0;
    if (c.first) {
        s->slot = c.w[0];
        s->lam = s->candidate = s->candidate_run = 0;
        s->power = 1;
        i = 1;
    }
    while (i < c.m) {
        const int64_t room = s->power - s->lam;
        const int stop = room < c.m - i ? i + (int)room : c.m;
        if (s->candidate == 0 && !any_equal(c.w + i, s->slot, stop - i)) {
            s->lam += stop - i;
        } else {
            for (int k = i; k < stop; k++) {
                s->lam++;
                if (s->candidate > 0) {
                    const int64_t back = k - s->candidate;
                    const uint64_t earlier = back >= 0 ? c.w[back] : s->ring[(s->n + back) & (WB_RING - 1)];
                    if (earlier == c.w[k]) s->candidate_run++;
                    else s->candidate = 0;
                }
                if (s->candidate == 0 && c.w[k] == s->slot && s->lam < WB_RING) {
                    s->candidate = s->lam;
                    s->candidate_run = 1;
                }
            }
        }
        if (s->lam == s->power) {
            s->slot = c.w[stop - 1];
            s->power = s->power < WB_RING ? 2 * s->power : WB_RING;
            s->lam = 0;
        }
        i = stop;
    }
}

void ring_and_sample(WbScalar* s, const Chunk& c) {
    const int at = (int)(s->n & (WB_RING - 1)), head = at + c.m <= WB_RING ? c.m : WB_RING - at;
    memcpy(s->ring + at, c.w, head * 8);
    memcpy(s->ring, c.w + head, (c.m - head) * 8);
    for (int64_t k = s->n; k < WB_HEAD && k < s->n + c.m; k++) s->head[k] = c.w[k - s->n];
    for (int64_t k = (s->n + s->stride - 1) & -s->stride; k < s->n + c.m; k += s->stride) {
        if (s->n_sample == WB_SAMPLE) {
            for (int j = 0; j < WB_SAMPLE / 2; j++) s->sample[j] = s->sample[2 * j];
            s->n_sample = WB_SAMPLE / 2;
            s->stride *= 2;  // k, which is WB_SAMPLE times the stride before, is a multiple of this one too
        }
        s->sample[s->n_sample++] = c.w[k - s->n];
    }
}

// For integers exact, then rounded.
template <class T> inline double difference(uint64_t w, uint64_t p) {
    const uint64_t down = (T)w < (T)p ? ~0ull : 0;
    const uint64_t size = ((w - p) ^ down) - down;
    return double_of(bits_of(wide_of(size)) | (down & 0x8000000000000000ull));
}

template <class T> void widen(WbScalar* s, Chunk& c, const char* data, int64_t stride) {
    T v[CHUNK];
    if (stride == (int64_t)sizeof(T)) memcpy(v, data, c.m * sizeof(T));
    else for (int i = 0; i < c.m; i++) memcpy(v + i, data + i * stride, sizeof(T));
    for (int i = 0; i < c.m; i++) c.x[i] = wide(v[i]);
    for (int i = 0; i < c.m; i++) c.w[i] = word(v[i]);
    c.all_finite = true;
    if constexpr (Integer<T>::is_wide) {
        c.d[0] = c.first ? 0.0 : difference<T>(c.w[0], s->last_word);
        for (int i = 1; i < c.m; i++) c.d[i] = difference<T>(c.w[i], c.w[i - 1]);
    } else {
        c.d[0] = c.first ? 0.0 : c.x[0] - s->last;
        for (int i = 1; i < c.m; i++) c.d[i] = c.x[i] - c.x[i - 1];
        c.all_finite = all_finite(c.x, c.m) && all_finite(c.d, c.m);
    }
}

// The values that led to a constant run, while the ring still has them: a chunk is shorter than the ring by more than
// LONG and these.
void keep_approach(WbScalar* s) {
    enum { LONG = 200 };
    const int64_t start = s->n - s->const_run;
    if (s->const_run < LONG || s->approached == start || s->const_run + WB_APPROACH > WB_RING) return;
    if (start - WB_APPROACH < s->since) return;
    for (int k = 0; k < WB_APPROACH; k++)
        s->approach[k] = s->ring[(start - WB_APPROACH + k) & (WB_RING - 1)];
    s->approached = start;
}

}  // namespace

void feed(WbScalar* s, const char* data, int type, int64_t count, int64_t stride) {
    Chunk c;
    while (count > 0) {
        c.m = count < CHUNK ? (int)count : CHUNK;
        c.first = s->n == s->since;
        of_type(type, [&](auto sort) { widen<decltype(sort)>(s, c, data, stride); });
        blocks(s, c);
        runs(s, c);
        recurrence(s, c);
        ring_and_sample(s, c);
        s->last = c.x[c.m - 1];
        s->last_word = c.w[c.m - 1];
        s->n += c.m;
        keep_approach(s);
        data += c.m * stride;
        count -= c.m;
    }
}

}  // namespace WB_ISA
