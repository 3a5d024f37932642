# Columns copied out of rows, all in one pass.

cdef struct Move:
    ptrdiff_t offset, size, row, step, last  # rows row, row + step, ... below last
    char* to


cdef inline void move_items(const char* rows, ptrdiff_t row_bytes, Move* m, ptrdiff_t stop) noexcept nogil:
    """Copy the items of a column up to row ``stop``, and record the progress."""
    cdef ptrdiff_t count = 0, k, leap = m.step * row_bytes, size = m.size
    cdef const char* a = rows + m.row * row_bytes + m.offset
    cdef char* to = m.to
    if m.row < stop:
        count = (stop - m.row + m.step - 1) // m.step
    if size == 8:
        for k in range(count):
            memcpy(to + 8 * k, a + k * leap, 8)
    elif size == 1:
        for k in range(count):
            to[k] = a[k * leap]
    elif size == 4:
        for k in range(count):
            memcpy(to + 4 * k, a + k * leap, 4)
    elif size == 2:
        for k in range(count):
            memcpy(to + 2 * k, a + k * leap, 2)
    else:
        for k in range(count):
            memcpy(to + size * k, a + k * leap, size)
    m.to += count * size
    m.row += count * m.step


cdef void move_all(const char* rows, ptrdiff_t row_bytes, ptrdiff_t start, ptrdiff_t stop, Move* moves, int n) noexcept nogil:
    """Copy tile by tile, so that the rows of a tile are read from memory once."""
    cdef ptrdiff_t tile = start
    cdef int k
    while tile < stop:
        tile += TILE
        for k in range(n):
            move_items(rows, row_bytes, &moves[k], min(tile, moves[k].last))


def gather(cnp.ndarray rows not None, list moves not None):
    """Copy columns of (n, row_bytes) uint8 rows with contiguous bytes in each row.

    ``moves`` are (offset, size, first row, step, target): a contiguous array, which takes one item of ``size`` bytes of
    each of these rows until it is full. ValueError if a column or a row does not exist, or a target is not such an
    array.
    """
    cdef int n = <int>len(moves), k = 0
    cdef ptrdiff_t offset, size, row, step, count, stop = 0, start = 0
    cdef cnp.ndarray target
    if rows.ndim != 2 or not cnp.PyArray_IS_C_CONTIGUOUS(rows) or rows.dtype != np.uint8:
        raise ValueError("gather: needs contiguous (n, row_bytes) uint8 rows")
    cdef ptrdiff_t n_rows = rows.shape[0], row_bytes = rows.shape[1]
    cdef Move* all_of_them = <Move*>malloc(max(1, n) * sizeof(Move))
    if all_of_them == NULL:
        raise MemoryError("no memory to gather columns")
    try:
        start = n_rows
        for offset, size, row, step, target in moves:
            if target is None or not cnp.PyArray_IS_C_CONTIGUOUS(target) or not cnp.PyArray_ISWRITEABLE(target):
                raise ValueError("gather: needs contiguous targets")
            if offset < 0 or size <= 0 or size > row_bytes - offset or row < 0 or step < 1:
                raise ValueError(f"gather: no column of {size} bytes at {offset} from row {row} by {step}")
            count = cnp.PyArray_NBYTES(target) // size
            if count and (row >= n_rows or count - 1 > (n_rows - 1 - row) // step):
                raise ValueError(f"gather: {n_rows} rows have fewer than {count} of those from {row} by {step}")
            all_of_them[k].offset, all_of_them[k].size, all_of_them[k].row = offset, size, row
            all_of_them[k].step, all_of_them[k].to = step, <char*>cnp.PyArray_DATA(target)
            all_of_them[k].last = row + (count - 1) * step + 1 if count else row
            start, stop = min(start, row), max(stop, all_of_them[k].last)
            k += 1
        with nogil:
            move_all(<const char*>cnp.PyArray_DATA(rows), row_bytes, start, stop, all_of_them, n)
    finally:
        free(all_of_them)
