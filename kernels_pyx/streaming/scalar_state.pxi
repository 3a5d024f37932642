# The state of one scalar variable.

@cython.no_gc
cdef class ScalarState:
    """Bounded state of one scalar variable; see the module's header.

    ``update(buffer)`` takes a strided 1-d array (or a scalar) of any real numeric dtype or bool, oldest first, and
    may be called any number of times.  All updates must be of one kind (floating, signed, unsigned or bool).
    """

    cdef WbScalar s
    cdef char kind          # b"f", b"i", b"u", b"b"; 0 before the first update
    cdef object dtype_

    def __cinit__(self):
        wb_clear(&self.s)
        self.kind = 0
        self.dtype_ = None

    def push(self, value):
        """One value: a Python or NumPy scalar."""
        self.update(value)

    def update(self, buffer):
        """Add one value or a 1-d array of values, oldest first.

        Raises TypeError for values that are not real numbers or bools, or of another kind than before; ValueError for
        more than one dimension.
        """
        cdef cnp.ndarray a = np.asarray(buffer)
        cdef int code
        cdef int64_t count, stride
        cdef cnp.ndarray values = _native(a, &code)
        if values.ndim != 1:
            if values.ndim != 0:
                raise ValueError(f"expected a 1-d array of values in time, got shape {np.shape(a)}")
            values = values.reshape(1)
        if self.kind == 0:
            self.kind, self.dtype_ = _kind(code), a.dtype.newbyteorder("=")
        elif self.kind != _kind(code):
            raise TypeError(f"expected values of dtype {self.dtype_} as before, got {a.dtype}")
        count, stride = values.shape[0], values.strides[0]
        with nogil:
            wb_feed(&self.s, cnp.PyArray_BYTES(values), code, count, stride)

    def skip(self, int64_t count):
        """Record that ``count`` iterations passed without a known value.

        Later indices are those of the iterations. No difference, run or period extends across the gap, and ``values``
        returns the values after it; blocks and sample continue by the number of values added.
        """
        if count < 0:
            raise ValueError(f"expected a number of iterations, got {count}")
        if count:
            wb_skip(&self.s, count)

    def clone(self):
        """An independent copy."""
        cdef ScalarState other = ScalarState()
        other.s, other.kind, other.dtype_ = self.s, self.kind, self.dtype_
        return other

    def __len__(self):
        return self.s.n + self.s.skipped

    cdef object _words(self, cnp.ndarray words):
        """Raw 64-bit words as values."""
        if self.kind == b"i":
            return words.view(np.int64)
        if self.kind == b"u":
            return words
        if self.kind == b"b":
            return words.astype(np.bool_)
        return words.view(np.float64)

    def values(self):
        """At most the last 512 values, oldest first: float64, or exact int64, uint64 or bool."""
        cdef int64_t m = min(self.s.n - self.s.since, <int64_t>WB_RING)
        cdef int64_t i, start = self.s.n - m
        words = np.empty(m, dtype=np.uint64)
        cdef uint64_t[::1] w = words
        for i in range(m):
            w[i] = self.s.ring[(start + i) & (WB_RING - 1)]
        return self._words(words)

    def head(self):
        """At most the first 32 added values, oldest first, in the dtype of ``values``."""
        cdef int64_t i, m = min(self.s.n, <int64_t>WB_HEAD)
        words = np.empty(m, dtype=np.uint64)
        cdef uint64_t[::1] w = words
        for i in range(m):
            w[i] = self.s.head[i]
        return self._words(words)

    def approach(self):
        """The 16 values before the current constant run, if that has 200 values or more; otherwise none."""
        cdef int64_t i, m = WB_APPROACH if self.s.approached == self.s.n - self.s.const_run else 0
        words = np.empty(m, dtype=np.uint64)
        cdef uint64_t[::1] w = words
        for i in range(m):
            w[i] = self.s.approach[i]
        return self._words(words)

    def sample(self):
        """Every ``sample_stride``-th added value from the first one on, at most 64, in the dtype of ``values``."""
        cdef int64_t i
        words = np.empty(self.s.n_sample, dtype=np.uint64)
        cdef uint64_t[::1] w = words
        for i in range(self.s.n_sample):
            w[i] = self.s.sample[i]
        return self._words(words)

    def blocks_array(self):
        """Closed blocks, oldest first, as (m, 7) float64; columns are ``BLOCK_FIELDS``; each of ``block_length`` values."""
        out = np.empty((self.s.n_blocks, WB_FIELDS))
        cdef double[:, ::1] o = out
        cdef int64_t i, k
        for i in range(self.s.n_blocks):
            for k in range(WB_FIELDS):
                o[i, k] = self.s.blocks[i * WB_FIELDS + k]
        return out

    @property
    def count(self):
        """Number of iterations so far, with added values or skipped."""
        return self.s.n + self.s.skipped

    @property
    def skipped(self):
        """Number of iterations without a value."""
        return self.s.skipped

    @property
    def dtype(self):
        """dtype of the first update, or None."""
        return self.dtype_

    @property
    def sample_stride(self):
        """Distance of the values of ``sample``: a power of two."""
        return self.s.stride

    @property
    def range(self):
        """(smallest, largest) finite value of the whole record as float64, or None."""
        cdef double low = self.s.low, high = self.s.high
        cdef int64_t i
        for i in range(self.s.n_blocks):
            low = min(low, self.s.blocks[i * WB_FIELDS + 2])
            high = max(high, self.s.blocks[i * WB_FIELDS + 3])
        return (low, high) if self.s.has_origin else None

    @property
    def block_length(self):
        """Number of values in each closed block: a power of two."""
        return self.s.block_size

    @property
    def block_origin(self):
        """Level to which block sums are relative: the first finite value, or None."""
        return self.s.origin if self.s.has_origin else None

    @property
    def first_nan(self):
        """Index of the first NaN, or None."""
        return self.s.first_nan if self.s.first_nan >= 0 else None

    @property
    def first_inf(self):
        """Index of the first infinity, or None."""
        return self.s.first_inf if self.s.first_inf >= 0 else None

    @property
    def nonfinite_count(self):
        """Number of NaN and infinite values."""
        return self.s.nonfinite

    @property
    def constant_run(self):
        """Number of values in the current run of equal bit patterns."""
        return self.s.const_run

    @property
    def longest_constant_run(self):
        """Longest run of equal bit patterns before the current run; 0 if there was none."""
        return self.s.longest_const

    @property
    def monotone_run(self):
        """Signed number of differences in the current strictly monotone run: positive rising, negative falling."""
        return self.s.mono_run * self.s.mono_sign

    @property
    def alternating_run(self):
        """Number of differences in the current run of alternating signs."""
        return self.s.alt_run

    @property
    def recurrence(self):
        """(period, run): each of the last ``run`` values equals, bit for bit, the value ``period`` before it; or None.

        Available once a whole period has repeated. The period is that of a return to the Brent slot, below 512; it may
        be a multiple of the smallest period.
        """
        return (self.s.candidate, self.s.candidate_run) if 0 < self.s.candidate <= self.s.candidate_run else None

    @property
    def nbytes(self):
        """Size of the state in bytes, the Python object included."""
        return type(self).__basicsize__
