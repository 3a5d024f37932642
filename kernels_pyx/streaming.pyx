# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Streaming evolution state: what is kept of a loop variable, bounded whatever the number of iterations.

``ScalarState`` keeps, in under 8 KB:

==================  ==========================================================================================
ring                the last 512 values as raw 64-bit words: float64, or exact int64, uint64 and bool
Brent slot          exact recurrence on the bit pattern (R. P. Brent, BIT 20, 1980), verified against the ring
run lengths         constant, monotone and alternating tails, and the longest constant run before the present one
blocks              at most 64 blocks of 2^k values each: when the 64th fills, neighbours merge and k grows by one
health              index of the first NaN and the first Inf, number of non-finite values
==================  ==========================================================================================

Block sums are taken of ``x - origin`` (origin: the first finite value), which keeps the variance of a small
movement around a large level.  Sums of squares may overflow to inf beyond 1e154; minima and maxima do not.

``VectorState`` makes one fused pass over a tensor (norm, |d|, max |d|, non-finite count, 64-bit hash) and feeds the
norms and up to eight of the most active components to scalar states.

The GIL is released in all loops over values.  Errors are TypeError and ValueError: this floor knows no others.
"""

from libc.math cimport fabs, isfinite, isnan, sqrt, INFINITY
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memcpy

import numpy as np

cdef enum:
    RING = 512
    MASK = 511
    BLOCKS = 64
    FIELDS = 7

ctypedef fused scalar_t:
    double
    float
    int64_t
    uint64_t
    int32_t
    uint8_t

ctypedef fused real_t:
    double
    float

BLOCK_FIELDS = ("sum", "sumsq", "min", "max", "sum_abs_d", "max_abs_d", "min_abs_d")

# How each NumPy kind reaches the loop: the types of scalar_t directly, all others by one exact widening.
_WIDEN = {"f": np.float64, "i": np.int64, "u": np.uint64, "b": np.uint8}
_DIRECT = frozenset(np.dtype(t) for t in (np.float64, np.float32, np.int64, np.uint64, np.int32))


cdef inline uint64_t _bits(double x) noexcept nogil:
    cdef uint64_t b
    memcpy(&b, &x, 8)
    return b


cdef inline double _real(uint64_t b) noexcept nogil:
    cdef double x
    memcpy(&x, &b, 8)
    return x


cdef class ScalarState:
    """Bounded state of one scalar variable; see the module's header.

    ``update(buffer)`` takes a strided 1-d array (or a scalar) of any real numeric dtype or bool, oldest first, and
    may be called any number of times.  All updates must be of one kind (floating, signed, unsigned or bool).
    """

    cdef uint64_t ring[RING]
    cdef double blocks[BLOCKS * FIELDS]
    cdef double open_block[FIELDS]
    cdef int64_t open_fill, block_size, n_blocks
    cdef int64_t n, first_nan_, first_inf_, nonfinite
    cdef uint64_t last_word
    cdef double last, last_d, origin
    cdef bint has_origin
    cdef int64_t const_run, longest_const, mono_run, alt_run
    cdef int mono_sign
    cdef uint64_t slot
    cdef int64_t power, lam, candidate, candidate_run
    cdef char kind          # b"f", b"i", b"u", b"b"; 0 before the first update
    cdef object dtype_

    def __cinit__(self):
        self.n = 0
        self.first_nan_ = self.first_inf_ = -1
        self.nonfinite = 0
        self.block_size = 1
        self.n_blocks = 0
        self.const_run = self.longest_const = self.mono_run = self.alt_run = 0
        self.mono_sign = 0
        self.power = 1
        self.lam = self.candidate = self.candidate_run = 0
        self.kind = 0
        self.has_origin = False
        self.dtype_ = None
        self._open()

    cdef void _open(self) noexcept nogil:
        self.open_block[0] = self.open_block[1] = self.open_block[4] = 0.0
        self.open_block[2] = INFINITY
        self.open_block[3] = -INFINITY
        self.open_block[5] = 0.0
        self.open_block[6] = INFINITY
        self.open_fill = 0

    cdef void _close_block(self) noexcept nogil:
        cdef int64_t i, k
        cdef double* a
        cdef double* b
        if self.n_blocks == BLOCKS:
            for i in range(BLOCKS // 2):
                a = &self.blocks[2 * i * FIELDS]
                b = a + FIELDS
                a[0] += b[0]
                a[1] += b[1]
                a[2] = b[2] if b[2] < a[2] else a[2]
                a[3] = b[3] if b[3] > a[3] else a[3]
                a[4] += b[4]
                a[5] = b[5] if b[5] > a[5] else a[5]
                a[6] = b[6] if b[6] < a[6] else a[6]
                for k in range(FIELDS):
                    self.blocks[i * FIELDS + k] = a[k]
            self.n_blocks = BLOCKS // 2
            self.block_size *= 2
            # the block just filled is now only half a block: keep it open
            if self.open_fill < self.block_size:
                return
        memcpy(&self.blocks[self.n_blocks * FIELDS], &self.open_block[0], FIELDS * sizeof(double))
        self.n_blocks += 1
        self._open()

    cdef inline void _push(self, uint64_t word, double x, double d) noexcept nogil:
        """One value: its exact word, its float64 value and its exact difference from the previous value."""
        cdef double v, ad
        cdef int sign
        # Brent: compare with the slot, and move the slot at powers of two.
        if self.n > 0:
            self.lam += 1
            if self.candidate > 0:
                if self.ring[(self.n - self.candidate) & MASK] == word:
                    self.candidate_run += 1
                else:
                    self.candidate = 0
            if word == self.slot:
                # the distance to where the slot was set: if a shorter return was false, a later one is tried
                if self.candidate == 0 and self.lam < RING:
                    self.candidate = self.lam
                    self.candidate_run = 1
            if self.lam == self.power:
                self.slot = word
                self.power *= 2
                self.lam = 0
            if word == self.last_word:
                self.const_run += 1
            else:
                if self.const_run > self.longest_const:
                    self.longest_const = self.const_run
                self.const_run = 1
            sign = (d > 0) - (d < 0)
            if sign == 0:
                self.mono_run = self.alt_run = 0
            elif sign == self.mono_sign:
                self.mono_run += 1
                self.alt_run = 1
            else:
                self.alt_run = self.alt_run + 1 if self.mono_sign != 0 and self.alt_run > 0 else 1
                self.mono_run = 1
            self.mono_sign = sign
        else:
            self.slot = word
            self.const_run = 1
        self.ring[self.n & MASK] = word
        self.last_word = word
        if isfinite(x):
            if not self.has_origin:
                self.origin = x
                self.has_origin = True
            v = x - self.origin
            self.open_block[0] += v
            self.open_block[1] += v * v
            if x < self.open_block[2]:
                self.open_block[2] = x
            if x > self.open_block[3]:
                self.open_block[3] = x
            if self.n > 0:
                ad = fabs(d)
                if isfinite(ad):
                    self.open_block[4] += ad
                    if ad > self.open_block[5]:
                        self.open_block[5] = ad
                    if ad < self.open_block[6]:
                        self.open_block[6] = ad
        else:
            self.nonfinite += 1
            if isnan(x):
                if self.first_nan_ < 0:
                    self.first_nan_ = self.n
            elif self.first_inf_ < 0:
                self.first_inf_ = self.n
        self.last = x
        self.last_d = d
        self.n += 1
        self.open_fill += 1
        if self.open_fill >= self.block_size:
            self._close_block()

    cdef void _feed(self, const scalar_t[:] values) noexcept nogil:
        cdef Py_ssize_t i
        cdef scalar_t v
        cdef uint64_t w, p
        cdef double d
        for i in range(values.shape[0]):
            v = values[i]
            if scalar_t is double or scalar_t is float:
                self._push(_bits(<double>v), <double>v, <double>v - self.last)
            else:
                if scalar_t is uint64_t or scalar_t is uint8_t:
                    w = <uint64_t>v
                    p = self.last_word
                    d = <double>(w - p) if w >= p else -<double>(p - w)
                else:
                    w = <uint64_t><int64_t>v
                    p = self.last_word
                    d = <double>(w - p) if <int64_t>w >= <int64_t>p else -<double>(p - w)
                self._push(w, <double>v, d)

    def push(self, value):
        """One value: a Python or NumPy scalar."""
        self.update(value)

    def update(self, buffer):
        """Take in one value or a 1-d array of values, oldest first.

        Raises TypeError for what is not real-numeric or bool, or of another kind than before; ValueError for more
        than one dimension.
        """
        a = np.asarray(buffer)
        dtype = a.dtype
        kind = dtype.kind
        if kind not in "fiub":
            raise TypeError(f"expected a real numeric or bool array, got dtype {dtype}")
        if a.ndim != 1:
            if a.ndim != 0:
                raise ValueError(f"expected a 1-d array of values in time, got shape {a.shape}")
            a = a.reshape(1)
        if self.kind == 0:
            self.kind = <char>ord(kind)
            self.dtype_ = dtype.newbyteorder("=")
        elif self.kind != <char>ord(kind):
            raise TypeError(f"expected values of dtype {self.dtype_} as before, got {dtype}")
        if kind == "b":
            a = a.view(np.uint8)
        elif dtype not in _DIRECT or not dtype.isnative:
            a = a.astype(_WIDEN[kind])
        cdef const double[:] f8
        cdef const float[:] f4
        cdef const int64_t[:] i8
        cdef const uint64_t[:] u8
        cdef const int32_t[:] i4
        cdef const uint8_t[:] u1
        if a.dtype == np.float64:
            f8 = a
            with nogil:
                self._feed[double](f8)
        elif a.dtype == np.float32:
            f4 = a
            with nogil:
                self._feed[float](f4)
        elif a.dtype == np.int64:
            i8 = a
            with nogil:
                self._feed[int64_t](i8)
        elif a.dtype == np.uint64:
            u8 = a
            with nogil:
                self._feed[uint64_t](u8)
        elif a.dtype == np.int32:
            i4 = a
            with nogil:
                self._feed[int32_t](i4)
        else:
            u1 = a
            with nogil:
                self._feed[uint8_t](u1)

    def __len__(self):
        return self.n

    def values(self):
        """The last 512 values or fewer, oldest first: float64, or exact int64, uint64 or bool."""
        cdef int64_t m = self.n if self.n < RING else RING
        cdef int64_t i, start = self.n - m
        words = np.empty(m, dtype=np.uint64)
        cdef uint64_t[::1] w = words
        for i in range(m):
            w[i] = self.ring[(start + i) & MASK]
        if self.kind == b"i":
            return words.view(np.int64)
        if self.kind == b"u":
            return words
        if self.kind == b"b":
            return words.astype(np.bool_)
        return words.view(np.float64)

    def blocks_array(self):
        """Closed blocks, oldest first, as (m, 7) float64; columns are ``BLOCK_FIELDS``; each of ``block_size`` values."""
        out = np.empty((self.n_blocks, FIELDS))
        cdef double[:, ::1] o = out
        cdef int64_t i, k
        for i in range(self.n_blocks):
            for k in range(FIELDS):
                o[i, k] = self.blocks[i * FIELDS + k]
        return out

    @property
    def count(self):
        """Number of values taken in."""
        return self.n

    @property
    def dtype(self):
        """dtype of the first update, or None."""
        return self.dtype_

    @property
    def block_length(self):
        """Number of values in each closed block: a power of two."""
        return self.block_size

    @property
    def block_origin(self):
        """Level that block sums are relative to: the first finite value, or None."""
        return self.origin if self.has_origin else None

    @property
    def first_nan(self):
        """Index of the first NaN, or None."""
        return self.first_nan_ if self.first_nan_ >= 0 else None

    @property
    def first_inf(self):
        """Index of the first infinity, or None."""
        return self.first_inf_ if self.first_inf_ >= 0 else None

    @property
    def nonfinite_count(self):
        """Number of NaN and infinite values."""
        return self.nonfinite

    @property
    def constant_run(self):
        """Number of values in the present run of equal bit patterns."""
        return self.const_run

    @property
    def longest_constant_run(self):
        """Longest run of equal bit patterns before the present run; 0 if there was none."""
        return self.longest_const

    @property
    def monotone_run(self):
        """Signed number of differences in the present strictly monotone run: positive rising, negative falling."""
        return self.mono_run * self.mono_sign

    @property
    def alternating_run(self):
        """Number of differences in the present run of alternating signs."""
        return self.alt_run

    @property
    def recurrence(self):
        """(period, run): the last ``run`` values each equal, bit for bit, the value ``period`` before; or None.

        Given once a whole period has repeated.  The period is that of a return to the Brent slot, below 512; a multiple
        of the smallest is possible.
        """
        return (self.candidate, self.candidate_run) if 0 < self.candidate <= self.candidate_run else None

    @property
    def nbytes(self):
        """Size of the state in bytes, without the Python object's header."""
        return RING * 8 + BLOCKS * FIELDS * 8 + FIELDS * 8 + 24 * 8


