/* Arrays of known shape on the fast path: single instructions, and chains of them that run block by block. */
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
/* Every array of a chain in full. */
static void wb_run_chain(char **base, wb_instr *const *chain, int length, ptrdiff_t n) {
    ptrdiff_t from;
    int k, j;
    for (from = 0; from < n; from += WB_BLOCK)
        for (k = 0; k < length; k++) {
            const wb_instr *s = chain[k];
            const wb_array *x = (const wb_array *)s->data;
            const ptrdiff_t count = n - from < WB_BLOCK ? n - from : WB_BLOCK;
            char *at[4] = {base[s->ba] + s->oa, base[s->bb] + s->ob, base[s->bc] + s->oc, base[s->bo] + s->oo};
            if (x->kind == WB_COPY) {
                wb_copy_rows(x, at[3], at[0], 0, 0, from, count);
                continue;
            }
            for (j = 0; j < 3; j++) at[j] += from * x->stride[j];
            if (x->kind != WB_STATS) at[3] += from * x->stride[3];
            wb_run_some((wb_flat)x->fn, x, at, from, count);
        }
}
static __attribute__((noinline)) void wb_chain(wb_engine *m, const struct wb_fast_op *i) {
    const wb_group *g = (const wb_group *)i->pa;
    wb_instr *chain[WB_LONGEST_CHAIN];
    int k;
    if (g != NULL && m->pieces != NULL && !(g->n_elided && m->frames[g->store].pinning)) {
        wb_run_group(m, g);
        return;
    }
    for (k = 0; k < i->length; k++) chain[k] = i[k].src;
    wb_run_chain(m->base, chain, i->length, ((const wb_array *)i->src->data)->n);
}
static void wb_op_chain(WB_ARGS) { wb_chain(m, i); i += i->length; WB_GO; }
/* The chain that begins with an instruction, as much of it as lies in front of `stop`: runs it and returns what comes
 * behind; NULL if none begins there. */
static wb_instr *wb_chain_before(wb_engine *m, const wb_instr *s, const wb_instr *stop) {
    const wb_fast_op *h = &m->fast_ops[m->fast_op_of[s - m->code]];
    wb_instr *chain[WB_LONGEST_CHAIN];
    int n = 0;
    if (h->src != s || h->fn != wb_op_chain) return NULL;
    for (; n < h->length && h[n].src < stop; n++) chain[n] = h[n].src;
    if (n < 2) return NULL;
    wb_run_chain(m->base, chain, n, ((const wb_array *)s->data)->n);
    return h[n - 1].src + 1;
}

static int wb_links(const wb_fast_op *h) {
    const int kind = h->fn == wb_op_array ? ((const wb_array *)h->src->data)->kind : -1;
    /* the others say how many items they have if they go block by block (plan: arrays) */
    return kind == WB_FLAT || kind == WB_STATS || kind == WB_ROWS ||
           ((kind == WB_COPY || kind == WB_NEST) && ((const wb_array *)h->src->data)->n > 0);
}
/* The bytes that an instruction of a chain goes over. */
typedef struct {
    int base;
    ptrdiff_t from, to, stride;
} wb_span;
static wb_span wb_span_of(int base, int offset, ptrdiff_t stride, ptrdiff_t n) {
    const wb_span span = {base, offset, offset + (stride ? stride * n : 16), stride};
    return span;
}
/* Rows that lie apart are in step with nothing that they meet: stride -1. */
static wb_span wb_copied_span(const wb_array *x, int base, int offset, const ptrdiff_t *steps) {
    const ptrdiff_t row = x->dims[x->nd - 1] * x->item;
    const int apart = x->nd == 2 && steps[0] != row;
    const wb_span span = {base, offset, offset + (x->nd == 2 ? (x->dims[0] - 1) * steps[0] : 0) + row, apart ? -1 : x->item};
    return span;
}
/* What it reads (up to three) and, last, what it writes; returns their number. */
static int wb_spans(const wb_instr *s, wb_span *spans) {
    const wb_array *x = (const wb_array *)s->data;
    const int base[3] = {s->ba, s->bb, s->bc}, offset[3] = {s->oa, s->ob, s->oc};
    int k;
    for (k = 0; k < (x->kind == WB_STATS ? 1 : x->n_in); k++) {
        spans[k] = wb_span_of(base[k], offset[k], x->stride[k], x->n);
        if (x->kind == WB_COPY) spans[k] = wb_copied_span(x, base[k], offset[k], x->steps[0]);
        if (x->kind == WB_ROWS && !x->stride[k]) spans[k].to += x->n / x->inner * x->steps[k][0];
    }
    spans[k] = x->kind == WB_STATS ? wb_span_of(s->bo, s->oo, sizeof(double), 7)
                 : x->kind == WB_COPY ? wb_copied_span(x, s->bo, s->oo, x->steps[1])
                                      : wb_span_of(s->bo, s->oo, x->stride[3], x->n);
    return k + 1;
}
/* Whether two spans meet out of step: then a block of one is not the block of the other. */
static int wb_out_of_step(const wb_span *a, const wb_span *b) {
    return a->base == b->base && a->from < b->to && b->from < a->to && !(a->from == b->from && a->stride == b->stride && a->stride >= 0);
}
/* Whether an instruction can go block by block behind another: what one of them writes, the other touches only in step. */
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
static int wb_joins(const wb_engine *m, int first, int last) {
    int k;
    for (k = first; k < last; k++)
        if (!wb_in_step(m->fast_ops[k].src, m->fast_ops[last].src)) return 0;
    return 1;
}
/* Runs of flat instructions (by rows too) and statistics of one length that no jump leads into, each in step with those before it. Each
 * member keeps its own function: whoever enters in the middle runs the rest one by one. Arrays of one block stay as they
 * are. */
static void wb_find_chains(wb_engine *m, int n, const char *jumped) {
    int at, last;
    wb_free_groups(m);
    for (at = 0; at < n; at = last) {
        last = at + 1;
        if (!wb_links(&m->fast_ops[at]) || ((const wb_array *)m->fast_ops[at].src->data)->n <= WB_BLOCK) continue;
        while (last < n && last - at < WB_LONGEST_CHAIN && wb_links(&m->fast_ops[last]) &&
               !jumped[m->fast_ops[last].src - m->code] &&
               ((const wb_array *)m->fast_ops[last].src->data)->n == ((const wb_array *)m->fast_ops[at].src->data)->n &&
               wb_joins(m, at, last))
            last++;
        if (last - at > 1) {
            wb_instr *chain[WB_LONGEST_CHAIN];
            int k;
            for (k = at; k < last; k++) chain[k - at] = m->fast_ops[k].src;
            m->fast_ops[at].fn = wb_op_chain, m->fast_ops[at].length = (short)(last - at);
            m->fast_ops[at].pa = (const char *)wb_make_group(m, chain, last - at);
        }
    }
    wb_take_pieces(m);
}
#endif
