# Law: the Python object of a fitted law, and its first crossing of a number.

cdef enum:
    ABOVE, ABOVE_EQUAL, BELOW, BELOW_EQUAL, EQUAL, UNEQUAL

cdef enum:
    HORIZON = 10000000  # maximum number of iterations for which a law is followed
    DENSE = 32768       # values checked one by one; between later points a closed form is assumed to be monotone
    FOLLOWED = 20000    # maximum number of values of a map that are checked
    PART = 512          # values of a closed form computed at once; a multiple of AFRESH

_OPS = {">": ABOVE, ">=": ABOVE_EQUAL, "<": BELOW, "<=": BELOW_EQUAL, "==": EQUAL, "!=": UNEQUAL}

_GRID = np.unique(np.geomspace(DENSE, HORIZON, 200).astype(np.int64)).astype(np.float64)


cdef inline bint _ends(int op, double v, double t) noexcept nogil:
    """not (v op t); a NaN value never ends."""
    if op == ABOVE:
        return v <= t
    if op == ABOVE_EQUAL:
        return v < t
    if op == BELOW:
        return v >= t
    if op == BELOW_EQUAL:
        return v > t
    if op == EQUAL:
        return v < t or v > t
    return v == t


cdef double _first_of_map(const LawData* law, int op, double t) noexcept nogil:
    """As ``Law.first``; NaN means None."""
    cdef double x = law.last, previous = law.last, before = law.last
    cdef Py_ssize_t done = 0, size = 64, i
    while done < FOLLOWED:
        for i in range(size):
            previous = x
            x = _next(law, x)
            if not isfinite(x):
                return NAN
            if _ends(op, x, t):
                return <double>(done + i + 1)
            if x == previous:
                return INFINITY
        if fabs(x - before) <= 1e-15 * fabs(before):
            return INFINITY
        before = x
        done, size = done + size, (4 * size if 4 * size < 8192 else 8192)
    return NAN


cdef bint _stays_clear(const LawData* law, int64_t low, int64_t high, int op, double t) noexcept nogil:
    """True if no value from low + 1 to high can end, by bounds on the contribution of each mode; high of 0: for
    ever.
    """
    cdef double centre = 0.0, left = 0.0, drift = 0.0, size, a, b, x
    cdef int i
    if law.kind != STEPS and law.kind != LOGS or law.kind == LOGS and law.last == 0:
        return False
    for i in range(law.modes):
        if (law.zr[i] - 1.0) * (law.zr[i] - 1.0) + law.zi[i] * law.zi[i] < 1e-18:
            drift += law.cr[i]
            continue
        size = law.zr[i] * law.zr[i] + law.zi[i] * law.zi[i]
        if size == 0:
            return False
        x = 0.5 * log(size) * (low + 1 if size < 1 else high)
        if high == 0 and not size < 0.999998 or x > 600:
            return False
        centre -= law.cr[i]
        left += sqrt(law.cr[i] * law.cr[i] + law.ci[i] * law.ci[i]) * exp(x)
    if law.kind == STEPS:
        centre += law.last
    else:
        drift, centre = drift + law.s, centre + log(fabs(law.last))
    if high == 0 and drift != 0:
        return False
    a = centre + (drift * (low + 1) if drift > 0 else drift * high)
    b = centre + (drift * high if drift > 0 else drift * (low + 1))
    left += 1e-9 * (fabs(centre) + fabs(drift) * high + left)
    a, b = a - left, b + left
    if law.kind == LOGS:
        if not (a > -600 and b < 600):
            return False
        a, b = exp(a) * (1 - 1e-9), exp(b) * (1 + 1e-9)
        if law.last < 0:
            a, b = -b, -a
    if op == ABOVE or op == ABOVE_EQUAL:
        return a > t
    if op == BELOW or op == BELOW_EQUAL:
        return b < t
    return op == UNEQUAL and (a > t or b < t)


cdef double _first_of_closed(LawData* law, int op, double t, const double* grid, int points, double* work) noexcept nogil:
    """As ``Law.first``; NaN means None. ``work`` holds DENSE values."""
    cdef int64_t low = 0, size = 64, a, b, middle
    cdef Py_ssize_t i
    cdef bint good
    while low < DENSE:
        if low and _stays_clear(law, low, 0, op, t):
            return INFINITY
        good, i = True, 0
        while i < size:
            if i % PART == 0:
                if size - i > PART and i and _stays_clear(law, low + i, low + i + PART, op, t):
                    i += PART
                    continue
                _block(law, low + i, PART if size - i > PART else size - i, work + i)
            if _ends(op, work[i], t):
                return <double>(low + i + 1) if good else NAN
            if not isfinite(work[i]):
                good = False
            i += 1
        if not isfinite(work[size - 1]):
            return NAN
        if work[size - 1] == work[0] and low:
            return INFINITY
        low, size = low + size, 7 * (low + size)
    for i in range(points):
        if _ends(op, _at(law, grid[i]), t):
            break
    else:
        return INFINITY
    a, b = (<int64_t>grid[i - 1] if i else low), <int64_t>grid[i]
    while b - a > 1:
        middle = (a + b) // 2
        if _ends(op, _at(law, <double>middle), t):
            b = middle
        else:
            a = middle
    return <double>b


cdef class Law:
    """A law fitted to a record: ``name``, the number of its ``parameters``, and whether it is a map x' = f(x)."""

    cdef LawData data
    cdef readonly str name

    @property
    def parameters(self):
        return self.data.parameters

    @property
    def is_map(self):
        return bool(_is_map(&self.data))

    def values(self, Py_ssize_t n):
        """The next n values; NaN from where the law breaks down."""
        out = _vector(n)
        cdef double* v = <double*>cnp.PyArray_DATA(out)
        with nogil:
            if _is_map(&self.data):
                _run(&self.data, n, v)
            else:
                _block(&self.data, 0, n, v)
        return out

    def at(self, j):
        """The values of a closed form after j iterations, j an array of integers from 1 on."""
        if _is_map(&self.data):
            raise TypeError(f"the law {self.name} is a map, and has no closed form: ask for its values")
        places = np.ascontiguousarray(j, dtype=np.float64)
        out = np.empty_like(places)
        cdef double* where = <double*>cnp.PyArray_DATA(places)
        cdef double* v = <double*>cnp.PyArray_DATA(out)
        cdef Py_ssize_t i, n = out.size
        with nogil:
            for i in range(n):
                v[i] = _at(&self.data, where[i])
        return out

    def after(self, x):
        """The value of a map after each of x; NaN if it is not defined."""
        cdef Py_ssize_t n, i
        cdef double* v = _reals(x, &n)
        out = _vector(n)
        cdef double* w = <double*>cnp.PyArray_DATA(out)
        for i in range(n):
            w[i] = _next(&self.data, v[i])
        return out

    def first(self, str op, double t):
        """First j >= 1 at which ``value op t`` is false; math.inf if there is none within reach, None if the law breaks.

        A closed form is followed for 10 million iterations, a map for 20,000, which then gives None.
        """
        cdef int code = _OPS[op]
        cdef double found
        cdef double* work
        cdef Py_ssize_t points
        cdef const double* grid = _reals(_GRID, &points)
        if _is_map(&self.data):
            with nogil:
                found = _first_of_map(&self.data, code, t)
        else:
            work = <double*>PyMem_Malloc(DENSE * sizeof(double))
            if work == NULL:
                raise MemoryError
            with nogil:
                found = _first_of_closed(&self.data, code, t, grid, <int>points, work)
            PyMem_Free(work)
        return None if isnan(found) else found if isinf(found) else int(found)
