# Maps x' = f(x) fitted to pairs of neighbouring values, by least squares of relative errors.

cdef enum:
    FORMS = 11

cdef struct Form:
    int target          # kind of the map
    int count           # parameters
    int powers[4]       # powers of x on the other side

cdef Form MAPS[FORMS]
MAPS[0] = Form(NEXT, 1, [1, 0, 0, 0])
MAPS[1] = Form(NEXT, 2, [0, 1, 0, 0])
MAPS[2] = Form(NEXT, 2, [1, 2, 0, 0])
MAPS[3] = Form(RATIO, 2, [0, 1, 0, 0])
MAPS[4] = Form(NEWTON, 2, [0, 1, 0, 0])
MAPS[5] = Form(PRODUCT, 2, [0, 2, 0, 0])
MAPS[6] = Form(NEXT, 3, [0, 1, 2, 0])
MAPS[7] = Form(NEXT, 3, [1, 2, 3, 0])
MAPS[8] = Form(RATIO, 3, [0, 1, 2, 0])
MAPS[9] = Form(NEWTON, 3, [0, 1, 2, 0])
MAPS[10] = Form(NEXT, 4, [0, 1, 2, 3])

_NAMES = [
    "linear", "affine", "origin-2", "ratio-1", "newton-1", "square-root", "quadratic", "origin-3", "ratio-2", "newton-2",
    "cubic", "decrement", "power", "power-steps", "power-to-limit", "steps-1", "steps-2", "steps-3", "steps-4",
    "log-1", "log-2", "log-3", "square-3", "square-4", "square-6", "rectified",
]

cdef enum:
    N_DECREMENT = 11, N_POWER = 12, N_POWER_STEPS = 13, N_POWER_TO_LIMIT = 14, N_STEPS = 14, N_LOGS = 18
    N_SQUARE_3 = 22, N_RECTIFIED = 25, ALL_NAMES = 26


cdef inline void _blank(LawData* law, int kind, int parameters, int form, double last) noexcept nogil:
    memset(law, 0, sizeof(LawData))
    law.kind, law.parameters, law.form, law.last = kind, parameters, form, last
    law.summed = NAN


cdef bint _map_form(int number, const double* a, const double* b, Py_ssize_t n, double last, double* work, LawData* law) noexcept nogil:
    """Fit form ``number`` of the table to the pairs (a, b); ``work`` holds 8 n values."""
    cdef Form form = MAPS[number]
    cdef double* y = work + 7 * n
    cdef double c[WIDEST]
    cdef double v, w
    cdef Py_ssize_t i
    cdef int j, p
    for i in range(n):
        if form.target == NEXT:
            v = b[i]
        elif form.target == RATIO:
            v = a[i] / b[i]
        elif form.target == NEWTON:
            v = a[i] * a[i] / b[i]
        else:
            v = a[i] * b[i]
        w = 1.0 / fabs(v)
        y[i] = 1.0 if v > 0 else -1.0 if v < 0 else v
        for j in range(form.count):
            p = form.powers[j]
            work[j * n + i] = w if p == 0 else a[i] * w if p == 1 else a[i] * a[i] * w if p == 2 else a[i] * a[i] * a[i] * w
    if not _solve(work, n, n, form.count, y, c):
        return False
    _blank(law, form.target, form.count, number, last)
    for j in range(form.count):
        law.c[form.powers[j]] = c[j]
    return True


cdef bint _decrement(const double* a, const double* b, Py_ssize_t n, double last, double* work, LawData* law) noexcept nogil:
    """x - x' = c x**q with c and q from the logarithms."""
    cdef double* y = work + 7 * n
    cdef double c[WIDEST]
    cdef Py_ssize_t i
    if n < 4:
        return False
    for i in range(n):
        if not ((a[i] - b[i]) * a[i] > 0 and a[i] * last > 0):
            return False
        work[i], work[n + i], y[i] = 1.0, log(fabs(a[i])), log(fabs(a[i] - b[i]))
    if not _solve(work, n, n, 2, y, c) or fabs(c[1] - 1.0) < 1e-3 or fabs(c[1]) > 20:
        return False
    _blank(law, DECREMENT, 2, N_DECREMENT, last)
    law.c[0], law.c[1] = exp(c[0] if c[0] < 600.0 else 600.0), c[1]
    return True


cdef int _maps(const double* x, Py_ssize_t n, int most, double* work, LawData* out) noexcept nogil:
    """Fit every possible form of up to ``most`` parameters; returns their number. ``work`` holds 10 n values."""
    cdef double* a = work
    cdef double* b = work + n
    cdef Py_ssize_t i, m = 0
    cdef int number, p, found = 0
    for i in range(n - 1):
        if x[i] != 0 and x[i + 1] != 0:
            a[m], b[m] = x[i], x[i + 1]
            m += 1
    if m < 2:
        return 0
    for number in range(FORMS):
        p = MAPS[number].count
        if p > most or m < p + (1 if p < 3 else 2):
            continue
        if _map_form(number, a, b, m, x[n - 1], work + 2 * n, out + found):
            found += 1
    if most > 1 and _decrement(a, b, m, x[n - 1], work + 2 * n, out + found):
        found += 1
    return found
