# A law as plain data, and its values: of closed forms at any iteration, of maps one after another.

cdef enum:
    # maps x' = f(x)
    NEXT, RATIO, NEWTON, PRODUCT, DECREMENT
    # closed forms
    POWER, POWER_STEPS, POWER_TO_LIMIT, STEPS, LOGS, SQUARES, RECTIFIED

cdef enum:
    MODES = 6           # maximum number of roots of a recurrence
    SUMMED = 4096       # number of terms of a sum that are added one by one
    AFRESH = 32         # number of consecutive powers of a root computed by multiplication


cdef struct LawData:
    int kind
    int parameters
    int form            # index in the table of names
    int modes
    double last         # the last value of the record
    double c[5]         # of a map: its coefficients
    double s            # a power law's exponent, offset and coefficient; a drift
    double top
    double d
    double limit
    double summed       # of the first SUMMED terms; NaN: not yet added
    double running      # of the first ``added`` terms
    int64_t added
    double zr[MODES]    # roots and their shares
    double zi[MODES]
    double cr[MODES]
    double ci[MODES]


cdef inline bint _is_map(const LawData* law) noexcept nogil:
    return law.kind <= DECREMENT


cdef inline double _next(const LawData* law, double x) noexcept nogil:
    """f(x); NaN if it is not defined or a power leaves the range of floats."""
    cdef const double* c = law.c
    cdef double below, power
    if law.kind == NEXT:
        return c[0] + x * (c[1] + x * (c[2] + x * c[3]))
    if law.kind == RATIO or law.kind == NEWTON:
        below = c[0] + x * (c[1] + x * c[2])
        if below == 0:
            return NAN
        return x / below if law.kind == RATIO else x * x / below
    if law.kind == PRODUCT:
        return NAN if x == 0 else (c[0] + c[2] * x * x) / x
    power = pow(fabs(x), c[1])
    return NAN if isinf(power) and isfinite(x) else x - copysign(c[0] * power, x)


cdef void _run(const LawData* law, Py_ssize_t n, double* out) noexcept nogil:
    """The next n values of a map; NaN from where it breaks down."""
    cdef double x = law.last, before
    cdef Py_ssize_t i = 0
    while i < n:
        before = x
        x = _next(law, x)
        out[i] = x
        i += 1
        if x == before or isnan(x):
            while i < n:
                out[i] = x
                i += 1


cdef inline void _power_of(double zr, double zi, double j, double* re, double* im) noexcept nogil:
    """z**j by the logarithm."""
    cdef double size = exp(0.5 * log(zr * zr + zi * zi) * j) if zi != 0 else exp(log(fabs(zr)) * j), turn
    if zi == 0:
        re[0] = -size if zr < 0 and (<int64_t>j) & 1 else size
        im[0] = 0.0
        return
    turn = atan2(zi, zr) * j
    re[0], im[0] = size * cos(turn), size * sin(turn)


cdef double _sum_after(const LawData* law, double j) noexcept nogil:
    """A sum of steps from SUMMED on, by the Euler-Maclaurin formula."""
    cdef double low = law.top + SUMMED + 0.5, high = law.top + j + 0.5, s = law.s
    if fabs(s - 1.0) < 1e-9:
        return law.d * log(high / low) * law.top
    return law.d * (pow(high / law.top, 1 - s) - pow(low / law.top, 1 - s)) / (1 - s) * law.top


cdef double _sum_of(LawData* law, int64_t most) noexcept nogil:
    """Sum of the first ``most`` terms, at most SUMMED."""
    cdef double total = 0.0
    cdef int64_t i
    if most == SUMMED and not isnan(law.summed):
        return law.summed
    for i in range(1, most + 1):
        total += law.d * pow((law.top + i) / law.top, -law.s)
    if most == SUMMED:
        law.summed = total
    return total


