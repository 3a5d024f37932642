# Polynomial maps of one or two past values.

cdef enum:
    TERMS_MOST = 12
    ORBIT = 600
    ENDS = 256


# maps in the order in which they are tried: past values, degree, minimum number of values of the record
cdef int[5] _LAGS
cdef int[5] _DEGREES
cdef int[5] _LEAST
_LAGS[:] = [1, 2, 1, 1, 2]
_DEGREES[:] = [2, 2, 3, 4, 3]
_LEAST[:] = [10, 16, 14, 16, 30]


cdef struct Map:
    int lags
    int degree
    int terms
    int i[TERMS_MOST]
    int j[TERMS_MOST]
    double c[TERMS_MOST]


cdef void _map_terms(Map* f, int lags, int degree) noexcept nogil:
    cdef int i, j
    f.lags, f.degree, f.terms = lags, degree, 0
    for i in range(degree + 1):
        for j in range(degree + 1 - i if lags == 2 else 1):
            f.i[f.terms], f.j[f.terms] = i, j
            f.terms += 1


cdef void _powers(const Map* f, double u, double v, double* p, double* q) noexcept nogil:
    cdef int k
    p[0] = q[0] = 1.0
    for k in range(1, f.degree + 1):
        p[k] = p[k - 1] * u
        q[k] = q[k - 1] * v


cdef double _map_value(const Map* f, double u, double v) noexcept nogil:
    cdef double p[8]
    cdef double q[8]
    cdef double s = 0.0
    cdef int t
    _powers(f, u, v, p, q)
    for t in range(f.terms):
        s += f.c[t] * p[f.i[t]] * q[f.j[t]]
    return s


cdef void _map_slopes(const Map* f, double u, double v, double* du, double* dv) noexcept nogil:
    cdef double p[8]
    cdef double q[8]
    cdef int t
    _powers(f, u, v, p, q)
    du[0] = dv[0] = 0.0
    for t in range(f.terms):
        if f.i[t]:
            du[0] += f.c[t] * f.i[t] * p[f.i[t] - 1] * q[f.j[t]]
        if f.j[t]:
            dv[0] += f.c[t] * f.j[t] * p[f.i[t]] * q[f.j[t] - 1]


cdef void _map_fit(Map* f, const double* y, Py_ssize_t first, Py_ssize_t count, Py_ssize_t every, double* A) noexcept nogil:
    """Least squares over the targets y[first], y[first + every], ..; A is work space of ROWS rows."""
    cdef double R[(TERMS_MOST + 1) * (TERMS_MOST + 1)]
    cdef double p[8]
    cdef double q[8]
    cdef Py_ssize_t r, t
    cdef int k
    for r in range(count):
        t = first + r * every
        _powers(f, y[t - 1], y[t - 2] if f.lags == 2 else 0.0, p, q)
        for k in range(f.terms):
            A[k * ROWS + r] = p[f.i[k]] * q[f.j[k]]
        A[f.terms * ROWS + r] = y[t]
    _qr(A, count, ROWS, f.terms + 1, R)
    _back(R, f.terms + 1, f.terms, f.terms, f.c)


cdef double _map_error(const Map* f, const double* y, Py_ssize_t first, Py_ssize_t n, Py_ssize_t every) noexcept nogil:
    """Root mean square of the error of the map one step ahead."""
    cdef double s = 0.0, e
    cdef Py_ssize_t t = first, count = 0
    while t < n:
        e = y[t] - _map_value(f, y[t - 1], y[t - 2] if f.lags == 2 else 0.0)
        s += e * e
        count += 1
        t += every
    return sqrt(s / (count if count else 1))


cdef double _standard(const double* x, Py_ssize_t n, double* y, double* middle, double* size) noexcept nogil:
    """y = (x - mean) / deviation; returns the root mean square of its steps."""
    cdef Py_ssize_t i
    cdef double s = 0.0, e
    middle[0] = size[0] = 0.0
    for i in range(n):
        middle[0] += x[i]
    middle[0] /= n
    for i in range(n):
        size[0] += (x[i] - middle[0]) * (x[i] - middle[0])
    size[0] = sqrt(size[0] / n)
    if size[0] == 0:
        return 0.0
    for i in range(n):
        y[i] = (x[i] - middle[0]) / size[0]
    for i in range(1, n):
        e = y[i] - y[i - 1]
        s += e * e
    return sqrt(s / (n - 1))


