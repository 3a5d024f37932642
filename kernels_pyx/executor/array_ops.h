/* Instructions on arrays of known shape stored in the rows: no Python objects, no allocation, no GIL. */
#ifndef WB_ARRAYS_H
#define WB_ARRAYS_H
#include "structs.h"

enum { WB_MOST_DIMS = 8, WB_MOST_OPERANDS = 4 };

typedef void (*wb_flat)(char *out, const char *a, const char *b, const char *c, ptrdiff_t n);
typedef void (*wb_reduction)(char *out, const char *in, ptrdiff_t outer, ptrdiff_t n, ptrdiff_t inner);
typedef void (*wb_product)(char *out, const char *a, const char *b, ptrdiff_t m, ptrdiff_t k, ptrdiff_t n);
typedef void (*wb_statistics)(const char *in, ptrdiff_t n, double *out);
typedef void (*wb_of_op)(char *out, const char *a, const char *b, ptrdiff_t n, double *numbers);

enum {
    WB_FLAT,    /* fn(out, a, b, c, n): contiguous operands, or single items if the kernel supports them */
    WB_NEST,    /* an inner loop in NumPy's convention under loops over the outer dimensions */
    WB_COPY,    /* items from one layout to another */
    WB_REDUCE,  /* (outer, n, inner) -> (outer, inner), or a cumulative op */
    WB_MATMUL,  /* (m, k) @ (k, n), outer times */
    WB_STATS,   /* count, NaN, Inf, min, max, sum, sum of squares of n items */
    WB_ROWS,    /* FLAT with one operand that has a single item for each `inner` items of the others */
    WB_CORE     /* NumPy's inner loop of a product, outer times: dims (n, k, m), two steps each of a, b, out */
};

typedef struct {
    int kind;
    int nd;           /* NEST, COPY: dimensions; the last one is that of the inner loop */
    int n_in;
    int raises;       /* NEST: the loop may set a Python exception */
    void *fn;
    void *data;       /* of a NumPy inner loop */
    ptrdiff_t n, outer, inner;
    ptrdiff_t item;   /* COPY: bytes of an item */
    ptrdiff_t dims[WB_MOST_DIMS];
    ptrdiff_t steps[WB_MOST_OPERANDS][WB_MOST_DIMS];  /* of a, b, c, out: bytes per dimension; ROWS: per row */
    ptrdiff_t stride[WB_MOST_OPERANDS];               /* FLAT, ROWS: bytes per item; 0: one item for all, or for a row; CORE: per matrix */
    int op;                                           /* FLAT: its number among ops that can be paired, or -1 ... */
    void **pairs;                                     /* ... and the kernels of pairs that begin with it (blocks.h);
                                                         STATS: those that also compute their operand, or NULL */
    void *part, *join;                                /* REDUCE: of one block, of two partial ones if that gives ... */
    int mean;                                         /* ... the same bits (wb_fold); 'f', 'd': sum divided by n */
} wb_array;

static void wb_copy_items(char *out, const char *in, ptrdiff_t n, ptrdiff_t to, ptrdiff_t from, ptrdiff_t item) {
    ptrdiff_t k;
    if (n == 1 && item == 8) { /* an edge */
        *(uint64_t *)out = *(const uint64_t *)in;
        return;
    }
    if (to == item && from == item) {
        memcpy(out, in, (size_t)(n * item));
        return;
    }
#define WB_EACH(T) for (k = 0; k < n; k++) *(T *)(out + k * to) = *(const T *)(in + k * from); return
    switch (item) {
    case 1: WB_EACH(uint8_t);
    case 2: WB_EACH(uint16_t);
    case 4: WB_EACH(uint32_t);
    case 8: WB_EACH(uint64_t);
    default: for (k = 0; k < n; k++) memcpy(out + k * to, in + k * from, (size_t)item);
    }
#undef WB_EACH
}

