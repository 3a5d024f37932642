# All laws that a record can follow, each fitted without the last values and scored by its prediction of them.

MAP_LAWS, POWER_LAWS, RECURRENCES, SQUARE_LAWS, RECTIFIED_LAWS = range(5)
#: The groups, cheap and exact ones first.
GROUPS = (MAP_LAWS, POWER_LAWS, RECURRENCES, SQUARE_LAWS, RECTIFIED_LAWS)

#: With a free run this good (shift per held-out iteration) the law is exact: no others are tried.
EXACT = 1e-12
#: With a free run this good, shorter windows are not tried.
FINE = 1e-7

cdef double _EXACT = EXACT, _FINE = FINE

cdef enum:
    MOST_LAWS = 16      # maximum number of laws of a group
    HOPELESS = 10       # free runs with a larger error, in iterations per iteration, are not distinguished


cdef class Fitted:
    """A law fitted without the last values, and the score of its free run: the smaller, the better.

    ``start`` is the first value of the window; ``error`` is the shift of the free run in iterations per iteration.
    """

    cdef readonly Law law
    cdef readonly int group
    cdef readonly bint monotone
    cdef readonly Py_ssize_t start
    cdef readonly double error
    cdef readonly double score


cdef double _shift(LawData* law, const double* x, Py_ssize_t n, Py_ssize_t held, double eps, double* work) noexcept nogil:
    """Error of the free run over the last ``held`` values, in iterations per iteration; inf if it is hopeless.

    ``work`` holds 2 * held values, the second half of which are the local sizes of steps.
    """
    cdef double* local = work + held
    cdef double rounding = 4 * eps * (1 + sqrt(<double>held)), off, total = 0.0, v, most
    cdef Py_ssize_t i, half = held // 2, late = held - half
    cdef const double* truth = x + n - held
    most = (<double>HOPELESS) * held
    most *= most * late
    v = law.last
    if _is_map(law):
        for i in range(held):
            v = _next(law, v)
            if not isfinite(v):
                return INFINITY
            if i >= half:
                off = (fabs(v - truth[i]) - rounding * fabs(truth[i])) / local[i]
                off = off if off > 0.0 else 0.0
                total += off * off
                if total > most:
                    return INFINITY
    else:
        _block(law, 0, held, work)
        for i in range(held):
            if not isfinite(work[i]):
                return INFINITY
            if i >= half:
                off = (fabs(work[i] - truth[i]) - rounding * fabs(truth[i])) / local[i]
                off = off if off > 0.0 else 0.0
                total += off * off
        if not total <= most:
            return INFINITY
    return sqrt(total / late) / held


cdef void _local_steps(const double* x, Py_ssize_t n, Py_ssize_t held, double* local) noexcept nogil:
    """The mean of three neighbouring steps at each of the last ``held`` values."""
    cdef Py_ssize_t i, at
    cdef double third = 1.0 / 3
    for i in range(held):
        at = n - held + i
        if n - 1 < held + 2:
            local[i] = fabs(x[at] - x[at - 1])
        else:
            local[i] = fabs(x[at - 2] - x[at - 3]) * third + fabs(x[at - 1] - x[at - 2]) * third
            local[i] += fabs(x[at] - x[at - 1]) * third
        local[i] = local[i] if local[i] > 1e-300 else 1e-300


cdef int _fit_group(int group, bint monotone, const double* x, Py_ssize_t n, tuple places, double* work, LawData* out):
    """The laws of a group, fitted to n values; ``places`` are the indices of values and steps used by power laws."""
    cdef Py_ssize_t mx, md
    cdef const double* kx
    cdef const double* kd
    cdef int found = 0
    if group == 1:
        if not monotone or n < 6:
            return 0
        kx, kd = _reals(places[0], &mx), _reals(places[1], &md)
        with nogil:
            found = _powers(x, n, kx, mx, kd, md, work, out)
        return found
    with nogil:
        if group == 0:
            found = _maps(x, n, 4 if monotone else 1, work, out)
        elif group == 2:
            found = _recurrences(x, n, 3 if monotone else 4, work, out)
        elif group == 3:
            found = _squares(x, n, work, out)
        elif not monotone:
            found = _rectified(x, n, work, out)
    return found


cdef tuple _places(Py_ssize_t n):
    return (thinned(n), thinned(n - 1)) if n >= 6 else ()


