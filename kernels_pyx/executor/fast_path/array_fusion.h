/* Arrays of known shape on the fast path: single instructions, and chains of instructions that run block by block. */
#ifndef WB_ARRAY_FUSION_H
#define WB_ARRAY_FUSION_H
#include "blocks.h"
#include "dispatch.h"

/* arrays of known shape; chains of them are packed into one (see wb_pack) */
static void wb_op_array(WB_ARGS) { wb_run_array(m->base, i->src); WB_NEXT; }
static void wb_op_raising_array(WB_ARGS) {
    wb_run_array(m->base, i->src);
    if (__builtin_expect(wb_raised(), 0)) WB_LEAVE;
    WB_NEXT;
}
/* Writes every array of a chain in full. */
static void wb_run_chain(char **base, wb_instr *const *chain, int length) {
    wb_fold folds[WB_MOST_FOLDS];
    wb_walk w;
    ptrdiff_t n = wb_items((const wb_array *)chain[0]->data), row = n;
    int k, j;
    for (k = 0; k < WB_MOST_FOLDS; k++) folds[k].n = 0;
    for (k = 0; k < length; k++)
        if (wb_row_of((const wb_array *)chain[k]->data)) row = wb_row_of((const wb_array *)chain[k]->data);
    wb_begin_walk(&w, n, row);
    while (wb_next_block(&w)) {
        wb_fold *fold = folds;
        for (k = 0; k < length; k++) {
            const wb_instr *s = chain[k];
            const wb_array *x = (const wb_array *)s->data;
            char *at[4] = {base[s->ba] + s->oa, base[s->bb] + s->ob, base[s->bc] + s->oc, base[s->bo] + s->oo};
            if (x->kind == WB_COPY) {
                wb_copy_rows(x, at[3], at[0], 0, 0, w.from, w.count);
                continue;
            }
            for (j = 0; j < 3; j++) at[j] += w.from * x->stride[j];
            if (x->kind == WB_REDUCE) {
                wb_fold_block(x, fold++, &w, at[0], at[3]);
                continue;
            }
            if (x->kind != WB_STATS) at[3] += w.from * x->stride[3];
            wb_run_some((wb_flat)x->fn, x, at, w.from, w.count);
        }
    }
}
static __attribute__((noinline)) void wb_chain(wb_engine *m, const struct wb_fast_op *i) {
    const wb_group *g = (const wb_group *)i->pa;
    if (m->pieces != NULL && !(g->n_elided && m->frames[g->store].pinning)) wb_run_group(m->base, m->pieces, g);
    else wb_run_chain(m->base, g->chain, g->chained);
}
static void wb_op_chain(WB_ARGS) { wb_chain(m, i); i = i->target; WB_GO; }
static void wb_op_go(WB_ARGS) { i = i->target; WB_GO; }
/* Runs the chain that begins with an instruction, up to `stop` and to the first scalar instruction between its members,
 * and returns the next instruction; NULL if no chain begins there. */
static wb_instr *wb_chain_before(wb_engine *m, const wb_instr *s, const wb_instr *stop) {
    const wb_group *g;
    int n = 1;
    for (g = m->groups; g != NULL && m->code + g->first != s; g = g->next) {}
    if (g == NULL) return NULL;
    while (n < g->chained && g->chain[n] < stop &&
           m->fast_op_of[g->chain[n] - m->code] == m->fast_op_of[g->chain[n - 1] - m->code] + 1)
        n++;
    if (n < 2) return NULL;
    wb_run_chain(m->base, g->chain, n);
    return g->chain[n - 1] + 1;
}

