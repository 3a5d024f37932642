/* A chain of array instructions runs block by block, so that the result of one is in the first-level cache for the
 * next.
 *
 *   rows:    x ----.------------------------.
 *                  v                        v
 *   block:      a = x * 2   ->  piece 0  -> y = a + x  -> rows
 *
 * Values read only by the chain itself are not written to memory but kept in a piece of one block. Two ops of which
 * only the second reads the first are one kernel, which rounds after each. Wherever a run stops, values missing in the
 * rows in progress are computed (rows/recompute.pxi: write_elided), and after an edit there the chain writes
 * everything.
 */
#ifndef WB_BLOCKS_H
#define WB_BLOCKS_H
#include "array_ops.h"
#include "conditions.h"

enum { WB_LONGEST_CHAIN = 32, WB_MOST_FOLDS = 8, WB_SECONDS = 6, WB_FORMS = 3 };

/* Pairs: the first op is number 0 to 3 (add, subtract, multiply, divide); the second is add, subtract, multiply,
 * divide, or a reversed one: c - ab, c / ab. Forms: all contiguous, c a single item, a a single item. */
enum { WB_THEN_ADD, WB_THEN_SUBTRACT, WB_THEN_MULTIPLY, WB_THEN_DIVIDE, WB_SUBTRACT_FROM, WB_DIVIDE_INTO };
enum { WB_ALL_VECTORS, WB_SINGLE_C, WB_SINGLE_A };

typedef struct {
    const wb_array *x;
    const wb_instr *s;
    void *fn;
    int base[4], offset[4]; /* of a, b, c, out */
    ptrdiff_t stride[4];
    short piece[4];         /* the piece of an operand that is not in the rows, or -1 */
    char gone;              /* 1: a later member does its work too */
    char streams;           /* 1: the result is copied from its piece to its row, bypassing the caches (wb_stream) */
    void *of_op;            /* computes the statistics of its result in the same pass, or NULL; their place: */
    int numbers_base, numbers_offset;
} wb_member;

typedef struct wb_group {
    struct wb_group *next;
    int length, n_pieces, n_elided, n_pairs, n_streams;
    int store;              /* store whose recomputed part is left out, or -1 */
    int first, last;        /* instructions */
    ptrdiff_t n, row, piece_bytes; /* row: of its reductions (array_ops.h: wb_walk) */
    int chained;
    wb_instr *chain[WB_LONGEST_CHAIN]; /* all of them, as they are in the program */
    wb_member member[WB_LONGEST_CHAIN];
} wb_group;

static void wb_run_with_statistics(char *const *base, const wb_member *w, const wb_walk *walk, char *const *at) {
    double *out = (double *)(base[w->numbers_base] + w->numbers_offset), part[7];
    ((wb_of_op)w->of_op)(at[3], at[0], at[1], walk->count, walk->from ? part : out);
    if (walk->from) wb_join_statistics(part, out);
}
static void wb_run_member(char *const *base, char *pieces, const wb_group *g, const wb_member *w, const wb_walk *walk,
                          wb_fold *fold) {
    const wb_array *x = w->x;
    char *at[4];
    int k;
    for (k = 0; k < 4; k++)
        at[k] = w->piece[k] >= 0 ? pieces + w->piece[k] * g->piece_bytes
                                 : base[w->base[k]] + w->offset[k] + walk->from * w->stride[k];
    if (w->of_op) wb_run_with_statistics(base, w, walk, at);
    else if (x->kind == WB_REDUCE) wb_fold_block(x, fold, walk, at[0], at[3]);
    else if (x->kind == WB_COPY) {
        if (w->piece[0] < 0) at[0] = base[w->base[0]] + w->offset[0];
        if (w->piece[3] < 0) at[3] = base[w->base[3]] + w->offset[3];
        wb_copy_rows(x, at[3], at[0], w->piece[3] >= 0, w->piece[0] >= 0, walk->from, walk->count);
    } else wb_run_some((wb_flat)w->fn, x, at, walk->from, walk->count);
    if (w->streams)
        wb_stream(base[w->base[3]] + w->offset[3] + walk->from * w->stride[3], at[3], (size_t)(walk->count * w->stride[3]));
}

