# Laws of log|d| along a smooth tail: constant, a + k log(rho), a - s log(k + k0).

cdef enum:
    THIN = 48           # number of points for each of the three spacings of a thinned tail
    POINTS = 160


cdef int _thin(Py_ssize_t first, Py_ssize_t n, Py_ssize_t* at) noexcept nogil:
    """Indices first .. first + n - 1: all, or a subset that is dense at both ends; ascending."""
    cdef Py_ssize_t i, low, middle, high, a = 0, b = 0, c = 0, last = -1, v
    cdef int m = 0
    cdef double ratio
    if n <= POINTS - 16:
        for i in range(n):
            at[i] = first + i
        return <int>n
    ratio = log(<double>n) / (THIN - 1)
    # three ascending lists, merged: geometric from the start, linear, geometric from the end
    while a < THIN or b < THIN or c < THIN:
        low = <Py_ssize_t>exp(a * ratio) - 1 if a < THIN else n
        middle = b * (n - 1) // (THIN - 1) if b < THIN else n
        high = n - <Py_ssize_t>exp((THIN - 1 - c) * ratio) if c < THIN else n
        v = low if low < middle else middle
        v = high if high < v else v
        if low == v:
            a += 1
        if middle == v:
            b += 1
        if high == v:
            c += 1
        if v > last and 0 <= v < n:
            at[m] = first + v
            m += 1
            last = v
    return m


cdef double _line(const double* u, const double* y, int m, double* a, double* b) noexcept nogil:
    """Least squares y = a + b u; returns the sum of squares."""
    cdef double mu = 0.0, my = 0.0, uu = 0.0, uy = 0.0, sse = 0.0, e
    cdef int i
    for i in range(m):
        mu += u[i]
        my += y[i]
    mu /= m
    my /= m
    for i in range(m):
        uu += (u[i] - mu) * (u[i] - mu)
        uy += (u[i] - mu) * (y[i] - my)
    b[0] = uy / (uu if uu > 1e-300 else 1e-300)
    a[0] = my - b[0] * mu
    for i in range(m):
        e = (y[i] - my) - b[0] * (u[i] - mu)
        sse += e * e
    return sse


cdef double _at(double t, const double* k, const double* y, int m, int every, double* a, double* s) noexcept nogil:
    """Sum of squares of the best law with k0 = exp(t), on every ``every``-th point."""
    cdef double u[POINTS]
    cdef double w[POINTS]
    cdef double k0 = exp(t), sse
    cdef int i, used = 0
    i = m - 1
    while i >= 0:
        u[used] = log(k[i] + k0)
        w[used] = y[i]
        used += 1
        i -= every
    sse = _line(u, w, used, a, s)
    s[0] = -s[0]
    return sse / used


cdef void _power(const double* k, const double* y, int m, double low, double high, double* law) noexcept nogil:
    """law = (a, s, k0) of the best a - s log(k + k0) with log k0 in low .. high.

    A coarse grid, then minimisation without derivatives (R. P. Brent, Algorithms for Minimization, 1973).
    """
    cdef double a, s, t, value, best = INFINITY, at = low, step = (high - low) / 23
    cdef double x, w, v, fx, fw, fv, e = 0.0, d = 0.0, middle, u, fu, p, q, r, old, tolerance
    cdef int i, every = m // 40 if m >= 80 else 1
    for i in range(24):
        t = low + i * step
        value = _at(t, k, y, m, every, &a, &s)
        if value < best:
            best, at = value, t
    low, high = at - 1.2 * step, at + 1.2 * step
    x = w = v = at
    fx = fw = fv = _at(at, k, y, m, 1, &a, &s)
    for i in range(28):
        middle = 0.5 * (low + high)
        tolerance = 1e-8 * (1.0 + fabs(x))
        if fabs(x - middle) <= 2 * tolerance - 0.5 * (high - low):
            break
        p = q = 0.0
        if fabs(e) > tolerance:
            r = (x - w) * (fx - fv)
            q = (x - v) * (fx - fw)
            p = (x - v) * q - (x - w) * r
            q = 2 * (q - r)
            if q > 0:
                p = -p
            q = fabs(q)
            old = e
            e = d
        else:
            old = 0.0
        if q > 0 and fabs(p) < fabs(0.5 * q * old) and low < x + p / q < high:
            d = p / q
        else:
            e = (low if x >= middle else high) - x
            d = 0.381966 * e
        u = x + (d if fabs(d) >= tolerance else (tolerance if d > 0 else -tolerance))
        fu = _at(u, k, y, m, 1, &a, &s)
        if fu <= fx:
            if u >= x:
                low = x
            else:
                high = x
            v, fv = w, fw
            w, fw = x, fx
            x, fx = u, fu
        else:
            if u < x:
                low = u
            else:
                high = u
            if fu <= fw or w == x:
                v, fv = w, fw
                w, fw = u, fu
            elif fu <= fv or v == x or v == w:
                v, fv = u, fu
    _at(x, k, y, m, 1, &law[0], &law[1])
    law[2] = exp(x)


