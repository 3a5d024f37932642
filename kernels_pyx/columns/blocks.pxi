# Statistics of blocks of rows: of every series of a store in one pass, block by block.

cdef struct Gathered:
    ptrdiff_t offset, size
    char* items  # of the row before the block, then of its rows
    bint known[2]  # whether all items of the block have been described, for shift -1 and 0
    double found[2][7]


cdef struct Literal:
    int column, shift, expect


cdef struct Guarded:
    int first, stop  # its literals
    bint first_only
    ptrdiff_t count
    unsigned char* fires


cdef struct Series:
    int column, shift, guard
    wb_statistics run


cdef struct Record:  # BLOCK of the envelopes
    long long first, last, count
    double size, nan, inf, least, most, sum, sumsq


cdef inline void put_record(Record* out, ptrdiff_t* n, long long length, Record* new) noexcept nogil:
    """Begin a new block, or continue the last one."""
    cdef Record* old = &out[n[0] - 1]
    if n[0] == 0 or old.first // length != new.first // length:
        out[n[0]] = new[0]
        n[0] += 1
        return
    old.last = new.last
    old.count += new.count
    old.size += new.size
    old.nan += new.nan
    old.inf += new.inf
    old.least = new.least if new.least < old.least else old.least
    old.most = new.most if new.most > old.most else old.most
    old.sum += new.sum
    old.sumsq += new.sumsq


