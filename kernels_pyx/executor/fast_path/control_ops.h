/* Control flow on the fast path: conditions of breakpoints, guards, tests, marks and back jumps. */
#ifndef WB_CONTROL_OPS_H
#define WB_CONTROL_OPS_H
#include "conditions.h"
#include "dispatch.h"

#ifndef WB_AHEAD
#define WB_AHEAD 2048 /* bytes of the trace prefetched ahead of the row in progress */
#endif

static void wb_op_leave(WB_ARGS) { (void)row, (void)q, (void)d; WB_LEAVE; }
/* Conditions of breakpoints; the registers stay as they are. */
static void wb_op_condition_before(WB_ARGS) {
    m->events = events;
    if (!m->quiet && wb_conditions_hold(m, i->src, 1)) {
        m->met = 1;
        WB_LEAVE;
    }
    WB_NEXT;
}
static void wb_op_condition_after(WB_ARGS) {
    m->events = events;
    if (!m->quiet && wb_conditions_hold(m, i->src, 0)) {
        m->met = 2;
        WB_LEAVE;
    }
    WB_NEXT;
}
/* ... which only counts: every firing is skipped until the one to stop at */
static void wb_op_condition_count(WB_ARGS) {
    wb_condition *a = (wb_condition *)i->pa;
    if (m->quiet) WB_NEXT;
    if (a->left <= 0) return a->front ? wb_op_condition_before(m, i, row, q, events, d) : wb_op_condition_after(m, i, row, q, events, d);
    wb_skip_hit(a, events + a->event);
    WB_NEXT;
}
/* ... of one float64 in the row in progress, by the first of its comparisons, which usually fails. The rest (whether
 * the value is alive, the iteration, further comparisons) is checked only if that one holds. */
static void wb_op_condition_number(WB_ARGS) {
    const wb_condition_op *c = (const wb_condition_op *)i->pa;
    double v = *(const double *)(m->base[i->frame + 1] + i->oa);
    if (c->absolute) v = fabs(v);
    if (wb_compare(v, c->op, c->number)) {
        wb_condition *a = &m->conditions[i->src->condition - 1];
        if (m->quiet || a->left <= 0 || a->n_code > 1 || a->n_guard || a->n_steps) return wb_op_condition_after(m, i, row, q, events, d);
        wb_skip_hit(a, events + a->event);
    }
    WB_NEXT;
}
static void wb_op_mark(WB_ARGS) {
    events += i->n_events;
    row = m->base[i->frame + 1]; /* the frame may change here */
    i = i->target;
    WB_GO;
}
#define WB_BRANCH(name, holds) \
    static void wb_op_##name(WB_ARGS) { \
        if (holds) { events += i->n_events; WB_NEXT; } \
        events += i->oo; \
        i = i->target; \
        WB_GO; \
    }
WB_BRANCH(test_r, *(row + i->oa) != 0)
WB_BRANCH(test_a, q != 0)
WB_BRANCH(unless_r, *(row + i->oa) == 0)
WB_BRANCH(unless_a, q == 0)
static inline int wb_all_hold(wb_engine *m, const wb_instr *s) {
    int k;
    for (k = s->x0; k < s->x0 + s->x1; k++)
        if (!wb_holds(m->base, &m->literals[k])) return 0;
    return 1;
}
WB_BRANCH(guard, wb_all_hold(m, i->src))
static inline int wb_step_rows(wb_engine *m, wb_rows *rows, int base) {
    char *const ahead = rows->cur + rows->row_bytes;
    const ptrdiff_t bytes = rows->row_bytes < 512 ? rows->row_bytes : 512; /* longer ones are prefetched anyway */
    ptrdiff_t k;
    if (ahead == rows->end || rows->pinning) return 0;
    for (k = 0; k < bytes; k += 64) __builtin_prefetch(ahead + WB_AHEAD + k, 1);
    m->base[base + 1] = rows->cur;
    m->base[base] = rows->cur = ahead;
    wb_publish(&rows->row, rows->row + 1);
    return 1;
}
/* ... of a frame that also has arrays, whose rows advance with the frame's */
static void wb_op_back_both(WB_ARGS) {
    wb_rows *rows = &m->frames[i->frame];
    const int array_store = m->array_store[i->frame];
    char *const ahead = row + rows->row_bytes;
    const long long more = events + i->n_events;
    if (ahead == rows->end || more >= m->poll_at || wb_flag(&m->stop_flag)) WB_LEAVE;
    if (!wb_step_rows(m, &m->frames[array_store], wb_base_of(m, array_store))) WB_LEAVE;
    m->events = events = more;
    rows->cur = row = ahead;
    m->base[i->frame + 1] = row;
    wb_publish(&rows->row, rows->row + 1);
    i = i->target;
    WB_GO;
}
static void wb_op_back(WB_ARGS) {
    wb_rows *rows = &m->frames[i->frame];
    char *const ahead = row + rows->row_bytes;
    const long long more = events + i->n_events;
    if (ahead == rows->end || more >= m->poll_at || wb_flag(&m->stop_flag)) WB_LEAVE;
    m->events = events = more;
    rows->cur = row = ahead;
    __builtin_prefetch(row + WB_AHEAD, 1); /* the trace is written once, sequentially */
    m->base[i->frame + 1] = row;
    wb_publish(&rows->row, rows->row + 1);
    i = i->target;
    WB_GO;
}
#endif