/* The inner loop under an odometer over the outer dimensions. */
static void wb_nest(const wb_array *x, char *const *args) {
    char *at[WB_MOST_OPERANDS];
    ptrdiff_t index[WB_MOST_DIMS] = {0};
    ptrdiff_t inner[WB_MOST_OPERANDS];
    const int last = x->nd - 1;
    int k, d, operands = x->n_in + 1;
    for (d = 0; d < x->nd; d++)
        if (x->dims[d] == 0) return;
    for (k = 0; k < operands; k++) at[k] = args[k], inner[k] = x->steps[k][last];
    for (;;) {
        if (x->kind == WB_COPY) wb_copy_items(at[1], at[0], x->dims[last], inner[1], inner[0], x->item);
        else {
            char *now[WB_MOST_OPERANDS];
            memcpy(now, at, sizeof now);
            ((wb_loop)x->fn)(now, &x->dims[last], inner, x->data);
        }
        for (d = last - 1; d >= 0; d--) {
            for (k = 0; k < operands; k++) at[k] += x->steps[k][d];
            if (++index[d] < x->dims[d]) break;
            for (k = 0; k < operands; k++) at[k] -= x->steps[k][d] * x->dims[d];
            index[d] = 0;
        }
        if (d < 0) return;
    }
}

/* The blocks in which arrays are processed: the halves of NumPy's pairwise sum, and their halves, until they have at
 * most this many items. A sum can then be combined from the sums of blocks with the same roundings. Six blocks of
 * doubles fit the first-level cache. With `row` below `n` the array consists of rows, and blocks hold whole rows, or
 * halves of one. */
enum { WB_BLOCK = 512, WB_DEEPEST = 64 };
typedef struct {
    ptrdiff_t from, count;
    int joins;                    /* after this block this many pairs of halves are complete ... */
    int level, waiting;
    ptrdiff_t n, row, rest[WB_DEEPEST];
    int levels[WB_DEEPEST];
} wb_walk;
static inline void wb_begin_walk(wb_walk *w, ptrdiff_t n, ptrdiff_t row) {
    w->from = w->count = 0, w->n = n, w->row = row, w->waiting = 0;
}
static inline int wb_next_block(wb_walk *w) {
    ptrdiff_t count;
    w->from += w->count;
    if (w->waiting) count = w->rest[--w->waiting], w->level = w->levels[w->waiting];
    else {
        count = w->n - w->from, w->level = 0;
        if (count <= 0) return 0;
        if (w->row < count) count = w->row;
        if (w->row < w->n && 2 * w->row <= WB_BLOCK) {
            w->count = WB_BLOCK / w->row * w->row, w->joins = 0;
            if (w->count > w->n - w->from) w->count = w->n - w->from;
            return 1;
        }
    }
    while (count > WB_BLOCK) {
        const ptrdiff_t half = count / 2 - count / 2 % 8;
        w->rest[w->waiting] = count - half, w->levels[w->waiting++] = ++w->level, count = half;
    }
    w->count = count, w->joins = w->level - (w->waiting ? w->levels[w->waiting - 1] : 0);
    return 1;
}

/* Copies that bypass the caches: only for memory that is in no cache, and for large data that is not read soon. */
enum { WB_STREAMED = 65536 };
#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
static inline void wb_streamed(void) { _mm_sfence(); }
__attribute__((target("avx"))) static void wb_stream(char *to, const char *from, size_t n) {
    size_t k = -(size_t)to & 31;
    if (k > n) k = n;
    memcpy(to, from, k);
    for (; k + 32 <= n; k += 32) _mm256_stream_si256((__m256i *)(to + k), _mm256_loadu_si256((const __m256i *)(from + k)));
    memcpy(to + k, from + k, n - k);
}
static inline int wb_can_stream(void) { return __builtin_cpu_supports("avx"); }
#else
static inline void wb_streamed(void) {}
static inline void wb_stream(char *to, const char *from, size_t n) { memcpy(to, from, n); }
static inline int wb_can_stream(void) { return 0; }
#endif

/* Statistics of one block, combined with those of the previous blocks. Always by blocks, so that a chain and a single
 * instruction give the same bits. */
