/* The fast path, as machine.pyx uses it: wb_pack once, wb_resolve_addresses when a frame starts, wb_run_fast.
 *
 *   dispatch.h       the packed instruction, and how one calls the next
 *   scalar_ops.h     kernels, scalar ops and their table
 *   array_fusion.h   arrays of known shape, chains of them
 *   blocks.h         execution of a chain block by block
 *   again.h          the same for recipes
 *   control_ops.h    conditions, guards, tests, marks, back jumps
 *   pack.h           from instructions to packed ones
 */
#ifndef WB_THREADED_CODE_H
#define WB_THREADED_CODE_H
#include "again.h"
#include "pack.h"

/* Addresses of operands outside the row, which are fixed while the frame is active. */
static inline void wb_resolve_addresses(wb_engine *m, int from, int to) {
    int k;
    for (k = from; k < to; k++) {
        wb_fast_op *h = &m->fast_ops[m->nonlocal_list[k]];
        if (h->nonlocal & 1) h->pa = m->base[h->src->ba] + h->src->oa;
        if (h->nonlocal & 2) h->pb = m->base[h->src->bb] + h->src->ob;
    }
}

/* Loads the registers as expected where the loop is entered. */
static void wb_load(const wb_engine *m, const wb_cached *cached, int64_t *q, double *d) {
    const char *at;
    if (cached[0].base >= 0) {
        at = m->base[cached[0].base] + cached[0].offset;
        *q = cached[0].size == 1 ? *(const uint8_t *)at : cached[0].size == 4 ? *(const int32_t *)at : *(const int64_t *)at;
    }
    if (cached[1].base >= 0) {
        at = m->base[cached[1].base] + cached[1].offset;
        *d = cached[1].letter == 's' ? wb_high(*(const float *)at) : *(const double *)at;
    }
}

/* Runs from an instruction on to one that the driver must execute, and returns that. */
static wb_instr *wb_run_fast(wb_engine *m, wb_instr *from) {
    const wb_fast_op *i = &m->fast_ops[m->fast_op_of[from - m->code]];
    char *row = m->base[i->frame + 1];
    int64_t q = 0;
    double d = 0;
    wb_load(m, &m->cached[2 * (i - m->fast_ops)], &q, &d);
#ifdef WB_TAIL_CALLS
    i->fn(m, i, row, q, m->events, d);
#else
    m->at = (wb_fast_op *)i, m->row = row, m->q = q, m->d = d;
    do m->at->fn(m, m->at, m->row, m->q, m->events, m->d);
    while (m->go);
#endif
    return m->at->src;
}
#endif
