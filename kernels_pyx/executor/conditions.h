/* Conditions of breakpoints without Python: a small stack machine over one number, and passes over arrays.
 *
 * A condition that does not hold takes a few nanoseconds. Cases that cannot be decided here (integers beyond 2^53, a
 * previous row that was dropped, a branch) are left to the driver: WB_UNSURE. WB_NO is exact: the driver would decide
 * the same.
 */
#ifndef WB_CONDITIONS_H
#define WB_CONDITIONS_H
#include "structs.h"

enum { WB_NO, WB_YES, WB_UNSURE };
enum { WB_CONDITION_ALWAYS, WB_CONDITION_CODE, WB_CONDITION_ITEMS, WB_CONDITION_CHANGED, WB_CONDITION_SAME, WB_CONDITION_FLIP, WB_CONDITION_QUICK };
enum { /* names in the same order: conditions.pxi */
    WB_VALUE, WB_PREVIOUS, WB_ITERATION, WB_NUMBER, WB_NEG, WB_ABS, WB_ADD, WB_SUB, WB_MUL, WB_DIV, WB_MOD, WB_LT, WB_LE, WB_GT,
    WB_GE, WB_EQ, WB_NE, WB_BOTH, WB_AND, WB_OR, WB_NOT, WB_ISNAN, WB_ISINF, WB_ISFINITE, WB_SQRT
};
enum { WB_CONDITION_DEPTH = 24, WB_CONDITION_BLOCK = 2048, WB_CONDITION_EVENTS = 65536 };
#define WB_EXACT 9007199254740992.0

typedef struct wb_condition_op {
    int op;
    int of, absolute; /* QUICK: index of the operand */
    double number;
} wb_condition_op;

typedef struct wb_condition_step {
    int frame;
    long long iteration;
} wb_condition_step;

typedef struct wb_condition {
    int next;              /* the next one at the same instruction (from 1 on), or 0 */
    int kind, front;
    int node;              /* instruction of the firing ... */
    int event;             /* ... and its number in its straight run */
    int frame;             /* frame whose iterations count */
    int store;             /* store whose rows hold the value, or -1 */
    int base, offset;      /* the current value ... */
    int place, shift;      /* ... and its position in any row */
    char letter;           /* NumPy's letter of the dtype */
    ptrdiff_t n;           /* items */
    int guard, n_guard;    /* literals that hold if the value is alive */
    int step, n_steps;     /* iterations in which to check */
    int stride;            /* every k-th iteration */
    int code, n_code;
    int op;                /* ITEMS: holds if an item op number ... */
    int absolute;          /* ... of the magnitude */
    char back, counts;     /* whether it reads the previous iteration; the iteration's number */
    double number;
    long long left;        /* hits to skip */
    long long passed;      /* hits skipped so far */
    long long *events;     /* of the newest of them, a ring */
    long long room;        /* a power of two, or 0 */
} wb_condition;

static double wb_number_at(const char *at, char letter, int *exact) {
    switch (letter) {
    case 'd': return *(const double *)at;
    case 'f': return (double)*(const float *)at;
    case 'b': return (double)*(const int8_t *)at;
    case 'h': return (double)*(const int16_t *)at;
    case 'i': return (double)*(const int32_t *)at;
    case '?': case 'B': return (double)*(const uint8_t *)at;
    case 'H': return (double)*(const uint16_t *)at;
    case 'I': return (double)*(const uint32_t *)at;
    default: {
        const double found = (double)*(const int64_t *)at;
        if (fabs(found) >= WB_EXACT) *exact = 0;
        return found;
    }
    }
}

/* `before` is NULL if there is no previous iteration. */
static int wb_evaluate_code(const wb_condition_op *code, int n, const char *now, const char *before, char letter, double iteration) {
    double v[WB_CONDITION_DEPTH];
    char gone[WB_CONDITION_DEPTH];
    int k, top = -1, exact = 1;
    const int whole = letter != 'd' && letter != 'f';
    for (k = 0; k < n; k++) {
        switch (code[k].op) {
        case WB_VALUE: v[++top] = wb_number_at(now, letter, &exact), gone[top] = 0; break;
        case WB_PREVIOUS:
            v[++top] = before ? wb_number_at(before, letter, &exact) : 0.0, gone[top] = before == NULL;
            break;
        case WB_ITERATION: v[++top] = iteration, gone[top] = 0; break;
        case WB_NUMBER: v[++top] = code[k].number, gone[top] = 0; break;
        case WB_NEG: v[top] = -v[top]; break;
        case WB_ABS: v[top] = fabs(v[top]); break;
        case WB_NOT: v[top] = v[top] == 0.0; break;
        case WB_ISNAN: v[top] = isnan(v[top]) != 0; break;
        case WB_ISINF: v[top] = isinf(v[top]) != 0; break;
        case WB_ISFINITE: v[top] = isfinite(v[top]) != 0; break;
        case WB_SQRT: v[top] = sqrt(v[top]); break;
        default: {
            const double a = v[top - 1], b = v[top];
            const char ga = gone[top - 1], gb = gone[top];
            double r = 0.0;
            top--;
            gone[top] = ga || gb;
            switch (code[k].op) {
            case WB_ADD: r = a + b; break;
            case WB_SUB: r = a - b; break;
            case WB_MUL: r = a * b; break;
            case WB_DIV: r = a / b; break;
            case WB_MOD: /* as in NumPy: the sign of the divisor */
                if (b == 0.0) exact = 0;
                r = fmod(a, b);
                if (r != 0.0 && (r < 0.0) != (b < 0.0)) r += b;
                break;
            case WB_LT: r = a < b; break;
            case WB_LE: r = a <= b; break;
            case WB_GT: r = a > b; break;
            case WB_GE: r = a >= b; break;
            case WB_EQ: r = a == b; break;
            case WB_NE: r = a != b; break;
            case WB_BOTH: r = a != 0.0 && b != 0.0; break;
            case WB_AND: r = (a != 0.0 && !ga) && (b != 0.0 && !gb), gone[top] = 0; break;
            case WB_OR: r = (a != 0.0 && !ga) || (b != 0.0 && !gb), gone[top] = 0; break;
            }
            if (whole && code[k].op >= WB_ADD && code[k].op <= WB_MUL && !(fabs(r) < WB_EXACT)) exact = 0;
            v[top] = r;
        }
        }
    }
    if (!exact) return WB_UNSURE;
    return v[0] != 0.0 && !gone[0] ? WB_YES : WB_NO;
}