def polynomial_map(xs, double tolerance):
    """The simplest polynomial map of one or two past values that predicts the last 40 % of x one step ahead.

    None, or (lags, degree, error, Lyapunov exponent, rows, period, stayed, following, multiplier): ``error`` relative to the steps
    and below ``tolerance``; ``period`` of the map's own orbit from the last value on, 0 if it has none up to 64;
    ``stayed`` whether 600 iterations remain bounded; ``following`` the last period of that orbit;
    ``multiplier`` the factor per iteration of a distance from the last point of the orbit, 0 of one that left.
    """
    cdef Py_ssize_t n, cut, sample, every, t
    cdef double* x = _reals(xs, &n)
    cdef double y[WINDOW]
    cdef double A[(TERMS_MOST + 1) * ROWS]
    cdef double orbit[ORBIT]
    cdef double middle, size, step, error = INFINITY, u, v, w, exponent = 0.0, a, b, norm
    cdef double poly[2]
    cdef cdouble z[2]
    cdef Map f
    cdef int which, least, i, p, period = 0, length = 0
    cdef bint found = False, same
    if n > WINDOW:
        x += n - WINDOW
        n = WINDOW
    if n < 3:
        return None
    with nogil:
        step = _standard(x, n, y, &middle, &size)
        for which in range(5 if step > 0 else 0):
            _map_terms(&f, _LAGS[which], _DEGREES[which])
            least = _LEAST[which]
            if n < least:
                continue
            cut = 6 * (n - f.lags) // 10
            cut = (f.terms + 1 if f.terms + 1 > cut else cut) + f.lags
            if n - cut < 3:
                continue
            sample = 3 * f.terms + 12
            every = (cut - f.lags) // sample
            if every >= 2:  # a few rows distinguish noise from a map
                _map_fit(&f, y, f.lags, sample, every, A)
                if _map_error(&f, y, cut, n, (n - cut) // 32 if n - cut > 32 else 1) > 5 * tolerance * step:
                    continue
            _map_fit(&f, y, f.lags, cut - f.lags, 1, A)
            error = _map_error(&f, y, cut, n, 1) / step
            # a map of many terms fits any few rows
            if error < (tolerance if cut - f.lags >= 3 * f.terms else 1e-2 * tolerance):
                found = True
                break
        if found:
            _map_fit(&f, y, f.lags, n - f.lags, 1, A)
            a, b = 1.0, 0.6
            for t in range(f.lags, n):
                _map_slopes(&f, y[t - 1], y[t - 2] if f.lags == 2 else 0.0, &u, &v)
                if f.lags == 1:
                    exponent += log(fabs(u) if fabs(u) > 1e-300 else 1e-300)
                else:
                    w = u * a + v * b
                    norm = fabs(w) if fabs(w) > fabs(a) else fabs(a)
                    norm = norm if norm > 1e-300 else 1e-300
                    exponent += log(norm)
                    b = a / norm
                    a = w / norm
            exponent /= n - f.lags
            u, v = y[n - 1], y[n - 2]
            for i in range(ORBIT):
                w = _map_value(&f, u, v)
                if not fabs(w) < 50:
                    break
                v = u
                u = w
                orbit[i] = w
                length += 1
            if length == ORBIT:
                for p in range(1, 65):
                    same = True
                    for i in range(ORBIT - ENDS + p, ORBIT):
                        if not fabs(orbit[i] - orbit[i - p]) < 1e-6:
                            same = False
                            break
                    if same:
                        period = p
                        break
    if not found:
        return None
    if length == ORBIT:
        _map_slopes(&f, orbit[ORBIT - 1], orbit[ORBIT - 2] if f.lags == 2 else 0.0, &a, &b)
        poly[0], poly[1] = a, b
        i = _roots(poly, f.lags, z)
        norm = _modulus(z[0]) if i > 0 else 0.0
        norm = _modulus(z[1]) if i > 1 and _modulus(z[1]) > norm else norm
    else:
        norm = 0.0
    # in the phase of the next iteration, because ORBIT is in general not a multiple of the period
    p = period
    following = [orbit[ORBIT - p + (i - ORBIT % p + p) % p] * size + middle for i in range(p)]
    return f.lags, f.degree, error, exponent, n - f.lags, period, length == ORBIT, following, norm