static void wb_run_group(char *const *base, char *pieces, const wb_group *g) {
    wb_fold folds[WB_MOST_FOLDS];
    wb_walk walk;
    int k;
    for (k = 0; k < WB_MOST_FOLDS; k++) folds[k].n = 0;
    wb_begin_walk(&walk, g->n, g->row);
    while (wb_next_block(&walk)) {
        wb_fold *fold = folds;
        for (k = 0; k < g->length; k++) {
            wb_run_member(base, pieces, g, &g->member[k], &walk, fold);
            fold += g->member[k].x->kind == WB_REDUCE;
        }
    }
    if (g->n_streams) wb_streamed();
}

/* -- how a group is made from its instructions ----------------------------------------------------------------------- */

/* The member whose left-out result an operand is, or -1. */
static int wb_maker(const wb_group *g, const char *elided, int k, int operand) {
    const wb_member *w = &g->member[k];
    int j;
    for (j = k - 1; j >= 0; j--)
        if (elided[j] && g->member[j].base[3] == w->base[operand] && g->member[j].offset[3] == w->offset[operand]) return j;
    return -1;
}
static int wb_operands(const wb_array *x) { return x->kind == WB_STATS ? 1 : x->n_in; }
/* Length of the rows in which an instruction must be processed: 0 if any blocks are possible. */
static ptrdiff_t wb_row_of(const wb_array *x) { return x->kind == WB_STATS || x->kind == WB_REDUCE ? x->n : 0; }


/* Whether only this chain reads a result before it is computed again: the plan gives the last reader (x1), and no
 * condition of a breakpoint reads it. */
static int wb_may_be_left_out(const wb_engine *m, const wb_member *w, int last) {
    const int store = m->array_store[w->s->frame];
    int k;
    if (!w->s->x0 || w->s->x1 > last || w->x->kind == WB_STATS || w->x->kind == WB_REDUCE || store < 0 || w->base[3] != wb_base_of(m, store) + 2) return 0;
    for (k = 0; k < m->n_conditions; k++)
        if (m->conditions[k].base == w->base[3] || m->conditions[k].store == store) return 0;
    return 1;
}

/* Fuse member k with the member that computes its operand, if there is a kernel for both. */
static int wb_join_pair(wb_group *g, const char *elided, const int *readers, int k, int operand) {
    wb_member *w = &g->member[k], *v;
    const int maker = wb_maker(g, elided, k, operand), other = 1 - operand;
    int second, form, a = 0, j, i;
    void *found;
    if (maker < 0 || readers[maker] != 1 || w->x->kind != WB_FLAT || w->x->n_in != 2 || w->x->op < 0) return 0;
    v = &g->member[maker];
    if (v->x->kind != WB_FLAT || v->x->n_in != 2 || !v->x->pairs || v->gone || v->fn != v->x->fn) return 0;
    if (v->stride[3] != w->stride[3] || w->stride[operand] == 0) return 0;
    second = w->x->op;
    if (operand == 1 && second == WB_THEN_SUBTRACT) second = WB_SUBTRACT_FROM;
    else if (operand == 1 && second == WB_THEN_DIVIDE) second = WB_DIVIDE_INTO;
    form = WB_ALL_VECTORS;
    if (v->stride[0] == 0) form = WB_SINGLE_A;
    else if (v->stride[1] == 0) {
        if (v->x->op != WB_THEN_ADD && v->x->op != WB_THEN_MULTIPLY) return 0;
        form = WB_SINGLE_A, a = 1; /* the order of two factors does not matter */
    }
    if (w->stride[other] == 0) {
        if (form != WB_ALL_VECTORS) return 0;
        form = WB_SINGLE_C;
    }
    found = v->x->pairs[WB_FORMS * second + form];
    if (found == NULL) return 0;
    for (j = maker + 1; j < k; j++) /* none in between may write an operand of it (only in step: wb_in_step) */
        for (i = 0; i < 2; i++)
            if (g->member[j].base[3] == v->base[i] && g->member[j].offset[3] == v->offset[i]) return 0;
    w->base[2] = w->base[other], w->offset[2] = w->offset[other], w->stride[2] = w->stride[other];
    for (i = 0; i < 2; i++) {
        j = i ^ a;
        w->base[i] = v->base[j], w->offset[i] = v->offset[j], w->stride[i] = v->stride[j];
    }
    w->fn = found;
    v->gone = 1;
    g->n_pairs++;
    return 1;
}
static int wb_inputs(const wb_member *w) { return w->fn == w->x->fn ? wb_operands(w->x) : 3; }

