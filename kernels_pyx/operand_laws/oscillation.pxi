# The magnitude of a damped oscillation above a floor: x = floor + r**k |a cos(w k) + b sin(w k)|.

cdef enum:
    OSCILLATION = 20    # minimum number of values
    ROUNDS = 12         # maximum number of refinement steps


cdef bint _started(const double* u, Py_ssize_t n, double* work, double* floor, double* log_r, double* w) noexcept nogil:
    """Floor, log r and w by linear least squares; ``work`` holds 11 n values."""
    cdef double c[WIDEST]
    cdef cdouble z[ORDERS]
    cdef double* q = work + 10 * n
    cdef Py_ssize_t rows = n - 3, t
    cdef double a[3]
    cdef int i, k = -1, found
    for t in range(rows):
        for i in range(3):
            work[i * rows + t] = u[2 - i + t] * u[2 - i + t]
            work[(3 + i) * rows + t] = u[2 - i + t]
        work[6 * rows + t], work[7 * rows + t], q[t] = u[3 + t], 1.0, u[3 + t] * u[3 + t]
    if not _solve(work, rows, rows, 8, q, c):
        return False
    for i in range(8):
        if not isfinite(c[i]):
            return False
    floor[0] = c[6] / 2
    for t in range(rows):
        for i in range(3):
            work[i * rows + t] = (u[2 - i + t] - floor[0]) * (u[2 - i + t] - floor[0])
        q[t] = (u[3 + t] - floor[0]) * (u[3 + t] - floor[0])
    if not _solve(work, rows, rows, 3, q, c):
        return False
    for i in range(3):
        if not isfinite(c[i]):
            return False
        a[i] = c[i]
    found = _roots(a, 3, z)
    for i in range(found):
        if z[i].imag > 1e-12:
            if k >= 0:
                return False
            k = i
    if k < 0:
        return False
    log_r[0], w[0] = log(_modulus(z[k])) / 2, atan2(z[k].imag, z[k].real) / 2
    return True


cdef bint _signed(const double* u, Py_ssize_t n, double floor, double log_r, double w, double* work, double* ab) noexcept nogil:
    """(a, b) of the oscillation whose square is u - floor, from the component of the square with twice the
    frequency.
    """
    cdef double c[WIDEST]
    cdef double* y = work + 5 * n
    cdef double grown, size, phase
    cdef Py_ssize_t k
    for k in range(n):
        grown = exp(2 * log_r * k)
        work[k], work[n + k], work[2 * n + k] = grown, grown * cos(2 * w * k), grown * sin(2 * w * k)
        y[k] = (u[k] - floor) * (u[k] - floor)
    if not _solve(work, n, n, 3, y, c):
        return False
    if not (isfinite(c[0]) and isfinite(c[1]) and isfinite(c[2]) and c[0] > 0):
        return False
    # (a cos + b sin)**2 = (a a + b b) / 2 + (a a - b b) / 2 cos 2 + a b sin 2
    phase, size = 0.5 * atan2(c[2], c[1]), sqrt(2 * c[0])
    ab[0], ab[1] = size * cos(phase), size * sin(phase)
    return True


cdef bint _refined(const double* u, Py_ssize_t n, double* p, double* work) noexcept nogil:
    """The parameters (floor, log r, w, a, b) by the Gauss-Newton method; ``work`` holds 8 n values."""
    cdef double best[5]
    cdef double change[WIDEST]
    cdef double* rest = work + 7 * n
    cdef double size = INFINITY, now, grown, c, s, inner, side
    cdef Py_ssize_t k
    cdef int again, i
    memcpy(best, p, sizeof(best))
    for again in range(ROUNDS):
        now = 0.0
        for k in range(n):
            grown = exp(p[1] * k)
            c, s = grown * cos(p[2] * k), grown * sin(p[2] * k)
            inner = p[3] * c + p[4] * s
            rest[k] = u[k] - p[0] - fabs(inner)
            now += rest[k] * rest[k]
            side = 1.0 if inner > 0 else -1.0 if inner < 0 else 0.0
            # side * side is 1, the derivative of the floor
            work[k], work[n + k], work[2 * n + k] = side * side, side * k * inner, side * k * (p[4] * c - p[3] * s)
            work[3 * n + k], work[4 * n + k] = side * c, side * s
        if not now < size:
            break
        size = now
        memcpy(best, p, sizeof(best))
        if not _solve(work, n, n, 5, rest, change):
            break
        for i in range(5):
            if not isfinite(change[i]):
                break
        else:
            for i in range(5):
                p[i] += change[i]
            continue
        break
    memcpy(p, best, sizeof(best))
    return isfinite(size)


cdef int _rectified(const double* x, Py_ssize_t n, double* work, LawData* law) noexcept nogil:
    """The law, if the record can follow it; ``work`` holds 12 n values."""
    cdef double* u = work
    cdef double p[5]
    cdef double low = x[0], high = x[0], d, before = 0.0
    cdef Py_ssize_t i
    cdef int turns = 0, sign, was = 2
    if n < OSCILLATION:
        return 0
    for i in range(n):
        low = x[i] if x[i] < low else low
        high = x[i] if x[i] > high else high
    for i in range(n - 1):
        d = x[i + 1] - x[i]
        sign = 1 if d > 0 else -1 if d < 0 else 0
        turns += was != 2 and sign != was
        was = sign
    if not 0 < high - low < 1e150 or turns < 4:
        return 0
    for i in range(n):
        u[i] = (x[i] - low) / (high - low)
    if not _started(u, n, work + n, &p[0], &p[1], &p[2]):
        return 0
    if not _signed(u, n, p[0], p[1], p[2], work + n, &p[3]) or not _refined(u, n, p, work + n) or not p[1] < 0:
        return 0
    _blank(law, RECTIFIED, 5, N_RECTIFIED, low)
    law.d, law.limit, law.top = high - low, p[0], n - 1
    law.zr[0], law.zi[0], law.cr[0], law.ci[0] = p[1], p[2], p[3], p[4]
    return 1
