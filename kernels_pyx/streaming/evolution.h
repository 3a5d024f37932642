// The state of a loop variable, and the passes that update it. Used only by streaming.pyx.
//
//   values in time --wb_feed--> WbScalar   (a chunk at a time: widen, differences, blocks, runs, recurrence, ring)
//   one tensor     --wb_pass--> WbPass     (one pass over it and the previous one, which it replaces)
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
    WB_APPROACH = 16,  // values before the current constant run, once that is long
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
    int64_t n;                  // values added
    int64_t skipped;            // iterations without a value
    int64_t since;              // values added before the newest gap: no difference, run or period extends across it
    int64_t stride, n_sample;
    int64_t first_nan, first_inf, nonfinite;
    int64_t const_run, longest_const, mono_run, alt_run;
    int64_t approached;         // index of the value that ends the approach; -1 before the first
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

// A tensor that an op returned, in 64 bytes. Counts saturate at 2^32 - 1; range, mean and root mean square are those of
// the finite numbers, the range includes infinities. `first_bad` is the flat index of the first number that is not
// finite, or 2^32 - 1.
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
// Adds `count` values of a type, `stride` bytes apart, oldest first.
void wb_feed(WbScalar* s, const char* data, int type, int64_t count, int64_t stride);
// Records `count` iterations without a value.
void wb_skip(WbScalar* s, int64_t count);
// Compares n numbers with the previous ones, and replaces these. Without `compare` there are no previous ones.
void wb_pass(const char* now, char* before, int type, int64_t n, int compare, WbPass* out);
// Largest |now - before| of the numbers from..stop, as a key for comparison (infinite if not finite).
void wb_moved(const char* now, const char* before, int type, int64_t n, double* moved);
// Fills all fields except `site` and `kind` for n contiguous numbers of a type.
void wb_scan(const char* data, int type, int64_t n, WbTensorRow* out);
const char* wb_evolution_isa(void);

#ifdef __cplusplus
}
#endif
#endif
