/* Packed instructions and the transfer from one to the next: included by every part of the fast path.
 *
 * A packed instruction is a small function that ends by calling the next one (threaded code). The calls are tail calls,
 * which gcc and clang compile to jumps when they optimize. Without that guarantee (no optimization, sanitizers) each
 * function returns to a plain loop instead (wb_run_fast).
 */
#ifndef WB_DISPATCH_H
#define WB_DISPATCH_H
#include "structs.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define WB_SANITIZED 1
#endif
#endif
#if defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && !defined(WB_SANITIZED)
#define WB_TAIL_CALLS 1
#endif

/* events: a copy of m's, which is written back when the fast path is left, and at back jumps for other threads. In
 * memory they would form a chain of additions longer than that of most loops. */
#define WB_ARGS wb_engine *m, const struct wb_fast_op *i, char *row, int64_t q, long long events, double d
typedef void (*wb_op_fn)(WB_ARGS);

typedef struct wb_fast_op {
    wb_op_fn fn;
    int oo, oa, ob;         /* offsets in the row in progress; of a branch, oo: events if it is taken */
    int n_events;
    const char *pa, *pb;    /* operands elsewhere */
    struct wb_fast_op *target;  /* target of a jump */
    wb_instr *src;
    int frame;
    short nonlocal;         /* bit 0: a, bit 1: b is outside the row */
} wb_fast_op;

#ifdef WB_TAIL_CALLS
enum { WB_HAS_TAIL_CALLS = 1 };
#define WB_GO return i->fn(m, i, row, q, events, d)
#define WB_LEAVE do { m->at = (wb_fast_op *)i; m->events = events; return; } while (0)
#else
enum { WB_HAS_TAIL_CALLS = 0 };
#define WB_GO do { m->at = (wb_fast_op *)i; m->row = row; m->q = q; m->d = d; m->events = events; m->go = 1; return; } while (0)
#define WB_LEAVE do { m->at = (wb_fast_op *)i; m->events = events; m->go = 0; return; } while (0)
#endif
#define WB_NEXT do { ++i; WB_GO; } while (0)
#endif