/* Lets the member before a member of statistics compute them in its own pass, if they are those of its result and it
 * has a kernel for both. */
static void wb_take_statistics(wb_group *g, int k) {
    wb_member *w = &g->member[k], *v = w - 1;
    int form;
    if (w->x->kind != WB_STATS || !w->x->pairs || v->gone || v->x->kind != WB_FLAT || v->x->op < 0 || v->fn != v->x->fn) return;
    if (w->base[0] != v->base[3] || w->offset[0] != v->offset[3] || w->x->n != v->x->n) return;
    form = v->stride[1] == 0 ? 1 : v->stride[0] == 0 ? 2 : 0;
    if (v->stride[0] == 0 && v->stride[1] == 0) return;
    v->of_op = w->x->pairs[WB_FORMS * v->x->op + form];
    v->numbers_base = w->base[3], v->numbers_offset = w->offset[3];
    w->gone = 1;
}

/* Large results for rows that are in no cache when written: normal stores, which read the line first, would take twice
 * the time. */
static int wb_may_stream(const wb_engine *m, const wb_member *w, ptrdiff_t n) {
    const int store = m->array_store[w->s->frame], kind = w->x->kind;
    return store >= 0 && m->frames[store].streams && w->base[3] == wb_base_of(m, store) && n * w->stride[3] >= WB_STREAMED &&
           (kind == WB_FLAT || kind == WB_NEST || kind == WB_ROWS);
}

/* Pieces for results that are left out or streamed, reused after their last reader. */
static void wb_share_pieces(wb_group *g, const char *held) {
    int until[WB_LONGEST_CHAIN], taken[WB_LONGEST_CHAIN] = {0}, piece[WB_LONGEST_CHAIN], k, j, i;
    for (k = 0; k < g->length; k++) until[k] = k;
    for (k = 0; k < g->length; k++)
        for (i = 0; i < wb_inputs(&g->member[k]); i++) {
            const int maker = g->member[k].gone ? -1 : wb_maker(g, held, k, i);
            if (maker >= 0 && until[maker] < k) until[maker] = k;
        }
    for (k = 0; k < g->length; k++) {
        wb_member *w = &g->member[k];
        piece[k] = -1;
        if (w->gone) continue;
        for (i = 0; i < wb_inputs(w); i++) {
            const int maker = wb_maker(g, held, k, i);
            if (maker >= 0) w->piece[i] = (short)piece[maker];
        }
        if (held[k]) {
            for (i = 0; taken[i] > k; i++) {} /* taken up to, exclusive: a result never overwrites its operands */
            taken[i] = until[k] + 1, piece[k] = i, w->piece[3] = (short)i;
            if (i + 1 > g->n_pieces) g->n_pieces = i + 1;
        }
    }
    for (k = j = 0; k < g->length; k++)
        if (!g->member[k].gone) g->member[j++] = g->member[k];
    g->length = j;
}

