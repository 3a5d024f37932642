# A quick check of a record: the laws that it may follow to its last digits. Nearly all records follow none of them.
#
# Each test repeats the first test of a module of workbench/analysis/forecast/laws, and accepts borderline records, on
# which the module decides.

cdef enum:
    LOOKED = 40         # maximum number of values that are checked one by one
    CONSTANT_STEP = 1
    PARABOLA = 2
    STRAIGHT_LINE = 4
    LOGARITHM = 8
    TERM_RATIO = 16
    SEASONAL_STEPS = 64
    MOVES = 128
    SHIFTED_POWER = 256


cdef double _largest(const double* x, Py_ssize_t n) noexcept nogil:
    cdef double most = 0.0
    cdef Py_ssize_t i
    for i in range(n):
        if fabs(x[i]) > most:
            most = fabs(x[i])
    return most


cdef bint _may_be_counter(const double* x, Py_ssize_t n, double eps, double tiny) noexcept nogil:
    """The first and the last step, or the ratios, agree to a few roundings (exact_continuation)."""
    cdef double a = x[0], b = x[1], c = x[n - 2], d = x[n - 1], most, least
    if n < 3 or c == d:
        return False
    most = fmax(fmax(fabs(a), fabs(b)), fmax(fmax(fabs(c), fabs(d)), tiny))
    if not fabs((b - a) - (d - c)) > 4 * eps * most:
        return True
    least = fmin(fmin(fabs(a), fabs(b)), fmin(fabs(c), fabs(d)))
    return least < 2 * tiny or not fabs(b / a - d / c) > 4 * eps * fabs(d / c)


cdef bint _may_be_parabola(const double* x, Py_ssize_t n, double eps) noexcept nogil:
    """Second differences are equal to their rounding, and far above it (parabola)."""
    cdef double first, last, rounding, step, low, high
    cdef Py_ssize_t i
    if n < 8:
        return False
    first = (x[2] - x[1]) - (x[1] - x[0])
    last = (x[n - 1] - x[n - 2]) - (x[n - 2] - x[n - 3])
    if not fabs(last) > 64.0 * 8.0 * eps * fmax(fabs(x[0]), fabs(x[n - 1])):
        return False
    rounding = 8.0 * eps * _largest(x, n)
    if not fabs(first - last) <= rounding or not fabs(last) > 64.0 * rounding:
        return False
    low = high = last
    for i in range(n - 2):
        step = (x[i + 2] - x[i + 1]) - (x[i + 1] - x[i])
        low = step if step < low else low
        high = step if step > high else high
    return not high - low > rounding


cdef bint _may_be_line(const double* x, Py_ssize_t n, double eps, bint up) noexcept nogil:
    """The last step, and the latter half, lie on a line towards the threshold (straight_line)."""
    cdef Py_ssize_t h, i
    cdef double last, step, rounding
    if n < 10:
        return False
    h = n // 2 if n // 2 > 6 else 6
    last = x[n - 1]
    step = (last - x[n - 1 - h]) / h
    rounding = 4.0 * eps * fmax(fabs(x[n - 1 - h]), fabs(last))
    if not fabs(last - x[n - 2] - step) <= rounding or not fabs(step) > 64.0 * rounding or (step > 0) != up:
        return False
    for i in range(h + 1):
        if fabs(x[n - 1 - i] - (last - step * i)) > 1.01 * rounding:
            return False
    return True


