# Instructions on arrays of known shape as one call on arrays of NumPy, for runs that need no rows.


cdef class ArrayCall:
    """The instructions that make one value of a node: its result for operands of the declared types.

    Parameters
    ----------
    steps:
        (array instruction, operands, byte offset in the result, constant or None); operands are (input, byte offset):
        input -1 is the constant, -2 the result.
    sizes:
        bytes of each input.
    dtype, shape:
        of the result.

    It gives the very bits that a program with these instructions leaves in its rows, and None for operands that are no
    dense arrays of these sizes.
    """

    cdef Array* arrays
    cdef list constants
    cdef int count, n_inputs, nd, number
    cdef bint raises
    cdef int[:, :, ::1] operands
    cdef long long[::1] deltas
    cdef cnp.npy_intp[32] dims
    cdef cnp.npy_intp* sizes

    def __cinit__(self, list steps not None, tuple sizes not None, dtype, tuple shape not None):
        cdef int k, n
        self.count, self.n_inputs, self.nd, self.number = len(steps), len(sizes), len(shape), dtype.num
        if self.nd > 32:
            raise ValueError("at most 32 dimensions")
        self.arrays = <Array*>calloc(self.count + 1, sizeof(Array))
        self.sizes = <cnp.npy_intp*>calloc(self.n_inputs + 1, sizeof(cnp.npy_intp))
        if self.arrays == NULL or self.sizes == NULL:
            raise MemoryError
        for k in range(self.nd):
            self.dims[k] = shape[k]
        for k in range(self.n_inputs):
            self.sizes[k] = sizes[k]
        operands, deltas, self.constants = np.full((self.count + 1, 3, 2), -3, np.intc), np.zeros(self.count + 1, np.longlong), []
        for k, (array, given, delta, constant) in enumerate(steps):
            fill_array(&self.arrays[k], array)
            self.raises = self.raises or self.arrays[k].raises
            deltas[k] = delta
            self.constants.append(None if constant is None else np.ascontiguousarray(constant))
            for n, (place, offset) in enumerate(given):
                if not -2 <= place < self.n_inputs or place == -1 and constant is None:
                    raise ValueError(f"operand {place} is not an input")
                operands[k, n] = place, offset
        self.operands, self.deltas = operands, deltas

    def __dealloc__(self):
        free(self.arrays)
        free(self.sizes)

    def __call__(self, list given not None):
        cdef cnp.ndarray out, one
        cdef char* at[3]
        cdef int k, n, place
        if len(given) != self.n_inputs:
            raise ValueError(f"expected {self.n_inputs} operands, got {len(given)}")
        for k in range(self.n_inputs):
            if type(given[k]) is not cnp.ndarray:
                return None
            one = <cnp.ndarray>given[k]
            if cnp.PyArray_NBYTES(one) != self.sizes[k] or not cnp.PyArray_ISCARRAY_RO(one):
                return None
        out = cnp.PyArray_EMPTY(self.nd, self.dims, self.number, 0)
        for k in range(self.count):
            for n in range(3):
                place = self.operands[k, n, 0]
                if place == -3:
                    at[n] = NULL
                    continue
                if place == -1:
                    at[n] = <char*>cnp.PyArray_DATA(<cnp.ndarray>self.constants[k])
                elif place == -2:
                    at[n] = <char*>cnp.PyArray_DATA(out)
                else:
                    at[n] = <char*>cnp.PyArray_DATA(<cnp.ndarray>given[place])
                at[n] += self.operands[k, n, 1]
            if cnp.PyArray_NBYTES(out) > COPIED_BYTES:
                with nogil:
                    wb_run_on(&self.arrays[k], <char*>cnp.PyArray_DATA(out) + self.deltas[k], at[0], at[1], at[2])
            else:
                wb_run_on(&self.arrays[k], <char*>cnp.PyArray_DATA(out) + self.deltas[k], at[0], at[1], at[2])
        if self.raises and wb_raised():
            wb_raise()
        return out
