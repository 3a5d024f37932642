# Nearest neighbours in any coordinates, and whether the errors of a linear map agree between them.

cdef enum:
    STATES = 6          # coordinates, at most
    CLOSEST = 128       # pairs of neighbours that are asked about


def alike_errors(coordinates, cnp.ndarray order, errors, Py_ssize_t exclude):
    """How far the errors of a linear map are a function of the state: the mean of 2 e f / (e e + f f), and 2 sum(e f)
    over the sum of (e e + f f), of the errors e and f at the two points of the 128 closest pairs of nearest neighbours.

    Both lie between -1 and 1: about 0 of errors that are independent, however their spread depends on the state, and
    near 1 of a rule.  ``coordinates``: 1 to 6 arrays of n <= 1024 values, one for each coordinate of the state, and
    ``order`` the indices (int64) that sort the first.  Each point is paired with its nearest neighbour, by the largest
    difference of a coordinate, ``exclude`` or more iterations away, and each pair counts once.  An empty tuple where
    there are fewer than 128 pairs.
    """
    cdef Py_ssize_t n, i, j, a, b, length
    cdef double* e = _reals(errors, &n)
    cdef const double* c[STATES]
    cdef double far[LONG]
    cdef int32_t who[LONG]
    cdef int32_t by[LONG]
    cdef const int64_t* rank
    cdef double least, d, distance, product, power, mean = 0.0, top = 0.0, bottom = 0.0
    cdef int k, side, m = len(coordinates), count = 0
    if not 0 < m <= STATES or n > LONG:
        raise ValueError("alike_errors: 1 to 6 coordinates of 1024 values at most")
    for k in range(m):
        c[k] = _reals(coordinates[k], &length)
        if length != n:
            raise ValueError("alike_errors: the coordinates have several lengths")
    if order.dtype != np.int64 or not order.flags.c_contiguous or order.shape[0] != n:
        raise TypeError("alike_errors: order must be int64 and as long as the record")
    rank = <const int64_t*>order.data
    with nogil:
        for a in range(n):
            i = rank[a]
            least, who[i] = INFINITY, -1
            for side in range(2):
                b = a
                while True:
                    b += 1 if side else -1
                    if b < 0 or b >= n:
                        break
                    j = rank[b]
                    distance = fabs(c[0][i] - c[0][j])
                    if distance >= least:
                        break
                    if -exclude < i - j < exclude:
                        continue
                    for k in range(1, m):
                        d = fabs(c[k][i] - c[k][j])
                        if d > distance:
                            distance = d
                            if d >= least:
                                break
                    if distance < least:
                        least, who[i] = distance, <int32_t>j
        for i in range(n):
            j = who[i]
            if j < 0 or j < i and who[j] == i:
                continue
            distance = 0.0
            for k in range(m):
                d = fabs(c[k][i] - c[k][j])
                distance = d if d > distance else distance
            far[count], by[count] = distance, <int32_t>i
            count += 1
        _sort(far, by, count)
        if count >= CLOSEST:
            for a in range(CLOSEST):
                i, j = by[a], who[by[a]]
                product, power = 2.0 * e[i] * e[j], e[i] * e[i] + e[j] * e[j]
                mean += product / power if power > 0 else 1.0
                top += product
                bottom += power
    return (mean / CLOSEST, top / bottom if bottom > 0 else 1.0) if count >= CLOSEST else ()