static int wb_goes_by_blocks(const wb_array *x) {
    /* the others have a number of items if they can run block by block (plan: arrays), or a function that joins
     * blocks */
    return x->kind == WB_FLAT || x->kind == WB_STATS || x->kind == WB_ROWS || (x->kind == WB_REDUCE && x->join != NULL) ||
           ((x->kind == WB_COPY || x->kind == WB_NEST) && x->n > 0);
}
static int wb_links(const wb_fast_op *h) {
    return h->fn == wb_op_array && wb_goes_by_blocks((const wb_array *)h->src->data);
}
/* The bytes that an instruction of a chain reads or writes. */
typedef struct {
    int base;
    ptrdiff_t from, to, stride;
} wb_span;
static wb_span wb_span_of(int base, int offset, ptrdiff_t stride, ptrdiff_t n) {
    const wb_span span = {base, offset, offset + (stride ? stride * n : 16), stride};
    return span;
}
/* Rows that are not contiguous are never in step with another span: stride -1. */
static wb_span wb_copied_span(const wb_array *x, int base, int offset, const ptrdiff_t *steps) {
    const ptrdiff_t row = x->dims[x->nd - 1] * x->item;
    const int apart = x->nd == 2 && steps[0] != row;
    const wb_span span = {base, offset, offset + (x->nd == 2 ? (x->dims[0] - 1) * steps[0] : 0) + row, apart ? -1 : x->item};
    return span;
}
/* The spans that it reads (up to three) and, last, the span that it writes; returns their number. */
static int wb_spans(const wb_instr *s, wb_span *spans) {
    const wb_array *x = (const wb_array *)s->data;
    const int base[3] = {s->ba, s->bb, s->bc}, offset[3] = {s->oa, s->ob, s->oc};
    int k;
    for (k = 0; k < (x->kind == WB_STATS ? 1 : x->n_in); k++) {
        spans[k] = wb_span_of(base[k], offset[k], x->stride[k], x->n);
        if (x->kind == WB_COPY) spans[k] = wb_copied_span(x, base[k], offset[k], x->steps[0]);
        if (x->kind == WB_ROWS && !x->stride[k]) spans[k].to += x->n / x->inner * x->steps[k][0];
    }
    if (x->kind == WB_REDUCE) { /* its results are complete after the last block */
        const wb_span results = {s->bo, s->oo, s->oo + x->outer * x->item, -1};
        spans[0] = wb_span_of(s->ba, s->oa, x->stride[0], wb_items(x)), spans[1] = results;
        return 2;
    }
    spans[k] = x->kind == WB_STATS ? wb_span_of(s->bo, s->oo, sizeof(double), 7)
                 : x->kind == WB_COPY ? wb_copied_span(x, s->bo, s->oo, x->steps[1])
                                      : wb_span_of(s->bo, s->oo, x->stride[3], x->n);
    return k + 1;
}
/* Whether two spans overlap out of step, so that a block of one is not the same block of the other. */
static int wb_out_of_step(const wb_span *a, const wb_span *b) {
    return a->base == b->base && a->from < b->to && b->from < a->to && !(a->from == b->from && a->stride == b->stride && a->stride >= 0);
}
/* Whether an instruction can run block by block after another: each accesses the span that the other writes only in
 * step. */
static int wb_in_step(const wb_instr *before, const wb_instr *s) {
    wb_span one[4], two[4];
    const int n = wb_spans(before, one), m = wb_spans(s, two);
    int k;
    for (k = 0; k < n; k++)
        if (wb_out_of_step(&one[k], &two[m - 1])) return 0;
    for (k = 0; k < m; k++)
        if (wb_out_of_step(&one[n - 1], &two[k])) return 0;
    return 1;
}
/* Whether an instruction can join a chain: equal length, and in step with each member. */
static int wb_joins(wb_instr *const *chain, int length, const wb_instr *s) {
    const wb_array *x = (const wb_array *)s->data;
    const ptrdiff_t row = wb_row_of(x);
    int k, folds = x->kind == WB_REDUCE;
    if (wb_items(x) != wb_items((const wb_array *)chain[0]->data)) return 0;
    for (k = 0; k < length; k++) {
        const wb_array *other = (const wb_array *)chain[k]->data;
        if (row && wb_row_of(other) && row != wb_row_of(other)) return 0;
        folds += other->kind == WB_REDUCE;
        if (!wb_in_step(chain[k], s)) return 0;
    }
    return folds <= WB_MOST_FOLDS;
}

