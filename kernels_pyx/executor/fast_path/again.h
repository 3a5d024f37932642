/* Recomputation by recipes (rows/recompute.pxi), by groups: only requested values are written to memory. */
#ifndef WB_AGAIN_H
#define WB_AGAIN_H
#include "array_fusion.h"

typedef struct wb_steps {
    struct wb_steps *next;
    wb_group *group;          /* or NULL: one instruction */
    const wb_instr *one;
} wb_steps;
typedef struct {
    wb_steps *steps;
    size_t piece_bytes;
    int direct;               /* only requested values are written */
} wb_again;

static void wb_free_again(wb_again *a) {
    while (a != NULL && a->steps != NULL) {
        wb_steps *next = a->steps->next;
        free(a->steps->group);
        free(a->steps);
        a->steps = next;
    }
    free(a);
}

/* Whether a result is read after its group, or is part of the request: `size` bytes at `offset` of a base; a size of 0
 * means all of it. */
static int wb_is_wanted(const wb_engine *m, const wb_instr *s, const int *ip, int left, int base, ptrdiff_t offset, ptrdiff_t size) {
    const wb_array *x = (const wb_array *)s->data;
    wb_span spans[4], made;
    int k, j, n = wb_spans(s, spans);
    made = spans[n - 1];
    if (x->kind == WB_COPY || x->kind == WB_REDUCE || s->bo != base || size == 0) return 1;
    if (made.from < offset + size && offset < made.to) return 1;
    for (k = 0; k < left; k++) {
        const int known = wb_goes_by_blocks((const wb_array *)m->code[ip[k]].data); /* of others it is the beginning */
        n = wb_spans(&m->code[ip[k]], spans);
        for (j = 0; j < n - 1; j++)
            if (spans[j].base == made.base && spans[j].from < made.to && (!known || made.from < spans[j].to)) return 1;
    }
    return 0;
}

/* The instructions of a recipe, for `size` bytes at `offset` of a base; NULL without memory. */
static wb_again *wb_make_again(const wb_engine *m, const int *ip, int n, int base, ptrdiff_t offset, ptrdiff_t size) {
    wb_again *a = (wb_again *)calloc(1, sizeof(wb_again));
    wb_steps **last = a != NULL ? &a->steps : NULL;
    int at = 0;
    while (a != NULL && at < n) {
        wb_instr *chain[WB_LONGEST_CHAIN] = {&m->code[ip[at]]};
        const wb_array *x = (const wb_array *)chain[0]->data;
        int length = 1, k;
        wb_steps *s = (wb_steps *)calloc(1, sizeof(wb_steps));
        if (s == NULL) break;
        *last = s, last = &s->next, s->one = chain[0];
        if (wb_goes_by_blocks(x) && wb_items(x) > WB_BLOCK) {
            char elided[WB_LONGEST_CHAIN] = {0};
            for (; length < WB_LONGEST_CHAIN && at + length < n; length++) {
                wb_instr *more = &m->code[ip[at + length]];
                if (!wb_goes_by_blocks((const wb_array *)more->data) || !wb_joins(chain, length, more)) break;
                chain[length] = more;
            }
            if (length > 1 && (s->group = wb_new_group(m, chain, length)) == NULL) break;
            for (k = 0; s->group != NULL && k < length; k++)
                elided[k] = (char)!wb_is_wanted(m, chain[k], ip + at + length, n - at - length, base, offset, size);
            if (s->group != NULL) {
                wb_finish_group(m, s->group, elided, 0);
                if (a->piece_bytes < (size_t)(s->group->n_pieces * s->group->piece_bytes))
                    a->piece_bytes = (size_t)(s->group->n_pieces * s->group->piece_bytes);
                a->direct = length == n && s->group->n_elided == length - 1 && !elided[length - 1];
            }
        }
        a->direct |= n == 1;
        at += length;
    }
    if (a != NULL && at < n) wb_free_again(a), a = NULL;
    if (a != NULL && n > 0) { /* the result itself, from its first byte to its last */
        wb_span spans[4];
        const int count = wb_spans(&m->code[ip[n - 1]], spans);
        a->direct &= m->code[ip[n - 1]].bo == base && spans[count - 1].from == offset && spans[count - 1].to == offset + size;
    }
    return a;
}

static void wb_run_again(char **base, char *pieces, const wb_again *a) {
    const wb_steps *s;
    for (s = a->steps; s != NULL; s = s->next) {
        if (s->group != NULL) wb_run_group(base, pieces, s->group);
        else wb_run_array(base, s->one);
    }
}
#endif
