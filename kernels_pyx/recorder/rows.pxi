# The rows of one variable, in chunks.

cdef enum Kind:
    FLOAT = 0  # float64, the fast one
    WHOLE = 1  # int64
    NUMBER = 2  # one number of another dtype
    ARRAY = 3  # an array of one dtype and shape
    OBJECT = 4  # arrays of any dtype and shape

cdef enum:
    SCALAR_ROWS = 8192
    CHUNK_BYTES = 524288
    HUGE_CHUNK = 2097152  # a huge page: first touch of small pages would take most of the time
    HUGE_ITEM = 2048


cdef int64_t _grown = 0  # chunks and objects so far: the budget is checked when there are more


class NotRecordable(Exception):
    """A value that cannot be recorded; the message gives the reason."""


cdef class VariableRows:
    """Values of one variable by row. Reads are allowed at any time; rows that were not written hold zeros."""

    cdef readonly str name
    cdef readonly object dtype  # None: objects
    cdef readonly tuple shape
    cdef readonly int64_t first  # row from which on values are kept
    cdef readonly int64_t bytes  # in memory
    cdef readonly int64_t spilled  # bytes on disk
    cdef readonly VariableRows statistics
    cdef readonly VariableRows missing  # 1 for rows without a value; None as long as there are none
    cdef readonly int64_t written  # newest written row
    cdef public bint dormant  # older rows are on disk or dropped: the column cannot be rewritten
    cdef Kind kind
    cdef int typenum
    cdef bint huge
    cdef char* spare  # a retired chunk, reused for the next one
    cdef ptrdiff_t item, size
    cdef int shift
    cdef int64_t mask, oldest_chunk
    cdef ptrdiff_t capacity
    cdef char** chunks
    cdef wb_statistics run
    cdef list objects
    cdef int64_t objects_from
    cdef object file, path

    def __cinit__(self, str name, dtype=None, tuple shape=(), size_t statistics=0, int64_t first=0):
        self.name, self.first, self.written, self.objects_from = name, first, first - 1, first
        self._set(dtype, shape, statistics)
        self.oldest_chunk = first >> self.shift

    def __dealloc__(self):
        self._free()

    cdef void _free(self):
        cdef ptrdiff_t c
        for c in range(self.capacity):
            self._free_chunk(c)
        if self.spare != NULL:
            wb_free_chunk(self.spare, (self.mask + 1) * self.item)
            self.spare = NULL
        free(self.chunks)
        self.chunks, self.capacity, self.bytes = NULL, 0, 0

    cdef void _free_chunk(self, ptrdiff_t c):
        if self.huge and self.chunks[c] != NULL:
            wb_free_chunk(self.chunks[c], (self.mask + 1) * self.item)
        else:
            free(self.chunks[c])
        self.chunks[c] = NULL

    cdef int _set(self, dtype, tuple shape, size_t statistics) except -1:
        cdef ptrdiff_t rows
        self.dtype, self.shape = (None if dtype is None else np.dtype(dtype)), shape
        self.run = <wb_statistics>statistics
        if dtype is None:
            self.kind, self.objects, self.item, self.size = OBJECT, [], 8, 1
        else:
            self.size = 1
            for n in shape:
                self.size *= n
            self.item = max(1, self.size * self.dtype.itemsize)
            self.typenum = self.dtype.num
            self.kind = ARRAY if shape else FLOAT if self.dtype == np.float64 else WHOLE if self.dtype == np.int64 else NUMBER
        if statistics:
            self.statistics = VariableRows(self.name, np.float64, (7,), first=self.first)
        rows, self.shift = SCALAR_ROWS if self.item <= 64 else max(1, CHUNK_BYTES // self.item), 0
        self.huge = self.item >= HUGE_ITEM
        while (2 << self.shift) <= rows or (self.huge and self.item << self.shift < HUGE_CHUNK):
            self.shift += 1
        self.mask = (1 << self.shift) - 1
        return 0

    # -- writing ----------------------------------------------------------------------------------------------------
    cdef char* _slot(self, int64_t row) except NULL:
        cdef ptrdiff_t c = row >> self.shift, old = self.capacity
        cdef char** more
        global _grown
        if c >= old:
            more = <char**>realloc(self.chunks, (2 * c + 8) * sizeof(char*))
            if more == NULL:
                raise MemoryError("no memory for another chunk of rows")
            memset(more + old, 0, (2 * c + 8 - old) * sizeof(char*))
            self.chunks, self.capacity = more, 2 * c + 8
        if self.chunks[c] == NULL:
            if self.spare != NULL:
                self.chunks[c], self.spare = self.spare, NULL
                memset(self.chunks[c], 0, (self.mask + 1) * self.item)
            elif self.huge:
                self.chunks[c] = wb_big_chunk((self.mask + 1) * self.item, True)
            else:
                self.chunks[c] = <char*>calloc(self.mask + 1, self.item)
            if self.chunks[c] == NULL:
                raise MemoryError("no memory for another chunk of rows")
            self.bytes += (self.mask + 1) * self.item
            _grown += 1
        return self.chunks[c] + (row & self.mask) * self.item

    cdef inline bint _put_fast(self, int64_t row, object value) except -1:
        """Write a value if it is of the kind of the column; True if it was written."""
        cdef int overflow = 0
        cdef long long whole
        cdef char* at
        cdef cnp.ndarray a
        if self.kind == FLOAT:
            if PyFloat_Check(value):
                (<double*>self._slot(row))[0] = PyFloat_AS_DOUBLE(value)
                return True
        elif self.kind == WHOLE:
            if PyLong_CheckExact(value):
                whole = PyLong_AsLongLongAndOverflow(value, &overflow)
                if not overflow:
                    (<int64_t*>self._slot(row))[0] = whole
                    return True
        elif self.kind == ARRAY and cnp.PyArray_CheckExact(value):
            a = <cnp.ndarray>value
            if (
                cnp.PyArray_TYPE(a) == self.typenum
                and self._same_shape(a)
                and cnp.PyArray_ISNOTSWAPPED(a)
                and cnp.PyArray_IS_C_CONTIGUOUS(a)
                and a.descr.itemsize * self.size == self.item
            ):
                at = self._slot(row)
                memcpy(at, cnp.PyArray_BYTES(a), self.item)
                if self.run != NULL:
                    self.run(at, self.size, <double*>self.statistics._slot(row))
                return True
        return False

    cdef inline bint _same_shape(self, cnp.ndarray a):
        cdef int d
        if cnp.PyArray_NDIM(a) != len(self.shape):
            return False
        for d in range(cnp.PyArray_NDIM(a)):
            if cnp.PyArray_DIM(a, d) != <Py_ssize_t>self.shape[d]:
                return False
        return True

    cdef int put(self, int64_t row, object value) except -1:
        """Write a value; NotRecordable for anything but a number or an array of numbers."""
        if not self._put_fast(row, value):
            self._put_any(row, as_numbers(value))
        self.written = row
        return 0

    def _put_any(self, int64_t row, a):
        if self.kind == OBJECT:
            self._put_object(row, a)
            return
        dtype = self.dtype
        if a.dtype != dtype:
            try:
                dtype = np.promote_types(dtype, a.dtype)
            except TypeError:
                dtype = None
        if a.shape != self.shape or dtype is None:
            self._become(None, ())
            self._put_object(row, a)
            return
        if dtype != self.dtype:
            self._become(dtype, self.shape)
        cdef char* at = self._slot(row)
        view = self._view(at, 1)
        view[0] = a
        if self.run != NULL:
            self.run(at, self.size, <double*>self.statistics._slot(row))

    cdef void _put_object(self, int64_t row, cnp.ndarray a):
        global _grown
        _grown += 1
        while self.objects_from + len(self.objects) < row:
            self.objects.append(None)
        self.objects.append(a.copy())
        self.bytes += a.nbytes + 160

    cdef object _view(self, char* at, ptrdiff_t rows):
        """(rows, *shape) array on the memory of a chunk."""
        cdef cnp.npy_intp n = rows * self.item
        return cnp.PyArray_SimpleNewFromData(1, &n, cnp.NPY_UINT8, at).view(self.dtype).reshape(rows, *self.shape)

    def _become(self, dtype, tuple shape):
        """Change the dtype of all rows; NotRecordable if older ones cannot be rewritten."""
        if self.dormant:
            new = "arrays of other shapes" if dtype is None else dtype
            raise NotRecordable(f"it was {self.dtype}{list(self.shape)}, older rows are on disk or gone, and now come {new}")
        from workbench.kernels.typed import statistics
        rows = np.arange(self.first, self.written + 1, dtype=np.int64)
        values = self.take(rows)
        absent = None if self.missing is None else self.missing.take(rows)
        old = self.statistics
        self._free()
        self.statistics = None
        run = statistics(np.dtype(dtype).name) if dtype is not None and shape else None
        self._set(dtype, shape, run or 0)
        self.oldest_chunk = self.first >> self.shift
        for k, row in enumerate(rows.tolist()):
            if absent is not None and absent[k]:
                continue
            if dtype is None:
                self._put_object(row, np.asarray(values[k]))
            else:
                self._view(self._slot(row), 1)[0] = values[k]
                if self.run != NULL:
                    self.run(self._slot(row), self.size, <double*>self.statistics._slot(row))

    cdef int absent(self, int64_t row) except -1:
        """Record that the variable has no value in a row."""
        if self.missing is None:
            self.missing = VariableRows(self.name, np.bool_)
        self.missing._slot(row)[0] = 1
        return 0

    # -- older rows ---------------------------------------------------------------------------------------------------
    cdef int64_t total(self):
        cdef int64_t n = self.bytes
        if self.statistics is not None:
            n += self.statistics.bytes
        if self.missing is not None:
            n += self.missing.bytes
        return n

    def retire(self, folder):
        """Move the oldest chunk to a file in ``folder``, or drop it (None). Returns the number of bytes freed; 0 if
        only the newest chunk is left.
        """
        cdef int64_t c = self.oldest_chunk, half, freed = 0
        if self.kind == OBJECT:
            half = len(self.objects) // 4
            for k in range(half):
                if self.objects[k] is not None:
                    freed += self.objects[k].nbytes + 160
            if half:
                self.first = self.objects_from + half
                self.objects, self.objects_from, self.dormant = self.objects[half:], self.objects_from + half, True
                self.bytes -= freed
            return freed
        if c >= self.written >> self.shift or c >= self.capacity:
            return 0
        if self.chunks[c] != NULL:
            if folder is not None:
                self._to_file(folder, c)
            if self.huge and self.spare == NULL:
                self.spare, self.chunks[c] = self.chunks[c], NULL
            else:
                self._free_chunk(c)
            freed = (self.mask + 1) * self.item
            self.bytes -= freed
        self.dormant = True
        self.oldest_chunk = c + 1
        if folder is None:
            self.first = max(self.first, (c + 1) << self.shift)
        return max(freed, 1)

    def _to_file(self, folder, int64_t c):
        if self.file is None:
            os.makedirs(folder, exist_ok=True)
            safe = "".join(x if x.isalnum() else "_" for x in self.name)[:40]
            self.path = os.path.join(folder, f"{safe}-{os.urandom(8).hex()}.rows")
            self.file = open(self.path, "x+b", buffering=0)
        size = (self.mask + 1) * self.item
        data = memoryview(self._bytes(self.chunks[c], size))
        done = 0
        while done < size:
            done += os.pwrite(self.file.fileno(), data[done:], c * size + done)
        self.spilled += size

    cdef object _bytes(self, char* at, ptrdiff_t size):
        cdef cnp.npy_intp n = size
        return cnp.PyArray_SimpleNewFromData(1, &n, cnp.NPY_UINT8, at)

    def close(self):
        """Remove the file of the spilled rows, which can no longer be read."""
        if self.file is not None:
            self.file.close()
            self.file = None
            try:
                os.unlink(self.path)
            except OSError:
                pass

    # -- reading ------------------------------------------------------------------------------------------------------
    def take(self, rows):
        """Values in these rows, int64: an array, or a list of arrays. LookupError for a row before ``first``."""
        cdef int64_t[::1] at = np.ascontiguousarray(rows, np.int64)
        cdef ptrdiff_t n = at.shape[0], k, c, loaded = -1
        cdef char* out
        cdef char* source
        cdef cnp.ndarray target
        if n and min(at[0], at[n - 1]) < self.first:
            raise LookupError(f"rows of {self.name!r} before {self.first} are not kept")
        if self.kind == OBJECT:
            objects, start = self.objects, self.objects_from
            return [objects[r - start] if r - start < len(objects) else None for r in np.asarray(at).tolist()]
        target = np.zeros(n * self.item, np.uint8)
        out = cnp.PyArray_BYTES(target)
        spare = None
        for k in range(n):
            c = at[k] >> self.shift
            source = self.chunks[c] if c < self.capacity else NULL
            if source == NULL and self.file is not None and c < self.oldest_chunk:
                if c != loaded:
                    spare = np.zeros((self.mask + 1) * self.item, np.uint8)
                    block = os.pread(self.file.fileno(), spare.nbytes, c * spare.nbytes)
                    spare[: len(block)] = np.frombuffer(block, np.uint8)
                    loaded = c
                source = cnp.PyArray_BYTES(<cnp.ndarray>spare)
            if source != NULL:
                memcpy(out + k * self.item, source + (at[k] & self.mask) * self.item, self.item)
        return target.view(self.dtype).reshape(n, *self.shape)


def as_numbers(value):
    """A value as an array of numbers; NotRecordable for anything else."""
    if not isinstance(value, np.ndarray):
        detach = getattr(value, "detach", None)
        if detach is not None:
            value = detach()
            cpu = getattr(value, "cpu", None)
            value = cpu() if cpu is not None else value
    try:
        a = np.asarray(value)
    except Exception as error:
        raise NotRecordable(f"it is a {type(value).__name__} that cannot be made an array ({error})") from None
    if a.dtype.kind not in "biufc" and not (a.dtype.kind == "V" and a.dtype.names is None and a.dtype.itemsize <= 2):
        if a.dtype == object and a.ndim == 0 and type(value) is int:
            return np.array(float(value))
        raise NotRecordable(f"it is a {type(value).__name__} of dtype {a.dtype}, not a number or an array of numbers")
    if a.dtype.hasobject:
        raise NotRecordable(f"it has dtype {a.dtype}")
    if a.dtype in (np.longdouble, np.clongdouble):
        a = a.astype(np.float64 if a.dtype.kind == "f" else np.complex128)
    return a.astype(a.dtype.newbyteorder("="), copy=False)