cdef class VectorState:
    """Bounded state of a tensor variable: one fused pass per iteration, then scalar states.

    ``norm`` and ``step`` are the scalar states of ||x|| and ||x(k) - x(k-1)||; ``components`` maps a flat index to
    the scalar state of that element (the up to eight that moved most in the first step).  Keeps one copy of the
    previous value, so its size is that of the tensor and a constant, whatever the number of iterations.
    """

    cdef readonly ScalarState norm, step
    cdef readonly dict components
    cdef readonly int64_t count, nonfinite_count
    cdef readonly double max_abs_d
    cdef readonly uint64_t hash
    cdef object previous, shape_

    def __cinit__(self):
        self.norm = ScalarState()
        self.step = ScalarState()
        self.components = {}
        self.count = self.nonfinite_count = 0
        self.max_abs_d = 0.0
        self.hash = 0
        self.previous = None
        self.shape_ = None

    def update(self, array):
        """Take in the tensor of one iteration; its shape must be that of the first.  Raises TypeError, ValueError."""
        a = np.asarray(array)
        if a.dtype.kind not in "fiub":
            raise TypeError(f"expected a real numeric or bool array, got dtype {a.dtype}")
        if self.shape_ is None:
            self.shape_ = a.shape
        elif a.shape != self.shape_:
            raise ValueError(f"expected shape {self.shape_} as before, got {a.shape}")
        target = np.float32 if a.dtype == np.float32 else np.float64
        # a private copy: the executor may reuse its buffer for the next iteration
        flat = np.array(a, dtype=target, order="C").reshape(-1)
        first = self.previous is None
        before = flat if first else self.previous
        if target is np.float32:
            _fused[float](flat, before, self)
        else:
            _fused[double](flat, before, self)
        if self.count == 1 and flat.size:
            moved = np.abs(flat.astype(np.float64) - before)
            moved[~np.isfinite(moved)] = np.inf
            k = min(8, flat.size)
            for i in sorted(np.argpartition(-moved, k - 1)[:k].tolist()):
                self.components[i] = state = ScalarState()
                state.update(before[i])
        for i, state in self.components.items():
            state.update(flat[i])
        self.previous = flat
        self.count += 1


