# Local linear maps: what the neighbours of a point in delay coordinates say about its future, beside one linear map.

cdef enum:
    LONG = 1024         # values that are looked at: the last ones
    NEAREST = 16        # neighbours of a point, at most
    DELAYS = 4          # coordinates, at most
    AHEADS = 8          # horizons, at most
    ASKED = 128        # points that are asked about, at most
    LINEAR_MOST = 12    # past values of the one linear map


cdef bint _solve(double* A, double* B, int m, int count) noexcept nogil:
    """B (count columns of m) becomes the solution of the positive definite A (m by m, row by row) by Cholesky."""
    cdef int i, j, k, c
    cdef double s
    for i in range(m):
        for j in range(i + 1):
            s = A[i * m + j]
            for k in range(j):
                s -= A[i * m + k] * A[j * m + k]
            if i == j:
                if not s > 0:
                    return False
                A[i * m + i] = sqrt(s)
            else:
                A[i * m + j] = s / A[j * m + j]
    for c in range(count):
        for i in range(m):
            s = B[c * m + i]
            for k in range(i):
                s -= A[i * m + k] * B[c * m + k]
            B[c * m + i] = s / A[i * m + i]
        for i in range(m - 1, -1, -1):
            s = B[c * m + i]
            for k in range(i + 1, m):
                s -= A[k * m + i] * B[c * m + k]
            B[c * m + i] = s / A[i * m + i]
    return True


cdef int _nearest(const double* x, Py_ssize_t i, Py_ssize_t first, Py_ssize_t last, Py_ssize_t exclude, int m, int most,
                  int32_t* who) noexcept nogil:
    """The points first .. last - 1 nearest to point i in m delay coordinates, ``exclude`` or more iterations away."""
    cdef double far[NEAREST]
    cdef double distance, d
    cdef Py_ssize_t j
    cdef int lag, at, count = 0
    for j in range(first, last):
        if -exclude < i - j < exclude:
            continue
        distance = fabs(x[i] - x[j])
        if count == most and distance >= far[count - 1]:
            continue
        for lag in range(1, m):
            d = fabs(x[i - lag] - x[j - lag])
            distance = d if d > distance else distance
        if count == most:
            if distance >= far[count - 1]:
                continue
        else:
            count += 1
        at = count - 1
        while at > 0 and far[at - 1] > distance:
            far[at], who[at] = far[at - 1], who[at - 1]
            at -= 1
        far[at], who[at] = distance, <int32_t>j
    return count


def local_maps(xs, int m, aheads, Py_ssize_t exclude, Py_ssize_t points):
    """Median error of local linear maps in m delay coordinates, for each number of iterations ahead.

    The map of a point is fitted to its nearest neighbours in the last 1024 values, ``exclude`` or more iterations away;
    ``points`` are asked, evenly spread.  Errors are relative to the deviation of the record from its mean.  An empty
    list where the record is too short, or constant.
    """
    cdef Py_ssize_t n, i, r, count, span
    cdef double* x = _reals(xs, &n)
    cdef double y[LONG]
    cdef double errors[AHEADS * ASKED]
    cdef double A[DELAYS * DELAYS]
    cdef double B[AHEADS * DELAYS]
    cdef double mean[DELAYS]
    cdef double levels[AHEADS]
    cdef double u[DELAYS]
    cdef double middle, size, s, trace
    cdef int32_t who[NEAREST]
    cdef int ahead[AHEADS]
    cdef int a, b, q, h, found, steps = len(aheads), most
    if not 0 < steps <= AHEADS or not 0 < m <= DELAYS:
        raise ValueError("local_maps: too many horizons or coordinates")
    for h in range(steps):
        ahead[h] = aheads[h]
    if n > LONG:
        x += n - LONG
        n = LONG
    most = 2 * m + 6
    most = most if most < NEAREST else NEAREST
    span = n - ahead[steps - 1] - m + 1
    if span < 4 * most:
        return []
    count = points if points < ASKED else ASKED
    count = count if count < span else span
    with nogil:
        _standard(x, n, y, &middle, &size)
        for r in range(count if size > 0 else 0):
            i = m - 1 + r * (span - 1) // (count - 1)
            found = _nearest(y, i, m - 1, m - 1 + span, exclude, m, most, who)
            for a in range(m):
                mean[a] = 0.0
                for q in range(found):
                    mean[a] += y[who[q] - a]
                mean[a] /= found if found else 1
            for h in range(steps):
                levels[h] = 0.0
                for q in range(found):
                    levels[h] += y[who[q] + ahead[h]]
                levels[h] /= found if found else 1
            memset(A, 0, sizeof(A))
            memset(B, 0, sizeof(B))
            for q in range(found):
                for a in range(m):
                    u[a] = y[who[q] - a] - mean[a]
                for a in range(m):
                    for b in range(a + 1):
                        A[a * m + b] += u[a] * u[b]
                    for h in range(steps):
                        B[h * m + a] += u[a] * (y[who[q] + ahead[h]] - levels[h])
            trace = 0.0
            for a in range(m):
                trace += A[a * m + a]
            for a in range(m):
                A[a * m + a] += 1e-7 * trace + 1e-300
            if not _solve(A, B, m, steps):
                memset(B, 0, sizeof(B))
            for h in range(steps):
                s = levels[h]
                for a in range(m):
                    s += B[h * m + a] * (y[i - a] - mean[a])
                errors[h * ASKED + r] = fabs(s - y[i + ahead[h]])
        for h in range(steps):
            _sort(errors + h * ASKED, NULL, count)
    if not size > 0:
        return []
    return [errors[h * ASKED + count // 2] for h in range(steps)]


def linear_map(xs, int order, Py_ssize_t ahead=1):
    """One linear map of ``order`` past values: (median error ``ahead`` steps ahead, share of its errors that agree).

    The error is relative to the record's deviation; two errors agree, half a record apart, within a fifth of the median.
    The map is fitted to the last 1024 values and asked of the same: few parameters against many values. (inf, 0) for a
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
