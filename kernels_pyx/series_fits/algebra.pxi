# Least squares by Householder's QR with contiguous columns, and roots of small polynomials.

cdef inline double _dot(const double* a, const double* b, Py_ssize_t n) noexcept nogil:
    """A dot product with four independent running sums."""
    cdef double s0 = 0.0, s1 = 0.0, s2 = 0.0, s3 = 0.0
    cdef Py_ssize_t i = 0
    while i + 4 <= n:
        s0 += a[i] * b[i]
        s1 += a[i + 1] * b[i + 1]
        s2 += a[i + 2] * b[i + 2]
        s3 += a[i + 3] * b[i + 3]
        i += 4
    while i < n:
        s0 += a[i] * b[i]
        i += 1
    return (s0 + s1) + (s2 + s3)


cdef void _qr(double* A, Py_ssize_t rows, Py_ssize_t stride, int columns, double* R) noexcept nogil:
    """Triangle R (columns x columns, by rows) of A, whose column c begins at A + c * stride; A is overwritten."""
    cdef int c, j
    cdef Py_ssize_t i, left
    cdef double norm, head, f
    cdef double* a
    cdef double* b
    memset(R, 0, columns * columns * sizeof(double))
    for c in range(columns):
        if c >= rows:
            break
        a = A + c * stride + c
        left = rows - c
        norm = sqrt(_dot(a, a, left))
        if norm == 0:
            for j in range(c + 1, columns):
                R[c * columns + j] = A[j * stride + c]
            continue
        head = a[0]
        if head > 0:
            norm = -norm
        R[c * columns + c] = norm
        a[0] = head - norm
        f = -1.0 / (norm * a[0])
        for j in range(c + 1, columns):
            b = A + j * stride + c
            head = f * _dot(a, b, left)
            for i in range(left):
                b[i] -= head * a[i]
            R[c * columns + j] = b[0]


cdef void _back(const double* R, int columns, int p, int target, double* a) noexcept nogil:
    """Solve the leading p x p triangle for column ``target``; directions below 1e-13 of the largest are left out."""
    cdef int i, j
    cdef double top = 0.0, s
    for i in range(p):
        top = fabs(R[i * columns + i]) if fabs(R[i * columns + i]) > top else top
    for i in range(p - 1, -1, -1):
        s = R[i * columns + target]
        for j in range(i + 1, p):
            s -= R[i * columns + j] * a[j]
        a[i] = s / R[i * columns + i] if fabs(R[i * columns + i]) > 1e-13 * top else 0.0


cdef inline double _norm2(cdouble z) noexcept nogil:
    return z.real * z.real + z.imag * z.imag


cdef inline double _modulus(cdouble z) noexcept nogil:
    return sqrt(z.real * z.real + z.imag * z.imag)


cdef inline cdouble _inverse(cdouble z) noexcept nogil:
    """1 / z without protection against overflow."""
    cdef double f = 1.0 / _norm2(z)
    cdef cdouble out
    out.real, out.imag = z.real * f, -z.imag * f
    return out


cdef cdouble _root(cdouble z) noexcept nogil:
    """Principal square root."""
    cdef double r = _modulus(z), u, v
    cdef cdouble out
    if r == 0:
        return 0
    u = sqrt(0.5 * (r + fabs(z.real)))
    v = 0.5 * z.imag / u
    if z.real >= 0:
        out.real, out.imag = u, v
    else:
        out.real, out.imag = fabs(v), u if z.imag >= 0 else -u
    return out


cdef int _roots(const double* a, int p, cdouble* z) noexcept nogil:
    """Roots of z**p - a[0] z**(p-1) - ... - a[p-1]; returns how many (zeros at the end of ``a`` are left out).

    Up to degree 2 in closed form, else by Aberth's simultaneous iteration (O. Aberth, Math. Comp. 27, 1973).
    """
    cdef cdouble half, s, value, slope, step, pull
    cdef double radius, moved, t
    cdef int i, j, k
    while p > 0 and a[p - 1] == 0:
        p -= 1
    if p == 0:
        return 0
    if p == 1:
        z[0] = a[0]
        return 1
    if p == 2:
        half = 0.5 * a[0]
        s = _root(half * half + a[1])
        z[0] = half + s if half.real >= 0 else half - s
        z[1] = -a[1] / z[0] if _norm2(z[0]) > 0 else 0
        return 2
    # starts on a circle with the geometric mean of the roots as radius, avoiding symmetries
    radius = exp(log(fabs(a[p - 1])) / p)
    for i in range(p):
        t = 6.283185307179586 * i / p + 0.4
        z[i].real, z[i].imag = radius * cos(t), radius * sin(t)
    for k in range(40):
        moved = 0.0
        for i in range(p):
            value, slope = 1, 0
            for j in range(p):
                slope = slope * z[i] + value
                value = value * z[i] - a[j]
            if value.real == 0 and value.imag == 0:
                continue
            pull = 0
            for j in range(p):
                if j != i and _norm2(z[i] - z[j]) > 0:
                    pull = pull + _inverse(z[i] - z[j])
            slope = slope - value * pull
            if _norm2(slope) == 0:
                continue
            step = value * _inverse(slope)
            z[i] = z[i] - step
            t = _modulus(step) / (_modulus(z[i]) + 1e-300)
            moved = t if t > moved else moved
        if moved < 1e-14:
            break
    # conjugates: real coefficients have real roots or pairs of roots
    for i in range(p):
        if fabs(z[i].imag) < 1e-13 * _modulus(z[i]):
            z[i].imag = 0.0
    return p


cdef void _least_squares(cdouble* V, int rows, int columns, cdouble* y, cdouble* c) noexcept nogil:
    """c with the least |V c - y|, V by rows (overwritten), by Gram-Schmidt with every projection applied twice."""
    cdef cdouble R[ORDERS * ORDERS]
    cdef cdouble s
    cdef double before, after
    cdef int i, j, k, again
    cdef bint kept[ORDERS]
    for k in range(columns):
        before = 0.0
        for i in range(rows):
            before += _norm2(V[i * columns + k])
        for j in range(k):
            R[j * columns + k] = 0
        for again in range(2):
            for j in range(k):
                if not kept[j]:
                    continue
                s = 0
                for i in range(rows):
                    s = s + V[i * columns + j].conjugate() * V[i * columns + k]
                R[j * columns + k] = R[j * columns + k] + s
                for i in range(rows):
                    V[i * columns + k] = V[i * columns + k] - s * V[i * columns + j]
        after = 0.0
        for i in range(rows):
            after += _norm2(V[i * columns + k])
        kept[k] = after > 1e-28 * before and after > 0
        after = sqrt(after)
        R[k * columns + k] = after
        if kept[k]:
            for i in range(rows):
                V[i * columns + k] = V[i * columns + k] / after
    for k in range(columns):
        c[k] = 0
        if kept[k]:
            s = 0
            for i in range(rows):
                s = s + V[i * columns + k].conjugate() * y[i]
            for i in range(rows):
                y[i] = y[i] - s * V[i * columns + k]
            c[k] = s
    for k in range(columns - 1, -1, -1):
        if not kept[k]:
            c[k] = 0
            continue
        s = c[k]
        for j in range(k + 1, columns):
            s = s - R[k * columns + j] * c[j]
        c[k] = s / R[k * columns + k]