cdef void _fused(const real_t[::1] x, const real_t[::1] y, VectorState out):
    cdef Py_ssize_t i
    cdef double v, d, norm = 0.0, step = 0.0, top = 0.0, big = 0.0
    cdef int64_t bad = 0
    cdef uint64_t h = 0xcbf29ce484222325ULL
    with nogil:
        for i in range(x.shape[0]):
            v = x[i]
            d = v - y[i]
            norm += v * v
            step += d * d
            if fabs(d) > top:
                top = fabs(d)
            bad += not isfinite(v)
            h = (h ^ _bits(v)) * 0x9E3779B97F4A7C15ULL
            h ^= h >> 29
        if bad == 0 and not isfinite(norm + step):
            # squares overflowed: the norms again, relative to the largest element
            for i in range(x.shape[0]):
                v = fabs(<double>x[i])
                big = v if v > big else big
            big = top if top > big else big
            norm = step = 0.0
            for i in range(x.shape[0]):
                v = x[i] / big
                d = v - y[i] / big
                norm += v * v
                step += d * d
        else:
            big = 1.0
    out.nonfinite_count = bad
    out.max_abs_d = top
    out.hash = h
    out.norm.update(sqrt(norm) * big)
    if out.count > 0:
        out.step.update(sqrt(step) * big)
