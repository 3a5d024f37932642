/* Scalar ops of the fast path, in a version for each location of the operands.
 *
 * Operands are in the row in progress (r), elsewhere by address (f), or in the register with the result of an earlier
 * instruction (a): q for integers and bools, d for floats. Registers keep chains of values out of memory; every result
 * is still stored in the row, because the row is the trace. The expressions are in kernels_pyx/scalar_ops.py.
 */
#ifndef WB_SCALAR_OPS_H
#define WB_SCALAR_OPS_H
#include "checked_arithmetic.h"
#include "dispatch.h"

/* Powers of two are the most common divisors of a loop, and the processor's division takes many times as long as a
 * shift. A shift to the right rounds down, as Python's division does. */
static inline int wb_is_power(int64_t b) { return b > 0 && (b & (b - 1)) == 0; }
static inline int64_t wb_floor_divide(int64_t a, int64_t b) {
    int64_t x;
    if (wb_is_power(b)) return a >> __builtin_ctzll((unsigned long long)b);
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
    if (wb_is_power(b)) return a & (b - 1);
    if (b == 0 || b == -1) return 0;
    x = a % b;
    return x + (x != 0 && ((x < 0) != (b < 0)) ? b : 0);
}

/* a register's value and back; a float32 is in the low half of d, bit for bit */
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
    static void wb_op_##name##_##x##y(WB_ARGS) { \
        const T a = WB_AT_##x(T, L, a), b = WB_AT_##y(T, L, b); \
        const R v = (R)E; \
        *(R *)(row + i->oo) = v; \
        WB_SET_##RL(v); \
        WB_NEXT; \
    }
#define WB_SCALAR2(name, T, L, R, RL, E) \
    WB_TWO(name, T, L, R, RL, E, r, r) WB_TWO(name, T, L, R, RL, E, r, f) WB_TWO(name, T, L, R, RL, E, r, a) \
    WB_TWO(name, T, L, R, RL, E, f, r) WB_TWO(name, T, L, R, RL, E, f, f) WB_TWO(name, T, L, R, RL, E, f, a) \
    WB_TWO(name, T, L, R, RL, E, a, r) WB_TWO(name, T, L, R, RL, E, a, f) WB_TWO(name, T, L, R, RL, E, a, a)
#define WB_ONE(name, T, L, R, RL, E, x) \
    static void wb_op_##name##_##x(WB_ARGS) { \
        const T a = WB_AT_##x(T, L, a); \
        const R v = (R)E; \
        *(R *)(row + i->oo) = v; \
        WB_SET_##RL(v); \
        WB_NEXT; \
    }
#define WB_SCALAR1(name, T, L, R, RL, E) \
    WB_ONE(name, T, L, R, RL, E, r) WB_ONE(name, T, L, R, RL, E, f) WB_ONE(name, T, L, R, RL, E, a)

/* ... with Python's checks: cases for Python are left entirely to the driver */
#define WB_ONE_C(name, T, L, R, RL, E, x) \
    static void wb_op_##name##_##x(WB_ARGS) { \
        const T a = WB_AT_##x(T, L, a); \
        R v; \
        if (__builtin_expect(E, 0)) WB_LEAVE; \
        *(R *)(row + i->oo) = v; \
        WB_SET_##RL(v); \
        WB_NEXT; \
    }
#define WB_TWO_C(name, TA, LA, TB, LB, R, RL, E, x, y) \
    static void wb_op_##name##_##x##y(WB_ARGS) { \
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
#include "scalar_ops.inc"
#undef WB_SCALAR1
#undef WB_SCALAR2
#undef WB_CHECK1
#undef WB_CHECK2
#undef WB_CALLED1
#undef WB_CALLED2

#define WB_COPY(bytes, T) \
    static void wb_op_move_##bytes##_r(WB_ARGS) { *(T *)(row + i->oo) = *(const T *)(row + i->oa); WB_NEXT; } \
    static void wb_op_move_##bytes##_f(WB_ARGS) { *(T *)(row + i->oo) = *(const T *)i->pa; WB_NEXT; }
WB_COPY(1, uint8_t) WB_COPY(2, uint16_t) WB_COPY(4, uint32_t) WB_COPY(8, uint64_t)