def tail_laws(ds, Py_ssize_t first, Py_ssize_t end, Py_ssize_t before):
    """Laws of log|d[first:end]|, each fitted to the first 60 % and tested on the last 40 %, then refitted to all.

    Returns None if a difference is zero or too few are left, else ``(counter, geometric, power)``: the rms error of the
    logarithm and the numbers (level), (slope, a), (s, a, k0, whether it is an exponential in disguise); k counts from
    ``first``, which ``before`` iterations precede. ``power`` is None for fewer than 6 differences, or if a simpler law
    is exact to 1e-7. Of a tail of 24 or more the first third, which contains the lower-order terms of an asymptotic
    law, is left out.
    """
    cdef Py_ssize_t total, m = end - first, skip
    cdef double* d = _reals(ds, &total)
    cdef Py_ssize_t at[POINTS]
    cdef double k[POINTS]
    cdef double y[POINTS]
    cdef double law[3]
    cdef double level = 0.0, late = 0.0, e0 = 0.0, e1 = 0.0, e2 = 0.0, a = 0.0, b = 0.0, e, low, high, span
    cdef int i, used, cut
    cdef bint power
    if first < 0 or end > total or m < 3:
        return None
    skip = m // 3 if m >= 24 else 0
    used = _thin(skip, m - skip, at)
    cut = 3 if 6 * used < 30 else 6 * used // 10
    if used - cut < 2:
        return None
    for i in range(used):
        k[i] = <double>at[i]
        if d[first + at[i]] == 0:
            return None
    with nogil:
        for i in range(used):
            y[i] = log(fabs(d[first + at[i]]))
            if i < cut:
                level += y[i] / cut
            else:
                late += y[i] / (used - cut)
        _line(k, y, cut, &a, &b)
        for i in range(cut, used):
            e0 += (y[i] - level) * (y[i] - level)
            e = y[i] - a - b * k[i]
            e1 += e * e
        e0 = sqrt(e0 / (used - cut))
        e1 = sqrt(e1 / (used - cut))
        _line(k, y, used, &a, &b)
        power = m >= 6 and e0 > 1e-7 and e1 > 1e-7
        if power:
            low, high = log(0.02), log(3.0 * (k[cut - 1] - k[0] + 1) + 2.0 * before)
            _power(k, y, cut, low, high, law)
            for i in range(cut, used):
                e = y[i] - law[0] + law[1] * log(k[i] + law[2])
                e2 += e * e
            e2 = sqrt(e2 / (used - cut))
            span = k[used - 1] - k[0] + 1
            _power(k, y, used, low, log(3.0 * span + 2.0 * before), law)
    counter, geometric = (e0, late), (e1, b, a)
    if not power:
        return counter, geometric, None
    return counter, geometric, (e2, law[1], law[0], law[2], law[2] >= 2.5 * span + 1.5 * before)
