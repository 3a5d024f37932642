/* The loops of tests/benchmarks/array_bodies.py, plainly written; the stencil is that of loops.c. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "loops.c"

void plate(double *u, int64_t side, int64_t n) {
    double *v = calloc(side * side, sizeof(double)), *from = u, *to = v;
    for (int64_t i = 0; i < n; i++) {
        double *restrict out = to;
        const double *restrict in = from;
        for (int64_t r = 1; r < side - 1; r++)
            for (int64_t c = r * side + 1; c < r * side + side - 1; c++)
                out[c] = 0.5 * in[c] + 0.125 * (((in[c - side] + in[c + side]) + in[c - 1]) + in[c + 1]);
        from = out;
        to = out == u ? v : u;
    }
    if (from != u) memcpy(u, from, side * side * sizeof(double));
    free(v);
}

void map(double *x, double *s, int64_t size, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        double total = 0.0;
        for (int64_t k = 0; k < size; k++) {
            const double y = sqrt(x[k] * x[k] + 1.0);
            total += y;
            x[k] = 0.99 * y;
        }
        *s += total;
    }
}

void adam(double *restrict p, double *restrict m, double *restrict v, const double *restrict target, int64_t size, int64_t n) {
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < size; k++) {
            const double g = p[k] - target[k];
            m[k] = 0.9 * m[k] + 0.1 * g;
            v[k] = 0.999 * v[k] + 0.001 * (g * g);
            p[k] -= 0.001 * m[k] / (sqrt(v[k]) + 1e-8);
        }
}

void logistic(double *restrict x, const double *restrict r, int64_t size, int64_t n) {
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < size; k++) x[k] = r[k] * x[k] * (1.0 - x[k]);
}