#define WB_SOME(T, E) \
    for (at = 0; at < n; at += WB_CONDITION_BLOCK) { \
        const ptrdiff_t end = n - at < WB_CONDITION_BLOCK ? n - at : WB_CONDITION_BLOCK; \
        const T *x = (const T *)now + at; \
        int found = 0; \
        for (k = 0; k < end; k++) { const T a = x[k]; found |= (E); } \
        if (found) return WB_YES; \
    } \
    return WB_NO
#define WB_SOMES(T, ABS) \
    switch (op) { \
    case WB_ISNAN: WB_SOME(T, a != a); \
    case WB_ISINF: WB_SOME(T, a - a != 0 && a == a); \
    case WB_ISFINITE: WB_SOME(T, !(a - a == 0)); /* an item is not finite */ \
    case WB_LT: if (absolute) { WB_SOME(T, ABS(a) < limit); } WB_SOME(T, a < limit); \
    case WB_LE: if (absolute) { WB_SOME(T, ABS(a) <= limit); } WB_SOME(T, a <= limit); \
    case WB_GT: if (absolute) { WB_SOME(T, ABS(a) > limit); } WB_SOME(T, a > limit); \
    case WB_GE: if (absolute) { WB_SOME(T, ABS(a) >= limit); } WB_SOME(T, a >= limit); \
    default: return WB_UNSURE; \
    }

/* Whether an item of an array satisfies the comparison. */
static int wb_any_item(const char *now, char letter, ptrdiff_t n, int op, int absolute, double limit) {
    ptrdiff_t at, k;
    if (letter == 'd') { WB_SOMES(double, fabs) }
    if (letter == 'f') { WB_SOMES(float, fabsf) }
    return WB_UNSURE;
}

/* Whether two arrays differ; NaN equals NaN. */
static int wb_arrays_differ(const char *now, const char *then, char letter, ptrdiff_t n) {
    ptrdiff_t k;
#define WB_DIFFERS(T) \
    for (k = 0; k < n; k++) { \
        const T a = ((const T *)now)[k], b = ((const T *)then)[k]; \
        if (a != b && (a == a || b == b)) return WB_YES; \
    } \
    return WB_NO
    switch (letter) {
    case 'd': WB_DIFFERS(double);
    case 'f': WB_DIFFERS(float);
    case 'l': case 'q': WB_DIFFERS(int64_t);
    case 'i': WB_DIFFERS(int32_t);
    case 'h': WB_DIFFERS(int16_t);
    case 'b': case 'B': case '?': WB_DIFFERS(int8_t);
    default: return WB_UNSURE;
    }
#undef WB_DIFFERS
}

static void wb_grow_hits(wb_condition *a) {
    const long long room = a->room ? 4 * a->room : 1024;
    long long *more = (long long *)realloc(a->events, (size_t)(room < WB_CONDITION_EVENTS ? room : WB_CONDITION_EVENTS) * sizeof(long long));
    if (more) a->events = more, a->room = room < WB_CONDITION_EVENTS ? room : WB_CONDITION_EVENTS;
}

/* Skip a hit and record its event. */
static inline void wb_skip_hit(wb_condition *a, long long event) {
    if (a->left < ((long long)1 << 61)) a->left--;
    if (a->passed >= a->room && a->room < WB_CONDITION_EVENTS) wb_grow_hits(a);
    if (a->room) a->events[a->passed & (a->room - 1)] = event;
    a->passed++;
}

