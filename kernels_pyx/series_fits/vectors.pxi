# Conversion of float64 vectors from and to NumPy arrays. Included by the modules that process a record.

cdef double* _reals(object a, Py_ssize_t* n) except NULL:
    """Pointer and length of a contiguous float64 vector."""
    if not cnp.PyArray_Check(a) or cnp.PyArray_TYPE(a) != cnp.NPY_DOUBLE or cnp.PyArray_NDIM(a) != 1 \
            or not cnp.PyArray_IS_C_CONTIGUOUS(a):
        raise TypeError("expected a contiguous one-dimensional float64 array")
    n[0] = cnp.PyArray_DIM(a, 0)
    return <double*>cnp.PyArray_DATA(a)


cdef object _vector(Py_ssize_t n):
    cdef cnp.npy_intp size = n
    return cnp.PyArray_EMPTY(1, &size, cnp.NPY_DOUBLE, 0)
