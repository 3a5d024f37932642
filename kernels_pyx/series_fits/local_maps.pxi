# Local linear maps, which predict the future of a point from its neighbours in delay coordinates, for comparison with
# one linear map.

cdef enum:
    LONG = 1024         # number of values used: the last ones
    NEAREST = 16        # maximum number of neighbours of a point
    DELAYS = 4          # maximum number of coordinates
    AHEADS = 8          # maximum number of horizons
    ASKED = 128         # maximum number of points that are predicted


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


cdef int _nearest(const double** c, Py_ssize_t i, Py_ssize_t first, Py_ssize_t last, Py_ssize_t exclude, int m, int most,
                  int32_t* who) noexcept nogil:
    """The points first .. last - 1 nearest to point i in the m coordinates c, ``exclude`` or more iterations away."""
    cdef double distances[LONG]
    cdef double far[NEAREST]
    cdef double distance, d, centre, bound = INFINITY
    cdef const double* x
    cdef Py_ssize_t j
    cdef int k, at, count = 0
    # all distances first, without a branch
    memset(distances, 0, (last - first) * sizeof(double))
    for k in range(m):
        x = c[k] + first
        centre = c[k][i]
        for j in range(last - first):
            d = fabs(x[j] - centre)
            distances[j] = d if d > distances[j] else distances[j]
    for j in range(first, last):
        distance = distances[j - first]
        if distance >= bound or -exclude < i - j < exclude:
            continue
        if count < most:
            count += 1
        at = count - 1
        while at > 0 and far[at - 1] > distance:
            far[at], who[at] = far[at - 1], who[at - 1]
            at -= 1
        far[at], who[at] = distance, <int32_t>j
        if count == most:
            bound = far[most - 1]
    return count


cdef void _local_errors(const double** c, const double* y, Py_ssize_t first, Py_ssize_t span, int m, const int* ahead,
                        int steps, Py_ssize_t exclude, Py_ssize_t count, double* out) noexcept nogil:
    """Median error of the local maps of y in the m coordinates c, each for the points first .. first + span - 1."""
    cdef double errors[AHEADS * ASKED]
    cdef double A[DELAYS * DELAYS]
    cdef double B[AHEADS * DELAYS]
    cdef double mean[DELAYS]
    cdef double levels[AHEADS]
    cdef double u[DELAYS]
    cdef double s, trace
    cdef int32_t who[NEAREST]
    cdef int a, b, q, h, found, most = 2 * m + 6
    cdef Py_ssize_t i, r
    most = most if most < NEAREST else NEAREST
    for r in range(count):
        i = first + r * (span - 1) // (count - 1)
        found = _nearest(c, i, first, first + span, exclude, m, most, who)
        for a in range(m):
            mean[a] = 0.0
            for q in range(found):
                mean[a] += c[a][who[q]]
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
                u[a] = c[a][who[q]] - mean[a]
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
                s += B[h * m + a] * (c[a][i] - mean[a])
            errors[h * ASKED + r] = fabs(s - y[i + ahead[h]])
    for h in range(steps):
        _sort(errors + h * ASKED, NULL, count)
        out[h] = errors[h * ASKED + count // 2]


cdef int _horizons(object aheads, int* ahead) except -1:
    cdef int h, steps = len(aheads)
    if not 0 < steps <= AHEADS:
        raise ValueError("local_maps: too many horizons or coordinates")
    for h in range(steps):
        ahead[h] = aheads[h]
    return steps


def local_maps(xs, int m, aheads, Py_ssize_t exclude, Py_ssize_t points):
    """Median error of local linear maps in m delay coordinates, for each number of iterations ahead.

    The map of a point is fitted to its nearest neighbours in the last 1024 values, ``exclude`` or more iterations away;
    ``points`` evenly spread points are predicted.  Errors are relative to the deviation of the record from its mean.
    An empty list if the record is too short, or constant.
    """
    cdef Py_ssize_t n, count, span
    cdef double* x = _reals(xs, &n)
    cdef double y[LONG]
    cdef double out[AHEADS]
    cdef const double* c[DELAYS]
    cdef int ahead[AHEADS]
    cdef double middle, size
    cdef int k, h, steps = _horizons(aheads, ahead)
    if not 0 < m <= DELAYS:
        raise ValueError("local_maps: too many horizons or coordinates")
    if n > LONG:
        x += n - LONG
        n = LONG
    span = n - ahead[steps - 1] - m + 1
    if span < 4 * (2 * m + 6 if 2 * m + 6 < NEAREST else NEAREST):
        return []
    count = points if points < ASKED else ASKED
    count = count if count < span else span
    with nogil:
        _standard(x, n, y, &middle, &size)
        for k in range(m):
            c[k] = y - k
        if size > 0:
            _local_errors(c, y, m - 1, span, m, ahead, steps, exclude, count, out)
    return [out[h] for h in range(steps)] if size > 0 else []
