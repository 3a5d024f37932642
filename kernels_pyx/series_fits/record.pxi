# The record itself: scaling, differences, runs, exact periods, usable and smooth tails.

cdef double[4] _FACTORS
_FACTORS[:] = [100.0, 25.0, 8.0, 2.0]


def scan(raw):
    """(exponent of the largest finite magnitude, non-finite values, first NaN, first infinity, last of both); -1: none."""
    cdef Py_ssize_t n, i, bad = 0, first_nan = -1, first_inf = -1, last = -1
    cdef double* x = _reals(raw, &n)
    cdef double top = 0.0, v
    cdef int exponent = 0
    with nogil:
        for i in range(n):
            v = fabs(x[i])
            if v <= 1.7976931348623157e308:
                top = v if v > top else top
                continue
            bad += 1
            last = i
            if isnan(v):
                first_nan = i if first_nan < 0 else first_nan
            elif first_inf < 0:
                first_inf = i
        if top > 0:
            frexp(top, &exponent)
    return exponent, bad, first_nan, first_inf, last


def scaled(raw, int exponent):
    """(raw / 2**exponent, its differences, its smallest and largest value): exact, whatever the exponent."""
    cdef Py_ssize_t n, i
    cdef double* r = _reals(raw, &n)
    out, steps = _vector(n), _vector(n - 1 if n > 1 else 0)
    cdef double* x = <double*>cnp.PyArray_DATA(out)
    cdef double* d = <double*>cnp.PyArray_DATA(steps)
    cdef int half = exponent // 2
    cdef double f = ldexp(1.0, -half), g = ldexp(1.0, half - exponent), low = INFINITY, high = -INFINITY
    with nogil:
        for i in range(n):
            x[i] = r[i] * f * g
            low = x[i] if x[i] < low else low
            high = x[i] if x[i] > high else high
        for i in range(1, n):
            d[i - 1] = x[i] - x[i - 1]
    return out, steps, low, high


def exact_differences(const int64_t[::1] values, bint unsigned, int exponent):
    """Differences of 64-bit integers, each correctly rounded once, divided by 2**exponent."""
    cdef Py_ssize_t n = values.shape[0], i
    steps = _vector(n - 1 if n > 1 else 0)
    cdef double* d = <double*>cnp.PyArray_DATA(steps)
    cdef uint64_t a, b
    cdef bint up
    with nogil:
        for i in range(1, n):
            a, b = <uint64_t>values[i - 1], <uint64_t>values[i]
            up = b >= a if unsigned else values[i] >= values[i - 1]
            d[i - 1] = ldexp(<double>(b - a) if up else -<double>(a - b), -exponent)
    return steps


cdef inline double _ulp(double x, int digits, int tiny) noexcept nogil:
    """Spacing of numbers of ``digits`` binary places at x, not below 2**tiny."""
    cdef int e
    frexp(x, &e)
    e -= digits
    return ldexp(1.0, e if e > tiny else tiny)


def ulp(double x, int digits, int tiny):
    """Spacing of the dtype's numbers at x, not below 2**tiny."""
    return _ulp(x, digits, tiny)


def usable(xs, ds, int digits, int tiny):
    """Number of leading differences above the rounding: 100 ulp, or 25, 8, 2 if otherwise fewer than 12 are left."""
    cdef Py_ssize_t n, m, i, best = 0, wanted
    cdef double* x = _reals(xs, &n)
    cdef double* d = _reals(ds, &m)
    cdef double a, b, factor
    cdef int t
    wanted = 12 if m > 12 else m
    with nogil:
        for t in range(4):
            factor = _FACTORS[t]
            best = 0
            for i in range(m - 1, -1, -1):
                a, b = fabs(x[i]), fabs(x[i + 1])
                if fabs(d[i]) > factor * _ulp(a if a > b else b, digits, tiny):
                    best = i + 1
                    break
            if best >= wanted:
                break
    return best


def last_moved(ds):
    """Number of differences up to the last that is not zero."""
    cdef Py_ssize_t m, i
    cdef double* d = _reals(ds, &m)
    i = m
    while i > 0 and d[i - 1] == 0:
        i -= 1
    return i


def smooth_tail(ds, Py_ssize_t end):
    """(first, alternating) of the run of one sign, or of alternating signs, that ends at ``end``; None if too short."""
    cdef Py_ssize_t m, i
    cdef double* d = _reals(ds, &m)
    cdef bint alternating
    if end < 3 or end > m or d[end - 1] == 0:
        return None
    for alternating in (False, True):
        i = end - 1
        while i > 0 and d[i - 1] != 0 and ((d[i - 1] > 0) == (d[i] > 0)) != alternating:
            i -= 1
        if end - i >= 3 and (3 * (end - i) >= end or end - i >= 32):
            return i, alternating
    return None


cdef Py_ssize_t _close_run(const double* x, Py_ssize_t n, double tolerance) noexcept nogil:
    cdef Py_ssize_t i = n
    while i > 0 and fabs(x[i - 1] - x[n - 1]) <= tolerance:
        i -= 1
    return n - i


def close_run(xs, double tolerance):
    """Number of values at the end within ``tolerance`` of the last."""
    cdef Py_ssize_t n
    cdef double* x = _reals(xs, &n)
    return _close_run(x, n, tolerance)


def irregular(ds):
    """Whether a fifth or more of the last 512 differences change sign (8 differences or more)."""
    cdef Py_ssize_t m, i, first, changes = 0
    cdef double* d = _reals(ds, &m)
    first = m - 512 if m > 512 else 0
    if m < 8:
        return False
    for i in range(first + 1, m):
        changes += ((d[i] > 0) - (d[i] < 0)) != ((d[i - 1] > 0) - (d[i - 1] < 0))
    return changes >= 0.2 * (m - first - 1)


def extremes(ds):
    """(smallest, largest) magnitude."""
    cdef Py_ssize_t m, i
    cdef double* d = _reals(ds, &m)
    cdef double low = INFINITY, high = 0.0, v
    with nogil:
        for i in range(m):
            v = fabs(d[i])
            low = v if v < low else low
            high = v if v > high else high
    return low, high