cdef double _finish(const LawData* law, double j, double total) noexcept nogil:
    """The value of a recurrence from the sum of its modes."""
    if law.kind == STEPS:
        return law.last + total
    if law.kind == LOGS:
        return law.last * exp(law.s * j + total)
    return law.d * sqrt(total if total > 0 else (0.0 if total <= 0 else NAN))


cdef double _mode(const LawData* law, int i, double j, double re, double im) noexcept nogil:
    """The part of mode i in the sum, from its power z**j: a sum of powers, except of a square."""
    cdef double zr = law.zr[i], zi = law.zi[i]
    if law.kind == SQUARES:
        return law.cr[i] * re - law.ci[i] * im
    if (zr - 1.0) * (zr - 1.0) + zi * zi < 1e-18:
        return law.cr[i] * j
    # _prepare has replaced c with c z / (z - 1)
    return law.cr[i] * (re - 1.0) - law.ci[i] * im


cdef void _prepare(LawData* law) noexcept nogil:
    """For sums of modes, c becomes c z / (z - 1)."""
    cdef double zr, zi, below, re, im, qr, qi
    cdef int i
    for i in range(law.modes):
        zr, zi = law.zr[i], law.zi[i]
        below = (zr - 1.0) * (zr - 1.0) + zi * zi
        if below < 1e-18:
            continue
        # z / (z - 1) = (z (z - 1)') / |z - 1|**2
        qr = (zr * (zr - 1.0) + zi * zi) / below
        qi = (zi * (zr - 1.0) - zr * zi) / below
        re, im = law.cr[i], law.ci[i]
        law.cr[i], law.ci[i] = re * qr - im * qi, re * qi + im * qr


cdef double _at(LawData* law, double j) noexcept nogil:
    """The value of a closed form after j iterations."""
    cdef double total = 0.0, re, im, size
    cdef int i
    if law.kind == POWER or law.kind == POWER_TO_LIMIT:
        return law.limit + (law.last - law.limit) * pow((law.top + j) / law.top, -law.s)
    if law.kind == POWER_STEPS:
        if j <= SUMMED:
            return law.last + _sum_of(law, <int64_t>j)
        return law.last + (_sum_of(law, SUMMED) + _sum_after(law, j))
    if law.kind == RECTIFIED:
        size, re = law.top + j, 0.0
        re = fabs(law.cr[0] * cos(law.zi[0] * size) + law.ci[0] * sin(law.zi[0] * size))
        return law.last + law.d * (law.limit + exp(law.zr[0] * size) * re)
    for i in range(law.modes):
        _power_of(law.zr[i], law.zi[i], j, &re, &im)
        total += _mode(law, i, j, re, im)
    return _finish(law, j, total)


cdef void _block(LawData* law, int64_t low, Py_ssize_t n, double* out) noexcept nogil:
    """The values low + 1 to low + n of a closed form."""
    cdef double re[MODES]
    cdef double im[MODES]
    cdef double total, j, x
    cdef Py_ssize_t k
    cdef int i
    if law.kind == POWER_STEPS and low < SUMMED:
        total = 0.0 if low == 0 else law.running if law.added == low else _sum_of(law, low)
        for k in range(n):
            if low + k + 1 > SUMMED:
                out[k] = _at(law, <double>(low + k + 1))
                continue
            total += law.d * pow((law.top + (low + k + 1)) / law.top, -law.s)
            out[k] = law.last + total
        law.running, law.added = total, low + n
        return
    if law.kind != STEPS and law.kind != LOGS and law.kind != SQUARES:
        for k in range(n):
            out[k] = _at(law, <double>(low + k + 1))
        return
    for k in range(n):
        j, total = <double>(low + k + 1), 0.0
        for i in range(law.modes):
            if k % AFRESH == 0:
                _power_of(law.zr[i], law.zi[i], j, &re[i], &im[i])
            else:
                x = re[i] * law.zr[i] - im[i] * law.zi[i]
                im[i] = re[i] * law.zi[i] + im[i] * law.zr[i]
                re[i] = x
            total += _mode(law, i, j, re[i], im[i])
        out[k] = _finish(law, j, total)
