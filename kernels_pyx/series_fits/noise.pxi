# Statistics of noisy records: each a pass over the values.

cdef enum:
    POWERS = 15         # exponents of laws of a moving mean
    TIMES = 7           # time constants, in records
    OFFSETS = 8         # iterations before the first of the record

cdef double[POWERS] _EXPONENTS
cdef double[TIMES] _TIMES
cdef double[OFFSETS] _OFFSETS
_EXPONENTS[:] = [1.0, 0.5, 0.0, 2.0, 1.5, 0.75, 0.35, 0.25, -0.25, -0.35, -0.5, -0.75, -1.0, -1.5, -2.0]
_TIMES[:] = [0.05, 0.1, 0.2, 0.3, 0.5, 0.8, 1.2]
_OFFSETS[:] = [0.0, 2.0, 5.0, 10.0, 30.0, 100.0, 300.0, 1000.0]


cdef double _mean(const double* x, Py_ssize_t n) noexcept nogil:
    cdef double s = 0.0
    cdef Py_ssize_t i
    for i in range(n):
        s += x[i]
    return s / n


def walk(xs):
    """For the second half: (steps, t of their mean, their lag-1 correlation, variance of the values relative to that of
    the steps).

    The last numbers measure the reversion of the whole record to its mean: Dickey and Fuller's t (1979), which detects
    an approach to a level, and that of the weighted symmetric estimate (Pantula, Gonzalez-Farias and Fuller, J. Bus.
    Econ. Stat. 12, 1994), which is more sensitive for records at their level from the start; for one walk in twenty
    they are below -2.87 and -2.52.
    """
    cdef Py_ssize_t total, n, i
    cdef double* all_ = _reals(xs, &total)
    cdef double* x
    cdef double mean, d, e, before, ee = 0.0, lag = 0.0, xx = 0.0, level, inner = 0.0, along = 0.0, rho, rest, t, w
    cdef double le = 0.0, ll = 0.0, slope, symmetric
    if total < 8:
        return 0, 0.0, 0.0, 0.0, 0.0, 0.0
    x = all_ + total // 2
    n = total - total // 2
    with nogil:
        mean = (x[n - 1] - x[0]) / (n - 1)
        before = 0.0
        for i in range(1, n):
            e = x[i] - x[i - 1] - mean
            ee += e * e
            lag += e * before
            before = e
        level = _mean(x, n)
        for i in range(n):
            xx += (x[i] - level) * (x[i] - level)
        ee /= n - 1
        xx /= n
        lag /= n - 2
        t = mean / sqrt(ee / (n - 1)) if ee > 0 else 0.0
        # each value from the previous and from the next one
        level = _mean(all_, total)
        before = 0.0
        for i in range(total):
            d = all_[i] - level
            inner += d * d if 0 < i < total - 1 else 0.0
            rest = d * d if i == 0 else rest + d * d
            along += d * before
            before = d
        inner += rest / total
        rho = along / (inner if inner > 1e-300 else 1e-300)
        rest = 0.0
        for i in range(1, total):
            w = i / <double>total
            d, e = all_[i - 1] - level, all_[i] - level
            rest += w * (e - rho * d) * (e - rho * d) + (1 - w) * (d - rho * e) * (d - rho * e)
        d = sqrt(rest / (total - 2))
        symmetric = sqrt(inner) * (rho - 1) / d if d > 0 else 0.0
        # the regression of steps on levels
        mean = (all_[total - 1] - all_[0]) / (total - 1)
        level = _mean(all_, total - 1)
        rest = 0.0
        for i in range(1, total):
            d = all_[i - 1] - level
            e = all_[i] - all_[i - 1] - mean
            le += d * e
            ll += d * d
            rest += e * e
        slope = le / (ll if ll > 1e-300 else 1e-300)
        rest = rest - slope * le
        d = sqrt((rest if rest > 0 else 0.0) / (total - 3) / (ll if ll > 1e-300 else 1e-300))
    return (n - 1, t, lag / ee if ee > 0 else 0.0, xx / ee if ee > 0 else 0.0, slope / d if d > 0 else 0.0, symmetric)


def block_spreads(ds, int blocks):
    """Root mean square of each of ``blocks`` (16 at most) equal blocks at the end of d."""
    cdef Py_ssize_t n, size, b
    cdef double* d = _reals(ds, &n)
    size = n // blocks
    d += n - blocks * size
    return [sqrt(_dot(d + b * size, d + b * size, size) / size) for b in range(blocks)]


def block_means(xs, int blocks):
    """Mean of each of ``blocks`` equal blocks at the end of x."""
    cdef Py_ssize_t n, size, b
    cdef double* x = _reals(xs, &n)
    size = n // blocks
    x += n - blocks * size
    return [_mean(x + b * size, size) for b in range(blocks)]


cdef double _power_sum(double p, double k) noexcept nogil:
    """Integral of k**p, or of log(k) for p = 0, up to k."""
    return k * log(k) - k if p == 0 else log(k) if p == -1 else exp((p + 1) * log(k)) / (p + 1)


