# Linear prediction of differences: AR(1) to AR(8).

cdef enum:
    WINDOW = 512


cdef int _lagged(const double* d, Py_ssize_t n, int p, double* A) noexcept nogil:
    """Columns d[t-1] .. d[t-p], d[t], each row divided by its largest magnitude; returns the rows."""
    cdef Py_ssize_t t
    cdef int i
    cdef double size
    for t in range(p, n):
        size = 1e-300
        for i in range(p + 1):
            size = fabs(d[t - i]) if fabs(d[t - i]) > size else size
        size = 1.0 / size
        for i in range(1, p + 1):
            A[(i - 1) * ROWS + t - p] = d[t - i] * size
        A[p * ROWS + t - p] = d[t] * size
    return <int>(n - p)


cdef double _free_run(const double* d, Py_ssize_t cut, Py_ssize_t n, const double* a, int p, double worst) noexcept nogil:
    """Relative rms error of d[cut:n] continued from d[cut-p:cut], the worse of two halves; inf once above ``worst``."""
    cdef long double recent[ORDERS]
    cdef long double value
    cdef double e, size, sum_e, out = 0.0
    cdef Py_ssize_t t, half = cut + (n - cut) // 2, low, high
    cdef int i, part
    for i in range(p):
        recent[i] = d[cut - 1 - i]
    for part in range(2):
        low, high = (cut, half) if part == 0 else (half, n)
        size = sqrt(_dot(d + low, d + low, high - low) / (high - low))
        size = size if size > 1e-300 else 1e-300
        sum_e = 0.0
        for t in range(low, high):
            value = 0
            for i in range(p):
                value += a[i] * recent[i]
            for i in range(p - 1, 0, -1):
                recent[i] = recent[i - 1]
            recent[0] = value
            e = (<double>value - d[t]) / size
            sum_e += e * e
            if not sum_e <= worst * worst * (high - low):
                return INFINITY
        e = sqrt(sum_e / (high - low))
        out = e if e > out else out
    return out


cdef bint _neutral(const double* a, int p, double* b) noexcept nogil:
    """b: the recurrence a with its largest roots moved to the unit circle; False if none is within 5 % of it."""
    cdef cdouble z[ORDERS]
    cdef cdouble c[ORDERS + 1]
    cdef double size, most = 0.0
    cdef int i, j, q = _roots(a, p, z)
    for i in range(q):
        most = _modulus(z[i]) if _modulus(z[i]) > most else most
    if q < p or not 0.95 < most < 1.05:
        return False
    for i in range(q):
        size = _modulus(z[i])
        if fabs(size - most) <= 0.1 * fabs(1 - most) + 1e-12:
            z[i] = z[i] / size
    c[0] = 1
    for i in range(q):
        c[i + 1] = 0
        for j in range(i + 1, 0, -1):
            c[j] = c[j] - z[i] * c[j - 1]
    for i in range(p):
        b[i] = -c[i + 1].real
    return True


