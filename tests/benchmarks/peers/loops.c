/* The workloads of tests/benchmarks/workloads.py, plainly written. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

double newton(double a, int64_t n) {
    double x = a;
    for (int64_t i = 0; i < n; i++) x = (x + a / x) * 0.5;
    return x;
}

double nested(double a, int64_t n) {
    double y = a;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < 100; j++) y = y * a + 1.0;
    return y;
}

int64_t collatz(int64_t x, int64_t n) {
    for (int64_t i = 0; i < n; i++) x = x % 2 == 0 ? x / 2 : 3 * x + 1;
    return x;
}

void gd(const double *A, const double *b, double *x, int64_t n) {
    enum { N = 32 };
    double r[N];
    for (int64_t i = 0; i < n; i++) {
        for (int j = 0; j < N; j++) {
            double s = 0.0;
            for (int k = 0; k < N; k++) s += A[j * N + k] * x[k];
            r[j] = s - b[j];
        }
        for (int j = 0; j < N; j++) x[j] -= 0.05 * r[j];
    }
}

void stencil(double *u, int64_t size, int64_t n) {
    double *v = malloc(size * sizeof(double)), *from = u, *to = v;
    for (int64_t i = 0; i < n; i++) {
        double *restrict out = to;
        const double *restrict in = from;
        for (int64_t k = 1; k < size - 1; k++) out[k] = 0.5 * in[k] + 0.25 * (in[k - 1] + in[k + 1]);
        out[0] = out[size - 1] = 0.0;
        from = out;
        to = out == u ? v : u;
    }
    if (from != u) memcpy(u, from, size * sizeof(double));
    free(v);
}