static void wb_join_statistics(const double *part, double *out) {
    int k;
    for (k = 0; k < 3; k++) out[k] += part[k];
    if (part[3] < out[3]) out[3] = part[3];
    if (part[4] > out[4]) out[4] = part[4];
    for (k = 5; k < 7; k++) out[k] += part[k];
}
static void wb_add_statistics(const wb_array *x, const char *at, ptrdiff_t from, ptrdiff_t count, double *out) {
    double part[7];
    ((wb_statistics)x->fn)(at, count, from ? part : out);
    if (from) wb_join_statistics(part, out);
}
static void wb_all_statistics(const wb_array *x, const char *in, double *out) {
    wb_walk w;
    wb_begin_walk(&w, x->n, x->n);
    while (wb_next_block(&w)) wb_add_statistics(x, in + w.from * x->stride[0], w.from, w.count, out);
}

/* A reduction that takes its operand block by block: two partial results are joined whenever both halves are
 * complete. */
typedef struct {
    int n;
    char part[8 * WB_DEEPEST];
} wb_fold;
static inline ptrdiff_t wb_items(const wb_array *x) { return x->kind == WB_REDUCE ? x->outer * x->n : x->n; }
static void wb_fold_block(const wb_array *x, wb_fold *f, const wb_walk *w, const char *in, char *out) {
    int k;
    if (w->count > x->n || 2 * x->n <= WB_BLOCK) { /* whole rows */
        ((wb_reduction)x->fn)(out + w->from / x->n * x->item, in, w->count / x->n, x->n, 1);
        return;
    }
    ((wb_reduction)x->part)(f->part + f->n++ * x->item, in, 1, w->count, 1);
    for (k = w->joins; k; k--) {
        f->n--;
        ((wb_reduction)x->join)(f->part + (f->n - 1) * x->item, f->part + (f->n - 1) * x->item, 1, 2, 1);
    }
    if (w->waiting) return;
    out += w->from / x->n * x->item, f->n = 0;
    if (x->mean == 'd') *(double *)out = *(const double *)f->part / (double)x->n;
    else if (x->mean == 'f') *(float *)out = *(const float *)f->part / (float)x->n;
    else memcpy(out, f->part, (size_t)x->item);
}

/* Items `from` to `from + count` of a flat loop by rows; out, a and b point to item `from`, or to the first of the
 * single items of rows. */
static void wb_run_rows(const wb_array *x, char *out, const char *a, const char *b, ptrdiff_t from, ptrdiff_t count) {
    ptrdiff_t row = from / x->inner, left = x->inner - from % x->inner;
    while (count > 0) {
        const ptrdiff_t m = count < left ? count : left;
        ((wb_flat)x->fn)(out, x->stride[0] ? a : a + row * x->steps[0][0], x->stride[1] ? b : b + row * x->steps[1][0], b, m);
        out += m * x->stride[3], a += m * x->stride[0], b += m * x->stride[1];
        count -= m, row++, left = x->inner;
    }
}

static void wb_run_on(const wb_array *x, char *out, char *a, char *b, char *c) {
    switch (x->kind) {
    case WB_FLAT: ((wb_flat)x->fn)(out, a, b, c, x->n); break;
    case WB_REDUCE: ((wb_reduction)x->fn)(out, a, x->outer, x->n, x->inner); break;
    case WB_COPY:
        if (x->nd == 1) wb_copy_items(out, a, x->dims[0], x->steps[1][0], x->steps[0][0], x->item);
        else {
            char *args[WB_MOST_OPERANDS] = {a, out};
            wb_nest(x, args);
        }
        break;
    case WB_STATS: wb_all_statistics(x, a, (double *)out); break;
    case WB_ROWS: wb_run_rows(x, out, a, b, 0, x->n); break;
    case WB_MATMUL: {
        ptrdiff_t k;
        for (k = 0; k < x->outer; k++)
            ((wb_product)x->fn)(out + k * x->steps[3][0], a + k * x->steps[0][0], b + k * x->steps[1][0],
                                x->dims[0], x->dims[1], x->dims[2]);
        break;
    }
    case WB_CORE: {
        char *args[3] = {a, b, out};
        const ptrdiff_t dims[4] = {x->outer, x->dims[0], x->dims[1], x->dims[2]};
        const ptrdiff_t steps[9] = {x->stride[0], x->stride[1], x->stride[2], x->steps[0][0], x->steps[0][1], x->steps[1][0], x->steps[1][1],
                                    x->steps[2][0], x->steps[2][1]};
        ((wb_loop)x->fn)(args, dims, steps, x->data);
        break;
    }
    default: {
        char *args[WB_MOST_OPERANDS] = {a, b, c, NULL};
        args[x->n_in] = out;
        wb_nest(x, args);
    }
    }
}

