/* The hot loop: packed instructions, each a small function that ends by calling the next one (threaded code).
 *
 * Operands come from the row in progress (r), from elsewhere by address (f), or in the register in which an instruction
 * before left its result (a): q for integers and bools, d for floats. That spares the chain of values the way through
 * memory; every result is stored in the row all the same, for the row is the trace. The calls are tail calls: gcc and
 * clang make jumps of them when they optimize. Without that promise (no optimization, sanitizers) each function
 * returns to a plain loop instead.
 */
#ifndef WB_HOT_H
#define WB_HOT_H
#include "arrays.h"
#include "asks.h"
#include "checked.h"
#include "core.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define WB_SANITIZED 1
#endif
#endif
#if defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && !defined(WB_SANITIZED)
#define WB_TAIL_CALLS 1
#endif

#define WB_ARGS wb_engine *m, const struct wb_hot *i, char *row, int64_t q, double d
typedef void (*wb_hot_fn)(WB_ARGS);

enum { WB_LONGEST_CHAIN = 32 };

typedef struct wb_hot {
    wb_hot_fn fn;
    int oo, oa, ob;         /* offsets in the row in progress */
    int n_events;
    const char *pa, *pb;    /* operands elsewhere */
    struct wb_hot *leap;    /* where a jump goes */
    wb_instr *src;
    int frame;
    short far;              /* bit 0: a, bit 1: b is elsewhere */
    short length;           /* of the chain of array instructions that begins here */
} wb_hot;

#ifdef WB_TAIL_CALLS
#define WB_GO return i->fn(m, i, row, q, d)
#define WB_LEAVE do { m->at = (wb_hot *)i; return; } while (0)
#else
#define WB_GO do { m->at = (wb_hot *)i; m->row = row; m->q = q; m->d = d; m->go = 1; return; } while (0)
#define WB_LEAVE do { m->at = (wb_hot *)i; m->go = 0; return; } while (0)
#endif
#define WB_NEXT do { ++i; WB_GO; } while (0)

/* -- computing ------------------------------------------------------------------------------------------------------ */
static inline int64_t wb_floor_divide(int64_t a, int64_t b) {
    int64_t x;
    if (b == 0) return 0;
    if (b == -1) return -a;
    x = a / b;
    return x - (x * b != a && ((a < 0) != (b < 0)));
}
static inline int64_t wb_truncate_divide(int64_t a, int64_t b) {
    return b == 0 ? 0 : b == -1 ? -a : a / b;
}
static inline int64_t wb_remainder(int64_t a, int64_t b) {
    int64_t x;
    if (b == 0 || b == -1) return 0;
    x = a % b;
    return x + (x != 0 && ((x < 0) != (b < 0)) ? b : 0);
}

/* a register's value and back; a float32 travels in the low half of d, bit for bit */
static inline float wb_low(double d) { float s; memcpy(&s, &d, 4); return s; }
static inline double wb_high(float s) { double d = 0; memcpy(&d, &s, 4); return d; }
#define WB_GET_q(T) (T)q
#define WB_GET_d(T) d
#define WB_GET_s(T) wb_low(d)
#define WB_SET_q(v) q = v
#define WB_SET_d(v) d = v
#define WB_SET_s(v) d = wb_high(v)

#define WB_AT_r(T, L, k) (*(const T *)(row + i->o##k))
#define WB_AT_f(T, L, k) (*(const T *)i->p##k)
#define WB_AT_a(T, L, k) WB_GET_##L(T)

#define WB_TWO(name, T, L, R, RL, E, x, y) \
    static void wb_hot_##name##_##x##y(WB_ARGS) { \
        const T a = WB_AT_##x(T, L, a), b = WB_AT_##y(T, L, b); \
        const R v = (R)E; \
        *(R *)(row + i->oo) = v; \
        WB_SET_##RL(v); \
        WB_NEXT; \
    }
#define WB_HOT2(name, T, L, R, RL, E) \
    WB_TWO(name, T, L, R, RL, E, r, r) WB_TWO(name, T, L, R, RL, E, r, f) WB_TWO(name, T, L, R, RL, E, r, a) \
    WB_TWO(name, T, L, R, RL, E, f, r) WB_TWO(name, T, L, R, RL, E, f, f) WB_TWO(name, T, L, R, RL, E, f, a) \
    WB_TWO(name, T, L, R, RL, E, a, r) WB_TWO(name, T, L, R, RL, E, a, f) WB_TWO(name, T, L, R, RL, E, a, a)
