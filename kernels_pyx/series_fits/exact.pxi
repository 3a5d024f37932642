# Properties of exact values: runs of equal values, periods, the lattice on which they lie.

ctypedef fused word_t:
    double
    int64_t


cdef (Py_ssize_t, Py_ssize_t, Py_ssize_t) _equal_runs(const word_t* v, Py_ssize_t n) noexcept nogil:
    """(equal values at the end, longest run of equal values before, number of changes); runs only if the first is 3+."""
    cdef Py_ssize_t i = n - 1, run, longest = 1, here = 1, changes = 0
    while i > 0 and v[i - 1] == v[n - 1]:
        i -= 1
    run = n - i
    if run < 3 or run == n:
        return run, 0, 0
    changes = 1
    while i > 1:
        i -= 1
        if v[i - 1] == v[i]:
            here += 1
        else:
            changes += 1
            longest = here if here > longest else longest
            here = 1
    longest = here if here > longest else longest
    return run, longest, changes


cdef double _entropy(const word_t* v, Py_ssize_t n) noexcept nogil:
    """Bits per value of the alphabet of the last 2048 values, by counting them in an open-addressed table."""
    cdef int32_t slots[4096]
    cdef int32_t counts[4096]
    cdef Py_ssize_t i, first = n - 2048 if n > 2048 else 0
    cdef uint64_t word
    cdef int at
    cdef double bits = 0.0, total = <double>(n - first)
    memset(slots, 0xFF, sizeof(slots))
    for i in range(first, n):
        memcpy(&word, &v[i], 8)
        if v[i] == 0:
            word = 0  # minus zero counts as zero
        word *= 0x9E3779B97F4A7C15ULL
        at = <int>(word >> 52)
        while slots[at] >= 0 and v[first + slots[at]] != v[i]:
            at = (at + 1) & 4095
        if slots[at] < 0:
            slots[at] = <int32_t>(i - first)
            counts[at] = 0
        counts[at] += 1
    for at in range(4096):
        if slots[at] >= 0:
            bits -= counts[at] * log2(counts[at] / total)
    bits /= total
    return bits if bits > 1e-3 else 1e-3


cdef (Py_ssize_t, Py_ssize_t) _repeats(const word_t* v, Py_ssize_t n) noexcept nogil:
    """(period, run) of a significant exact repetition at the end, or (0, 0); see ``repeats``."""
    cdef Py_ssize_t j, p, run, i, tried = 0
    cdef double entropy = -1.0, cost
    cdef bint flat
    j = n - 2
    while j >= 0 and n - 1 - j <= n // 2 and tried < 64:
        if v[j] != v[n - 1]:
            j -= 1
            continue
        p = n - 1 - j
        j -= 1
        tried += 1
        run = 0
        while run < n - p and v[n - 1 - run] == v[n - 1 - run - p]:
            run += 1
        if run < 3 or run < (p + 1) // 2 or p == 1 and run < n:
            continue
        flat = True
        for i in range(n - p, n):
            if v[i] != v[n - 1]:
                flat = False
                break
        if flat:
            continue
        if entropy < 0:
            entropy = _entropy(v, n)
        # a tail also costs the choice of its start, because many tails and periods are tried
        cost = log2(<double>p) + 2.0 if run + p == n else log2(<double>n) + log2(<double>p) + 8.0
        if run * entropy > cost:
            return p, run
    return 0, 0


def equal_runs(values):
    """(run of equal values at the end, longest run before, changes before); float64 or int64."""
    cdef Py_ssize_t n
    cdef const int64_t[::1] whole
    if cnp.PyArray_Check(values) and cnp.PyArray_TYPE(values) == cnp.NPY_INT64 and cnp.PyArray_SIZE(values) > 0:
        whole = values
        return _equal_runs[int64_t](&whole[0], whole.shape[0])
    cdef double* x = _reals(values, &n)
    return _equal_runs[double](x, n)


def repeats(values):
    """(period, run) of the shortest significant exact repetition that reaches the end; (0, 0) if none. float64 or int64.

    Significance is a description length: each of the ``run`` values predicted by the one a period before saves the
    entropy of the record's alphabet; encoding the period and its start costs log2 of each.
    """
    cdef Py_ssize_t n
    cdef const int64_t[::1] whole
    if cnp.PyArray_Check(values) and cnp.PyArray_TYPE(values) == cnp.NPY_INT64 and cnp.PyArray_SIZE(values) > 0:
        whole = values
        return _repeats[int64_t](&whole[0], whole.shape[0])
    cdef double* x = _reals(values, &n)
    return _repeats[double](x, n)


def lattice(xs, Py_ssize_t first, Py_ssize_t end):
    """(e, values, close): all values x[first:end] are multiples of 2**e; numbers of nonzero ones, and of those not
    multiples of 2**(e + 3).

    Differences of rounded numbers lie on such a lattice: the spacing of the numbers that were subtracted.
    """
    cdef Py_ssize_t n, i, values = 0, close = 0
    cdef double* x = _reals(xs, &n)
    cdef int e, lowest = 4096
    cdef int64_t whole
    cdef int pass_
    first = first if first > 0 else 0
    end = end if end < n else n
    for pass_ in range(2):
        for i in range(first, end):
            if x[i] == 0 or not isfinite(x[i]):
                continue
            whole = <int64_t>ldexp(frexp(x[i], &e), 53)
            e -= 53
            while whole & 1 == 0:
                whole >>= 1
                e += 1
            if pass_ == 0:
                lowest = e if e < lowest else lowest
                values += 1
            else:
                close += e < lowest + 3
    return lowest, values, close