def asymptote(means, Py_ssize_t size):
    """(kind, exponent, level, sse, moved) of the law that fits the means of blocks of ``size`` values best.

    Kind 0: (k + k0)**p with p > 0, or log(k + k0) for p = 0, without a limit; 1: the same with p < 0, whose limit is
    ``level``; 2: an exponential whose time constant is ``exponent`` of the record.  A law with a limit must reduce the
    error by a fifth compared with one without, one with an offset k0 by a fifth compared with one without, and p =
    -0.25, which is nearly a logarithm, by another fifth. ``moved`` is the change of the law in the second half.
    """
    cdef double m[32]
    cdef double basis[32]
    cdef double mean = 0.0, bb, bm, middle, slope, sse, e, k, last, p, k0, handicap, best = INFINITY
    cdef double exponent = 0.0, level = 0.0, left = 0.0, moved = 0.0
    cdef int n = min(len(means), 32), i, law, offset, kind, answer = 0
    for i in range(n):
        m[i] = means[i]
        mean += m[i] / n
    last = n * size
    with nogil:
        for law in range(POWERS + TIMES):
            kind = 2 if law >= POWERS else 1 if _EXPONENTS[law] < 0 else 0
            for offset in range(OFFSETS):
                p = _TIMES[law - POWERS] if kind == 2 else _EXPONENTS[law]
                k0 = _OFFSETS[offset]
                if offset and (kind == 2 or p >= 1 or k0 > 0.3 * last):
                    break
                middle = bb = bm = sse = 0.0
                for i in range(n):
                    k = i * size + 0.5 + k0
                    if kind == 2:
                        basis[i] = exp(-(k + 0.5 * size) / (p * last))
                    else:
                        basis[i] = (_power_sum(p, k + size) - _power_sum(p, k)) / size
                    middle += basis[i] / n
                for i in range(n):
                    bb += (basis[i] - middle) * (basis[i] - middle)
                    bm += (basis[i] - middle) * (m[i] - mean)
                slope = bm / (bb if bb > 1e-300 else 1e-300)
                for i in range(n):
                    e = m[i] - mean - slope * (basis[i] - middle)
                    sse += e * e
                handicap = (1.25 if kind else 1.0) * (1.25 if offset else 1.0) * (1.25 if kind == 1 and p > -0.3 else 1.0)
                if sse * handicap < best:
                    best = sse * handicap
                    answer, exponent, left = kind, p, sse
                    level = mean - slope * middle
                    moved = fabs(slope * (basis[n - 1] - basis[n // 2]))
    return answer, exponent, level, left, moved


def ball(xs):
    """(level, spread, standard error of the level, maximum distance of the first values in standard errors).

    Level and spread are those of the second half; the lag-1 correlation widens errors of means.
    """
    cdef Py_ssize_t n, i, k, count
    cdef double* x = _reals(xs, &n)
    cdef double level, ee = 0.0, lag = 0.0, e, before = 0.0, spread, inflate, error, far = 0.0, se, total = 0.0, near
    with nogil:
        count = n - n // 2
        level = _mean(x + n // 2, count)
        for i in range(n // 2, n):
            e = x[i] - level
            ee += e * e
            lag += e * before
            before = e
        spread = sqrt(ee / (count - 1 if count > 1 else 1))
        lag = lag / (ee if ee > 1e-300 else 1e-300)
        lag = 0.0 if lag < 0 else 0.98 if lag > 0.98 else lag
        inflate = sqrt((1 + lag) / (1 - lag))
        error = spread * inflate / sqrt(<double>count)
        k, i = 1, 0
        while k <= (n // 4 if n >= 4 else 1):
            while i < k:
                total += x[i]
                i += 1
            near = sqrt(<double>k)
            near = spread * (inflate if inflate < near else near) / near
            se = sqrt(near * near + error * error)
            e = fabs(total / k - level) / (se if se > 1e-300 else 1e-300)
            far = e if e > far else far
            k *= 2
    return level, spread, error, far


cdef double _sine_share(const double* y, Py_ssize_t n, double f, double total) noexcept nogil:
    """Share of the sum of squares explained by the best sine of frequency f; angles advance by rotation."""
    cdef double c = 1.0, s = 0.0, dc = cos(6.283185307179586 * f), ds = sin(6.283185307179586 * f), t
    cdef double yc = 0.0, ys = 0.0, cc = 0.0, cs = 0.0, ss, det
    cdef Py_ssize_t i
    for i in range(n):
        yc += y[i] * c
        ys += y[i] * s
        cc += c * c
        cs += c * s
        t = c * dc - s * ds
        s = c * ds + s * dc
        c = t
    ss = n - cc
    det = cc * ss - cs * cs
    if det <= 1e-9 * n:
        return yc * yc / (cc * total) if cc > 0 else 0.0
    return (yc * yc * ss - 2 * yc * ys * cs + ys * ys * cc) / (det * total)


def sine(xs, double period):
    """(share of the variance, period) of the best sine near ``period``: a grid over half a bin, then golden section."""
    cdef Py_ssize_t n, i
    cdef double* x = _reals(xs, &n)
    cdef double middle, total, best = -1.0, at, f, width, low, high, a, b, fa, fb, share
    y = _vector(n)
    cdef double* v = <double*>cnp.PyArray_DATA(y)
    with nogil:
        middle = _mean(x, n)
        for i in range(n):
            v[i] = x[i] - middle
        total = _dot(v, v, n)
        total = total if total > 1e-300 else 1e-300
        at = 1.0 / period
        width = 0.2 / n
        f = at
        for i in range(-3, 4):
            share = _sine_share(v, n, at + i * width, total)
            if share > best:
                best, f = share, at + i * width
        low, high = f - width, f + width
        a, b = high - 0.6180339887498949 * (high - low), low + 0.6180339887498949 * (high - low)
        fa, fb = _sine_share(v, n, a, total), _sine_share(v, n, b, total)
        for i in range(8):
            if fa > fb:
                high, b, fb = b, a, fa
                a = high - 0.6180339887498949 * (high - low)
                fa = _sine_share(v, n, a, total)
            else:
                low, a, fa = a, b, fb
                b = low + 0.6180339887498949 * (high - low)
                fb = _sine_share(v, n, b, total)
        f = a if fa > fb else b
        best = fa if fa > fb else fb
    return best, 1.0 / f
