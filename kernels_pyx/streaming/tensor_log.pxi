# The statistics of tensors in the order in which ops returned them, 64 bytes each.

TENSOR_ROW = np.dtype([
    ("site", np.uint32), ("nan", np.uint32), ("inf", np.uint32), ("zeros", np.uint32),
    ("least", np.float64), ("largest", np.float64), ("mean", np.float64), ("hash", np.uint64),
    ("rms", np.float32), ("count", np.uint32), ("first_bad", np.uint32), ("kind", np.uint32),
])

TENSOR_TYPES = dict(_CODES)


cdef class TensorLog:
    """Rows of statistics, appended one tensor at a time.

    A row is 64 bytes (``TENSOR_ROW``): the number of its ``site``, counts of NaN, infinities and zeros, least and
    largest number, mean and root mean square of the finite ones, the size, a hash of the numbers, and the flat index of
    the first that is not finite (2**32 - 1 if there is none).

    Examples
    --------
    >>> log = TensorLog()
    >>> x = np.array([0.0, 2.0, np.inf])
    >>> log.append(7, x.ctypes.data, 3, TENSOR_TYPES["float64"], 0)
    1
    >>> log.rows(0, 1)["largest"], log.rows(0, 1)["zeros"]
    (array([inf]), array([1], dtype=uint32))
    """

    cdef WbTensorRow* _rows
    cdef Py_ssize_t _length, _room

    def __cinit__(self):
        self._rows = NULL
        self._length = self._room = 0

    def __dealloc__(self):
        free(self._rows)

    def __len__(self):
        return self._length

    @property
    def nbytes(self):
        return self._room * sizeof(WbTensorRow)

    cpdef int append(self, uint32_t site, uintptr_t address, int64_t count, int type, uint32_t kind) except -1:
        """Add the row of ``count`` contiguous numbers of a type (of ``TENSOR_TYPES``) at an address; 0 if all are
        finite, 1 if some are infinite, 2 if one is NaN. The caller keeps the memory alive for the call.
        """
        cdef WbTensorRow* row
        cdef WbTensorRow* grown
        cdef Py_ssize_t room
        if self._length == self._room:
            room = max(256, self._room * 2)
            grown = <WbTensorRow*> realloc(self._rows, room * sizeof(WbTensorRow))
            if grown == NULL:
                raise MemoryError(f"{room * sizeof(WbTensorRow)} bytes for statistics of tensors")
            self._rows, self._room = grown, room
        row = self._rows + self._length
        with nogil:
            wb_scan(<const char*> address, type, count, row)
        row.site, row.kind = site, kind
        self._length += 1
        return 2 if row.nan else 1 if row.inf else 0

    def rows(self, Py_ssize_t start, Py_ssize_t stop):
        """A copy of rows, as an array of ``TENSOR_ROW``."""
        start, stop = max(0, start), min(stop, self._length)
        cdef cnp.ndarray found = np.empty(max(0, stop - start), TENSOR_ROW)
        if stop > start:
            memcpy(cnp.PyArray_DATA(found), self._rows + start, (stop - start) * sizeof(WbTensorRow))
        return found

    def take(self):
        """All rows, as an array; the log is empty afterwards and keeps its memory."""
        found = self.rows(0, self._length)
        self._length = 0
        return found
