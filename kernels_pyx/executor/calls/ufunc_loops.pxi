# NumPy's own inner loops, called directly: the same result as the ufunc bit for bit, without its dispatch.

ctypedef void (*InnerLoop)(char** args, const cnp.npy_intp* dims, const cnp.npy_intp* steps, void* data) noexcept nogil

cdef extern from "numpy/ufuncobject.h":
    ctypedef struct PyUFuncObject:
        int nin
        int nout
        int nargs
        int ntypes
        InnerLoop* functions
        void** data
        const char* types


def ufunc_loop(ufunc, dtypes):
    """(function address, data address, whether it may raise) of the inner loop for exactly these dtypes, inputs then
    outputs; None if there is none.

    Loops over integers raise a Python exception (a negative power); those over floats only set the flags of the
    floating-point unit. Of ufuncs with core dimensions only ``np.matmul`` is supported: its loop takes the sizes (1, n,
    k, m).
    """
    if not isinstance(ufunc, np.ufunc) or (ufunc.signature is not None and ufunc is not np.matmul):
        return None
    if any(np.dtype(t).num >= 24 or np.dtype(t).hasobject for t in dtypes):
        return None
    cdef PyUFuncObject* u = <PyUFuncObject*><void*>ufunc
    if len(dtypes) != u.nargs or u.functions == NULL or u.nargs > 4:
        return None
    cdef int k, j
    wanted = [np.dtype(t).num for t in dtypes]
    for k in range(u.ntypes):
        if u.functions[k] == NULL:
            continue
        for j in range(u.nargs):
            if not _same_number(u.types[k * u.nargs + j], wanted[j]):
                break
        else:
            raises = all(np.dtype(t).kind in "biu" for t in dtypes[:u.nin])
            return (<size_t>u.functions[k], <size_t>(u.data[k] if u.data != NULL else NULL), raises)
    return None


cdef bint _same_number(int a, int b):
    """Whether type numbers are equal, or two C names of one type (long and long long)."""
    if a == b:
        return True
    if a >= 24 or b >= 24 or a == 17 or b == 17:
        return False
    one, two = cnp.PyArray_DescrFromType(a), cnp.PyArray_DescrFromType(b)
    return one.kind == two.kind and one.itemsize == two.itemsize and one.kind in (98, 105, 117)
