# Power laws of the iteration, for the values, the steps, and the distance from a limit.

cdef enum:
    GRID = 17           # number of offsets tried at once
    THINNED = 128       # maximum number of values of a power law that are used


@functools.lru_cache(4096)
def thinned(Py_ssize_t n):
    """Up to about 100 of n indices, denser at both ends, as float64."""
    if n <= 96:
        return np.arange(n, dtype=np.float64)
    half = np.unique(np.geomspace(1, n, 40).astype(np.int64)) - 1
    places = np.unique(np.concatenate([half, n - 1 - half, np.linspace(0, n - 1, 40).astype(np.int64)]))
    return places.astype(np.float64)


cdef double _about_line(const double* k, const double* y, double my, Py_ssize_t n, double k0, double* u, double* s, double* mu) noexcept nogil:
    """The sum of squares of y = a - s log(k + k0) by least squares; u becomes log(k + k0) minus its mean ``mu``."""
    cdef double uu = 0.0, uy = 0.0, e, sse = 0.0, mean = 0.0
    cdef Py_ssize_t i
    for i in range(n):
        u[i] = log(k[i] + k0)
        mean += u[i]
    mean /= n
    for i in range(n):
        u[i] -= mean
        uu += u[i] * u[i]
        uy += u[i] * (y[i] - my)
    s[0] = -uy / (uu if uu > 1e-300 else 1e-300)
    for i in range(n):
        e = (y[i] - my) + s[0] * u[i]
        sse += e * e
    mu[0] = mean
    return sse


cdef bint _power_fit(const double* k, const double* y, Py_ssize_t n, double* work, double* out) noexcept nogil:
    """out = (a, s, k0, rms) of y = a - s log(k + k0); ``work`` holds 7 n values. False for an exponential in disguise."""
    cdef double* u = work + 6 * n
    cdef double* rest = work + 5 * n
    cdef double top = k[n - 1] + 1, low = log(0.05), high = log(40.0 * top), step, my = 0.0, mu = 0.0
    cdef double best, sse, s, k0, k1, a, rms = INFINITY, now, t, s_best = 0.0, s_now
    cdef double change[WIDEST]
    cdef Py_ssize_t i
    cdef int again, g, at
    for i in range(n):
        my += y[i]
    my /= n
    k0 = 0.05
    for again in range(3):
        best, at = INFINITY, 0
        step = (high - low) / (GRID - 1)
        for g in range(GRID):
            t = exp(low + g * step if g < GRID - 1 else high)
            sse = _about_line(k, y, my, n, t, u, &s, &mu)
            if g == 0 or sse < best or (isnan(sse) and not isnan(best)):
                best, at, s_best, k0 = sse, g, s, t
        low, high = log(k0) - step, log(k0) + step
    s, a, k1 = s_best, 0.0, k0
    for i in range(n):
        a += y[i] + s * log(k[i] + k0)
    a /= n
    for again in range(8):
        sse = _about_line(k, y, my, n, k0, u, &s_now, &mu)
        now = sqrt(sse / n)
        if now > 0.9999 * rms:
            break
        a, s, rms, k1 = my + s_now * mu, s_now, now, k0
        for i in range(n):
            work[i], work[n + i], work[2 * n + i] = 1.0, -(u[i] + mu), -s_now / (k[i] + k0)
            rest[i] = (y[i] - my) + s_now * u[i]
        if not _solve(work, n, n, 3, rest, change) or not isfinite(change[2]) or fabs(change[2]) < 1e-13 * k0:
            break
        t = k0 + change[2]
        t = t if t > 1e-3 else 1e-3
        k0 = t if t > 0.3 * k0 else 0.3 * k0
    out[0], out[1], out[2], out[3] = a, s, k1, rms
    return k1 < 39.0 * top and isfinite(a + s)


