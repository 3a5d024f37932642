// Statistics of a tensor that an op returned: counts of NaN, infinities and zeros, range, mean, size and a hash of its
// values, in one pass of eight lanes. No multiply-add is fused, so an instruction set changes no result.
#include "evolution.h"
#include "widen.h"

#include <math.h>
#include <string.h>
#include <type_traits>

namespace WB_ISA {

namespace {

enum { TILE = 8, NUMBERS = 8 * TILE };  // rows of eight numbers checked together for finiteness
enum { SHORT = 1 << 24 };               // tiles whose zeros are counted in 32 bits

typedef int32_t FloatMasks __attribute__((vector_size(BYTES)));
typedef float FewFloats __attribute__((vector_size(BYTES / 2)));  // one for each of the Doubles

const uint64_t MIX = 0x9e3779b97f4a7c15ull;

inline uint32_t capped(int64_t n) { return n > 0xffffffffll ? 0xffffffffu : (uint32_t)n; }
inline uint64_t mixed(uint64_t h, uint64_t w) {
    h = (h ^ w) * MIX;
    return h ^ (h >> 32);
}

// Injective in h and in each of two words, so that a single different number gives another hash.
inline Bits turned(Bits w, int by) { return (w << by) | (w >> (64 - by)); }
inline Bits mixed(Bits h, Bits first, Bits second) { return turned(h, 9) ^ first ^ turned(second, 13); }
inline Bits stirred(Bits h) { return h + (h << 3); }

// Numbers are compared as float64, or as float32 if that represents all values of their type.
template <class T> struct Compared {
    typedef double Number;
    typedef Doubles V;
    typedef Masks Count;
};
struct ComparedFloats {
    typedef float Number;
    typedef Floats V;
    typedef FloatMasks Count;
};
template <> struct Compared<float> : ComparedFloats {};
template <> struct Compared<Half> : ComparedFloats {};
template <> struct Compared<Brain> : ComparedFloats {};

// sum + v * v. The square of a float32 is exact in float64: rounded once or twice, the sum is the same.
inline Doubles with_square(Doubles sum, Doubles v, double) { return sum + v * v; }
inline Doubles with_square(Doubles sum, Doubles v, float) {
#if defined(__AVX512F__)
    return (Doubles)_mm512_fmadd_pd((__m512d)v, (__m512d)v, (__m512d)sum);
#elif defined(__FMA__)
    return (Doubles)_mm256_fmadd_pd((__m256d)v, (__m256d)v, (__m256d)sum);
#else
    return sum + v * v;
#endif
}

inline Doubles widened(const double* from) { return load<Doubles>(from); }
inline Doubles widened(const float* from) { return __builtin_convertvector(load<FewFloats>(from), Doubles); }

inline void as_compared(float* to, Half v) { *to = narrow(v); }
inline void as_compared(float* to, Brain v) { *to = narrow(v); }
template <class T> inline void as_compared(double* to, T v) { *to = wide(v); }

// The numbers of a tile, in place or widened into ``room``.
template <class T, class N> inline const N* numbers(const char* from, N* room) {
    if constexpr (std::is_same_v<T, N>) {
        return (const N*)from;
    } else {
        T given[NUMBERS];
        memcpy(given, from, sizeof given);
        for (int l = 0; l < NUMBERS; l++) as_compared(room + l, given[l]);
        return room;
    }
}

template <class T> void run(const char* data, int64_t n, WbTensorRow* out) {
    typedef typename Compared<T>::Number Number;
    typedef typename Compared<T>::V V;
    typedef typename Compared<T>::Count Count;
    enum { LANES = BYTES / sizeof(Number), LINES = 512 / BYTES / (8 / sizeof(Number)) };
    Doubles sum[2][PARTS] = {}, squares[2][PARTS] = {};
    Bits hash[2][PARTS] = {};
    V smallest, greatest;
    for (int l = 0; l < LANES; l++) smallest[l] = INFINITY, greatest[l] = -INFINITY;
    int64_t zeros = 0, nan = 0, inf = 0, first_bad = -1;
    double low = INFINITY, high = -INFINITY, odd_sum = 0, odd_squares = 0;
    const auto one_by_one = [&](double x, int64_t at) {
        if (isfinite(x)) {
            odd_sum += x;
            odd_squares += x * x;
            zeros += x == 0;
        } else {
            if (first_bad < 0) first_bad = at;
            nan += isnan(x) != 0;
            inf += isinf(x) != 0;
        }
        low = x < low ? x : low;
        high = x > high ? x : high;
    };
    int64_t i = 0;
    const int64_t tiles = n / NUMBERS;
    for (int64_t tile = 0; tile < tiles;) {
        const int64_t stop = tile + SHORT < tiles ? tile + SHORT : tiles;
        Count none = {};
        for (; tile < stop; tile++, i += NUMBERS) {
            alignas(64) Number room[NUMBERS];
            const Number* x = numbers<T>(data + i * sizeof(T), room);
            Doubles s[2][PARTS], q[2][PARTS], odd = {};
            for (int p = 0; p < PARTS; p++) {
                for (int k = 0; k < TILE; k += 2) {
                    const Doubles v = widened(x + 8 * k + WIDE * p), w = widened(x + 8 * (k + 1) + WIDE * p);
                    Bits& h = hash[k / 2 & 1][p];
                    h = mixed(h, (Bits)v, (Bits)w);
                    s[0][p] = k == 0 ? v : s[0][p] + v;
                    s[1][p] = k == 0 ? w : s[1][p] + w;
                    q[0][p] = k == 0 ? v * v : with_square(q[0][p], v, Number());
                    q[1][p] = k == 0 ? w * w : with_square(q[1][p], w, Number());
                }
                for (int k = 0; k < 2; k++) {
                    hash[k][p] = stirred(hash[k][p]);
                    odd += q[k][p];
                }
            }
            // the squares of a NaN or of an infinity are not finite (nor are those of the largest float64)
            if (__builtin_expect(any(((Bits)odd & EXPONENT) == EXPONENT), 0)) {
                for (int l = 0; l < NUMBERS; l++) one_by_one((double)x[l], i + l);
                continue;
            }
            for (int k = 0; k < 2; k++)
                for (int p = 0; p < PARTS; p++) sum[k][p] += s[k][p], squares[k][p] += q[k][p];
            for (int k = 0; k < LINES; k++) {
                const V v = load<V>(x + LANES * k);
                none -= v == V{};
                smallest = smaller(v, smallest);
                greatest = larger(v, greatest);
            }
        }
        for (int l = 0; l < LANES; l++) zeros += none[l];
    }
    uint64_t tail = (uint64_t)n;
    for (; i < n; i++) {
        T given;
        memcpy(&given, data + i * sizeof(T), sizeof(T));
        const double x = wide(given);
        tail = mixed(tail, bits_of(x));
        one_by_one(x, i);
    }
    for (int l = 0; l < LANES; l++) {
        low = smallest[l] < low ? smallest[l] : low;
        high = greatest[l] > high ? greatest[l] : high;
    }
    double sums[8], square_sums[8];
    for (int l = 0; l < 8; l++) {
        const int p = l / WIDE, m = l % WIDE;
        tail = mixed(mixed(tail, hash[0][p][m]), hash[1][p][m]);
        sums[l] = sum[0][p][m] + sum[1][p][m];
        square_sums[l] = squares[0][p][m] + squares[1][p][m];
    }
    const double total = odd_sum + sum_of(load<Reals>(sums));
    const double total_squares = odd_squares + sum_of(load<Reals>(square_sums));
    const int64_t finite = n - nan - inf;
    out->nan = capped(nan);
    out->inf = capped(inf);
    out->zeros = capped(zeros);
    out->count = capped(n);
    out->least = n > nan ? low : NAN;
    out->largest = n > nan ? high : NAN;
    out->mean = finite ? total / (double)finite : NAN;
    out->rms = finite ? (float)sqrt(total_squares / (double)finite) : NAN;
    out->hash = tail;
    out->first_bad = first_bad < 0 ? 0xffffffffu : capped(first_bad);
}

}  // namespace

void scan(const char* data, int type, int64_t n, WbTensorRow* out) {
    of_type(type, [&](auto sort) { run<decltype(sort)>(data, n, out); });
}

}  // namespace WB_ISA