#define WB_ONE(name, T, L, R, RL, E, x) \
    static void wb_hot_##name##_##x(WB_ARGS) { \
        const T a = WB_AT_##x(T, L, a); \
        const R v = (R)E; \
        *(R *)(row + i->oo) = v; \
        WB_SET_##RL(v); \
        WB_NEXT; \
    }
#define WB_HOT1(name, T, L, R, RL, E) \
    WB_ONE(name, T, L, R, RL, E, r) WB_ONE(name, T, L, R, RL, E, f) WB_ONE(name, T, L, R, RL, E, a)

/* ... with Python's checks: what Python must compute is left to the driver, whole */
#define WB_ONE_C(name, T, L, R, RL, E, x) \
    static void wb_hot_##name##_##x(WB_ARGS) { \
        const T a = WB_AT_##x(T, L, a); \
        R v; \
        if (__builtin_expect(E, 0)) WB_LEAVE; \
        *(R *)(row + i->oo) = v; \
        WB_SET_##RL(v); \
        WB_NEXT; \
    }
#define WB_TWO_C(name, TA, LA, TB, LB, R, RL, E, x, y) \
    static void wb_hot_##name##_##x##y(WB_ARGS) { \
        const TA a = WB_AT_##x(TA, LA, a); \
        const TB b = WB_AT_##y(TB, LB, b); \
        R v; \
        if (__builtin_expect(E, 0)) WB_LEAVE; \
        *(R *)(row + i->oo) = v; \
        WB_SET_##RL(v); \
        WB_NEXT; \
    }
#define WB_CALLED1(name, T, R, RL, E) \
    static int wb_call_##name(char *out, const char *pa, const char *pb, const char *pc, const ptrdiff_t *sizes) { \
        const T a = *(const T *)pa; \
        R v; \
        (void)pb, (void)pc, (void)sizes; \
        if (E) return 1; \
        *(R *)out = v; \
        return 0; \
    }
#define WB_CALLED2(name, TA, TB, R, RL, E) \
    static int wb_call_##name(char *out, const char *pa, const char *pb, const char *pc, const ptrdiff_t *sizes) { \
        const TA a = *(const TA *)pa; \
        const TB b = *(const TB *)pb; \
        R v; \
        (void)pc, (void)sizes; \
        if (E) return 1; \
        *(R *)out = v; \
        return 0; \
    }
#define WB_CHECK1(name, T, L, R, RL, E) \
    WB_CALLED1(name, T, R, RL, E) \
    WB_ONE_C(name, T, L, R, RL, E, r) WB_ONE_C(name, T, L, R, RL, E, f) WB_ONE_C(name, T, L, R, RL, E, a)
#define WB_ROW_C(name, TA, LA, TB, LB, R, RL, E, x) \
    WB_TWO_C(name, TA, LA, TB, LB, R, RL, E, x, r) WB_TWO_C(name, TA, LA, TB, LB, R, RL, E, x, f) \
    WB_TWO_C(name, TA, LA, TB, LB, R, RL, E, x, a)
#define WB_CHECK2(name, TA, LA, TB, LB, R, RL, E) \
    WB_CALLED2(name, TA, TB, R, RL, E) \
    WB_ROW_C(name, TA, LA, TB, LB, R, RL, E, r) WB_ROW_C(name, TA, LA, TB, LB, R, RL, E, f) \
    WB_ROW_C(name, TA, LA, TB, LB, R, RL, E, a)
#include "hot_ops.inc"
#undef WB_HOT1
#undef WB_HOT2
#undef WB_CHECK1
#undef WB_CHECK2
#undef WB_CALLED1
#undef WB_CALLED2

#define WB_COPY(bytes, T) \
    static void wb_hot_move_##bytes##_r(WB_ARGS) { *(T *)(row + i->oo) = *(const T *)(row + i->oa); WB_NEXT; } \
    static void wb_hot_move_##bytes##_f(WB_ARGS) { *(T *)(row + i->oo) = *(const T *)i->pa; WB_NEXT; }
WB_COPY(1, uint8_t) WB_COPY(2, uint16_t) WB_COPY(4, uint32_t) WB_COPY(8, uint64_t)

