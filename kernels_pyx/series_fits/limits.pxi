# Limits by convergence acceleration, each with an error estimate from the neighbouring entries of its table.

cdef enum:
    TERMS = 13


cdef void _better(double value, double error, double* best) noexcept nogil:
    """best = (value, error, second value, second error), by error."""
    if not isfinite(value) or error >= best[3]:
        return
    if error < best[1]:
        best[2], best[3] = best[0], best[1]
        best[0], best[1] = value, error
    else:
        best[2], best[3] = value, error


cdef void _wynn(const double* s, int m, double* best) noexcept nogil:
    """Even columns of Wynn's epsilon table (P. Wynn, MTAC 10, 1956) of s[0:m]; updates best = (value, error) if the
    error is smaller.

    The error of an entry is its distance from the previous ones in its column, or the gain between columns.
    """
    cdef double before[TERMS + 1]
    cdef double row[TERMS]
    cdef double next_[TERMS]
    cdef double gap, corner = s[m - 1], error, e, gain, gained = fabs(s[m - 1] - s[m - 2])
    cdef int column, i
    memset(before, 0, sizeof(before))
    memcpy(row, s, m * sizeof(double))
    for column in range(1, m):
        for i in range(m - column):
            gap = row[i + 1] - row[i]
            if gap == 0 or not isfinite(gap):
                return
            next_[i] = before[i + 1] + 1.0 / gap
        memcpy(before, row, (m - column + 1) * sizeof(double))
        memcpy(row, next_, (m - column) * sizeof(double))
        if column % 2 == 0:
            i = m - column - 1
            if i < 1:
                return
            error = fabs(row[i] - row[i - 1])
            # if columns gain much, the last gain says little about the rest; if they gain little, it bounds the rest
            gain = fabs(row[i] - corner)
            e = gain * (2 * gain / gained if 2 * gain < gained else 1.0)
            gained = gain if gain > 0 else 1e-300
            error = e if e > error else error
            if i >= 2:
                e = 0.3 * fabs(row[i - 1] - row[i - 2])
                error = e if e > error else error
            _better(row[i], error, best)
            corner = row[i]


cdef double _levin(const double* s, const double* a, int m, int order, double beta) noexcept nogil:
    """Levin's u (D. Levin, Int. J. Comput. Math. B 3, 1973) of the last order + 1 of m sums s with terms a."""
    cdef double top = 0.0, bottom = 0.0, c = 1.0, w, b
    cdef int j, at, base = m - 1 - order
    for j in range(order + 1):
        at = base + j
        b = beta + at
        if a[at] == 0:
            return INFINITY
        w = c / (b * a[at])
        b /= beta + m - 1
        if order > 1:
            w *= exp((order - 1) * log(b))
        top += w * s[at]
        bottom += w
        c *= -<double>(order - j) / (j + 1)
    return top / bottom if bottom != 0 else INFINITY


def accelerated(xs, Py_ssize_t end, Py_ssize_t before):
    """(limit, error) of x[0:end + 1] by whichever of Wynn's epsilon and Levin's u has the smallest error estimate.

    Epsilon is applied to the last values, to values 2, 4, .. n/12 apart (which amplifies noise of slow rates less), and
    to values whose distance from the start doubles, for which powers of k become geometric.  Levin's u serves
    alternating and logarithmic sums; ``before`` iterations precede the record.  (last value, inf) if nothing applies.
    """
    cdef Py_ssize_t n, i, stride, at
    cdef double* x = _reals(xs, &n)
    cdef double s[TERMS + 1]
    cdef double a[TERMS + 1]
    cdef double best[4]
    cdef double last, value, earlier, lower, error, beta
    cdef int m, k, scheme
    if not 3 <= end < n:
        return x[n - 1], INFINITY
    last = x[end]
    best[0] = best[2] = 0.0
    best[1] = best[3] = INFINITY
    with nogil:
        stride = 1
        while stride == 1 or stride * 12 <= end:
            m = TERMS if end >= stride * (TERMS - 1) else <int>(end // stride) + 1
            for i in range(m):
                s[m - 1 - i] = x[end - i * stride] - last
            if m >= 4:
                _wynn(s, m, best)
            if m >= 8:
                _wynn(s + m - 7, 7, best)
            stride *= 2
        # distances from the start of the loop that double
        for scheme in range(2):
            m = 0
            at = end + before + scheme
            while m < TERMS and at - before - scheme >= 0 and at >= 1:
                a[m] = x[at - before - scheme] - last
                m += 1
                if at % 2:
                    break
                at //= 2
            if m < 5:
                # otherwise begin at the last multiple of a power of two
                stride = 1
                while stride * 48 <= end + before + scheme:
                    stride *= 2
                at = (end + before + scheme) // stride * stride
                m = 0
                while m < TERMS and at - before - scheme >= 0 and at >= 1:
                    a[m] = x[at - before - scheme] - last
                    m += 1
                    if at % 2:
                        break
                    at //= 2
            if m >= 4:
                for i in range(m):
                    s[i] = a[m - 1 - i]
                _wynn(s, m, best)
        m = TERMS if end >= TERMS else <int>end
        for i in range(m):
            s[m - 1 - i] = x[end - i] - last
            a[m - 1 - i] = x[end - i] - x[end - i - 1]
        beta = <double>(end - m + 1 + before)
        beta = beta if beta > 0.5 else 1.0
        for k in range(2, m - 1):
            value = _levin(s, a, m, k, beta)
            earlier = _levin(s, a, m - 1, k, beta)
            lower = _levin(s, a, m, k - 1, beta)
            error = fabs(value - earlier)
            if 0.3 * fabs(value - lower) > error:
                error = 0.3 * fabs(value - lower)
            _better(value, error, best)
    # the smallest of many estimates may be small by accident: the second must agree
    error = 0.1 * fabs(best[0] - best[2]) if best[3] < INFINITY else INFINITY
    return last + best[0], error if error > best[1] else best[1]