cdef bint _may_be_logarithm(const double* x, Py_ssize_t n, double eps, bint up, double t) noexcept nogil:
    """A logarithm through the first and the last value passes through the middle one (logarithm)."""
    cdef double first, middle, last, allowed, ratio, low, high, u, excess, w
    cdef int i
    if n < 8 or not 0.0 < t < INFINITY:
        return False
    first, middle, last = x[0], x[n // 2], x[n - 1]
    if not (fmin(first, last) > 0.0 and (first - x[1]) * (middle - last) > 0.0):
        return False
    allowed = 16.0 * eps
    if not fabs(first + (last - first) * (n // 2) / (n - 1) - middle) > 1e3 * allowed * fmax(first, last):
        return False
    if (first > last) == up:
        return False
    ratio = fmax(first, last) / fmin(first, last)
    low, high = log(1.05), log(1e6)
    if not log(exp(low) + n - 1) - ratio * low > 0.0 or not log(exp(high) + n - 1) - ratio * high < 0.0:
        return False
    for i in range(60):
        u = 0.5 * (low + high)
        excess = log(exp(u) + n - 1) - ratio * u
        if excess > 0.0:
            low = u
        else:
            high = u
    w = exp(0.5 * (low + high))
    ratio = log(w + n // 2) / log(w + n - 1)
    return not fabs((last * ratio if up else last / ratio) - middle) > 1.01e3 * allowed * middle


cdef bint _on_line(double a, double b, double c, double share, double unit) noexcept nogil:
    return fabs(a + share * (c - a) - b) <= 4.0 * unit * fmax(fabs(a), fabs(c))


cdef bint _may_have_term_ratio(const double* x, Py_ssize_t n, double eps) noexcept nogil:
    """Ratios, or their reciprocals, are on a line, or have the cross ratio of their positions (term_ratio)."""
    cdef double unit = 8.0 * eps, p, q, r, s, share, of_ratios, of_places
    cdef Py_ssize_t size = n if n < 64 else 64, first = n - size, i = n - size + size // 2, b, c, d
    if n < 7 or x[first] == 0 or x[i] == 0 or x[n - 2] == 0:
        return False
    p, q, r = x[first + 1] / x[first], x[i + 1] / x[i], x[n - 1] / x[n - 2]
    if not fabs(r - p) > 1e4 * unit * fabs(p) or not (q - p) * (r - q) > 0 or not isfinite(p * q * r):
        return False
    share = (size // 2) / <double>(size - 2)
    if _on_line(p, q, r, share, unit) or p * q * r != 0 and _on_line(1.0 / p, 1.0 / q, 1.0 / r, share, unit):
        return True
    if size < 12:
        return False
    c, d = size // 2, size - 2
    b = c // 2
    s, q = r, x[first + b + 1] / x[first + b]
    r = x[i + 1] / x[i]
    of_ratios = (p - r) * (q - s) * (b - c) * (0 - d)
    of_places = (q - r) * (p - s) * (0 - c) * (b - d)
    return fabs(of_ratios - of_places) <= 1.01e-4 * fabs(of_places)


cdef bint _may_be_power(const double* x, Py_ssize_t n, double eps, bint up) noexcept nogil:
    """A power through three values of the record passes through a fourth (shifted_power)."""
    cdef Py_ssize_t half = (n - 1) // 2, at = n - 1 - 2 * half
    cdef double first, middle, last, a, b, q, low = 1.0 / 20.0, high = 20.0, side, root
    cdef int i
    if n < 6:
        return False
    first, middle, last = x[at], x[at + half], x[n - 1]
    if not (first > 0 and middle > 0 and last > 0 and (first - middle) * (middle - last) > 0) or (last > first) != up:
        return False
    a, b = log(middle / first), log(last / first)
    side = 1.0 if 2.0 * a > b else -1.0
    # at the ends of the range, with a margin
    if fmax(fabs(a), fabs(b)) * high > 601.0 or not 1.0 - 2.0 * exp(side * low * a) + exp(side * low * b) < 1e-12 \
            or not 1.0 - 2.0 * exp(side * high * a) + exp(side * high * b) > -1e-12:
        return False
    for i in range(50):
        q = 0.5 * (low + high)
        if 1.0 - 2.0 * exp(side * q * a) + exp(side * q * b) < 0.0:
            low = q
        else:
            high = q
    q = side * 0.5 * (low + high)
    i = <int>(half // 2)
    root = 1.0 + (exp(q * b) - 1.0) * i / (2 * half)
    return root > 0 and fabs(first * pow(root, 1.0 / q) / x[at + i] - 1.0) \
        <= 1e-11 + 64.0 * eps * (1.0 + fmax(1.0, 1.0 / root) / fabs(q))


cdef bint _may_have_seasons(const double* x, Py_ssize_t n, double t) noexcept nogil:
    """Steps or ratios repeat, or ratios have begun to (seasonal_steps)."""
    cdef Py_ssize_t size = n if n < 36 else 36, i, p
    cdef double[LOOKED] logs
    cdef double off, last, before
    cdef const double* v = x + n - size
    if n < 6 or isinf(t):
        return False
    if _steps_repeat(v, size, 16, 8 * 2.2e-16):
        return True
    if not t > 0:
        return isnan(t)
    for i in range(size):
        if not v[i] > 0:
            return isnan(v[i])
        if isinf(v[i]):
            return False
        logs[i] = log(v[i])
    if _steps_repeat(logs, size, 16, 8 * 2.2e-16):
        return True
    off = 1.01 * (8 * 2.2e-16) * fmax(fabs(logs[0]), fabs(logs[size - 1]))
    last, before = logs[size - 1] - logs[size - 2], logs[size - 2] - logs[size - 3]
    p = (size - 4) // 2 + 1
    for p in range(p if p > 2 else 2, (size - 3 if size - 3 < 16 else 16) + 1):
        if not fabs(logs[size - 1 - p] - logs[size - 2 - p] - last) > off \
                and not fabs(logs[size - 2 - p] - logs[size - 3 - p] - before) > off:
            return True
    return False


cdef bint _moves(const double* x, Py_ssize_t n) noexcept nogil:
    """More than half of the values differ from the one before, and none is NaN."""
    cdef Py_ssize_t i, same = 0
    for i in range(n):
        if isnan(x[i]):
            return False
        if i and x[i] == x[i - 1]:
            same += 1
    return 2 * same < n - 1


def may_follow(record, double eps, double tiny, str op, double t):
    """The laws that a record of floats may follow to its last digits, while ``x op t``, as bits; it does not follow the
    others.

    Bits, from the lowest: counter or multiplier, parabola, straight line, logarithm, term ratio, share with repeating
    amounts, repeating steps, a flag that more than half of the values differ from the previous one, and a power.
    ``eps`` and ``tiny`` are the relative rounding and the smallest normal number of the values' dtype.
    """
    cdef Py_ssize_t n
    cdef const double* x = _reals(record, &n)
    cdef int sign = _OPS[op], found = 0
    cdef bint up = sign == BELOW or sign == BELOW_EQUAL
    if n < 3:
        raise ValueError(f"expected 3 values or more, got {n}")
    with nogil:
        found |= CONSTANT_STEP if _may_be_counter(x, n, eps, tiny) else 0
        found |= MOVES if _moves(x, n) else 0
        if sign != EQUAL and sign != UNEQUAL:
            if isfinite(t):
                found |= PARABOLA if _may_be_parabola(x, n, eps) else 0
                found |= STRAIGHT_LINE if _may_be_line(x, n, eps, up) else 0
                found |= LOGARITHM if _may_be_logarithm(x, n, eps, up, t) else 0
                found |= TERM_RATIO if _may_have_term_ratio(x, n, eps) else 0
                found |= SHIFTED_POWER if t >= 0 and _may_be_power(x, n, eps, up) else 0
            found |= SEASONAL_STEPS if _may_have_seasons(x, n, t) else 0
    return found