cdef bint _to_limit(const double* x, Py_ssize_t n, const double* k, Py_ssize_t m, double s, double k0, double* work, LawData* law) noexcept nogil:
    """x = limit + c (k + k0)**-s by the Gauss-Newton method, each value weighted by the local step."""
    cdef double* w = work + 9 * m
    cdef double* power = work + 8 * m
    cdef double* rest = work + 7 * m
    cdef double* y = work + 6 * m
    cdef double linear[WIDEST]
    cdef double change[WIDEST]
    cdef double limit = 0.0, c = 0.0, slope, t
    cdef Py_ssize_t i, at
    cdef int again
    for i in range(m):
        at = <Py_ssize_t>k[i]
        slope = x[1] - x[0] if at == 0 else x[n - 1] - x[n - 2] if at == n - 1 else (x[at + 1] - x[at - 1]) / 2.0
        slope = fabs(slope)
        w[i] = 1.0 / (slope if slope > 1e-300 else 1e-300)
        y[i] = x[at]
    for again in range(10):
        for i in range(m):
            power[i] = pow(k[i] + k0, -s)
            work[i], work[m + i], rest[i] = w[i], power[i] * w[i], y[i] * w[i]
        if not _solve(work, m, m, 2, rest, linear):
            return False
        limit, c = linear[0], linear[1]
        for i in range(m):
            rest[i] = (y[i] - limit - c * power[i]) * w[i]
            work[i], work[m + i] = w[i], power[i] * w[i]
            work[2 * m + i] = -c * power[i] * log(k[i] + k0) * w[i]
            work[3 * m + i] = -c * s * power[i] / (k[i] + k0) * w[i]
        if not _solve(work, m, m, 4, rest, change):
            break
        if not (isfinite(change[0]) and isfinite(change[1]) and isfinite(change[2]) and isfinite(change[3])):
            break
        t = s + change[2]
        s = t if t > 0.3 * s else 0.3 * s
        t = k0 + change[3]
        t = t if t > 0.3 * k0 else 0.3 * k0
        k0 = t if t > 1e-3 else 1e-3
        if fabs(change[3]) < 1e-11 * k0 and fabs(change[2]) < 1e-11 * s:
            break
    if not k0 < 39.0 * n:
        return False
    _blank(law, POWER_TO_LIMIT, 4, N_POWER_TO_LIMIT, x[n - 1])
    law.s, law.top, law.limit = s, n - 1 + k0, limit
    return True


cdef int _powers(const double* x, Py_ssize_t n, const double* kx, Py_ssize_t mx, const double* kd, Py_ssize_t md, double* work, LawData* out) noexcept nogil:
    """Values and steps that follow a power of the iteration; kx and kd are the indices of the values and steps used.

    ``work`` holds 11 n values and 8 * THINNED more.
    """
    cdef double fit[4]
    cdef double* y = work
    cdef double last = x[n - 1], d = x[n - 1] - x[n - 2]
    cdef Py_ssize_t i, at
    cdef bint good = True
    cdef int found = 0
    if n < 6:
        return 0
    for i in range(n):
        good = good and x[i] * last > 0
    if good:
        for i in range(mx):
            y[i] = log(fabs(x[<Py_ssize_t>kx[i]]))
        if _power_fit(kx, y, mx, work + mx, fit):
            _blank(out + found, POWER, 3, N_POWER, last if fit[1] != 0 else copysign(exp(fit[0]), last))
            out[found].s, out[found].top = fit[1], n - 1 + fit[2]
            found += 1
    good = True
    for i in range(n - 1):
        good = good and (x[i + 1] - x[i]) * d > 0
    if good:
        for i in range(md):
            at = <Py_ssize_t>kd[i]
            y[i] = log(fabs(x[at + 1] - x[at]))
        if _power_fit(kd, y, md, work + md, fit):
            _blank(out + found, POWER_STEPS, 3, N_POWER_STEPS, last)
            out[found].s, out[found].top, out[found].d = fit[1], n - 2 + fit[2], d
            found += 1
            if fit[1] > 1.0 and _to_limit(x, n, kd, md, fit[1] - 1.0, fit[2], work, out + found):
                found += 1
    return found
