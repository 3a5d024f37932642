# Linear maps of past values: of the last ones, with which local maps are compared, and of those of long ago, which
# predict the present value if a movement recurs.

cdef enum:
    LINEAR_MOST = 12    # maximum number of past values of the linear map
    LAGS = 16           # maximum number of chosen lags
    FIT = 432           # maximum number of rows for the fit of the sums


def linear_map(xs, int order, Py_ssize_t ahead=1):
    """One linear map of ``order`` past values: (median error ``ahead`` steps ahead, share of its errors that agree).

    The error is relative to the record's deviation; two errors agree, half a record apart, within a fifth of the
    median. The map is fitted to and tested on the last 1024 values: few parameters against many values. (inf, 0) for a
    record of fewer than 5 values for each of its parameters.
    """
    cdef Py_ssize_t n, i
    cdef double* x = _reals(xs, &n)
    cdef double y[LONG]
    cdef double errors[LONG]
    cdef double signed[LONG]
    cdef double A[LINEAR_MOST * LINEAR_MOST]
    cdef double c[LINEAR_MOST]
    cdef double middle, size, s, trace = 0.0
    cdef int a, b, m = order, agree = 0
    if not 0 < m <= LINEAR_MOST or ahead < 1:
        raise ValueError("linear_map: 1 to 12 past values, 1 or more steps ahead")
    if n > LONG:
        x += n - LONG
        n = LONG
    if n - ahead + 1 < 5 * m:
        return INFINITY, 0.0
    ahead -= 1
    with nogil:
        _standard(x, n, y, &middle, &size)
        memset(A, 0, sizeof(A))
        memset(c, 0, sizeof(c))
        for a in range(m):
            for b in range(a + 1):
                s = 0.0
                for i in range(m, n - ahead):
                    s += y[i - 1 - a] * y[i - 1 - b]
                A[a * m + b] = s
            s = 0.0
            for i in range(m, n - ahead):
                s += y[i + ahead] * y[i - 1 - a]
            c[a] = s
            trace += A[a * m + a]
        for a in range(m):
            A[a * m + a] += 1e-12 * trace + 1e-300
        if size > 0 and not _solve(A, c, m, 1):
            memset(c, 0, sizeof(c))
        for i in range(m, n - ahead):
            s = y[i + ahead]
            for a in range(m):
                s -= c[a] * y[i - 1 - a]
            signed[i - m] = s
            errors[i - m] = fabs(s)
        n -= m + ahead
        _sort(errors, NULL, n)
        middle = errors[n // 2]
        for i in range(n // 2):
            agree += fabs(signed[i] - signed[i + n // 2]) <= 0.2 * middle
    if not size > 0:
        return INFINITY, 0.0
    return middle, agree / <double>(n // 2)


cdef double _left(const double* y, Py_ssize_t first, Py_ssize_t last, const Py_ssize_t* lag, const double* c, int count,
                  double level) noexcept nogil:
    """Root of the share of the variance of the values first .. last - 1 that the sum of earlier ones does not
    explain.
    """
    cdef Py_ssize_t i
    cdef int k
    cdef double e, sum_e = 0.0, ee = 0.0, sum_y = 0.0, yy = 0.0, m = last - first
    for i in range(first, last):
        e = y[i] - level
        for k in range(count):
            e -= c[k] * y[i - lag[k]]
        sum_e += e
        ee += e * e
        sum_y += y[i]
        yy += y[i] * y[i]
    ee -= sum_e * sum_e / m
    yy -= sum_y * sum_y / m
    return sqrt(ee / yy) if ee > 0 and yy > 0 else 0.0 if yy > 0 else INFINITY


def long_lags(xs, Py_ssize_t shortest, int most):
    """(error, lags) of the sum of a level and of at most ``most`` earlier values that predicts a value best.

    All lags are ``shortest`` or longer, up to a third of the last 1024 values.  Each is chosen to explain most of the
    remaining variance (orthogonal matching pursuit), in the values up to five eighths of the rest; the error is that of
    the later values, as a share of their deviation. (inf, 0) if the record is too short.
    """
    cdef Py_ssize_t n, i, top, first, split, rows, lag, best
    cdef double* x = _reals(xs, &n)
    cdef double y[LONG]
    cdef double r[FIT]
    cdef double Q[(LAGS + 1) * FIT]
    cdef double R[(LAGS + 1) * (LAGS + 1)]
    cdef double along[LAGS + 1]
    cdef double c[LAGS + 1]
    cdef double norm[LONG]
    cdef Py_ssize_t chosen[LAGS]
    cdef double middle, size, s, t, most_seen, seen, total, left, error, least = INFINITY
    cdef double* q
    cdef int k, j, again, kept = 0, limit = most if most < LAGS else LAGS
    if n > LONG:
        x += n - LONG
        n = LONG
    top = n // 3
    first = top
    split = first + (n - first) * 5 // 8
    rows = split - first
    if shortest < 1 or shortest + 4 > top or rows < 16 or rows > FIT:
        return INFINITY, 0
    limit = limit if limit < rows // 4 else <int>(rows // 4)
    with nogil:
        _standard(x, n, y, &middle, &size)
        if size > 0:
            # column 0 is the level
            s = 1.0 / sqrt(<double>rows)
            for i in range(rows):
                Q[i] = s
            R[0] = 1.0 / s
            t = 0.0
            for i in range(rows):
                t += y[first + i]
            along[0] = t * s
            total = 0.0
            for i in range(rows):
                r[i] = y[first + i] - t / rows
                total += r[i] * r[i]
            # spread of each column about its mean, by running sums
            s = t = 0.0
            for i in range(first - shortest, split - shortest):
                s += y[i]
                t += y[i] * y[i]
            for lag in range(shortest, top):
                norm[lag] = t - s * s / rows
                if lag + 1 < top:
                    i = split - lag - 1
                    s -= y[i]
                    t -= y[i] * y[i]
                    i = first - lag - 1
                    s += y[i]
                    t += y[i] * y[i]
            left = total
            for k in range(1, limit + 1):
                best, most_seen = -1, 0.0
                for lag in range(shortest, top):
                    if not norm[lag] > 1e-12 * rows:
                        continue
                    s = _dot(y + first - lag, r, rows)
                    seen = s * s / norm[lag]
                    if seen > most_seen:
                        for j in range(k - 1):
                            if chosen[j] == lag:
                                seen = 0.0
                        if seen > most_seen:
                            best, most_seen = lag, seen
                if best < 0:
                    break
                q = Q + k * rows
                for i in range(rows):
                    q[i] = y[first + i - best]
                for j in range(k):
                    R[j * (LAGS + 1) + k] = 0.0
                for again in range(2):
                    for j in range(k):
                        s = _dot(Q + j * rows, q, rows)
                        R[j * (LAGS + 1) + k] += s
                        for i in range(rows):
                            q[i] -= s * Q[j * rows + i]
                s = sqrt(_dot(q, q, rows))
                if not s > 1e-9 * sqrt(norm[best]):
                    break
                R[k * (LAGS + 1) + k] = s
                for i in range(rows):
                    q[i] /= s
                s = _dot(q, r, rows)
                along[k] = s
                for i in range(rows):
                    r[i] -= s * q[i]
                chosen[k - 1] = best
                left = _dot(r, r, rows)
                for j in range(k, -1, -1):
                    s = along[j]
                    for i in range(j + 1, k + 1):
                        s -= R[j * (LAGS + 1) + i] * c[i]
                    c[j] = s / R[j * (LAGS + 1) + j]
                error = _left(y, split, n, chosen, c + 1, k, c[0])
                if error < least:
                    least, kept = error, k
                # noise and chaos: the best of all lags predicts almost nothing
                if left > 0.9 * total or k >= 4 and left > 0.5 * total or left < 1e-14 * total:
                    break
    return least, kept
