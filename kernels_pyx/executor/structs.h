/* The structures of the executor: instructions, rows, the state of one engine. Included only by machine.pyx. */
#ifndef WB_CORE_H
#define WB_CORE_H

#include <Python.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

typedef void (*wb_kernel)(char *out, const char *a, const char *b, const char *c);
typedef void (*wb_loop)(char **args, const ptrdiff_t *dims, const ptrdiff_t *steps, void *data);

#define OPCODE(name, is_control, operands, meaning) WB_##name,
enum {
#include "opcodes.def"
    WB_N_OPCODES,
    WB_TRAP = 64 /* added to the opcode of an armed instruction */
};
#undef OPCODE

typedef struct {
    const char *name;
    int is_control; /* ends a straight run of events (wb_instr: n_events) */
    const char *operands, *meaning;
} wb_opcode;

#define OPCODE(name, is_control, operands, meaning) {#name, is_control, operands, meaning},
static const wb_opcode wb_opcodes[] = {
#include "opcodes.def"
};
#undef OPCODE

static inline int wb_is_control(int op) { return wb_opcodes[op & ~WB_TRAP].is_control; }

typedef struct wb_instr {
    wb_kernel fn;
    void *data;
    int op;
    int next;      /* the next instruction that computes something */
    int jump;
    int fast_jump; /* the jump's target, past instructions that compute nothing */
    int oo, oa, ob, oc;     /* offsets of the result and the operands ... */
    short bo, ba, bb, bc;   /* ... from these bases */
    int frame;     /* frame in which it runs; for LOOP, START, BACK: the frame that they drive */
    int n_events;  /* events of the straight run that this control instruction ends */
    int ev_index;  /* events of the present straight run before this instruction */
    int x0;        /* GUARD: first literal; CALL: number of the callable; UFUNC: number of inputs */
    int x1;        /* GUARD: number of literals; UFUNC: whether the loop may raise */
    int scalar_op; /* its index in the table of scalar ops, or -1 */
    char is_event, silent, armed;
    char given;    /* the operands that it has: bit 0: a, 1: b, 2: c, 3: out */
    char condition_before, condition_after; /* whether a condition is checked before it, or after it (conditions.h) ... */
    int condition; /* ... and the number of the first one, from 1 on, or 0 */
    long long trap_iteration;
} wb_instr;

typedef struct {
    int base, offset;
    int expect; /* 0: byte is false, 1: byte is true, 2: int32 is not negative, 3: int32 is negative */
} wb_literal;

/* A row whose recomputed part was kept. */
typedef struct wb_pin {
    struct wb_pin *next;
    long long row;
    char *bytes;
} wb_pin;

/* An edit of values in rows: earlier iterations were computed with the old values. */
typedef struct {
    long long event;
    int store;
    long long row;
    int offset, size;
    char *old;
    long long *since;       /* for each frame: rows before this one were complete when the edit was made */
} wb_edit;

typedef struct {
    long long row_bytes;
    long long per_chunk;
    size_t chunk_bytes;
    char **chunks;          /* from number base_chunk on */
    long long n_chunks;
    long long capacity;
    long long first_chunk;  /* chunks before it have been dropped */
    long long first_row;    /* rows before it cannot be read */
    long long row;          /* row in progress; rows before it are complete */
    char *cur;
    char *end;              /* one past the last row of the current chunk */
    long long **acts;       /* blocks of activations, from number base_act on: init rows, then the rows of the parent
                               frame that started them */
    long long n_acts;
    long long act_room;     /* blocks that `acts` has room for */
    int n_objects;
    int *object_offsets;
    long long object_bytes; /* bytes of the arrays that the object columns hold */
    int carry;              /* 1: each chunk begins with a copy of the row before it */
    char *spare;            /* a dropped chunk, kept for reuse */
    long long base_chunk;   /* number of the first chunk in `chunks` */
    long long base_act;     /* number of the first block in `acts` */
    long long act_blocks;   /* one past the number of the last block */
    long long first_act;    /* the first activation that still counts */
    long long *act_spare;   /* a dropped block, kept for reuse */
    long long opened;       /* events before the last activation */
    /* of a store of arrays: bytes of a row from `recorded` on are not in the rows but in one piece of memory, which
     * every iteration rewrites; they are recomputed on demand (rows/recompute.pxi) */
    int recorded;
    int scratch_bytes;
    char *scratch;          /* `recorded` bytes before that memory, so that offsets in a row are offsets from here */
    struct wb_pin *pins;    /* rows of which that memory was kept, because of an edit */
    int pinning;            /* the row in progress will be one of them */
    int edge;               /* the row before first_row is kept only for recomputation */
    int streams;            /* of a store of arrays: a row is no longer in a cache when it is written */
} wb_rows;

struct wb_fast_op;
struct wb_condition;
struct wb_condition_op;
struct wb_condition_step;

/* The register cache: the slot whose value is in a register of the fast path; base -1: unknown. */
typedef struct {
    int base, offset;
    char letter, size;
} wb_cached;

