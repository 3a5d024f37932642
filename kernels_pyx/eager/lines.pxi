# The line of the user's code: the innermost frame in a file of the user.

cdef extern from "Python.h":
    ctypedef struct PyFrameObject:
        pass
    PyFrameObject* PyEval_GetFrame()
    PyFrameObject* PyFrame_GetBack(PyFrameObject*)
    int PyFrame_GetLineNumber(PyFrameObject*)
    void Py_XINCREF(PyFrameObject*)
    void Py_DECREF(PyFrameObject*)

cdef extern from *:
    """
    /* a code object as any object: since GCC 14 pointers of other types are an error */
    static PyObject* wb_code_of(PyFrameObject* frame) { return (PyObject*)PyFrame_GetCode(frame); }
    """
    object wb_code_of(PyFrameObject*)


cdef class Lines:
    """Finds lines; ``is_own`` of the subclass is called once for each code object and returns whether it is the
    user's.
    """

    #: by the address of a code object, which is kept alive: its hash is slow to compute
    cdef dict _known

    def __init__(self):
        self._known = {}

    cpdef tuple here(self):
        """(file, line) of the innermost frame of the user's code; ("", 0) if there is none."""
        cdef PyFrameObject* frame = PyEval_GetFrame()
        cdef PyFrameObject* back
        cdef int line
        Py_XINCREF(frame)
        while frame != NULL:
            code = wb_code_of(frame)
            key = <uintptr_t> <void*> code
            found = self._known.get(key)
            if found is None:
                try:
                    found = self._known[key] = (self.is_own(code), code)
                except BaseException:
                    Py_DECREF(frame)
                    raise
            if (<tuple> found)[0]:
                line = PyFrame_GetLineNumber(frame)
                Py_DECREF(frame)
                return code.co_filename, line
            back = PyFrame_GetBack(frame)
            Py_DECREF(frame)
            frame = back
        return "", 0
