# Instructions on arrays of known shape as one call on NumPy arrays, for runs that need no rows.

CALL_CONSTANT, CALL_SCRATCH, CALL_OUTPUT = -1, -2, -3


cdef class ArrayCall:
    """Instructions on arrays of known shape, of one node or of several, as a function from operands to results.

    Parameters
    ----------
    steps:
        (array instruction, operands, place and byte offset of the result, constant or None). Operands are (place, byte
        offset): place k is an input, ``CALL_CONSTANT`` the constant, ``CALL_SCRATCH`` memory for intermediate values,
        ``CALL_OUTPUT - k`` output k.
    sizes:
        bytes of each input.
    outputs:
        (dtype, shape) of each.
    scratch:
        bytes of the memory for intermediate values.

    It returns exactly the bits that a program with these instructions leaves in its rows, as a list of new arrays, and
    None for operands that are not arrays of these sizes. Operands that are not in C order are copied, as into a row.
    """

    cdef Array* arrays
    cdef char** constant_at  # of each step
    cdef list constants
    cdef int count, n_inputs, n_outputs
    cdef bint raises, large
    cdef size_t scratch
    cdef int[:, :, ::1] places  # a, b, c and the result of each: inputs, outputs, scratch memory, none; -1: the constant
    cdef long long[::1] sizes, numbers, ranks, starts
    cdef cnp.npy_intp* dims

    def __cinit__(self, list steps not None, tuple sizes not None, list outputs not None, size_t scratch=0):
        cdef int k, n, place
        cdef cnp.ndarray one
        self.count, self.n_inputs, self.n_outputs, self.scratch = len(steps), len(sizes), len(outputs), scratch
        flat = [int(d) for _, shape in outputs for d in shape]
        self.arrays = <Array*>calloc(self.count + 1, sizeof(Array))
        self.constant_at = <char**>calloc(self.count + 1, sizeof(char*))
        self.dims = <cnp.npy_intp*>calloc(len(flat) + 1, sizeof(cnp.npy_intp))
        if self.arrays == NULL or self.constant_at == NULL or self.dims == NULL:
            raise MemoryError
        for k in range(len(flat)):
            self.dims[k] = flat[k]
        self.sizes = np.array((*sizes, 0), np.longlong)
        self.numbers = np.array([*(dtype.num for dtype, _ in outputs), 0], np.longlong)
        self.ranks = np.array([*(len(shape) for _, shape in outputs), 0], np.longlong)
        self.starts = np.cumsum([0, *(len(shape) for _, shape in outputs)], dtype=np.longlong)
        if max(self.ranks) > 32:
            raise ValueError("at most 32 dimensions")
        self.large = scratch + sum([dtype.itemsize * math.prod(shape) for dtype, shape in outputs]) > COPIED_BYTES
        none = self.n_inputs + self.n_outputs + 1
        places, self.constants = np.full((self.count + 1, 4, 2), (none, 0), np.intc), []
        for k, (array, given, result, constant) in enumerate(steps):
            fill_array(&self.arrays[k], array)
            self.raises = self.raises or self.arrays[k].raises
            if constant is not None:
                one = np.ascontiguousarray(constant)
                self.constants.append(one)
                self.constant_at[k] = <char*>cnp.PyArray_DATA(one)
            for n, (place, offset) in [*enumerate(given), (3, result)]:
                places[k, n] = self._place(place, n == 3 or constant is None), offset
        self.places = places

    cdef int _place(self, int place, bint fixed) except -2:
        """The number of a place among inputs, outputs and scratch memory; -1 for the constant."""
        if 0 <= place < self.n_inputs or place == CALL_CONSTANT and not fixed:
            return place
        if place == CALL_SCRATCH and self.scratch:
            return self.n_inputs + self.n_outputs
        if CALL_OUTPUT - self.n_outputs < place <= CALL_OUTPUT:
            return self.n_inputs + CALL_OUTPUT - place
        raise ValueError(f"place {place} of an operand or a result does not exist")

    def __dealloc__(self):
        free(self.arrays)
        free(self.constant_at)
        free(self.dims)

    cdef void run(self, char** where) noexcept nogil:
        cdef char* at[4]
        cdef int k, n, place
        for k in range(self.count):
            for n in range(4):
                place = self.places[k, n, 0]
                at[n] = (self.constant_at[k] if place < 0 else where[place]) + self.places[k, n, 1]
            wb_run_on(&self.arrays[k], at[3], at[0], at[1], at[2])

    def __call__(self, list given not None):
        cdef cnp.ndarray one
        cdef int k
        cdef list made = [], dense = given
        cdef char** where
        if len(given) != self.n_inputs:
            raise ValueError(f"expected {self.n_inputs} operands, got {len(given)}")
        for k in range(self.n_inputs):
            if type(given[k]) is not cnp.ndarray:
                return None
            one = <cnp.ndarray>given[k]
            if cnp.PyArray_NBYTES(one) != self.sizes[k]:
                return None
            if not cnp.PyArray_ISCARRAY_RO(one):
                if dense is given:
                    dense = given[:]
                dense[k] = np.array(one, order="C")
        for k in range(self.n_outputs):
            made.append(cnp.PyArray_EMPTY(<int>self.ranks[k], self.dims + self.starts[k], <int>self.numbers[k], 0))
        where = <char**>malloc(sizeof(char*) * (self.n_inputs + self.n_outputs + 2) + 64 + self.scratch)
        if where == NULL:
            raise MemoryError
        for k in range(self.n_inputs):
            where[k] = <char*>cnp.PyArray_DATA(<cnp.ndarray>dense[k])
        for k in range(self.n_outputs):
            where[self.n_inputs + k] = <char*>cnp.PyArray_DATA(<cnp.ndarray>made[k])
        k = self.n_inputs + self.n_outputs
        where[k] = <char*>((<size_t>(where + k + 2) + 63) & ~<size_t>63)
        where[k + 1] = NULL
        if self.large:
            with nogil:
                self.run(where)
        else:
            self.run(where)
        free(where)
        if self.raises and wb_raised():
            wb_raise()
        return made
