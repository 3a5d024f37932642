# Rules that continue a record digit by digit: counters and multipliers of floats, and repeating steps.

cdef enum:
    PERIODS = 64        # maximum number of values that are checked for a period of steps


cdef inline bint _fails(int op, double v, double t) noexcept nogil:
    """not (v op t), also for NaN."""
    if op == ABOVE:
        return not v > t
    if op == ABOVE_EQUAL:
        return not v >= t
    if op == BELOW:
        return not v < t
    if op == BELOW_EQUAL:
        return not v <= t
    if op == EQUAL:
        return not v == t
    return v == t


def followed(double value, double c, bint product, bint single, Py_ssize_t size, str op, double t):
    """(k, last, before last) of up to ``size`` values x + c, x + c + c, ..., or x c, x c c, ..., each rounded.

    ``single`` rounds to float32, and the threshold ``t`` too. k counts the values up to the first with not (x op t),
    where it ends; 0 if there is none.
    """
    cdef int sign = _OPS[op]
    cdef Py_ssize_t i
    cdef double before = value, x = value
    cdef float y = <float>value, step = <float>c
    if size < 1:
        raise ValueError(f"size must be 1 or more, got {size}")
    if single:
        t = <float>t
    with nogil:
        for i in range(size):
            before = x
            if single:
                y = y * step if product else y + step
                x = y
            else:
                x = x * c if product else x + c
            if _fails(sign, x, t):
                with gil:
                    return i + 1, x, before
    return 0, x, before


cdef Py_ssize_t _steps_repeat(const double* v, Py_ssize_t n, int longest, double rounding) noexcept nogil:
    """The period of ``step_period``; 0 if there is none."""
    cdef Py_ssize_t i, p
    cdef double[PERIODS] d
    cdef double off, low, high
    cdef bint good
    for i in range(1, n):
        d[i - 1] = v[i] - v[i - 1]
    off = rounding * (fabs(v[0]) if fabs(v[0]) >= fabs(v[n - 1]) else fabs(v[n - 1]))
    for p in range(2, (longest if longest < (n - 4) // 2 else (n - 4) // 2) + 1):
        good = True
        for i in range(n - 2, p - 1, -1):
            if not fabs(d[i] - d[i - p]) <= off:
                good = False
                break
        if good:
            low = high = d[n - 2]
            for i in range(n - 1 - p, n - 1):
                low = d[i] if d[i] < low else low
                high = d[i] if d[i] > high else high
            return p if high - low > off and fabs(v[n - 1] - v[n - 1 - p]) > off else 0
    return 0


def step_period(list values, int longest, double rounding):
    """The shortest period, 2 to ``longest``, of the steps of up to 64 floats; 0 without one.

    Steps are equal within ``rounding`` times the larger of the first and the last value. They must differ within the
    period and not sum to 0, and all must repeat, over two periods and three more values.
    """
    cdef Py_ssize_t n = len(values), i
    cdef double[PERIODS] v
    if not 3 <= n <= PERIODS:
        raise ValueError(f"expected 3 to {PERIODS} values, got {n}")
    for i in range(n):
        v[i] = values[i]
    return _steps_repeat(v, n, longest, rounding)
