# Arrays that a loop passes on unchanged: its rows hold references, and instructions read the array itself.

cdef extern from "numpy/arrayobject.h" nogil:
    ctypedef struct ArrayStruct "PyArrayObject"
    void* data_of "PyArray_DATA"(ArrayStruct* array) noexcept


cdef void point_from(Program p, char** bases, int f, char* row) noexcept nogil:
    """Let instructions read the arrays that a frame carries unchanged, to which a row's columns refer."""
    cdef int k
    cdef PyObject* item
    for k in range(p.n_pointers):
        if p.pointers[k].frame == f:
            item = (<PyObject**>(row + p.pointers[k].offset))[0]
            if item != NULL:
                bases[p.n_bases - p.n_pointers + k] = <char*>data_of(<ArrayStruct*>item)


cdef void point_again(Machine self) noexcept nogil:
    """The same for the rows in progress, whose references may have changed."""
    cdef int f
    cdef Rows* rows
    for f in range(self.e.n_frames):
        rows = &self.e.frames[f]
        if self.e.pointed[f] and rows.row > 0:
            point_from(self.program, self.e.base, f, rows.cur - rows.row_bytes)


cdef object fit_pointer(Machine self, int base, int offset, object item):
    """An array as instructions can read it, for a column that they read through."""
    cdef int k, f = base - 1
    for k in range(self.program.n_pointers):
        if self.program.pointers[k].frame == f and offset in (
            self.program.pointers[k].offset, self.program.pointers[k].offset - self.e.frames[f].row_bytes
        ):
            dtype, shape = self.program.pointer_types[k]
            item = np.require(item, requirements="CA")
            if item.dtype != dtype or item.shape != shape:
                raise TypeError(f"gave {item.dtype} of shape {item.shape} where {dtype} of shape {shape} was expected")
    return item
