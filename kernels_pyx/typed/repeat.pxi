# Calls as in the executor, for measurements.

def _repeat(size_t address, out, a, b, ptrdiff_t n, ptrdiff_t count):
    """Calls a kernel of signature vv ``count`` times on the memory of three arrays, without the GIL."""
    cdef wb_kernel call = <wb_kernel>address
    cdef char* to = <char*>cnp.PyArray_DATA(out)
    cdef const char* left = <const char*>cnp.PyArray_DATA(a)
    cdef const char* right = <const char*>cnp.PyArray_DATA(b)
    cdef ptrdiff_t k
    with nogil:
        for k in range(count):
            call(to, left, right, NULL, n)


def _repeat_scalar(size_t address, out, a, b, ptrdiff_t count):
    """Calls a scalar kernel ``count`` times on the first items of three arrays, without the GIL."""
    cdef wb_scalar call = <wb_scalar>address
    cdef char* to = <char*>cnp.PyArray_DATA(out)
    cdef const char* left = <const char*>cnp.PyArray_DATA(a)
    cdef const char* right = <const char*>cnp.PyArray_DATA(b)
    cdef ptrdiff_t k
    with nogil:
        for k in range(count):
            call(to, left, right, NULL)


def _repeat_statistics(size_t address, a, ptrdiff_t count):
    """Calls a statistics kernel ``count`` times; returns the seven numbers."""
    cdef wb_statistics call = <wb_statistics>address
    cdef cnp.ndarray result = np.empty(7)
    cdef const char* data = <const char*>cnp.PyArray_DATA(a)
    cdef ptrdiff_t n = a.size
    cdef double* to = <double*>cnp.PyArray_DATA(result)
    cdef ptrdiff_t k
    with nogil:
        for k in range(count):
            call(data, n, to)
    return result


def _statistics_of_op(str dtype, int number, out, a, b, ptrdiff_t count=1):
    """Calls kernel ``number`` of the table of :func:`statistics_of_ops` ``count`` times; returns the seven numbers."""
    cdef wb_of_op call = (<wb_of_op*><size_t>_OF_OPS[dtype])[number]
    cdef cnp.ndarray result = np.empty(7)
    cdef char* to = <char*>cnp.PyArray_DATA(out)
    cdef const char* left = <const char*>cnp.PyArray_DATA(a)
    cdef const char* right = <const char*>cnp.PyArray_DATA(b)
    cdef double* numbers = <double*>cnp.PyArray_DATA(result)
    cdef ptrdiff_t k, n = out.size
    with nogil:
        for k in range(count):
            call(to, left, right, n, numbers)
    return result
