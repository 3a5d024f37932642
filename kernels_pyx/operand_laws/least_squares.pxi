# Least squares with scaled columns: by the normal equations, refined twice, if they are well conditioned; otherwise by
# QR.

cdef enum:
    WIDEST = 8          # maximum number of columns


cdef bint _cholesky(const double* G, int p, double* L) noexcept nogil:
    """L of G = L L', both p x p in rows of WIDEST; False if G is not safely positive definite."""
    cdef int i, j, k
    cdef double s
    for i in range(p):
        for j in range(i + 1):
            s = G[i * WIDEST + j]
            for k in range(j):
                s -= L[i * WIDEST + k] * L[j * WIDEST + k]
            if i == j:
                if not s > 0:
                    return False
                L[i * WIDEST + i] = sqrt(s)
            else:
                L[i * WIDEST + j] = s / L[j * WIDEST + j]
    for i in range(p):
        if not L[i * WIDEST + i] > 1e-4:
            return False
    return True


cdef void _substitute(const double* L, int p, double* b) noexcept nogil:
    """b becomes the solution of L L' x = b."""
    cdef int i, k
    for i in range(p):
        for k in range(i):
            b[i] -= L[i * WIDEST + k] * b[k]
        b[i] /= L[i * WIDEST + i]
    for i in range(p - 1, -1, -1):
        for k in range(i + 1, p):
            b[i] -= L[k * WIDEST + i] * b[k]
        b[i] /= L[i * WIDEST + i]


cdef bint _by_qr(double* A, Py_ssize_t stride, Py_ssize_t n, int p, const double* y, double* out) noexcept nogil:
    """The same by Householder's QR; A has room for one more column. False if the columns are not independent."""
    cdef double R[(WIDEST + 1) * (WIDEST + 1)]
    cdef double low = INFINITY, top = 0.0, s
    cdef int i, j
    if n < p:
        return False
    memcpy(A + p * stride, y, n * sizeof(double))
    _qr(A, n, stride, p + 1, R)
    for i in range(p):
        s = fabs(R[i * (p + 1) + i])
        low = s if s < low else low
        top = s if s > top else top
    if low < 1e-13 * top or not top > 0:
        return False
    for i in range(p - 1, -1, -1):
        s = R[i * (p + 1) + p]
        for j in range(i + 1, p):
            s -= R[i * (p + 1) + j] * out[j]
        out[i] = s / R[i * (p + 1) + i]
    return True


cdef bint _solve(double* A, Py_ssize_t stride, Py_ssize_t n, int p, const double* y, double* out) noexcept nogil:
    """Least squares A out = y. Column c of A begins at A + c * stride; A is overwritten and has room for two more."""
    cdef double size[WIDEST]
    cdef double G[WIDEST * WIDEST]
    cdef double L[WIDEST * WIDEST]
    cdef double change[WIDEST]
    cdef double* rest = A + (p + 1) * stride
    cdef double low = INFINITY, total = 0.0, s
    cdef double* a
    cdef Py_ssize_t i
    cdef int j, k, again
    for j in range(p):
        a = A + j * stride
        size[j] = sqrt(_dot(a, a, n))
        if not size[j] > 0:
            return False
        total += size[j]
    s = 0.0
    for i in range(n):
        s += y[i]
    if not (isfinite(total) and isfinite(s)):
        return False
    for j in range(p):
        a, s = A + j * stride, 1.0 / size[j]
        if not isfinite(s):
            return False
        for i in range(n):
            a[i] *= s
    for j in range(p):
        for k in range(j + 1):
            G[j * WIDEST + k] = _dot(A + j * stride, A + k * stride, n)
    if _cholesky(G, p, L):
        for j in range(p):
            out[j] = _dot(A + j * stride, y, n)
        _substitute(L, p, out)
        for again in range(2):
            memcpy(rest, y, n * sizeof(double))
            for j in range(p):
                a, s = A + j * stride, out[j]
                for i in range(n):
                    rest[i] -= a[i] * s
            for j in range(p):
                change[j] = _dot(A + j * stride, rest, n)
            _substitute(L, p, change)
            for j in range(p):
                out[j] += change[j]
    elif not _by_qr(A, stride, n, p, y, out):
        return False
    for j in range(p):
        out[j] /= size[j]
    return True
