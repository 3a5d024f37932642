# The state of one tensor variable.

#: number of followed components
_FOLLOWED = 8
#: block size in the search for the most active components
_STRETCH = 1 << 16
#: another component replaces a followed one that moves less than this share of it
_QUIET = 2.0**-10


cdef class VectorState:
    """Bounded state of a tensor variable: one fused pass per iteration, then scalar states.

    ``norm`` and ``step`` are the scalar states of ||x|| and ||x(k) - x(k-1)||, ``hashes`` that of a 64-bit hash of the
    bits (equal tensors have equal hashes; the reverse proves nothing).  ``components`` maps a flat index to the scalar
    state of that element: at most eight, those that moved most in the first step; in iterations 2, 4, 8, ... one that
    hardly moves is replaced with one of the eight that then move most.  ``max_abs_d``, ``sum_abs_d``,
    ``nonfinite_count`` and ``hash`` are those of the newest tensor.

    Its size is one copy of the tensor, and at most eleven scalar states and 2 KB, whatever the number of iterations.
    """

    cdef readonly ScalarState norm, step, hashes
    cdef readonly dict components
    cdef readonly int64_t count, nonfinite_count
    cdef readonly double max_abs_d, sum_abs_d
    cdef readonly uint64_t hash
    cdef int64_t first_nan_, first_inf_
    cdef object previous, shape_, dtype_
    cdef bint gap           # there is no tensor before the next one

    def __cinit__(self):
        self.norm, self.step, self.hashes = ScalarState(), ScalarState(), ScalarState()
        self.components = {}
        self.count = self.nonfinite_count = 0
        self.max_abs_d = self.sum_abs_d = 0.0
        self.hash = 0
        self.first_nan_ = self.first_inf_ = -1
        self.previous = self.shape_ = self.dtype_ = None
        self.gap = True

    def update(self, array):
        """Add the tensor of one iteration; its shape and dtype must be those of the first.

        Raises TypeError for values that are not real numbers or bools, or of another dtype, ValueError for another
        shape.
        """
        self.update_many(np.asarray(array)[None])

    def update_many(self, arrays):
        """Add the tensors of several iterations, oldest first, along the first axis. Raises as ``update``."""
        cdef cnp.ndarray a = np.asarray(arrays)
        cdef int code
        cdef cnp.ndarray rows = _native(a, &code)
        if a.ndim == 0:
            raise ValueError("expected tensors along the first axis, got a number")
        shape = np.shape(a)[1:]
        if self.shape_ is None:
            self.shape_, self.dtype_ = shape, a.dtype.newbyteorder("=")
            self.previous = np.zeros(int(np.prod(shape)), rows.dtype)
            for state in (self.norm, self.step):
                (<ScalarState>state).kind, (<ScalarState>state).dtype_ = b"f", np.dtype(np.float64)
            self.hashes.kind, self.hashes.dtype_ = b"u", np.dtype(np.uint64)
        elif shape != self.shape_:
            raise ValueError(f"expected shape {self.shape_} as before, got {shape}")
        elif a.dtype != self.dtype_ and a.dtype.newbyteorder("=") != self.dtype_:
            raise TypeError(f"expected dtype {self.dtype_} as before, got {a.dtype}")
        rows = np.require(rows, requirements="CA").reshape(len(a), self.previous.size)
        cdef int64_t start = 0, stop, n = rows.shape[0]
        while start < n:
            stop = n
            if self.gap:
                stop = start + 1
            elif self.count & (self.count - 1) == 0 or not self.components:
                self._choose(rows[start], code)
                stop = start + 1
            else:  # up to the next power of two
                stop = min(n, start + (1 << int(self.count).bit_length()) - self.count)
            self._take(rows[start:stop], code)
            start = stop

    cdef object _take(self, cnp.ndarray rows, int code):
        """Several tensors in the fused pass."""
        cdef int64_t i, n = rows.shape[0], size = rows.shape[1], width = rows.strides[0]
        cdef int64_t item = rows.itemsize
        cdef int64_t nan = -1, inf = -1
        cdef cnp.ndarray before = self.previous
        cdef char* to = cnp.PyArray_BYTES(before)
        cdef const char* data = cnp.PyArray_BYTES(rows)
        cdef bint compare = not self.gap
        cdef WbPass found
        cdef double* norm = <double*>malloc(3 * n * sizeof(double))
        cdef double* step = norm + n
        cdef uint64_t* hash_ = <uint64_t*>(norm + 2 * n)
        cdef ScalarState state
        if norm == NULL:
            raise MemoryError
        with nogil:
            for i in range(n):
                wb_pass(data + i * width, to, code, size, compare or i > 0, &found)
                norm[i], step[i], hash_[i] = found.norm, found.step, found.hash
                if found.nan and nan < 0:
                    nan = i
                if found.inf and inf < 0:
                    inf = i
            wb_feed(&self.norm.s, <char*>norm, WB_F8, n, 8)
            wb_feed(&self.step.s, <char*>(step + (not compare)), WB_F8, n - (not compare), 8)
            wb_feed(&self.hashes.s, <char*>hash_, WB_U8, n, 8)
            free(norm)
        if nan >= 0 and self.first_nan_ < 0:
            self.first_nan_ = self.count + nan
        if inf >= 0 and self.first_inf_ < 0:
            self.first_inf_ = self.count + inf
        self.nonfinite_count = found.nan + found.inf
        self.max_abs_d, self.sum_abs_d, self.hash = found.max_abs_d, found.sum_abs_d, found.hash
        for index, each in self.components.items():
            state, i = each, index
            wb_feed(&state.s, data + i * item, code, n, width)
        self.count += n
        self.gap = False

    cdef object _choose(self, cnp.ndarray now, int code):
        """Follow the components that now move most, in place of followed ones that hardly move."""
        cdef int64_t size = now.shape[0], at, m, width = now.itemsize
        cdef cnp.ndarray before = self.previous
        cdef const char* one = cnp.PyArray_BYTES(now)
        cdef const char* two = cnp.PyArray_BYTES(before)
        cdef cnp.ndarray moved = np.empty(min(size, <int64_t>_STRETCH))
        cdef double* to = <double*>cnp.PyArray_DATA(moved)
        best = []
        for at in range(0, size, _STRETCH):
            m = min(<int64_t>_STRETCH, size - at)
            with nogil:
                wb_moved(one + at * width, two + at * width, code, m, to)
            part = moved[:m]
            k = min(<int64_t>_FOLLOWED, m)
            top = np.argpartition(-part, k - 1)[:k]
            best = sorted(best + [(-float(part[i]), int(i) + at) for i in top])[:_FOLLOWED]
        followed = {}
        for i in self.components:
            wb_moved(one + <int64_t>i * width, two + <int64_t>i * width, code, 1, to)
            followed[i] = to[0]
        for size_, i in best:
            if i in self.components:
                continue
            if len(self.components) == _FOLLOWED:
                quiet = min(followed, key=followed.get)
                if not followed[quiet] < _QUIET * -size_:
                    break
                del self.components[quiet], followed[quiet]
            state = ScalarState()
            state.skip(self.count - 1)
            state.update(self.previous[i : i + 1])
            self.components[i], followed[i] = state, -size_
        self.components = dict(sorted(self.components.items()))

    def ends_with(self, array):
        """True if ``array`` equals the last tensor, bit for bit."""
        a = np.asarray(array)
        if self.gap or self.previous is None or a.shape != self.shape_ or a.dtype != self.dtype_:
            return False
        cdef int code
        cdef cnp.ndarray now = np.require(_native(a, &code), requirements="CA")
        cdef cnp.ndarray before = self.previous
        cdef bint same
        cdef const char* one = cnp.PyArray_BYTES(now)
        cdef const char* two = cnp.PyArray_BYTES(before)
        cdef size_t size = before.nbytes
        with nogil:
            same = memcmp(one, two, size) == 0
        return same

    def skip(self, int64_t count):
        """Record that ``count`` iterations passed without a known tensor; see ``ScalarState.skip``."""
        if count < 0:
            raise ValueError(f"expected a number of iterations, got {count}")
        if count == 0:
            return
        self.step.skip(count if self.gap else count + 1)
        self.norm.skip(count)
        self.hashes.skip(count)
        for state in self.components.values():
            state.skip(count)
        self.count += count
        self.gap = True

    @property
    def shape(self):
        """Shape of the tensors, or None before the first."""
        return self.shape_

    @property
    def dtype(self):
        """dtype of the tensors, or None before the first."""
        return self.dtype_

    @property
    def first_nan(self):
        """Index of the first tensor with a NaN, or None."""
        return self.first_nan_ if self.first_nan_ >= 0 else None

    @property
    def first_inf(self):
        """Index of the first tensor with an infinity, or None."""
        return self.first_inf_ if self.first_inf_ >= 0 else None

    @property
    def nbytes(self):
        """Size of the state in bytes: the copy of the last tensor, the scalar states and the object itself."""
        held = type(self).__basicsize__ + self.components.__sizeof__()
        held += sum(s.nbytes for s in (self.norm, self.step, self.hashes, *self.components.values()))
        return held if self.previous is None else held + self.previous.nbytes