/* any other compiled kernel, and NumPy's inner loops on one item */
static void wb_op_kernel(WB_ARGS) {
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
/* ... and those with Python's checks that are called by address, or have operands outside registers */
static void wb_op_checked(WB_ARGS) {
    const wb_instr *s = i->src;
    char **base = m->base;
    if (((wb_check)s->data)(base[s->bo] + s->oo, base[s->ba] + s->oa, base[s->bb] + s->ob, base[s->bc] + s->oc,
                            m->sizes + 4 * (s - m->code)))
        WB_LEAVE;
    WB_NEXT;
}
/* ... for machine code (native.pxi); not 0: it raised, and the driver must run it again */
static int wb_call_loop_once(wb_engine *m, wb_instr *s) {
    wb_call_loop(m, s);
    return s->x1 && wb_raised();
}
static void wb_op_loop(WB_ARGS) { wb_call_loop(m, i->src); WB_NEXT; }
/* ... and loops that may raise: the driver runs them again and takes the exception */
static void wb_op_raising(WB_ARGS) {
    wb_call_loop(m, i->src);
    if (__builtin_expect(wb_raised(), 0)) WB_LEAVE;
    WB_NEXT;
}

/* -- the table ------------------------------------------------------------------------------------------------------- */
typedef struct {
    const char *name;
    char operands;      /* 1 or 2 */
    char in, out;       /* register files: q, d, s; 0: none (moves) */
    char size;          /* bytes of the result */
    wb_op_fn fn[9];    /* by 3 * a + b, each 0: row, 1: elsewhere, 2: register; one operand: by a */
    wb_check check;     /* with Python's checks: the same by address, for an instruction that otherwise calls Python */
} wb_scalar_op;

static const wb_scalar_op wb_scalar_ops[] = {
#define WB_SCALAR2(name, T, L, R, RL, E) \
    {#name, 2, #L[0], #RL[0], sizeof(R), {wb_op_##name##_rr, wb_op_##name##_rf, wb_op_##name##_ra, wb_op_##name##_fr, \
     wb_op_##name##_ff, wb_op_##name##_fa, wb_op_##name##_ar, wb_op_##name##_af, wb_op_##name##_aa}},
#define WB_SCALAR1(name, T, L, R, RL, E) \
    {#name, 1, #L[0], #RL[0], sizeof(R), {wb_op_##name##_r, wb_op_##name##_f, wb_op_##name##_a}},
#define WB_CHECK2(name, TA, LA, TB, LB, R, RL, E) \
    {#name, 2, #LA[0], #RL[0], sizeof(R), {wb_op_##name##_rr, wb_op_##name##_rf, wb_op_##name##_ra, \
     wb_op_##name##_fr, wb_op_##name##_ff, wb_op_##name##_fa, wb_op_##name##_ar, wb_op_##name##_af, \
     wb_op_##name##_aa}, wb_call_##name},
#define WB_CHECK1(name, T, L, R, RL, E) \
    {#name, 1, #L[0], #RL[0], sizeof(R), {wb_op_##name##_r, wb_op_##name##_f, wb_op_##name##_a}, wb_call_##name},
#define WB_CALLED2(name, TA, TB, R, RL, E) {#name, 2, 0, 0, sizeof(R), {NULL}, wb_call_##name},
#define WB_CALLED1(name, T, R, RL, E) {#name, 1, 0, 0, sizeof(R), {NULL}, wb_call_##name},
#include "scalar_ops.inc"
#undef WB_SCALAR1
#undef WB_SCALAR2
#undef WB_CHECK1
#undef WB_CHECK2
#undef WB_CALLED1
#undef WB_CALLED2
    {"checked_item_1", 2, 0, 0, 0, {NULL}, wb_call_item_1},
    {"checked_item_2", 3, 0, 0, 0, {NULL}, wb_call_item_2},
    {"checked_put_1", 3, 0, 0, 0, {NULL}, wb_call_put_1},
    {"move_1", 1, 0, 0, 0, {wb_op_move_1_r, wb_op_move_1_f}},
    {"move_2", 1, 0, 0, 0, {wb_op_move_2_r, wb_op_move_2_f}},
    {"move_4", 1, 0, 0, 0, {wb_op_move_4_r, wb_op_move_4_f}},
    {"move_8", 1, 0, 0, 0, {wb_op_move_8_r, wb_op_move_8_f}},
    {NULL, 0, 0, 0, 0, {NULL}},
};
#endif