/* A group of these instructions; `elided` marks results that are kept only in a piece. */
static wb_group *wb_new_group(const wb_engine *m, wb_instr *const *chain, int length) {
    wb_group *g = (wb_group *)calloc(1, sizeof(wb_group));
    int k, i;
    if (g == NULL) return NULL;
    memcpy(g->chain, chain, (size_t)length * sizeof *chain);
    g->length = g->chained = length, g->store = m->array_store[chain[0]->frame];
    g->first = (int)(chain[0] - m->code), g->last = (int)(chain[length - 1] - m->code);
    g->n = g->row = wb_items((const wb_array *)chain[0]->data), g->piece_bytes = 1;
    for (k = 0; k < length; k++) {
        const wb_instr *s = chain[k];
        wb_member *w = &g->member[k];
        const int base[4] = {s->ba, s->bb, s->bc, s->bo}, offset[4] = {s->oa, s->ob, s->oc, s->oo};
        w->s = s, w->x = (const wb_array *)s->data, w->fn = w->x->fn;
        memcpy(w->base, base, sizeof base), memcpy(w->offset, offset, sizeof offset);
        memcpy(w->stride, w->x->stride, sizeof w->stride);
        for (i = 0; i < 4; i++) w->piece[i] = -1;
        if (w->x->kind == WB_STATS) w->stride[3] = 0;
        if (w->stride[3] > g->piece_bytes) g->piece_bytes = w->stride[3];
        if (wb_row_of(w->x)) g->row = wb_row_of(w->x);
    }
    g->piece_bytes = WB_BLOCK * g->piece_bytes + 64;
    return g;
}
/* Fuses pairs, and ops with statistics of their results; assigns pieces to results that are left out or streamed. */
static void wb_finish_group(const wb_engine *m, wb_group *g, char *elided, int streams) {
    int readers[WB_LONGEST_CHAIN] = {0}, k, i;
    for (k = 0; k < g->length; k++) {
        g->n_elided += elided[k];
        for (i = 0; i < wb_operands(g->member[k].x); i++) {
            const int maker = wb_maker(g, elided, k, i);
            if (maker >= 0) readers[maker]++;
        }
    }
    for (k = 0; k < g->length; k++)
        if (!wb_join_pair(g, elided, readers, k, 0)) wb_join_pair(g, elided, readers, k, 1);
    for (k = 1; k < g->length; k++) wb_take_statistics(g, k);
    for (k = 0; streams && k < g->length; k++)
        if (!elided[k] && wb_may_stream(m, &g->member[k], g->n)) elided[k] = g->member[k].streams = 1, g->n_streams++;
    wb_share_pieces(g, elided);
}
static wb_group *wb_make_group(wb_engine *m, wb_instr *const *chain, int length) {
    wb_group *g = wb_new_group(m, chain, length);
    char elided[WB_LONGEST_CHAIN] = {0};
    int k;
    if (g == NULL) return NULL;
    for (k = 0; k < length; k++)
        m->elided[chain[k] - m->code] = elided[k] = (char)wb_may_be_left_out(m, &g->member[k], g->last);
    wb_finish_group(m, g, elided, 1);
    g->next = m->groups, m->groups = g;
    return g;
}

static void wb_free_groups(wb_engine *m) {
    while (m->groups != NULL) {
        wb_group *next = m->groups->next;
        free(m->groups);
        m->groups = next;
    }
    free(m->pieces);
    m->pieces = NULL;
}
/* Memory for the pieces of the group that needs most; without it chains write everything. */
static void wb_take_pieces(wb_engine *m) {
    const wb_group *g;
    size_t bytes = 64;
    void *p = NULL;
    if (m->groups == NULL) return;
    for (g = m->groups; g != NULL; g = g->next)
        if ((size_t)(g->n_pieces * g->piece_bytes) > bytes) bytes = (size_t)(g->n_pieces * g->piece_bytes);
    m->pieces = posix_memalign(&p, 4096, bytes) ? NULL : (char *)p;
}
/* For the listing: the number of results left out in the group that begins with an instruction, or -1 without a
 * group. */
static int wb_group_facts(const wb_engine *m, int first, int *last, int *pairs) {
    const wb_group *g;
    for (g = m->groups; g != NULL; g = g->next)
        if (g->first == first) {
            *last = g->last, *pairs = g->n_pairs;
            return g->n_elided;
        }
    return -1;
}
#endif
