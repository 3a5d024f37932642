# Tensors: one pass over the rows.

ctypedef fused real_t:
    double
    float


cdef double _row_norm(const real_t[:, :] x, Py_ssize_t i) noexcept nogil:
    """Euclidean norm of row i; squares that would leave float64 are scaled by the largest magnitude."""
    cdef Py_ssize_t j
    cdef double s = 0.0, top = 0.0, v
    for j in range(x.shape[1]):
        v = x[i, j]
        s += v * v
    if 1e-280 < s < INFINITY or isnan(s):
        return sqrt(s)
    for j in range(x.shape[1]):
        v = fabs(<double>x[i, j])
        top = v if v > top else top
    if top == 0 or isinf(top):
        return top
    s = 0.0
    for j in range(x.shape[1]):
        v = x[i, j] / top
        s += v * v
    return sqrt(s) * top


def activity(const real_t[:, :] x, moved, norms, Py_ssize_t first, bint begun):
    """One pass over rows of (n, d) float64 or float32: ``moved[j] += |x[i, j] - x[i - 1, j]|`` and the rows' norms.

    Row i of x is row ``first + i`` of ``norms``; row 0 has no movement, unless ``begun``: then it is the previous row,
    whose norm is known.  A NaN movement is infinite.
    """
    cdef Py_ssize_t n, d, i, j
    cdef double* m = _reals(moved, &d)
    cdef double* r = _reals(norms, &n)
    cdef double v
    if d != x.shape[1] or first < 0 or first + x.shape[0] > n:
        raise ValueError("moved and norms must fit the rows")
    with nogil:
        for i in range(x.shape[0]):
            if i or not begun:
                r[first + i] = _row_norm(x, i)
            if i:
                for j in range(d):
                    v = fabs(<double>x[i, j] - <double>x[i - 1, j])
                    m[j] += v if v == v else INFINITY
