/* Python's arithmetic on scalars, in cases without errors. Each function stores the value and returns 0, or returns 1
 * and leaves the case to Python: an int of more than 64 bits, a division by zero, a power that is complex or too large.
 * Values are those of CPython bit for bit, by the algorithms of Objects/floatobject.c and longobject.c.
 */
#ifndef WB_CHECKED_H
#define WB_CHECKED_H
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef int (*wb_check)(char *out, const char *a, const char *b, const char *c, const ptrdiff_t *sizes);

/* ints up to here are exact as floats, so that their quotient is rounded once, as in Python */
#define WB_EXACT_INT ((int64_t)1 << 53)
static inline int wb_exact(int64_t a) { return a >= -WB_EXACT_INT && a <= WB_EXACT_INT; }

/* a modulo b and the quotient that goes with it, b not zero */
static inline double wb_py_remainder(double a, double b) {
    double r = fmod(a, b);
    if (r != 0) return (b < 0) != (r < 0) ? r + b : r;
    return copysign(0.0, b);
}
static inline double wb_py_floor_divide(double a, double b) {
    double r = fmod(a, b), q = (a - r) / b, f;
    if (r != 0 && (b < 0) != (r < 0)) q -= 1.0;
    if (q == 0) return copysign(0.0, a / b);
    f = floor(q);
    return q - f > 0.5 ? f + 1.0 : f;
}
static inline int wb_check_power_int(int64_t a, int64_t b, int64_t *v) {
    int64_t x = 1;
    if (b < 0) return 1;
    for (;;) {
        if (b & 1 && __builtin_mul_overflow(x, a, &x)) return 1;
        b >>= 1;
        if (!b) break;
        if (__builtin_mul_overflow(a, a, &a)) return 1; /* another square is needed, since b is not zero yet */
    }
    *v = x;
    return 0;
}
static inline int wb_check_power_float(double a, double b, double *v) {
    const int odd = fmod(fabs(b), 2.0) == 1.0;
    double x;
    if (!isfinite(a) || !isfinite(b) || (a < 0 && floor(b) != b) || (a == 0 && !(b > 0))) return 1;
    if (a == 0) {
        *v = odd ? a : 0.0;
        return 0;
    }
    x = pow(fabs(a), b);
    if (!(x >= 2.2250738585072014e-308 && x <= 1.7976931348623157e308)) return 1; /* errno may matter here */
    *v = a < 0 && odd ? -x : x;
    return 0;
}
static inline int wb_check_shift(int64_t a, int64_t b, int64_t *v) {
    if (b < 0 || b > 62) return 1;
    *v = a << b;
    return *v >> b != a;
}
static inline int wb_check_int(double a, int64_t *v) {
    if (!(a >= -9223372036854775808.0 && a < 9223372036854775808.0)) return 1;
    *v = (int64_t)a;
    return 0;
}
/* functions of the module math, in which a result that is not finite may be an error */
static inline int wb_check_finite(double a, double x, double *v) {
    *v = x;
    return !(isfinite(a) && isfinite(x));
}

/* parts of arrays: sizes are the items on the first axis, the bytes of a part, the items on the second axis */
static inline int wb_place(const char *at, ptrdiff_t n, ptrdiff_t *k) {
    *k = (ptrdiff_t)*(const int64_t *)at;
    if (*k < 0) *k += n;
    return *k < 0 || *k >= n;
}
static inline void wb_part(char *out, const char *from, ptrdiff_t bytes) {
    if (bytes == 8) memcpy(out, from, 8);
    else memcpy(out, from, (size_t)bytes);
}
static int wb_call_item_1(char *out, const char *a, const char *b, const char *c, const ptrdiff_t *sizes) {
    ptrdiff_t k;
    (void)c;
    if (wb_place(b, sizes[0], &k)) return 1;
    wb_part(out, a + k * sizes[1], sizes[1]);
    return 0;
}
static int wb_call_item_2(char *out, const char *a, const char *b, const char *c, const ptrdiff_t *sizes) {
    ptrdiff_t k, l;
    if (wb_place(b, sizes[0], &k) || wb_place(c, sizes[2], &l)) return 1;
    wb_part(out, a + (k * sizes[2] + l) * sizes[1], sizes[1]);
    return 0;
}
/* a with b at index c; the index is checked first, so that nothing is written if it fails */
static int wb_call_put_1(char *out, const char *a, const char *b, const char *c, const ptrdiff_t *sizes) {
    ptrdiff_t k;
    if (wb_place(c, sizes[0], &k)) return 1;
    if (out != a) memcpy(out, a, (size_t)(sizes[0] * sizes[1]));
    wb_part(out + k * sizes[1], b, sizes[1]);
    return 0;
}
#endif
