# Nearest neighbours in any coordinates, and whether the errors of a linear map agree between them.

cdef enum:
    STATES = 6          # coordinates, at most
    CLOSEST = 128       # pairs of neighbours that are asked about
    SAMPLED = 24        # points whose neighbours say how far those lie


cdef void _pairs_within(const double* c, const int64_t* rank, Py_ssize_t n, int m, Py_ssize_t exclude, double radius,
                        double* far, int32_t* who) noexcept nogil:
    """The nearest neighbour of each point, and how far it is, if that is less than ``radius``; -1 if none is.

    The m coordinates, each ``LONG`` long, are sorted by the first; ``rank`` holds the iterations of the points.
    """
    cdef Py_ssize_t a, b
    cdef double distance, d
    cdef int k
    for a in range(n):
        far[a], who[a] = radius, -1
    for a in range(n):
        for b in range(a + 1, n):
            distance = c[b] - c[a]
            if distance >= radius:
                break
            for k in range(m - 1, 0, -1):
                d = fabs(c[k * LONG + b] - c[k * LONG + a])
                if d >= radius:
                    distance = d
                    break
                distance = d if d > distance else distance
            if distance >= radius or -exclude < rank[a] - rank[b] < exclude:
                continue
            if distance < far[a]:
                far[a], who[a] = distance, <int32_t>b
            if distance < far[b]:
                far[b], who[b] = distance, <int32_t>a


cdef double _closest_within(const double* c, const int64_t* rank, Py_ssize_t n, int m, Py_ssize_t exclude) noexcept nogil:
    """About the distance within which the closest pairs of neighbours lie, by what that is of a few points."""
    cdef double found[SAMPLED]
    cdef double distance, d
    cdef Py_ssize_t a, b, r, wanted = 2 * CLOSEST * SAMPLED // n
    cdef int k
    if wanted >= SAMPLED:
        return INFINITY
    for r in range(SAMPLED):
        a = r * (n - 1) // (SAMPLED - 1)
        found[r] = INFINITY
        for b in range(n):
            distance = fabs(c[b] - c[a])
            for k in range(1, m):
                if distance >= found[r]:
                    break
                d = fabs(c[k * LONG + b] - c[k * LONG + a])
                distance = d if d > distance else distance
            if distance < found[r] and not -exclude < rank[a] - rank[b] < exclude:
                found[r] = distance
    _sort(found, NULL, SAMPLED)
    return found[wanted]


def alike_errors(coordinates, cnp.ndarray order, errors, Py_ssize_t exclude):
    """How far the errors of a linear map are a function of the state: the mean of 2 e f / (e e + f f), and 2 sum(e f)
    over the sum of (e e + f f), of the errors e and f at the two points of the 128 closest pairs of nearest neighbours.

    Both lie between -1 and 1: about 0 of errors that are independent, however their spread depends on the state, and
    near 1 of a rule.  ``coordinates``: 1 to 6 arrays of n <= 1024 values, one for each coordinate of the state, and
    ``order`` the indices (int64) that sort the first.  Each point is paired with its nearest neighbour, by the largest
    difference of a coordinate, ``exclude`` or more iterations away, and each pair counts once.  An empty tuple where
    there are fewer than 128 pairs.
    """
    cdef Py_ssize_t n, i, j, a, length, count = 0
    cdef double* e = _reals(errors, &n)
    cdef const double* given[STATES]
    cdef double c[STATES * LONG]
    cdef double far[LONG]
    cdef int32_t who[LONG]
    cdef int32_t by[LONG]
    cdef const int64_t* rank
    cdef double radius, product, power, mean = 0.0, top = 0.0, bottom = 0.0
    cdef int k, m = len(coordinates)
    if not 0 < m <= STATES or n > LONG:
        raise ValueError("alike_errors: 1 to 6 coordinates of 1024 values at most")
    for k in range(m):
        given[k] = _reals(coordinates[k], &length)
        if length != n:
            raise ValueError("alike_errors: the coordinates have several lengths")
    if order.dtype != np.int64 or not order.flags.c_contiguous or order.shape[0] != n:
        raise TypeError("alike_errors: order must be int64 and as long as the record")
    rank = <const int64_t*>order.data
    with nogil:
        for k in range(m):
            for a in range(n):
                c[k * LONG + a] = given[k][rank[a]]
        radius = _closest_within(c, rank, n, m, exclude)
        while True:
            _pairs_within(c, rank, n, m, exclude, radius, far, who)
            count = 0
            for a in range(n):
                i = who[a]
                if i < 0 or i < a and who[i] == a:
                    continue
                by[count] = <int32_t>a
                count += 1
            if count >= CLOSEST or radius == INFINITY:
                break
            radius = 1.5 * radius if count > CLOSEST // 4 and radius > 0 else INFINITY
        if count >= CLOSEST:
            for i in range(count):
                far[i] = far[by[i]]  # by[i] >= i
            _sort(far, by, count)
            for a in range(CLOSEST):
                i, j = rank[by[a]], rank[who[by[a]]]
                product, power = 2.0 * e[i] * e[j], e[i] * e[i] + e[j] * e[j]
                mean += product / power if power > 0 else 1.0
                top += product
                bottom += power
    return (mean / CLOSEST, top / bottom if bottom > 0 else 1.0) if count >= CLOSEST else ()