/* any other compiled kernel, and NumPy's inner loops on one item */
static void wb_hot_kernel(WB_ARGS) {
    const wb_instr *s = i->src;
    char **base = m->base;
    s->fn(base[s->bo] + s->oo, base[s->ba] + s->oa, base[s->bb] + s->ob, base[s->bc] + s->oc);
    WB_NEXT;
}
static __attribute__((noinline)) void wb_call_loop(wb_engine *m, const wb_instr *s) {
    char **base = m->base;
    char *args[4] = {base[s->ba] + s->oa, base[s->bb] + s->ob, base[s->bc] + s->oc, NULL};
    const ptrdiff_t one = 1;
    args[s->x0] = base[s->bo] + s->oo;
    ((wb_loop)s->fn)(args, &one, m->sizes + 4 * (s - m->code), s->data);
}
/* ... and those with Python's checks that are called by address, or have operands that registers do not reach */
static void wb_hot_checked(WB_ARGS) {
    const wb_instr *s = i->src;
    char **base = m->base;
    if (((wb_check)s->data)(base[s->bo] + s->oo, base[s->ba] + s->oa, base[s->bb] + s->ob, base[s->bc] + s->oc,
                            m->sizes + 4 * (s - m->code)))
        WB_LEAVE;
    WB_NEXT;
}
static void wb_hot_loop(WB_ARGS) { wb_call_loop(m, i->src); WB_NEXT; }

#ifndef WB_AHEAD
#define WB_AHEAD 2048
#endif
/* arrays of known shape; chains of them are packed into one (see wb_pack) */
static void wb_hot_array(WB_ARGS) { wb_run_array(m->base, i->src); WB_NEXT; }
static __attribute__((noinline)) void wb_chain(wb_engine *m, const struct wb_hot *i) {
    const wb_instr *chain[WB_LONGEST_CHAIN];
    int k;
    for (k = 0; k < i->length; k++) chain[k] = i[k].src;
    wb_run_chain(m->base, chain, i->length, ((const wb_array *)i->src->data)->n);
}
static void wb_hot_chain(WB_ARGS) { wb_chain(m, i); i += i->length; WB_GO; }
/* The chain that begins with an instruction, as much of it as lies in front of `stop`: runs it and returns what comes
 * behind; NULL if none begins there. */
static wb_instr *wb_chain_before(wb_engine *m, const wb_instr *s, const wb_instr *stop) {
    const wb_hot *h = &m->hot[m->hot_of[s - m->code]];
    const wb_instr *chain[WB_LONGEST_CHAIN];
    int n = 0;
    if (h->src != s || h->fn != wb_hot_chain) return NULL;
    for (; n < h->length && h[n].src < stop; n++) chain[n] = h[n].src;
    if (n < 2) return NULL;
    wb_run_chain(m->base, chain, n, ((const wb_array *)s->data)->n);
    return h[n - 1].src + 1;
}

/* -- control --------------------------------------------------------------------------------------------------------- */
static void wb_hot_leave(WB_ARGS) { (void)row, (void)q, (void)d; WB_LEAVE; }
/* What breakpoints ask, with the registers as they are. */
static void wb_hot_ask_front(WB_ARGS) {
    if (!m->quiet && wb_asks_here(m, i->src, 1)) {
        m->met = 1;
        WB_LEAVE;
    }
    WB_NEXT;
}
static void wb_hot_ask_after(WB_ARGS) {
    if (!m->quiet && wb_asks_here(m, i->src, 0)) {
        m->met = 2;
        WB_LEAVE;
    }
    WB_NEXT;
}
/* ... where it only counts: every firing passes, until one is to stop at */
static void wb_hot_ask_pass(WB_ARGS) {
    wb_ask *a = (wb_ask *)i->pa;
    if (m->quiet) WB_NEXT;
    if (a->left <= 0) return a->front ? wb_hot_ask_front(m, i, row, q, d) : wb_hot_ask_after(m, i, row, q, d);
    wb_ask_pass(a, m->events + a->event);
    WB_NEXT;
}
/* ... of one float64 in the row in progress, by the first of its comparisons: mostly that says no. What else is asked
 * (whether the value is alive, the iteration, further comparisons) matters where it says yes only. */