cdef class Blocks:
    """Describes blocks of the rows of one store.

    ``series`` are (offset, size, shift, address of a statistics kernel, guard, first only) of each; a guard has
    (offset, shift, expect) of its literals, which are bytes or int32 in the rows; shifts are 0 or -1.
    """

    cdef list columns, literals, guards, series
    cdef readonly ptrdiff_t row_bytes

    def __init__(self, series):
        self.columns, self.literals, self.guards, self.series = [], [], [], []
        self.row_bytes = 0
        guards = {}
        for offset, size, shift, address, guard, first_only in series:
            key = (tuple(guard), bool(first_only))
            if key not in guards:
                guards[key] = len(guards)
                start = len(self.literals)
                for at, moved, expect in guard:
                    if moved not in (0, -1) or not 0 <= expect <= 3:
                        raise ValueError(f"Blocks: no literal is seen by {moved} rows with {expect}")
                    self.literals.append((self._column(at, 4 if expect >= 2 else 1), moved, expect))
                self.guards.append((start, len(self.literals), bool(first_only)))
            if shift not in (0, -1) or not address:
                raise ValueError(f"Blocks: no series is seen by {shift} rows, described by {address}")
            self.series.append((self._column(offset, size, address), shift, guards[key], address))

    def _column(self, offset, size, kernel=0):
        if offset < 0 or size <= 0:
            raise ValueError(f"Blocks: no column of {size} bytes at {offset}")
        if (offset, size, kernel) not in self.columns:
            self.columns.append((offset, size, kernel))
            self.row_bytes = max(self.row_bytes, offset + size)
        return self.columns.index((offset, size, kernel))

    def describe(self, cnp.ndarray rows not None, before, long long first, begun, long long length, cnp.ndarray lasts not None):
        """Records of the blocks of each series, as a list of (k,) arrays like ``lasts``.

        Rows ``first``, first + 1, ... are ``rows``, (n, row_bytes) uint8; ``before`` is the row before them, or None:
        values that the first row reads from the row before have then not fired. A block has the rows of one multiple of
        ``length``. Activations begin at the rows ``begun``, ascending int64, which belong to no iteration. ``lasts``
        are the records of the last block of each series so far, of 80 bytes, with count 0 if there is none: the first
        records returned continue them. ValueError for rows that are too short or arrays of another form.
        """
        cdef cnp.ndarray starts = np.ascontiguousarray(begun, np.int64)
        cdef cnp.ndarray front = rows[:1] if before is None else before
        cdef ptrdiff_t n = rows.shape[0], k
        cdef int n_series = <int>len(self.series)
        if rows.ndim != 2 or not cnp.PyArray_IS_C_CONTIGUOUS(rows) or rows.dtype != np.uint8 or n == 0:
            raise ValueError("describe: needs contiguous (n, row_bytes) uint8 rows")
        if rows.shape[1] < self.row_bytes or front.ndim != 2 or front.shape[1] != rows.shape[1] or front.shape[0] < 1:
            raise ValueError(f"describe: needs rows of {self.row_bytes} bytes or more, and one like them in front")
        if lasts.ndim != 1 or lasts.shape[0] != n_series or lasts.dtype.itemsize != sizeof(Record) or length < 1 or first < 0:
            raise ValueError("describe: needs the last record of each series, a length and a first row")
        cdef ptrdiff_t width = (first + n - 1) // length - first // length + 2
        cdef cnp.ndarray out = np.zeros((n_series, width), lasts.dtype)
        cdef cnp.ndarray counts = (lasts["count"] > 0).astype(np.intp)
        out[:, 0] = lasts
        cdef ptrdiff_t most = min(<long long>n, length) + 1
        cdef Gathered* columns = <Gathered*>malloc(max(1, len(self.columns)) * sizeof(Gathered))
        cdef Move* moves = <Move*>malloc(max(1, len(self.columns)) * sizeof(Move))
        cdef Literal* literals = <Literal*>malloc(max(1, len(self.literals)) * sizeof(Literal))
        cdef Guarded* guards = <Guarded*>malloc(max(1, len(self.guards)) * sizeof(Guarded))
        cdef Series* series = <Series*>malloc(max(1, n_series) * sizeof(Series))
        cdef ptrdiff_t room = most * (16 + 2 + len(self.guards)) + sum([most * size + 64 for _, size, _ in self.columns])
        cdef ptrdiff_t widest = max([size for _, size, _ in self.columns], default=1)
        cdef char* scratch = <char*>malloc(room + most * widest + 64)
        cdef char* at = scratch
        cdef char* packed
        cdef int n_columns = <int>len(self.columns), n_guards = <int>len(self.guards)
        cdef bint bare = before is None
        try:
            if columns == NULL or moves == NULL or literals == NULL or guards == NULL or series == NULL or scratch == NULL:
                raise MemoryError("no memory to describe rows")
            packed, at = at, at + (most * widest + 63) // 64 * 64
            for k, (offset, size, _) in enumerate(self.columns):
                columns[k].offset, columns[k].size, columns[k].items = offset, size, at
                at += (most * columns[k].size + 63) // 64 * 64
            for k, (column, shift, expect) in enumerate(self.literals):
                literals[k].column, literals[k].shift, literals[k].expect = column, shift, expect
            for k, (start, stop, first_only) in enumerate(self.guards):
                guards[k].first, guards[k].stop, guards[k].first_only = start, stop, first_only
                guards[k].fires, at = <unsigned char*>at, at + most
            for k, (column, shift, guard, address) in enumerate(self.series):
                series[k].column, series[k].shift, series[k].guard = column, shift, guard
                series[k].run = <wb_statistics><size_t>address
            with nogil:
                _describe(
                    <const char*>cnp.PyArray_DATA(rows), <const char*>cnp.PyArray_DATA(front), n, rows.shape[1], first,
                    length, <const long long*>cnp.PyArray_DATA(starts), starts.shape[0], columns, moves,
                    n_columns, literals, guards, n_guards, series, n_series,
                    <Record*>cnp.PyArray_DATA(out), width, <ptrdiff_t*>cnp.PyArray_DATA(counts), at, packed, bare,
                )
        finally:
            free(columns)
            free(moves)
            free(literals)
            free(guards)
            free(series)
            free(scratch)
        return [out[k, :count] for k, count in enumerate(counts.tolist())]


