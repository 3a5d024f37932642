/* Packs the instructions of a program for the fast path: a function for each, depending on the registers before it. */
#ifndef WB_PACK_H
#define WB_PACK_H
#include "array_fusion.h"
#include "control_ops.h"
#include "scalar_ops.h"

/* Where an operand is: 0 in the row, 1 elsewhere at a fixed address, 2 in a register, 3 in the array row of the same
 * frame, which advances too. */
static int wb_kind(const wb_engine *m, const wb_instr *s, int base, int offset, char letter, const wb_cached *cached) {
    const wb_cached *one = &cached[letter == 'q' ? 0 : 1];
    const int array_store = m->array_store[s->frame], arrays = array_store < 0 ? -2 : wb_base_of(m, array_store);
    if (letter && one->base == base && one->offset == offset) return 2;
    if (base == arrays || base == arrays + 1) return 3;
    return base == s->frame + 1 ? 0 : 1;
}
static void wb_forget(wb_cached *cached, int base, int offset) {
    int k;
    for (k = 0; k < 2; k++)
        if (cached[k].base == base && cached[k].offset == offset) cached[k].base = -1;
}

static void wb_pack_one(const wb_engine *m, wb_fast_op *h, wb_instr *s, wb_cached *cached) {
    const wb_scalar_op *op = s->scalar_op >= 0 ? &wb_scalar_ops[s->scalar_op] : NULL;
    const wb_literal *only = s->op == WB_GUARD && s->x1 == 1 ? &m->literals[s->x0] : NULL;
    int a, b = 0;
    h->oo = s->oo, h->oa = s->oa, h->ob = s->ob, h->nonlocal = 0;
    h->fn = wb_op_leave;
    switch (s->op) {
    case WB_KERNEL:
    case WB_UFUNC:
        h->fn = s->op == WB_KERNEL ? wb_op_kernel : s->x1 ? wb_op_raising : wb_op_loop;
        if (op && s->bo == s->frame + 1) {
            a = wb_kind(m, s, s->ba, s->oa, op->in, cached);
            if (op->operands == 2) b = wb_kind(m, s, s->bb, s->ob, op->in, cached);
            if (a == 3 || b == 3) op = NULL;
            else {
                h->fn = op->fn[op->operands == 2 ? 3 * a + b : a];
                h->nonlocal = (a == 1) | (op->operands == 2 && b == 1) << 1;
            }
        }
        wb_forget(cached, s->bo, s->oo);
        if (op && s->bo == s->frame + 1 && op->out) {
            const wb_cached now = {s->bo, s->oo, op->out, op->size};
            cached[op->out == 'q' ? 0 : 1] = now;
        }
        break;
    case WB_CALL:
        if (!op || !op->check) { /* the driver carries it out */
            cached[0].base = cached[1].base = -1;
            break;
        }
        h->fn = wb_op_checked;
        if (op->in && s->bo == s->frame + 1) {
            a = wb_kind(m, s, s->ba, s->oa, op->in, cached);
            if (op->operands == 2) b = wb_kind(m, s, s->bb, s->ob, op->in, cached);
            if (a == 3 || b == 3) op = NULL;
            else {
                h->fn = op->fn[op->operands == 2 ? 3 * a + b : a];
                h->nonlocal = (a == 1) | (op->operands == 2 && b == 1) << 1;
            }
        } else op = NULL;
        wb_forget(cached, s->bo, s->oo);
        if (op) {
            const wb_cached now = {s->bo, s->oo, op->out, op->size};
            cached[op->out == 'q' ? 0 : 1] = now;
        }
        break;
    case WB_TEST:
        if (s->ba == s->frame + 1) h->fn = wb_kind(m, s, s->ba, s->oa, 'q', cached) == 2 ? wb_op_test_a : wb_op_test_r;
        break;
    case WB_GUARD:
        h->fn = wb_op_guard;
        if (only && only->base == s->frame + 1 && only->expect < 2) {
            a = wb_kind(m, s, only->base, only->offset, 'q', cached) == 2;
            h->oa = only->offset;
            h->fn = only->expect ? (a ? wb_op_test_a : wb_op_test_r) : (a ? wb_op_unless_a : wb_op_unless_r);
        }
        break;
    case WB_ARRAY:
        h->fn = ((const wb_array *)s->data)->raises ? wb_op_raising_array : wb_op_array;
        break;
    case WB_MARK: h->fn = wb_op_mark; break;
    case WB_BACK:
        if (m->pointed[s->frame]) break; /* the driver resolves the references in the next row's columns */
        h->fn = m->array_store[s->frame] < 0 ? wb_op_back : wb_op_back_both;
        break;
    default: cached[0].base = cached[1].base = -1; /* the driver executes it; armed instructions too */
    }
}