def linear_orders(ds, Py_ssize_t first, Py_ssize_t end, double tolerance):
    """(order, error, neutral) of the smallest accepted AR model of d[first:end]; (0, inf, False) if none is.

    A model is fitted to the first 60 % and accepted if a free run over the rest stays within ``tolerance``; a larger
    order replaces a smaller only if it is twenty times better.  ``neutral``: the same model with its largest roots
    moved to the unit circle predicts as well, so that the record cannot be distinguished from an undamped one.  At most
    512 differences.
    """
    cdef Py_ssize_t total, n, cut
    cdef double* d = _reals(ds, &total)
    cdef double A[(ORDERS + 1) * ROWS]
    cdef double R[(ORDERS + 1) * (ORDERS + 1)]
    cdef double a[ORDERS]
    cdef double b[ORDERS]
    cdef double kept[ORDERS]
    cdef double best = INFINITY, error, rest, whole
    cdef int p, i, rows, accepted = 0
    cdef bint nested, neutral = False
    end = end if end < total else total
    first = first if first > end - WINDOW else end - WINDOW
    first = first if first > 0 else 0
    d += first
    n = end - first
    cut = 6 * n // 10
    with nogil:
        # for a long record all orders share one triangle, because their columns are nested
        nested = cut >= 40
        if nested:
            rows = _lagged(d, cut, ORDERS, A)
            _qr(A, rows, ROWS, ORDERS + 1, R)
        for p in range(1, ORDERS + 1):
            if cut < (2 * p + 1 if p < 3 else 3 * p) or n - cut < 2:
                break
            if nested:
                whole = rest = 0.0
                for i in range(ORDERS + 1):
                    whole += R[i * (ORDERS + 1) + ORDERS] * R[i * (ORDERS + 1) + ORDERS]
                    if i >= p:
                        rest += R[i * (ORDERS + 1) + ORDERS] * R[i * (ORDERS + 1) + ORDERS]
                if rest > 0.04 * whole:  # not even one step ahead is predicted
                    continue
                _back(R, ORDERS + 1, p, ORDERS, a)
            else:
                rows = _lagged(d, cut, p, A)
                _qr(A, rows, ROWS, p + 1, R)
                _back(R, p + 1, p, p, a)
            error = _free_run(d, cut, n, a, p, tolerance)
            if error < tolerance and (accepted == 0 or error < 0.05 * best):
                accepted, best = p, error
                memcpy(kept, a, sizeof(a))
            if accepted and (best < 1e-6 or p >= accepted + 2):
                break
        if accepted:
            neutral = _neutral(kept, accepted, b)
            neutral = neutral and _free_run(d, cut, n, b, accepted, 1.1 * best + 1e-13) < INFINITY
    return accepted, best, neutral


def linear_modes(ds, Py_ssize_t first, Py_ssize_t end, int p):
    """(roots, shares) of the AR(p) model of d[first:end]: d[end-1-i] = sum of shares * roots**-i.  Lists of complex."""
    cdef Py_ssize_t total, n
    cdef double* d = _reals(ds, &total)
    cdef double A[(ORDERS + 1) * ROWS]
    cdef double R[(ORDERS + 1) * (ORDERS + 1)]
    cdef double a[ORDERS]
    cdef cdouble z[ORDERS]
    cdef cdouble c[ORDERS]
    cdef cdouble y[2 * ORDERS]
    cdef cdouble V[2 * ORDERS * ORDERS]
    cdef cdouble power
    cdef double size, top
    cdef int rows, q, kept = 0, i, j, m
    if not 1 <= p <= ORDERS:
        raise ValueError(f"the order must be 1 to {ORDERS}, got {p}")
    end = end if end < total else total
    first = first if first > end - WINDOW else end - WINDOW
    first = first if first > 0 else 0
    d += first
    n = end - first
    if n < p + 1:
        return [], []
    with nogil:
        rows = _lagged(d, n, p, A)
        _qr(A, rows, ROWS, p + 1, R)
        _back(R, p + 1, p, p, a)
        q = _roots(a, p, z)
        for i in range(q):
            if _modulus(z[i]) > 1e-8:
                z[kept] = z[i]
                kept += 1
        if kept > 0:
            m = 2 * kept if kept > 2 else 4
            m = m if m < n else <int>n
            # rows are scaled so that early values, where fast modes are large, do not drown the rest
            top = fabs(d[n - 1]) if fabs(d[n - 1]) > 1e-300 else 1e-300
            for j in range(kept):
                power = 1
                for i in range(m):
                    V[i * kept + j] = power
                    power = power / z[j]
            for i in range(m):
                size = fabs(d[n - 1 - i]) / top
                for j in range(kept):
                    size = _modulus(V[i * kept + j]) if _modulus(V[i * kept + j]) > size else size
                for j in range(kept):
                    V[i * kept + j] = V[i * kept + j] / size
                y[i] = d[n - 1 - i] / size
            _least_squares(V, m, kept, y, c)
    if kept == 0:
        return [0j], [complex(d[n - 1])]
    return [z[i] for i in range(kept)], [c[i] for i in range(kept)]
