# Noise: steps that are not predictable from earlier ones, and the slope of a noisy record.

cdef enum:
    BEFORE = 4          # number of steps from which the next one is predicted
    FEWEST = 16         # minimum number of steps


def is_noisy(ys):
    """True if the steps of y are not predicted by the previous four, so that they cannot follow a smooth law.

    Independent noise around a trend has steps of correlation -1/2, of which an AR(4) predicts 40 % of the variance.
    """
    cdef Py_ssize_t n, rows, t
    cdef double* y = _reals(ys, &n)
    cdef double R[(BEFORE + 2) * (BEFORE + 2)]
    cdef double left, size, mean = 0.0, spread = 0.0, total = 0.0, d
    cdef double* work
    cdef int i
    n -= 1
    if n < FEWEST:
        return False
    rows = n - BEFORE
    work = _room(n)
    try:
        for t in range(n):
            d = y[t + 1] - y[t]
            if not isfinite(d):
                return False
            total += d * d
            if t >= BEFORE:
                mean += d
        mean /= rows
        size = sqrt(total / n)
        if not size > 0:
            return False
        for t in range(rows):
            work[t] = 1.0
            for i in range(BEFORE):
                work[(i + 1) * rows + t] = (y[t + BEFORE - i] - y[t + BEFORE - 1 - i]) / size
            d = y[t + BEFORE + 1] - y[t + BEFORE]
            work[(BEFORE + 1) * rows + t] = d / size
            spread += (d - mean) * (d - mean)
        _qr(work, rows, rows, BEFORE + 2, R)
    finally:
        PyMem_Free(work)
    left = R[(BEFORE + 2) * (BEFORE + 2) - 1] * size
    left *= left
    # only rounding, or predicted
    return not left < 1e-6 * total and left > 0.25 * spread


cdef double _lag_one(const double* y, Py_ssize_t n) noexcept nogil:
    """Lag-one correlation of the n steps of y."""
    cdef double mean = (y[n] - y[0]) / n, e, before = 0.0, own = 0.0, with_next = 0.0
    cdef Py_ssize_t i
    for i in range(n):
        e = y[i + 1] - y[i] - mean
        own += e * e
        with_next += e * before
        before = e
    return with_next / (own if own > 1e-300 else 1e-300)


def lag_one(ys):
    """Lag-one correlation of the steps of y."""
    cdef Py_ssize_t n
    cdef double* y = _reals(ys, &n)
    if n < 2:
        raise ValueError(f"steps need 2 values or more, got {n}")
    return _lag_one(y, n - 1)


cdef bint _walks(const double* y, Py_ssize_t n, double variance) noexcept nogil:
    """True if the noise of n steps accumulates: the noise of a trend has half the variance of its steps, that of a walk
    more.
    """
    cdef double mean = (y[n] - y[0]) / n, own = 0.0, e, ratio, lag = _lag_one(y, n)
    cdef Py_ssize_t i
    for i in range(n):
        e = y[i + 1] - y[i] - mean
        own += e * e
    own /= n - 1
    ratio = variance / (own if own > 1e-300 else 1e-300)
    return ratio > 0.7 and lag > -0.25 or ratio > 0.9 and lag > -0.4


def slope(ys):
    """(slope, standard error) of y by least squares; of a walk, if the steps are independent, by their mean."""
    cdef Py_ssize_t n, i
    cdef double* y = _reals(ys, &n)
    cdef double middle, mean = 0.0, kk = 0.0, ky = 0.0, b, e, rest = 0.0, step, variance = 0.0
    if n < 3:
        raise ValueError(f"a slope with an error needs 3 values or more, got {n}")
    middle = 0.5 * (n - 1)
    for i in range(n):
        mean += y[i]
        kk += (i - middle) * (i - middle)
        ky += (i - middle) * y[i]
    mean /= n
    b = ky / kk
    for i in range(n):
        e = y[i] - mean - b * (i - middle)
        rest += e * e
    if _walks(y, n - 1, rest / (n - 2)):
        step = (y[n - 1] - y[0]) / (n - 1)
        for i in range(n - 1):
            e = y[i + 1] - y[i] - step
            variance += e * e
        return step, sqrt(variance / (n - 2)) / sqrt(<double>(n - 1))
    return b, sqrt(rest / (n - 2) / kk)