/* -- jumps over decided branches --------------------------------------------------------------------------------------
 * After one branch of an `if` follow the guards of the other and of the merge, on the same predicate. If their outcome
 * is known, marks and taken branches skip them at once, and count their events. */
enum { WB_KNOWN = 8 };
typedef struct {
    int n;
    wb_literal literal[WB_KNOWN]; /* bytes of rows in progress that are true (expect 1) or false (0) */
} wb_known;

/* The only literal of a packed instruction that is a guard on a byte of the row in progress; NULL for others. */
static const wb_literal *wb_guard_of(const wb_engine *m, const wb_fast_op *h) {
    const wb_instr *s = h->src;
    const wb_literal *only = s->op == WB_GUARD && s->x1 == 1 ? &m->literals[s->x0] : NULL;
    if (h->fn != wb_op_test_r && h->fn != wb_op_test_a && h->fn != wb_op_unless_r && h->fn != wb_op_unless_a) return NULL;
    return only;
}
static void wb_learn(wb_known *known, const wb_literal *literal, int expect) {
    const wb_literal now = {literal->base, literal->offset, expect};
    if (known->n < WB_KNOWN) known->literal[known->n++] = now;
}
/* 1: known to hold, 0: known not to, -1: not known. */
static int wb_is_known(const wb_known *known, const wb_literal *literal) {
    int k;
    for (k = known->n - 1; k >= 0; k--)
        if (known->literal[k].base == literal->base && known->literal[k].offset == literal->offset)
            return known->literal[k].expect == literal->expect;
    return -1;
}
/* Skips marks and decided guards from a packed instruction on; their events are added. */
static wb_fast_op *wb_past_decided(const wb_engine *m, wb_fast_op *h, const wb_known *known, int *events) {
    for (;;) {
        const wb_literal *only = wb_guard_of(m, h);
        const int holds = only ? wb_is_known(known, only) : -1;
        if (holds < 0) return h;
        *events += h->src->n_events;
        h = holds ? h + 1 : &m->fast_ops[m->fast_op_of[h->src->jump]];
    }
}
static void wb_thread_jumps(wb_engine *m, int n, const char *jumped) {
    wb_known known = {0}, other;
    int k, j;
    for (k = 0; k < n; k++) {
        wb_fast_op *h = &m->fast_ops[k];
        const wb_instr *s = h->src;
        const int op = s->op & ~WB_TRAP;
        const wb_literal *only = wb_guard_of(m, h);
        if (jumped[s - m->code] && (k == 0 || h[-1].src != s)) known.n = 0;
        if (h->fn == wb_op_mark) {
            h->target = wb_past_decided(m, h + 1, &known, &h->n_events);
        } else if (only) {
            other = known;
            wb_learn(&other, only, !only->expect);
            h->target = wb_past_decided(m, h->target, &other, &h->oo);
            wb_learn(&known, only, only->expect);
        } else if (op == WB_KERNEL || op == WB_UFUNC || op == WB_ARRAY) {
            for (j = 0; j < known.n; j++) /* no number is larger than 16 bytes */
                if (known.literal[j].base == s->bo && known.literal[j].offset >= s->oo && known.literal[j].offset < s->oo + 16)
                    known.literal[j--] = known.literal[--known.n];
        } else known.n = 0;
    }
}