typedef struct {
    char **base;            /* 0: constant pool; f + 1: the row in progress of frame f; then for each store of arrays
                               the row in progress, the row before it and the scratch memory; then constant arrays, then
                               arrays that object columns of loops refer to */
    wb_rows *frames;        /* stores of rows: one for each frame, then those of frames with arrays */
    int *array_store;              /* frame -> its store of arrays, or -1 */
    char *pointed;                 /* frame -> whether arrays of its loop are read through an object column */
    wb_instr *code;
    const wb_literal *literals;
    const ptrdiff_t *sizes; /* 4 per instruction: item sizes for UFUNC */
    long long events;
    long long poll_at;
    int stop_flag;
    int unwritten;          /* machine code may leave rows unwritten except for this many of the newest; 0: none */
    int n_frames;
    int n_stores;
    struct wb_fast_op *fast_ops; /* the instructions that compute, packed */
    wb_cached *cached;        /* two for each packed instruction: content of q and d before it */
    int *fast_op_of;            /* instruction -> the first packed one at or after it */
    int *nonlocal_list;          /* packed instructions with operands elsewhere, by frame ... */
    int *nonlocal_first;         /* ... from nonlocal_first[f] to nonlocal_first[f + 1] */
    struct wb_fast_op *at;      /* where the fast path stopped ... */
    int met;                /* ... because of a condition there: 1 before the instruction, 2 after it, otherwise 0 */
    int quiet;              /* no condition is checked */
    struct wb_condition *conditions;
    wb_literal *condition_literals;
    struct wb_condition_step *condition_steps;
    struct wb_condition_op *condition_code;
    int *reported;          /* numbers of the conditions for which it stopped */
    int n_conditions, n_reported;
    char *row;              /* the registers, if tail calls are not guaranteed */
    int64_t q;
    double d;
    int go;
    struct wb_group *groups; /* chains of array instructions (fast_path/blocks.h) ... */
    char *pieces;            /* ... the blocks for values that only they read ... */
    char *elided;            /* ... and, by instruction, whether its result is only there */
    void *const *natives;   /* of the program: head of a loop -> its function in machine code, or NULL (native.pxi) ... */
    const int *native_backs; /* ... and the back jump that ends it */
} wb_engine;

/* Whether this thread has a Python exception set. NumPy's loops over integers raise (a negative power) although they run
 * without the GIL; a thread may read its own state without it. */
static inline int wb_raised(void) {
    const PyThreadState *own = PyGILState_GetThisThreadState();
#if PY_VERSION_HEX >= 0x030C0000
    return own != NULL && own->current_exception != NULL;
#else
    return own != NULL && own->curexc_type != NULL;
#endif
}

/* For a caller that converts -1 into the pending exception. */
static inline int wb_raise(void) { return -1; }

#define WB_HUGE ((size_t)2097152)
#define WB_MAPPED ((size_t)131072)
#define WB_PAGES(bytes) (((bytes) + 4095) & ~(size_t)4095)

/* Memory for a chunk, freed by wb_free_chunk. Large ones are separate mappings: free() would leave tens of MiB
   of them unused at the end of the heap. Huge ones begin with a huge page. */
static char *wb_big_chunk(size_t bytes, int huge) {
    void *p = NULL;
    char *at, *aligned;
    size_t size = WB_PAGES(bytes), more = bytes >= WB_HUGE ? WB_HUGE : 0;
    if (bytes < WB_MAPPED) return posix_memalign(&p, 4096, bytes) ? NULL : (char *)p;
    p = mmap(NULL, size + more, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) return NULL;
    if (!more) return (char *)p;
    at = (char *)p;
    aligned = (char *)(((uintptr_t)at + more - 1) & ~(uintptr_t)(more - 1));
    if (aligned > at) munmap(at, (size_t)(aligned - at));
    if (aligned < at + more) munmap(aligned + size, (size_t)(at + more - aligned));
#ifdef MADV_HUGEPAGE
    /* first touch of small pages takes longer than the whole loop body */
    if (huge) madvise(aligned, size, MADV_HUGEPAGE);
#endif
    return aligned;
}

static void wb_free_chunk(char *p, size_t bytes) {
    if (p == NULL) return;
    if (bytes < WB_MAPPED) free(p);
    else munmap(p, WB_PAGES(bytes));
}

/* Its pages are kept while there is enough memory, and reclaimed otherwise. */
static void wb_spare_chunk(char *p, size_t bytes) {
#ifdef MADV_FREE
    if (bytes >= WB_MAPPED) madvise(p, WB_PAGES(bytes), MADV_FREE);
#endif
}

static inline void wb_publish(long long *where, long long value) { __atomic_store_n(where, value, __ATOMIC_RELEASE); }
static inline long long wb_read(const long long *where) { return __atomic_load_n(where, __ATOMIC_ACQUIRE); }
static inline int wb_flag(const int *where) { return __atomic_load_n(where, __ATOMIC_RELAXED); }

static inline int wb_holds(char **base, const wb_literal *literal) {
    const char *at = base[literal->base] + literal->offset;
    if (literal->expect < 2) return (*at != 0) == literal->expect;
    return (*(const int *)at >= 0) == (literal->expect == 2);
}

/* The base of the row in progress of store s (beyond the frames); the next two are the previous row and the scratch
 * memory. */
static inline int wb_base_of(const wb_engine *m, int s) { return 1 + m->n_frames + 3 * (s - m->n_frames); }

#endif
