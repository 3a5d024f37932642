# Tests before any law is fitted: whether a record is at rest, or repeats itself.

def settled(record, double eps):
    """True if the last values are equal within rounding, or repeat earlier ones; None if a value is not finite.

    ``eps`` is the relative rounding of the values. A record of 8 values or more is at rest if the steps of its last
    eighth, three or more, are each below 64 roundings; a repetition is two periods of equal length in 6 values or more.
    """
    cdef Py_ssize_t n, i, p, first
    cdef double* x = _reals(record, &n)
    cdef double most
    cdef bint rests = True
    for i in range(n):
        if not isfinite(x[i]):
            return None
    if n >= 8:
        first = n - (n // 8 if n // 8 > 4 else 4)
        most = 64 * eps * fabs(x[n - 1])
        for i in range(first + 1, n):
            if not fabs(x[i] - x[i - 1]) <= most:
                rests = False
                break
        if rests:
            return True
    if n < 6:
        return False
    i = n - 2
    while i >= 0 and x[i] != x[n - 1]:
        i -= 1
    p = n - 1 - i
    if i < 0 or 2 * p > n:
        return False
    for i in range(n - p, n):
        if x[i] != x[i - p]:
            return False
    return True


cdef double _pairwise(const double* a, Py_ssize_t n) noexcept nogil:
    """The sum in NumPy's order: eight running sums in blocks of up to 128 values."""
    cdef double r[8]
    cdef double total = 0.0
    cdef Py_ssize_t i, j, half
    if n < 8:
        for i in range(n):
            total += a[i]
        return total
    if n <= 128:
        for j in range(8):
            r[j] = a[j]
        for i in range(8, n - n % 8, 8):
            for j in range(8):
                r[j] += a[i + j]
        total = ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]))
        for i in range(n - n % 8, n):
            total += a[i]
        return total
    half = n // 2
    half -= half % 8
    return _pairwise(a, half) + _pairwise(a + half, n - half)


cdef double _deviation(double* a, Py_ssize_t n) noexcept nogil:
    """Standard deviation as ``ndarray.std`` computes it, to the last bit; ``a`` is overwritten."""
    cdef double mean = _pairwise(a, n) / n
    cdef Py_ssize_t i
    for i in range(n):
        a[i] -= mean
        a[i] *= a[i]
    return sqrt(_pairwise(a, n) / n)


def repeat_lag(record, double alike, Py_ssize_t block, Py_ssize_t shortest, double left):
    """The shortest lag of ``shortest`` values or more at which the last values repeat closely; None if they do not.

    The difference at a lag is the deviation of the last differences (a lag of them, or two blocks) over that of the
    last values. It must be below ``alike``, after a shorter lag at which it was ``left`` or more; a longer lag is
    preferred if its difference is below four fifths.
    """
    cdef Py_ssize_t n, p, i, size, m, best = 0
    cdef double* y = _reals(record, &n)
    cdef double scatter, unlike, least = alike, away = 0.0
    cdef double* work = _room(n)
    with nogil:
        for p in range(1, n // 2 + 1):
            size = p if p > 2 * block else 2 * block
            m = size if size < n else n
            memcpy(work, y + n - m, m * sizeof(double))
            scatter = _deviation(work, m)
            unlike = alike
            if scatter > 0:
                m = size if size < n - p else n - p
                for i in range(m):
                    work[i] = y[n - m + i] - y[n - m + i - p]
                unlike = _deviation(work, m) / scatter
            if unlike < least and p >= shortest and away >= left:
                best, least = p, 0.8 * unlike
            if unlike > away:
                away = unlike
    PyMem_Free(work)
    return best if best else None