static void wb_pack_condition(wb_engine *m, int n, wb_instr *s, const wb_cached *cached, wb_op_fn fn) {
    wb_fast_op *h = &m->fast_ops[n];
    m->cached[2 * n] = cached[0], m->cached[2 * n + 1] = cached[1];
    h->src = s, h->frame = s->frame, h->fn = fn, h->nonlocal = 0;
    {
        const wb_condition *a = &m->conditions[s->condition - 1];
        const wb_condition_op *c = m->condition_code + a->code;
        if (!a->next && !a->n_steps && !a->n_guard && a->kind == WB_CONDITION_ALWAYS && a->stride <= 1)
            h->fn = wb_op_condition_count, h->pa = (const char *)a;
        else if (!a->next && !a->front && a->kind == WB_CONDITION_QUICK && c->of == WB_VALUE && a->letter == 'd' &&
                 a->base == s->frame + 1)
            h->fn = wb_op_condition_number, h->oa = a->offset, h->pa = (const char *)c;
    }
}

/* Loops in machine code are entered at the beginning of an iteration, unless a stop inside them is requested. */
static void wb_enter_natives(wb_engine *m, int length) {
    int k, j;
    for (k = 0; k < length; k++) {
        if (m->natives[k] == NULL) continue;
        for (j = k; j <= m->native_backs[k]; j++)
            if (m->code[j].op & WB_TRAP || m->code[j].condition) break;
        if (j > m->native_backs[k]) m->fast_ops[m->fast_op_of[k]].fn = (wb_op_fn)m->natives[k];
    }
}

/* Packs the instructions; `jumped` marks jump targets, where the registers' contents are unknown. (Carrying registers
 * over the back jump was tried: it gains nothing, because the loop is not bound by that store.) */
static void wb_pack(wb_engine *m, int length, const char *jumped) {
    const wb_cached nothing = {-1, 0, 0, 0};
    wb_cached cached[2] = {nothing, nothing};
    int k, f, n = 0;
    memset(m->elided, 0, (size_t)length);
    for (k = 0; k < length; k++) {
        m->fast_op_of[k] = n;
        n += (m->code[k].op != WB_NOP) + (m->code[k].condition_before != 0) + (m->code[k].condition_after != 0);
    }
    for (k = 0, n = 0; k < length; k++) {
        wb_instr *s = &m->code[k];
        wb_fast_op *h;
        if (jumped[k]) cached[0] = cached[1] = nothing;
        if (s->condition_before) wb_pack_condition(m, n++, s, cached, wb_op_condition_before);
        if (s->op != WB_NOP) {
            h = &m->fast_ops[n];
            m->cached[2 * n] = cached[0], m->cached[2 * n + 1] = cached[1];
            h->src = s, h->frame = s->frame, h->n_events = s->n_events;
            h->target = &m->fast_ops[m->fast_op_of[s->jump]];
            wb_pack_one(m, h, s, cached);
            if (h->fn == wb_op_mark) h->target = h + 1;
            if (s->op == WB_TEST || s->op == WB_GUARD) h->oo = s->n_events;
            n++;
        }
        if (s->condition_after) wb_pack_condition(m, n++, s, cached, wb_op_condition_after);
    }
    k = wb_find_chains(m, n, jumped);
    wb_thread_jumps(m, n, jumped);
    n = k;
    if (m->natives != NULL) wb_enter_natives(m, length);
    for (f = 0, k = 0; f < m->n_frames; f++) {
        int at;
        m->nonlocal_first[f] = k;
        for (at = 0; at < n; at++)
            if (m->fast_ops[at].frame == f && m->fast_ops[at].nonlocal) m->nonlocal_list[k++] = at;
    }
    m->nonlocal_first[m->n_frames] = k;
}
#endif