cdef double* _room(Py_ssize_t n) except NULL:
    cdef double* work = <double*>PyMem_Malloc((15 * n + 12 * THINNED) * sizeof(double))
    if work == NULL:
        raise MemoryError
    return work


def _score(Fitted fitted):
    return fitted.score


def select(record, Py_ssize_t held, double eps, groups=GROUPS, starts=None):
    """All laws that ``record`` can follow, the best first, fitted without the last ``held`` values.

    ``starts`` are the indices at which windows begin: by default the whole, its latter half and its last third, if it
    is long enough. ``eps`` is the relative rounding of the values. Laws whose free run is hopeless are left out.
    """
    cdef Py_ssize_t n, start, i
    cdef double* x = _reals(record, &n)
    cdef LawData laws[MOST_LAWS]
    cdef double best = INFINITY, error
    cdef bint up = True, down = True, monotone
    cdef int group, found, k
    cdef double* work
    cdef Fitted fitted
    cdef Law law
    cdef list out = []
    if not 1 <= held < n:
        raise ValueError(f"held must be 1 to {n - 1} of {n} values, got {held}")
    for i in range((n // 2 if n >= 8 else 0) + 1, n):
        up, down = up and x[i] > x[i - 1], down and x[i] < x[i - 1]
    monotone = up or down
    if starts is None:
        starts = [0, n // 2, n - n // 3][:1 if n < 16 else 2 if n < 64 else 3]
    work = _room(n)
    try:
        _local_steps(x, n, held, work + held)
        for start in starts:
            for group in groups:
                places = _places(n - held - start) if group == 1 and monotone else ()
                found = _fit_group(group, monotone, x + start, n - held - start, places, work + 2 * held, laws)
                for k in range(found):
                    error = _shift(laws + k, x, n, held, eps, work)
                    if error == INFINITY:
                        continue
                    law = Law.__new__(Law)
                    law.data, law.name = laws[k], _NAMES[laws[k].form]
                    fitted = Fitted.__new__(Fitted)
                    fitted.law, fitted.group, fitted.monotone, fitted.start = law, group, monotone, start
                    fitted.error, fitted.score = error, (error + _EXACT) * (1.0 + 0.2 * laws[k].parameters)
                    out.append(fitted)
                    best = error if error < best else best
                if best < _EXACT:
                    out.sort(key=_score)
                    return out
            if best < _FINE:
                break
    finally:
        PyMem_Free(work)
    out.sort(key=_score)
    return out


def fit(record, int group, str name, bint monotone=True):
    """The law of this name in a group, fitted to all values of ``record``; None if the fit fails."""
    cdef Py_ssize_t n
    cdef double* x = _reals(record, &n)
    cdef LawData laws[MOST_LAWS]
    cdef double* work = _room(n)
    cdef Law law
    cdef int found, k
    try:
        found = _fit_group(group, monotone, x, n, _places(n) if group == 1 else (), work, laws)
    finally:
        PyMem_Free(work)
    for k in range(found):
        if _NAMES[laws[k].form] == name:
            law = Law.__new__(Law)
            law.data, law.name = laws[k], name
            return law
    return None


def maps(record, int most=4):
    """The maps of up to ``most`` parameters that were fitted to neighbouring values of ``record``."""
    cdef Py_ssize_t n
    cdef double* x = _reals(record, &n)
    cdef LawData laws[MOST_LAWS]
    cdef double* work = _room(n)
    cdef Law law
    cdef int found, k
    cdef list out = []
    with nogil:
        found = _maps(x, n, most, work, laws)
    PyMem_Free(work)
    for k in range(found):
        law = Law.__new__(Law)
        law.data, law.name = laws[k], _NAMES[laws[k].form]
        out.append(law)
    return out


def power_fit(k, y):
    """(a, s, k0, rms) of y = a - s log(k + k0) by least squares; None for an exponential in disguise."""
    cdef Py_ssize_t n, m
    cdef double* places = _reals(k, &n)
    cdef double* values = _reals(y, &m)
    cdef double out[4]
    cdef bint good
    if n != m or n < 1:
        raise ValueError(f"k and y must be as long as each other and not empty, got {n} and {m} values")
    cdef double* work = _room(n)
    with nogil:
        good = _power_fit(places, values, n, work, out)
    PyMem_Free(work)
    return (out[0], out[1], out[2], out[3]) if good else None
