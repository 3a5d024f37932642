# Neighbours: maps of one value of any shape, and delay coordinates.

cdef int[6] _GAPS
_GAPS[:] = [132, 57, 23, 10, 4, 1]


cdef void _sort(double* v, int32_t* order, Py_ssize_t n) noexcept nogil:
    """Shell's sort, and ``order`` (may be NULL) along with it: short arrays only."""
    cdef Py_ssize_t gap, i, j
    cdef double x
    cdef int32_t at = 0
    cdef int g
    for g in range(6):
        gap = _GAPS[g]
        for i in range(gap, n):
            x = v[i]
            if order != NULL:
                at = order[i]
            j = i
            while j >= gap and v[j - gap] > x:
                v[j] = v[j - gap]
                if order != NULL:
                    order[j] = order[j - gap]
                j -= gap
            v[j] = x
            if order != NULL:
                order[j] = at


def return_map(xs):
    """Whether the next value is one function of the last: (pairs, median, upper quartile, rest, exponent).

    Pairs (x[k], x[k + 1]) of the last 512 values are sorted by x[k]; median and quartile are those of the jumps of x[k
    + 1] between neighbours, relative to the same quantiles of the steps |x[k + 1] - x[k]|: about 1 of noise, near 0 of
    a map of one value.  Lines through five neighbours each give ``rest``, the median share of unexplained variance, and
    the mean logarithm of their slopes, the Lyapunov exponent.
    """
    cdef Py_ssize_t n, i, j, low, high
    cdef double* x = _reals(xs, &n)
    cdef double u[WINDOW]
    cdef double jumps[WINDOW]
    cdef double steps[WINDOW]
    cdef double rests[WINDOW]
    cdef int32_t order[WINDOW]
    cdef double exponent = 0.0, mu, my, uu, uy, yy
    if n > WINDOW:
        x += n - WINDOW
        n = WINDOW
    n -= 1
    if n < 8:
        return 0, INFINITY, INFINITY, 1.0, 0.0
    with nogil:
        for i in range(n):
            u[i] = x[i]
            order[i] = <int32_t>i
            steps[i] = fabs(x[i + 1] - x[i])
        _sort(u, order, n)
        _sort(steps, NULL, n)
        for i in range(n - 1):
            jumps[i] = fabs(x[order[i + 1] + 1] - x[order[i] + 1])
        _sort(jumps, NULL, n - 1)
        for i in range(n):
            low, high = i - 2 if i >= 2 else 0, i + 3 if i + 3 <= n else n
            mu = my = uu = uy = yy = 0.0
            for j in range(low, high):
                mu += u[j]
                my += x[order[j] + 1]
            mu /= high - low
            my /= high - low
            for j in range(low, high):
                uu += (u[j] - mu) * (u[j] - mu)
                uy += (u[j] - mu) * (x[order[j] + 1] - my)
                yy += (x[order[j] + 1] - my) * (x[order[j] + 1] - my)
            rests[i] = 1 - uy * uy / (uu * yy) if uu * yy > 0 else 1.0
            uy = fabs(uy) / (uu if uu > 1e-300 else 1e-300)
            uy = 1e-3 if uy < 1e-3 else 1e3 if uy > 1e3 else uy
            exponent += log(uy) / n
        _sort(rests, NULL, n)
    if steps[n // 2] == 0:
        return n, INFINITY, INFINITY, 1.0, exponent
    return n, jumps[n // 2] / steps[n // 2], jumps[3 * n // 4] / steps[3 * n // 4], rests[n // 2], exponent


def neighbours(xs, int m, Py_ssize_t horizon, Py_ssize_t exclude, Py_ssize_t references):
    """The divergence of neighbours in m delay coordinates of the last 512 values; up to 160 reference points.

    Returns (pairs, median and upper quartile of the distance one step ahead, median distance at the start, median of
    the largest distance over the last quarter of ``horizon``).  Points at most ``exclude`` iterations apart are not
    paired.
    """
    cdef Py_ssize_t n, i, j, r, k, usable_, best, pairs = 0, late
    cdef double* x = _reals(xs, &n)
    cdef double one[160]
    cdef double start[160]
    cdef double grown[160]
    cdef double distance, d, least
    cdef double* p
    cdef int lag
    if n > WINDOW:
        x += n - WINDOW
        n = WINDOW
    usable_ = n - m + 1 - horizon
    if m < 1 or horizon < 1 or usable_ < 1:
        return 0, 0.0, 0.0, 0.0, 0.0
    references = references if references < 160 else 160
    references = references if references < usable_ else usable_
    late = horizon // 4 if horizon >= 4 else 1
    with nogil:
        p = x + m - 1
        for r in range(references):
            i = r * (usable_ - 1) // (references - 1) if references > 1 else 0
            least, best = INFINITY, -1
            for j in range(usable_):
                if j == i - exclude:
                    continue
                distance = fabs(p[i] - p[j])
                if distance >= least:
                    continue
                if -exclude <= i - j <= exclude:
                    continue
                for lag in range(1, m):
                    d = fabs(p[i - lag] - p[j - lag])
                    distance = d if d > distance else distance
                if distance < least:
                    least, best = distance, j
            if best < 0:
                continue
            start[pairs] = least
            one[pairs] = fabs(p[i + 1] - p[best + 1])
            d = 0.0
            for k in range(horizon - late + 1, horizon + 1):
                distance = fabs(p[i + k] - p[best + k])
                d = distance if distance > d else d
            grown[pairs] = d
            pairs += 1
        _sort(one, NULL, pairs)
        _sort(start, NULL, pairs)
        _sort(grown, NULL, pairs)
    if pairs == 0:
        return 0, 0.0, 0.0, 0.0, 0.0
    return pairs, one[pairs // 2], one[3 * pairs // 4], start[pairs // 2], grown[pairs // 2]


cdef enum:
    PAIRS = 64          # closest pairs


def close_pairs(xs, cnp.ndarray order, int m, Py_ssize_t exclude, double tolerance):
    """Shares of the 16, 32 and 64 closest pairs in m delay coordinates whose next values differ by ``tolerance`` or less.

    ``order`` sorts x.  Points less than ``exclude`` iterations apart are not paired. Zeros if there are fewer pairs.
    """
    cdef Py_ssize_t n, i, j, a, b
    cdef double* x = _reals(xs, &n)
    cdef double far[PAIRS]
    cdef double apart[PAIRS]
    cdef double distance, d
    cdef const int64_t* rank
    cdef const double* c[4]
    cdef int k, at, count = 0, agree = 0, first = m - 1
    cdef double shares[3]
    if not 0 < m <= 4:
        raise ValueError("close_pairs: 1 to 4 coordinates")
    for k in range(m):
        c[k] = x - k
    if order.dtype != np.int64 or not order.flags.c_contiguous or order.shape[0] != n:
        raise TypeError("close_pairs: order must be int64 and as long as the record")
    rank = <const int64_t*>order.data
    with nogil:
        for a in range(n):
            i = rank[a]
            if i < first or i >= n - 1:
                continue
            for b in range(a + 1, n):
                j = rank[b]
                distance = x[j] - x[i]
                if count == PAIRS and distance >= far[PAIRS - 1]:
                    break
                if j < first or j >= n - 1 or -exclude < i - j < exclude:
                    continue
                for k in range(1, m):
                    d = fabs(c[k][i] - c[k][j])
                    distance = d if d > distance else distance
                if count == PAIRS:
                    if distance >= far[PAIRS - 1]:
                        continue
                else:
                    count += 1
                at = count - 1
                while at > 0 and far[at - 1] > distance:
                    far[at], apart[at] = far[at - 1], apart[at - 1]
                    at -= 1
                far[at], apart[at] = distance, fabs(x[i + 1] - x[j + 1])
        for at in range(count):
            agree += apart[at] <= tolerance
            if at + 1 == PAIRS // 4 or at + 1 == PAIRS // 2 or at + 1 == PAIRS:
                shares[0 if at + 1 == PAIRS // 4 else 1 if at + 1 == PAIRS // 2 else 2] = agree / (at + 1.0)
    return (shares[0], shares[1], shares[2]) if count == PAIRS else (0.0, 0.0, 0.0)
