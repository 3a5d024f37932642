# Linear recurrences: of the steps, of the logarithm's steps about a drift, and of the square.

cdef int _weighted(const double* v, Py_ssize_t n, int p, bint constant, double* work, double* y) noexcept nogil:
    """Columns (1,) v[t-1] .. v[t-p] of the equations t = p .. n - 1, and y = v[t]; returns the number of columns.

    Without the constant each equation is weighted by its largest size.
    """
    cdef Py_ssize_t rows = n - p, t
    cdef int i, first = 1 if constant else 0
    cdef double w = 1.0, size
    for t in range(rows):
        if constant:
            work[t] = 1.0
        else:
            size = 1e-300
            for i in range(p + 1):
                size = fabs(v[t + i]) if fabs(v[t + i]) > size else size
            w = 1.0 / size
        for i in range(p):
            work[(first + i) * rows + t] = v[p - 1 - i + t] * w
        y[t] = v[p + t] * w
    return first + p


cdef bint _drift(const double* v, Py_ssize_t n, int p, double* work, double* drift) noexcept nogil:
    """Limit of the steps v = b + (a recurrence of order p)."""
    cdef double a[WIDEST]
    cdef double* y = work + (p + 3) * (n - p)
    cdef double s = 0.0
    cdef int i, columns
    if n < 2 * p + 2:
        return False
    columns = _weighted(v, n, p, True, work, y)
    if not _solve(work, n - p, n - p, columns, y, a):
        return False
    for i in range(p):
        s += a[1 + i]
    if fabs(1.0 - s) < 1e-9:
        return False
    drift[0] = a[0] / (1.0 - s)
    return True


cdef bint _alternates(const cdouble* z, int n) noexcept nogil:
    """True if all roots are real and one is negative; such a record is left to order 1."""
    cdef bint negative = False
    cdef int i
    for i in range(n):
        if z[i].imag != 0:
            return False
        negative = negative or z[i].real < 0
    return negative


cdef bint _modes(const double* v, Py_ssize_t n, int p, double* work, LawData* law) noexcept nogil:
    """Roots z and shares c with v[n - 1 + j] = sum c z**j; ``work`` holds (p + 3) n values."""
    cdef double a[WIDEST]
    cdef cdouble z[ORDERS]
    cdef cdouble c[ORDERS]
    cdef cdouble y[2 * ORDERS]
    cdef cdouble V[2 * ORDERS * ORDERS]
    cdef cdouble power, turn
    cdef double* target = work + (p + 2) * (n - p)
    cdef double size
    cdef int q, kept = 0, i, j, m
    if n < 2 * p + 1:
        return False
    _weighted(v, n, p, False, work, target)
    if not _solve(work, n - p, n - p, p, target, a):
        return False
    for i in range(p):
        if not isfinite(a[i]):
            return False
    q = _roots(a, p, z)
    for i in range(q):
        if _modulus(z[i]) > 1e-10:
            z[kept] = z[i]
            kept += 1
    if kept == 0 or p > 1 and _alternates(z, kept):
        return False
    m = 2 * kept if kept > 2 else 4
    m = m if m < n else <int>n
    for j in range(kept):
        power, turn = 1, _inverse(z[j])
        for i in range(m):
            V[i * kept + j] = power
            power = power * turn
    for i in range(m):
        size = 1e-300
        for j in range(kept):
            if not (isfinite(V[i * kept + j].real) and isfinite(V[i * kept + j].imag)):
                return False
            size = _modulus(V[i * kept + j]) if _modulus(V[i * kept + j]) > size else size
        size = 1.0 / size
        for j in range(kept):
            V[i * kept + j] = V[i * kept + j] * size
        y[i] = v[n - 1 - i] * size
    _least_squares(V, m, kept, y, c)
    law.modes = kept
    for i in range(kept):
        law.zr[i], law.zi[i] = z[i].real, z[i].imag
        law.cr[i], law.ci[i] = c[i].real, c[i].imag
    return True


cdef int _recurrences(const double* x, Py_ssize_t n, int most, double* work, LawData* out) noexcept nogil:
    """Recurrences of orders 1 to ``most``, of logarithms up to 3; ``work`` holds 12 n values."""
    cdef double* d = work
    cdef double* about = work + n
    cdef double last = x[n - 1], drift = 0.0
    cdef Py_ssize_t i, m = n - 1
    cdef bint moves = False, one_sign = True
    cdef int p, found = 0
    if m < 1:
        return 0
    for i in range(m):
        d[i] = x[i + 1] - x[i]
        moves = moves or d[i] != 0
    for p in range(1, most + 1):
        _blank(out + found, STEPS, 2 * p, N_STEPS + p, last)
        if moves and _modes(d, m, p, work + 2 * n, out + found):
            _prepare(out + found)
            found += 1
    for i in range(n):
        one_sign = one_sign and x[i] * last > 0
    if not one_sign:
        return found
    for i in range(m):
        d[i] = log(fabs(x[i + 1])) - log(fabs(x[i]))
    for p in range(1, (most if most < 3 else 3) + 1):
        if not _drift(d, m, p, work + 2 * n, &drift):
            continue
        for i in range(m):
            about[i] = d[i] - drift
        _blank(out + found, LOGS, 2 * p + 1, N_LOGS + p, last)
        if _modes(about, m, p, work + 2 * n, out + found):
            _prepare(out + found)
            out[found].s = drift
            found += 1
    return found


cdef int _squares(const double* x, Py_ssize_t n, double* work, LawData* out) noexcept nogil:
    """Linear recurrences of the square; ``work`` holds 11 n values."""
    cdef double last = x[n - 1], scale = 0.0
    cdef Py_ssize_t i
    cdef int number, p, found = 0
    for i in range(n):
        scale = fabs(x[i]) if fabs(x[i]) > scale else scale
        if not x[i] * last >= 0:
            return 0
    if not 0 < scale < 1e150:
        return 0
    for i in range(n):
        work[i] = (x[i] / scale) * (x[i] / scale)
    for number in range(3):
        p = 3 if number == 0 else 4 if number == 1 else 6
        _blank(out + found, SQUARES, 2 * p, N_SQUARE_3 + number, last)
        if _modes(work, n, p, work + n, out + found):
            out[found].d = scale if last > 0 else -scale if last < 0 else 0.0
            found += 1
    return found