/* -- state of the machine ------------------------------------------------------------------------------------------ */
enum { WB_ACTS = 256 }; /* activations of a block: ACTS in rows/row_store.pxi */
static inline long long wb_iteration(const wb_engine *m, int f) {
    const wb_rows *rows = &m->frames[f];
    const long long last = rows->n_acts - 1;
    return f ? rows->row - rows->acts[last / WB_ACTS - rows->base_act][last % WB_ACTS] - 1 : 0;
}
static inline char *wb_row_at(const wb_rows *rows, long long row) {
    return rows->chunks[row / rows->per_chunk - rows->base_chunk] + (row % rows->per_chunk + rows->carry) * rows->row_bytes;
}

/* Address of a value of the same store in the previous iteration; NULL if that row was dropped. */
static inline const char *wb_value_before(const wb_engine *m, const wb_condition *a, const char *now) {
    const wb_rows *rows = &m->frames[a->store];
    const char *begin = rows->chunks[rows->n_chunks - 1 - rows->base_chunk];
    const ptrdiff_t back = (1 - a->shift) * rows->row_bytes;
    const long long row = rows->row + a->shift - 1;
    if (rows->recorded && a->place >= rows->recorded) return NULL; /* recomputed only for readers of the trace */
    if (rows->cur - begin >= back && rows->cur < begin + rows->chunk_bytes) return rows->cur - back + a->place;
    if (row < rows->first_row) return NULL;
    return wb_row_at(rows, row) + a->place;
}

static inline int wb_compare(double v, int op, double number) {
    switch (op) {
    case WB_LT: return v < number;
    case WB_LE: return v <= number;
    case WB_GT: return v > number;
    case WB_GE: return v >= number;
    case WB_EQ: return v == number;
    case WB_NE: return v != number;
    case WB_ISNAN: return v != v;
    case WB_ISINF: return isinf(v) != 0;
    default: return v - v != 0; /* WB_ISFINITE: it is not finite */
    }
}

/* Comparisons with numbers, all of which must hold: the most common kind. */
static int wb_compare_all(const wb_engine *m, const wb_condition *a, const char *now) {
    const wb_condition_op *c = m->condition_code + a->code, *end = c + a->n_code;
    const long long iteration = a->back || a->counts ? wb_iteration(m, a->frame) : 0;
    const char *before = NULL;
    int exact = 1;
    if (a->back) {
        if (iteration <= 0) return WB_NO;
        before = wb_value_before(m, a, now);
        if (before == NULL) return WB_UNSURE;
    }
    for (; c < end; c++) {
        double v;
        switch (c->of) {
        case WB_VALUE: v = wb_number_at(now, a->letter, &exact); break;
        case WB_PREVIOUS: v = wb_number_at(before, a->letter, &exact); break;
        case WB_ITERATION: v = (double)iteration; break;
        default: v = wb_number_at(now, a->letter, &exact) - wb_number_at(before, a->letter, &exact); break;
        }
        if (c->absolute) v = fabs(v);
        if (!exact) return WB_UNSURE;
        if (!wb_compare(v, c->op, c->number)) return WB_NO;
    }
    return WB_YES;
}

static int wb_check_condition(const wb_engine *m, const wb_condition *a) {
    const char *now = m->base[a->base] + a->offset, *before = NULL;
    long long iteration = 0;
    int k;
    for (k = a->step; k < a->step + a->n_steps; k++)
        if (wb_iteration(m, m->condition_steps[k].frame) != m->condition_steps[k].iteration) return WB_NO;
    for (k = a->guard; k < a->guard + a->n_guard; k++)
        if (!wb_holds(m->base, &m->condition_literals[k])) return WB_NO;
    if (a->kind == WB_CONDITION_QUICK) return wb_compare_all(m, a, now);
    if (a->back || a->counts) iteration = wb_iteration(m, a->frame);
    if (a->stride > 1 && iteration % a->stride) return WB_NO;
    if (a->kind == WB_CONDITION_ALWAYS) return WB_YES;
    if (a->kind == WB_CONDITION_ITEMS) return wb_any_item(now, a->letter, a->n, a->op, a->absolute, a->number);
    if (a->back && iteration > 0) {
        before = wb_value_before(m, a, now);
        if (before == NULL) return WB_UNSURE;
    }
    if (a->kind == WB_CONDITION_CODE) return wb_evaluate_code(m->condition_code + a->code, a->n_code, now, before, a->letter, (double)iteration);
    if (before == NULL) return WB_NO;
    k = wb_arrays_differ(now, before, a->letter, a->n);
    return a->kind != WB_CONDITION_SAME || k == WB_UNSURE ? k : k == WB_YES ? WB_NO : WB_YES;
}

/* Check the conditions before an instruction, or after it; returns whether one stops the machine. */
static int wb_conditions_hold(wb_engine *m, const wb_instr *s, int front) {
    int k;
    m->n_reported = 0;
    for (k = s->condition; k; k = m->conditions[k - 1].next) {
        wb_condition *a = &m->conditions[k - 1];
        int found;
        if (a->front != front) continue;
        found = wb_check_condition(m, a);
        if (found == WB_NO) continue;
        if (found == WB_YES && a->left > 0) wb_skip_hit(a, m->events + a->event);
        else m->reported[m->n_reported++] = k - 1;
    }
    return m->n_reported > 0;
}
#endif
