// What is kept of a loop variable, and the passes that bring it up to date. streaming.pyx is the only door.
//
//   values in time --wb_feed--> WbScalar   (a chunk at a time: widen, differences, blocks, runs, recurrence, ring)
//   one tensor     --wb_pass--> WbPass     (one pass over it and the one before it, which it replaces)
//
// update.cpp, onepass.cpp and tensor_scan.cpp are compiled once for each instruction set; dispatch.cpp picks one at load. Sums have a fixed
// number of lanes and no multiply-add is fused, so that an instruction set changes no result.
#ifndef WB_EVOLUTION_H
#define WB_EVOLUTION_H

#include <stdint.h>

enum {
    WB_RING = 512,     // newest values; a power of two
    WB_BLOCKS = 48,    // even: neighbours merge when all are full
    WB_FIELDS = 7,     // of a block: sum, sum of squares, min, max, sum |d|, max |d|, min |d|
    WB_HEAD = 32,      // oldest values
    WB_APPROACH = 16,  // values before the present constant run, once that is long
    WB_SAMPLE = 64,    // every 2^j-th value of the whole record; even
    WB_LANES = 8       // value number k is added to lane k modulo 4
};

enum WbType { WB_F8, WB_F4, WB_F2, WB_BF2, WB_I8, WB_I4, WB_I2, WB_I1, WB_U8, WB_U4, WB_U2, WB_U1, WB_BOOL };

typedef struct {
    uint64_t ring[WB_RING];
    uint64_t head[WB_HEAD];
    uint64_t sample[WB_SAMPLE];
    uint64_t approach[WB_APPROACH];
    double blocks[WB_BLOCKS * WB_FIELDS];
    // the block in progress
    double sum[WB_LANES], sumsq[WB_LANES], sum_d[WB_LANES];
    double low, high, max_d, min_d;
    int64_t fill, block_size, n_blocks;
    int64_t n;                  // values taken in
    int64_t skipped;            // iterations without one
    int64_t since;              // values taken in before the newest gap: no difference, run or period reaches across it
    int64_t stride, n_sample;
    int64_t first_nan, first_inf, nonfinite;
    int64_t const_run, longest_const, mono_run, alt_run;
    int64_t approached;         // the number of the value that the approach leads to; -1 before the first
    int64_t lam, power, candidate, candidate_run;  // Brent's
    uint64_t slot, last_word;
    double last, origin;
    int32_t mono_sign, has_origin;
} WbScalar;

typedef struct {
    double norm, step, sum_abs_d, max_abs_d;
    int64_t nan, inf;
    uint64_t hash;
} WbPass;

// A tensor that an op gave, in 64 bytes. Counts stop at 2^32 - 1; range, mean and root mean square are of the finite
// numbers, the range of infinities too. `first_bad` is the flat index of the first number that is not finite, or 2^32 - 1.
typedef struct {
    uint32_t site, nan, inf, zeros;
    double least, largest, mean;
    uint64_t hash;
    float rms;
    uint32_t count, first_bad, kind;
} WbTensorRow;

#ifdef __cplusplus
extern "C" {
#endif

void wb_clear(WbScalar* s);
// Take in `count` values of a type, `stride` bytes apart, oldest first.
void wb_feed(WbScalar* s, const char* data, int type, int64_t count, int64_t stride);
// Note that `count` iterations come without a value.
void wb_skip(WbScalar* s, int64_t count);
// Compare n numbers with those before, and put them in their place. Without `compare` there are none before.
void wb_pass(const char* now, char* before, int type, int64_t n, int compare, WbPass* out);
// Largest |now - before| of the numbers from..stop: its place, as one number to compare by (infinite if not finite).
void wb_moved(const char* now, const char* before, int type, int64_t n, double* moved);
// All fields but `site` and `kind` of n numbers of a type that stand one behind the other.
void wb_scan(const char* data, int type, int64_t n, WbTensorRow* out);
const char* wb_evolution_isa(void);

#ifdef __cplusplus
}
#endif
#endif