static void wb_run_array(char **base, const wb_instr *s) {
    wb_run_on((const wb_array *)s->data, base[s->bo] + s->oo, base[s->ba] + s->oa, base[s->bb] + s->ob,
              base[s->bc] + s->oc);
}

/* Inline cache of an instruction on arrays of unknown shape: shapes seen so far, and the array instruction for them. */
typedef struct {
    unsigned ids[WB_MOST_OPERANDS];  /* of the operands and the result; 0 for an operand in the row */
    int known;                       /* 0: empty, 1: x is valid, -1: these shapes are left to the callable */
    int nd, type;                    /* of the result */
    ptrdiff_t dims[WB_MOST_DIMS];
    wb_array x;
} wb_cache_entry;

enum { WB_CACHE_ENTRIES = 4, WB_TRIES = 32 };

typedef struct {
    wb_cache_entry entries[WB_CACHE_ENTRIES];
    int next;                        /* the entry to be replaced by new shapes */
    long long hits, misses;
} wb_inline_cache;

static wb_cache_entry *wb_find_entry(wb_inline_cache *cache, const unsigned *ids) {
    int k;
    for (k = 0; k < WB_CACHE_ENTRIES; k++)
        if (cache->entries[k].known && !memcmp(cache->entries[k].ids, ids, 3 * sizeof(unsigned))) return &cache->entries[k];
    return NULL;
}
/* Whether shapes change so often that the cache costs more than it saves. */
static int wb_is_thrashing(const wb_inline_cache *cache) { return cache->misses > WB_TRIES && cache->misses > cache->hits / 16; }
/* Items `from` to `from + count` of an instruction that runs block by block; `at` points to these items (for operands
 * with a stride of 0: to the only item, or the first). */
static inline void wb_run_some(wb_flat fn, const wb_array *x, char *const *at, ptrdiff_t from, ptrdiff_t count) {
    if (x->kind == WB_FLAT) fn(at[3], at[0], at[1], at[2], count);
    else if (x->kind == WB_STATS) wb_add_statistics(x, at[0], from, count, (double *)at[3]);
    else if (x->kind == WB_ROWS) wb_run_rows(x, at[3], at[0], at[1], from, count);
    else {
        char *args[WB_MOST_OPERANDS] = {at[0], at[1], at[2], NULL};
        ptrdiff_t steps[WB_MOST_OPERANDS];
        int k;
        for (k = 0; k < x->n_in; k++) steps[k] = x->stride[k];
        args[x->n_in] = at[3], steps[x->n_in] = x->stride[3];
        ((wb_loop)x->fn)(args, &count, steps, x->data);
    }
}
/* ... and of a copy whose rows are not contiguous: out and in point to the first item, or to item `from` with out_there
 * and in_there. */
static void wb_copy_rows(const wb_array *x, char *out, const char *in, int out_there, int in_there, ptrdiff_t from, ptrdiff_t count) {
    const int last = x->nd - 1;
    const ptrdiff_t n = x->dims[last];
    ptrdiff_t row = from / n, column = from % n, done = 0;
    while (done < count) {
        const ptrdiff_t m = count - done < n - column ? count - done : n - column;
        const ptrdiff_t to = last ? row * x->steps[1][0] : 0, of = last ? row * x->steps[0][0] : 0;
        memcpy(out_there ? out + done * x->item : out + to + column * x->item,
               in_there ? in + done * x->item : in + of + column * x->item, (size_t)(m * x->item));
        done += m, column = 0, row++;
    }
}
#endif