static void wb_hot_ask_number(WB_ARGS) {
    const wb_ask_op *c = (const wb_ask_op *)i->pa;
    double v = *(const double *)(m->base[i->frame + 1] + i->oa);
    if (c->absolute) v = fabs(v);
    if (wb_ask_one(v, c->op, c->number)) {
        wb_ask *a = &m->asks[i->src->ask - 1];
        if (m->quiet || a->left <= 0 || a->n_code > 1 || a->n_guard || a->n_steps) return wb_hot_ask_after(m, i, row, q, d);
        wb_ask_pass(a, m->events + a->event);
    }
    WB_NEXT;
}
static void wb_hot_mark(WB_ARGS) {
    m->events += i->n_events;
    row = m->base[i->frame + 1]; /* the frame may be another one from here on */
    WB_NEXT;
}
#define WB_BRANCH(name, holds) \
    static void wb_hot_##name(WB_ARGS) { \
        m->events += i->n_events; \
        if (holds) WB_NEXT; \
        i = i->leap; \
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
    const ptrdiff_t bytes = rows->row_bytes < 2048 ? rows->row_bytes : 2048;
    ptrdiff_t k;
    if (ahead == rows->end) return 0;
    for (k = 0; k < bytes; k += 64) __builtin_prefetch(ahead + WB_AHEAD + k, 1);
    m->base[base + 1] = rows->cur;
    m->base[base] = rows->cur = ahead;
    wb_publish(&rows->row, rows->row + 1);
    return 1;
}
/* ... of a frame that has arrays too: their rows go on with the frame's */
static void wb_hot_back_both(WB_ARGS) {
    wb_rows *rows = &m->frames[i->frame];
    const int twin = m->twin[i->frame];
    char *const ahead = row + rows->row_bytes;
    const long long events = m->events + i->n_events;
    if (ahead == rows->end || events >= m->poll_at || wb_flag(&m->stop_flag)) WB_LEAVE;
    if (!wb_step_rows(m, &m->frames[twin], wb_base_of(m, twin))) WB_LEAVE;
    m->events = events;
    rows->cur = row = ahead;
    m->base[i->frame + 1] = row;
    wb_publish(&rows->row, rows->row + 1);
    i = i->leap;
    WB_GO;
}
static void wb_hot_back(WB_ARGS) {
    wb_rows *rows = &m->frames[i->frame];
    char *const ahead = row + rows->row_bytes;
    const long long events = m->events + i->n_events;
    if (ahead == rows->end || events >= m->poll_at || wb_flag(&m->stop_flag)) WB_LEAVE;
    m->events = events;
    rows->cur = row = ahead;
    __builtin_prefetch(row + WB_AHEAD, 1); /* the trace is written once, from one end to the other */
    m->base[i->frame + 1] = row;
    wb_publish(&rows->row, rows->row + 1);
    i = i->leap;
    WB_GO;
}

/* -- the table ------------------------------------------------------------------------------------------------------- */
typedef struct {
    const char *name;
    char operands;      /* 1 or 2 */
    char in, out;       /* register files: q, d, s; 0: none (moves) */
    char size;          /* bytes of the result */
    wb_hot_fn fn[9];    /* by 3 * a + b, each 0: row, 1: elsewhere, 2: register; one operand: by a */
    wb_check check;     /* with Python's checks: the same by address, for an instruction that else calls Python */
} wb_hot_op;