/* Scalar instructions between members of a chain, moved before or after the whole chain. */
typedef struct {
    wb_instr *chain[WB_LONGEST_CHAIN];
    int length, fronts, behinds;
    int front[WB_LONGEST_CHAIN], behind[WB_LONGEST_CHAIN]; /* packed instructions */
} wb_run;
enum { WB_WIDEST = 8 };
static int wb_touches(const wb_span *spans, int n, int base, int offset) {
    int k;
    for (k = 0; k < n; k++)
        if (spans[k].base == base && spans[k].from < offset + WB_WIDEST && offset < spans[k].to) return 1;
    return 0;
}
/* Whether a scalar instruction may be swapped with a neighbouring array instruction. */
static int wb_may_swap(const wb_instr *number, const wb_instr *s) {
    wb_span spans[4];
    const int n = wb_spans(s, spans), base[3] = {number->ba, number->bb, number->bc}, offset[3] = {number->oa, number->ob, number->oc};
    int k;
    for (k = 0; k < 3; k++)
        if (number->given & 1 << k && wb_touches(spans + n - 1, 1, base[k], offset[k])) return 0;
    return !wb_touches(spans, n, number->bo, number->oo);
}
/* Scalar ops that never leave the fast path. */
static int wb_is_number(const wb_fast_op *h) {
    return (h->src->op == WB_KERNEL || (h->src->op == WB_UFUNC && !h->src->x1)) && h->src->scalar_op >= 0 &&
           !h->src->condition_before && !h->src->condition_after;
}
/* Adds a packed instruction to the run; 0 if it ends the run. */
static int wb_take(const wb_engine *m, wb_run *r, int at) {
    const wb_fast_op *h = &m->fast_ops[at];
    int k;
    if (wb_links(h)) {
        if (r->length == WB_LONGEST_CHAIN || !wb_joins(r->chain, r->length, h->src)) return 0;
        for (k = 0; k < r->behinds; k++)
            if (!wb_may_swap(m->fast_ops[r->behind[k]].src, h->src)) return 0;
        r->chain[r->length++] = h->src;
        return 1;
    }
    if (!wb_is_number(h) || r->fronts + r->behinds == WB_LONGEST_CHAIN) return 0;
    for (k = 0; k < r->length && !r->behinds; k++) /* scalar instructions keep their order, because of registers */
        if (!wb_may_swap(h->src, r->chain[k])) break;
    if (k == r->length && !r->behinds) r->front[r->fronts++] = at;
    else r->behind[r->behinds++] = at;
    return 1;
}
/* Finds runs of flat instructions (by rows too), reductions and statistics of equal length without jumps into them,
 * each in step with the previous ones. Each member keeps its own function: an entry in the middle runs the rest one by
 * one. Scalar instructions between members are packed again after all others. Arrays of one block are left alone.
 * Returns the new number of packed instructions. */
static int wb_find_chains(wb_engine *m, int n, const char *jumped) {
    int at, last, k, total = n;
    wb_free_groups(m);
    for (at = 0; at < n; at = last) {
        wb_run now, found;
        wb_fast_op *h = &m->fast_ops[at];
        wb_group *g;
        last = at + 1;
        if (!wb_links(h) || wb_items((const wb_array *)h->src->data) <= WB_BLOCK) continue;
        now.length = 1, now.fronts = now.behinds = 0, now.chain[0] = h->src, found = now;
        for (k = at + 1; k < n && !jumped[m->fast_ops[k].src - m->code] && wb_take(m, &now, k); k++)
            if (now.length > found.length) found = now, last = k + 1;
        g = found.length > 1 ? wb_make_group(m, found.chain, found.length) : NULL;
        if (g == NULL) continue;
        if (found.fronts) {
            wb_fast_op *to = &m->fast_ops[total];
            for (k = 0; k < found.fronts; k++) m->fast_ops[total++] = m->fast_ops[found.front[k]];
            m->fast_ops[total++] = *h, h->fn = wb_op_go, h->target = to;
            h = &m->fast_ops[total - 1];
        }
        h->fn = wb_op_chain, h->pa = (const char *)g, h->target = &m->fast_ops[found.behinds ? total : last];
        for (k = 0; k < found.behinds; k++) m->fast_ops[total++] = m->fast_ops[found.behind[k]];
        if (found.behinds) {
            wb_fast_op *back = &m->fast_ops[total++];
            *back = m->fast_ops[at], back->fn = wb_op_go, back->target = &m->fast_ops[last];
        }
    }
    wb_take_pieces(m);
    return total;
}
#endif