cdef void _fires(Guarded* g, const Literal* literals, const Gathered* columns, const unsigned char* inside, ptrdiff_t m) noexcept nogil:
    """Mark the rows of the block in which a guard holds, and return their number."""
    cdef ptrdiff_t i, count = 0
    cdef const unsigned char* flags
    cdef const int* numbers
    cdef unsigned char expect
    cdef int k
    cdef unsigned char* fires = g.fires
    memcpy(fires, inside, m)
    for k in range(g.first, g.stop):
        if literals[k].expect < 2:
            expect = literals[k].expect
            flags = <const unsigned char*>columns[literals[k].column].items + 1 + literals[k].shift
            for i in range(m):
                fires[i] &= (flags[i] != 0) == expect
        else:
            expect = literals[k].expect == 2
            numbers = <const int*>columns[literals[k].column].items + 1 + literals[k].shift
            for i in range(m):
                fires[i] &= (numbers[i] >= 0) == expect
    for i in range(m):
        count += fires[i]
    g.count = count


cdef void _describe(
    const char* rows, const char* front, ptrdiff_t n, ptrdiff_t row_bytes, long long first, long long length,
    const long long* begun, ptrdiff_t n_begun, Gathered* columns, Move* moves, int n_columns, const Literal* literals,
    Guarded* guards, int n_guards, const Series* series, int n_series, Record* out, ptrdiff_t width, ptrdiff_t* counts,
    char* masks, char* packed, bint bare,
) noexcept nogil:
    cdef ptrdiff_t start = 0, stop, m, low, high, i, done, total, size
    cdef long long row
    cdef unsigned char* iteration = <unsigned char*>masks
    cdef unsigned char* opening
    cdef const unsigned char* fires
    cdef const char* items
    cdef int k, seen
    cdef Gathered* c
    cdef Record new
    cdef double found[7]
    cdef double* numbers
    while start < n:
        stop = min(<long long>n, ((first + start) // length + 1) * length - first)
        m = stop - start
        opening = iteration + m
        for k in range(n_columns):
            c = &columns[k]
            c.known[0] = c.known[1] = False
            memcpy(c.items, (front if start == 0 else rows + (start - 1) * row_bytes) + c.offset, c.size)
            moves[k].offset, moves[k].size, moves[k].row, moves[k].step = c.offset, c.size, start, 1
            moves[k].last, moves[k].to = stop, c.items + c.size
        move_all(rows, row_bytes, start, stop, moves, n_columns)
        memset(iteration, 1, m)
        memset(opening, 0, m)
        for i in range(n_begun):  # those up to the end of the block; the next block starts with the last one
            row = begun[i] - first - start
            if row >= m:
                break
            if row >= 0:
                iteration[row] = 0
            if -1 <= row < m - 1:
                opening[row + 1] = 1
        for i in range(n_begun):
            row = begun[i] - first - start
            if row >= m:
                break
            if row >= 0:
                opening[row] = 0
        while n_begun > 0 and begun[0] < first + stop - 1:
            begun += 1
            n_begun -= 1
        for k in range(n_guards):
            _fires(&guards[k], literals, columns, opening if guards[k].first_only else iteration, m)
        for k in range(n_series):
            c = &columns[series[k].column]
            seen, size = 1 + series[k].shift, c.size
            items = c.items + seen * size
            fires = guards[series[k].guard].fires
            low = 1 if bare and start == 0 and seen == 0 else 0  # there is no row before
            total = guards[series[k].guard].count - (low and fires[0])
            if total <= 0:
                continue
            high = m - 1
            numbers = found
            if total == m:
                numbers = c.found[seen]
                if not c.known[seen]:
                    series[k].run(items, m, numbers)
                    c.known[seen] = True
            else:
                while not fires[low]:
                    low += 1
                while not fires[high]:
                    high -= 1
                if high - low + 1 == total:
                    series[k].run(items + low * size, total, numbers)
                else:
                    done = 0
                    for i in range(low, high + 1):
                        memcpy(packed + done * size, items + i * size, size)
                        done += fires[i]
                    series[k].run(packed, total, numbers)
            new.first, new.last, new.count = first + start + low, first + start + high, total
            memcpy(&new.size, numbers, 7 * sizeof(double))
            put_record(out + k * width, &counts[k], length, &new)
        start = stop