static const wb_hot_op wb_hot_table[] = {
#define WB_HOT2(name, T, L, R, RL, E) \
    {#name, 2, #L[0], #RL[0], sizeof(R), {wb_hot_##name##_rr, wb_hot_##name##_rf, wb_hot_##name##_ra, wb_hot_##name##_fr, \
     wb_hot_##name##_ff, wb_hot_##name##_fa, wb_hot_##name##_ar, wb_hot_##name##_af, wb_hot_##name##_aa}},
#define WB_HOT1(name, T, L, R, RL, E) \
    {#name, 1, #L[0], #RL[0], sizeof(R), {wb_hot_##name##_r, wb_hot_##name##_f, wb_hot_##name##_a}},
#define WB_CHECK2(name, TA, LA, TB, LB, R, RL, E) \
    {#name, 2, #LA[0], #RL[0], sizeof(R), {wb_hot_##name##_rr, wb_hot_##name##_rf, wb_hot_##name##_ra, \
     wb_hot_##name##_fr, wb_hot_##name##_ff, wb_hot_##name##_fa, wb_hot_##name##_ar, wb_hot_##name##_af, \
     wb_hot_##name##_aa}, wb_call_##name},
#define WB_CHECK1(name, T, L, R, RL, E) \
    {#name, 1, #L[0], #RL[0], sizeof(R), {wb_hot_##name##_r, wb_hot_##name##_f, wb_hot_##name##_a}, wb_call_##name},
#define WB_CALLED2(name, TA, TB, R, RL, E) {#name, 2, 0, 0, sizeof(R), {NULL}, wb_call_##name},
#define WB_CALLED1(name, T, R, RL, E) {#name, 1, 0, 0, sizeof(R), {NULL}, wb_call_##name},
#include "hot_ops.inc"
#undef WB_HOT1
#undef WB_HOT2
#undef WB_CHECK1
#undef WB_CHECK2
#undef WB_CALLED1
#undef WB_CALLED2
    {"checked_item_1", 2, 0, 0, 0, {NULL}, wb_call_item_1},
    {"checked_item_2", 3, 0, 0, 0, {NULL}, wb_call_item_2},
    {"checked_put_1", 3, 0, 0, 0, {NULL}, wb_call_put_1},
    {"move_1", 1, 0, 0, 0, {wb_hot_move_1_r, wb_hot_move_1_f}},
    {"move_2", 1, 0, 0, 0, {wb_hot_move_2_r, wb_hot_move_2_f}},
    {"move_4", 1, 0, 0, 0, {wb_hot_move_4_r, wb_hot_move_4_f}},
    {"move_8", 1, 0, 0, 0, {wb_hot_move_8_r, wb_hot_move_8_f}},
    {NULL, 0, 0, 0, 0, {NULL}},
};

/* -- packing --------------------------------------------------------------------------------------------------------- */
/* How an operand reaches an instruction: 0 in the row, 1 elsewhere at an address that stands still, 2 in a register,
 * 3 in the array row of the same frame, which moves on too. */
static int wb_kind(const wb_engine *m, const wb_instr *s, int base, int offset, char letter, const wb_held *held) {
    const wb_held *one = &held[letter == 'q' ? 0 : 1];
    const int twin = m->twin[s->frame], arrays = twin < 0 ? -2 : wb_base_of(m, twin);
    if (letter && one->base == base && one->offset == offset) return 2;
    if (base == arrays || base == arrays + 1) return 3;
    return base == s->frame + 1 ? 0 : 1;
}
static void wb_forget(wb_held *held, int base, int offset) {
    int k;
    for (k = 0; k < 2; k++)
        if (held[k].base == base && held[k].offset == offset) held[k].base = -1;
}

static void wb_pack_one(const wb_engine *m, wb_hot *h, wb_instr *s, wb_held *held) {
    const wb_hot_op *op = s->hot >= 0 ? &wb_hot_table[s->hot] : NULL;
    const wb_literal *only = s->op == WB_GUARD && s->x1 == 1 ? &m->literals[s->x0] : NULL;
    int a, b = 0;
    h->oo = s->oo, h->oa = s->oa, h->ob = s->ob, h->far = 0;
    h->fn = wb_hot_leave;
    switch (s->op) {
    case WB_KERNEL:
    case WB_UFUNC:
        h->fn = s->op == WB_KERNEL ? wb_hot_kernel : wb_hot_loop;
        if (op && s->bo == s->frame + 1) {
            a = wb_kind(m, s, s->ba, s->oa, op->in, held);
            if (op->operands == 2) b = wb_kind(m, s, s->bb, s->ob, op->in, held);
            if (a == 3 || b == 3) op = NULL;
            else {
                h->fn = op->fn[op->operands == 2 ? 3 * a + b : a];
                h->far = (a == 1) | (op->operands == 2 && b == 1) << 1;
            }
        }
        wb_forget(held, s->bo, s->oo);
        if (op && s->bo == s->frame + 1 && op->out) {
            const wb_held now = {s->bo, s->oo, op->out, op->size};
            held[op->out == 'q' ? 0 : 1] = now;
        }
        break;
    case WB_CALL:
        if (!op || !op->check) { /* the driver carries it out */
            held[0].base = held[1].base = -1;
            break;
        }
        h->fn = wb_hot_checked;
        if (op->in && s->bo == s->frame + 1) {
            a = wb_kind(m, s, s->ba, s->oa, op->in, held);
            if (op->operands == 2) b = wb_kind(m, s, s->bb, s->ob, op->in, held);
            if (a == 3 || b == 3) op = NULL;
            else {
                h->fn = op->fn[op->operands == 2 ? 3 * a + b : a];
                h->far = (a == 1) | (op->operands == 2 && b == 1) << 1;
            }
        } else op = NULL;
        wb_forget(held, s->bo, s->oo);
        if (op) {
            const wb_held now = {s->bo, s->oo, op->out, op->size};
            held[op->out == 'q' ? 0 : 1] = now;
        }
        break;
    case WB_TEST:
        if (s->ba == s->frame + 1) h->fn = wb_kind(m, s, s->ba, s->oa, 'q', held) == 2 ? wb_hot_test_a : wb_hot_test_r;
        break;
    case WB_GUARD:
        h->fn = wb_hot_guard;
        if (only && only->base == s->frame + 1 && only->expect < 2) {
            a = wb_kind(m, s, only->base, only->offset, 'q', held) == 2;
            h->oa = only->offset;
            h->fn = only->expect ? (a ? wb_hot_test_a : wb_hot_test_r) : (a ? wb_hot_unless_a : wb_hot_unless_r);
        }
        break;
    case WB_ARRAY:
        h->fn = wb_hot_array;
        break;
    case WB_MARK: h->fn = wb_hot_mark; break;
    case WB_BACK: h->fn = m->twin[s->frame] < 0 ? wb_hot_back : wb_hot_back_both; break;
    default: held[0].base = held[1].base = -1; /* the driver carries it out; armed instructions too */
    }
}

static int wb_links(const wb_hot *h) {
    const int kind = h->fn == wb_hot_array ? ((const wb_array *)h->src->data)->kind : -1;
    return kind == WB_FLAT || kind == WB_STATS || kind == WB_ROWS;
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
/* What it reads (up to three) and, last, what it writes; returns their number. */
static int wb_spans(const wb_instr *s, wb_span *spans) {
    const wb_array *x = (const wb_array *)s->data;
    const int base[3] = {s->ba, s->bb, s->bc}, offset[3] = {s->oa, s->ob, s->oc};
    int k;
    for (k = 0; k < (x->kind == WB_STATS ? 1 : x->n_in); k++) {
        spans[k] = wb_span_of(base[k], offset[k], x->stride[k], x->n);
        if (x->kind == WB_ROWS && !x->stride[k]) spans[k].to += x->n / x->inner * x->steps[k][0];
    }
    spans[k] = x->kind == WB_STATS ? wb_span_of(s->bo, s->oo, sizeof(double), 7)
                                   : wb_span_of(s->bo, s->oo, x->stride[3], x->n);
    return k + 1;
}
/* Whether two spans meet out of step: then a block of one is not the block of the other. */
static int wb_out_of_step(const wb_span *a, const wb_span *b) {
    return a->base == b->base && a->from < b->to && b->from < a->to && !(a->from == b->from && a->stride == b->stride);
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
        if (!wb_in_step(m->hot[k].src, m->hot[last].src)) return 0;
    return 1;
}
/* Runs of flat instructions (by rows too) and statistics of one length that no jump leads into, each in step with those before it. Each
 * member keeps its own function: whoever enters in the middle runs the rest one by one. Short arrays stay as they are:
 * they fit the cache whole. */
static void wb_find_chains(wb_engine *m, int n, const char *jumped) {
    int at, last;
    for (at = 0; at < n; at = last) {
        last = at + 1;
        if (!wb_links(&m->hot[at]) || ((const wb_array *)m->hot[at].src->data)->n <= WB_BLOCK) continue;
        while (last < n && last - at < WB_LONGEST_CHAIN && wb_links(&m->hot[last]) && !jumped[m->hot[last].src - m->code] &&
               ((const wb_array *)m->hot[last].src->data)->n == ((const wb_array *)m->hot[at].src->data)->n &&
               wb_joins(m, at, last))
            last++;
        if (last - at > 1) m->hot[at].fn = wb_hot_chain, m->hot[at].length = (short)(last - at);
    }
}

static void wb_pack_ask(wb_engine *m, int n, wb_instr *s, const wb_held *held, wb_hot_fn fn) {
    wb_hot *h = &m->hot[n];
    m->held[2 * n] = held[0], m->held[2 * n + 1] = held[1];
    h->src = s, h->frame = s->frame, h->fn = fn, h->far = 0, h->length = 0;
    {
        const wb_ask *a = &m->asks[s->ask - 1];
        const wb_ask_op *c = m->ask_code + a->code;
        if (!a->next && !a->n_steps && !a->n_guard && a->kind == WB_ASK_ALWAYS && a->stride <= 1)
            h->fn = wb_hot_ask_pass, h->pa = (const char *)a;
        else if (!a->next && !a->front && a->kind == WB_ASK_QUICK && c->of == WB_VALUE && a->letter == 'd' &&
                 a->base == s->frame + 1)
            h->fn = wb_hot_ask_number, h->oa = a->offset, h->pa = (const char *)c;
    }
}

/* Pack the instructions; `jumped` marks those that are jumped to, where the registers' contents are unknown. (Carrying
 * registers over the back jump was tried too: it gains nothing, the loop is not bound by that store any more.) */
static void wb_pack(wb_engine *m, int length, const char *jumped) {
    const wb_held nothing = {-1, 0, 0, 0};
    wb_held held[2] = {nothing, nothing};
    int k, f, n = 0;
    for (k = 0; k < length; k++) {
        m->hot_of[k] = n;
        n += (m->code[k].op != WB_NOP) + (m->code[k].asks_front != 0) + (m->code[k].asks_after != 0);
    }
    for (k = 0, n = 0; k < length; k++) {
        wb_instr *s = &m->code[k];
        wb_hot *h;
        if (jumped[k]) held[0] = held[1] = nothing;
        if (s->asks_front) wb_pack_ask(m, n++, s, held, wb_hot_ask_front);
        if (s->op != WB_NOP) {
            h = &m->hot[n];
            m->held[2 * n] = held[0], m->held[2 * n + 1] = held[1];
            h->src = s, h->frame = s->frame, h->n_events = s->n_events;
            h->leap = &m->hot[m->hot_of[s->jump]];
            wb_pack_one(m, h, s, held);
            n++;
        }
        if (s->asks_after) wb_pack_ask(m, n++, s, held, wb_hot_ask_after);
    }
    wb_find_chains(m, n, jumped);
    for (f = 0, k = 0; f < m->n_frames; f++) {
        int at;
        m->far_first[f] = k;
        for (at = 0; at < n; at++)
            if (m->hot[at].frame == f && m->hot[at].far) m->far_list[k++] = at;
    }
    m->far_first[m->n_frames] = k;
}

/* Addresses of operands elsewhere: they stand still while the frame is active. */
static inline void wb_aim(wb_engine *m, int from, int to) {
    int k;
    for (k = from; k < to; k++) {
        wb_hot *h = &m->hot[m->far_list[k]];
        if (h->far & 1) h->pa = m->base[h->src->ba] + h->src->oa;
        if (h->far & 2) h->pb = m->base[h->src->bb] + h->src->ob;
    }
}

/* What the registers should hold where the loop is entered. */
static void wb_load(const wb_engine *m, const wb_held *held, int64_t *q, double *d) {
    const char *at;
    if (held[0].base >= 0) {
        at = m->base[held[0].base] + held[0].offset;
        *q = held[0].size == 1 ? *(const uint8_t *)at : held[0].size == 4 ? *(const int32_t *)at : *(const int64_t *)at;
    }
    if (held[1].base >= 0) {
        at = m->base[held[1].base] + held[1].offset;
        *d = held[1].letter == 's' ? wb_high(*(const float *)at) : *(const double *)at;
    }
}

/* Run from an instruction on until one that the driver must carry out; returns that. */
static wb_instr *wb_hot_run(wb_engine *m, wb_instr *from) {
    const wb_hot *i = &m->hot[m->hot_of[from - m->code]];
    char *row = m->base[i->frame + 1];
    int64_t q = 0;
    double d = 0;
    wb_load(m, &m->held[2 * (i - m->hot)], &q, &d);
#ifdef WB_TAIL_CALLS
    i->fn(m, i, row, q, d);
#else
    m->at = (wb_hot *)i, m->row = row, m->q = q, m->d = d;
    do m->at->fn(m, m->at, m->row, m->q, m->d);
    while (m->go);
#endif
    return m->at->src;
}
#endif
