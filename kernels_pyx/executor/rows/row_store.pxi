# Row storage of one frame: the executor computes directly in the rows that the trace keeps.
#
# A frame has one row per iteration and one more, the init row, before every activation: it holds the start values of
# the loop, in the columns of the values that the loop carries. So "the loop variable in this iteration" is always "its
# column in the previous row".
#
# Arrays of known shape are in a second store of the same frame, whose rows correspond to those of the first. There the
# previous row is found by a separate address instead of the copy.
#
#   chunk:   | carry | row 0 | row 1 | ... | row R-1 |      carry = copy of the last row of the chunk before, so that
#                                                           "the row before" is one row_bytes away everywhere
#
# One thread writes. Any thread reads complete rows; it holds the lock while it does, because chunks can be dropped.

cdef enum:
    HUGE_BYTES = 2097152  # one transparent huge page
    POOL_CHUNKS = 128
    CACHED_BYTES = 25165824  # beyond this, the last-level cache holds little
    ACTS = 256             # activations of a block ...
    ACT_BYTES = 4096       # ... and its bytes

cdef void release_objects(Rows* rows, char* chunk, long long start, long long stop) noexcept:
    """Drop the references in object columns of slots ``start`` to ``stop`` of a chunk; slot 0 is the carry row."""
    cdef long long slot
    cdef int k
    cdef PyObject** where
    for slot in range(start, stop):
        for k in range(rows.n_objects):
            where = <PyObject**>(chunk + slot * rows.row_bytes + rows.object_offsets[k])
            if where[0] != NULL:
                rows.object_bytes -= object_size(where[0])
                Py_DECREF(<object>where[0])
                where[0] = NULL


cdef void hold_row_objects(Rows* rows, char* row) noexcept:
    """Take references for the objects in a copied row."""
    cdef int k
    cdef PyObject* held
    for k in range(rows.n_objects):
        held = (<PyObject**>(row + rows.object_offsets[k]))[0]
        if held != NULL:
            rows.object_bytes += object_size(held)
            Py_INCREF(<object>held)


cdef long long row_objects(Rows* rows, char* row) noexcept:
    """Bytes that the objects of one row hold."""
    cdef int k
    cdef PyObject* held
    cdef long long found = 0
    for k in range(rows.n_objects):
        held = (<PyObject**>(row + rows.object_offsets[k]))[0]
        if held != NULL:
            found += object_size(held)
    return found


cdef class HeldElsewhere:
    """Base of objects whose ``nbytes`` bytes are not in this process, such as arrays on a device. In rows they count
    like arrays.
    """

    cdef readonly long long nbytes

    def __init__(self, long long nbytes):
        self.nbytes = nbytes


cdef long long object_size(PyObject* item) noexcept:
    """Bytes of an array; a view counts in full, because it may be all that keeps its base alive."""
    if isinstance(<object>item, cnp.ndarray):
        return cnp.PyArray_NBYTES(<cnp.ndarray><object>item)
    return (<HeldElsewhere><object>item).nbytes if isinstance(<object>item, HeldElsewhere) else 0


cdef inline char* row_address(Rows* rows, long long row) noexcept nogil:
    return rows.chunks[row // rows.per_chunk - rows.base_chunk] + (row % rows.per_chunk + rows.carry) * rows.row_bytes


cdef inline bint at_end(Rows* rows) noexcept nogil:
    """Whether the next row needs a new chunk."""
    return rows.row < 0 or rows.cur + rows.row_bytes == rows.end


cdef long long kept_bytes(Rows* rows) noexcept nogil:
    """Bytes of a store: chunks, their objects, activations, directory."""
    cdef long long chunks = rows.n_chunks - rows.first_chunk + (rows.spare != NULL)
    cdef long long blocks = rows.act_blocks - rows.first_act // ACTS + (rows.act_spare != NULL)
    cdef long long held = chunks * <long long>rows.chunk_bytes + rows.object_bytes + rows.scratch_bytes
    return held + blocks * ACT_BYTES + (rows.act_room + rows.capacity) * 8


cdef void limit_rows(Rows* rows, long long stop_row) noexcept nogil:
    """Set where the loop must check: at the end of the current chunk, or before ``stop_row`` in it (-1: none)."""
    cdef long long c = rows.row // rows.per_chunk
    if rows.row < 0:
        return
    if rows.row < stop_row < (c + 1) * rows.per_chunk:
        rows.end = row_address(rows, stop_row)
    else:
        rows.end = rows.chunks[c - rows.base_chunk] + (rows.per_chunk + rows.carry) * rows.row_bytes


cdef int push_chunk(Rows* rows, PyThread_type_lock lock) noexcept nogil:
    """Append one chunk and make its first row current; -1 without memory."""
    cdef char* chunk = take_chunk(rows)
    cdef int done = 0
    if chunk == NULL:
        return -1
    PyThread_acquire_lock(lock, 1)
    if rows.n_chunks - rows.base_chunk == rows.capacity:
        done = room_in_directory(rows)
    if done == 0:
        rows.chunks[rows.n_chunks - rows.base_chunk] = chunk
        rows.n_chunks += 1
    PyThread_release_lock(lock)
    if done < 0:
        give_chunk(rows, chunk)
        return -1
    if rows.carry and rows.n_chunks > 1 and rows.row >= 0:
        memcpy(chunk, rows.cur, rows.row_bytes)
    rows.cur = chunk + rows.carry * rows.row_bytes
    rows.end = chunk + (rows.per_chunk + rows.carry) * rows.row_bytes
    return 0


cdef int room_in_directory(Rows* rows) noexcept nogil:
    """Make room for one more chunk, in the places of dropped chunks. The caller holds the lock."""
    cdef long long gone = rows.first_chunk - rows.base_chunk
    cdef long long capacity = rows.capacity * 2 + 8
    cdef char** grown
    if gone > rows.capacity // 2:
        memmove(rows.chunks, rows.chunks + gone, (rows.n_chunks - rows.first_chunk) * sizeof(char*))
        rows.base_chunk = rows.first_chunk
        return 0
    grown = <char**>realloc(rows.chunks, capacity * sizeof(char*))
    if grown == NULL:
        return -1
    rows.chunks = grown
    rows.capacity = capacity
    return 0


cdef void drop_oldest(Rows* rows, PyThread_type_lock lock) noexcept nogil:
    """Drop the oldest chunk, whose objects have been released."""
    cdef char* chunk
    PyThread_acquire_lock(lock, 1)
    chunk = rows.chunks[rows.first_chunk - rows.base_chunk]
    rows.chunks[rows.first_chunk - rows.base_chunk] = NULL
    rows.first_chunk += 1
    rows.edge = rows.scratch_bytes > 0
    rows.first_row = max(rows.first_row, rows.first_chunk * rows.per_chunk + rows.edge)
    PyThread_release_lock(lock)
    if rows.spare == NULL:
        rows.spare = chunk  # its pages are already mapped; large ones would be requested from the system repeatedly
    else:
        free_chunk(rows, chunk)  # if kept for the next run it would still count for this one, beyond its budget


cdef void first_readable(Rows* rows, long long row, PyThread_type_lock lock) noexcept nogil:
    """Mark rows before this one, which is in the oldest chunk, as no longer readable."""
    PyThread_acquire_lock(lock, 1)
    rows.first_row = row
    PyThread_release_lock(lock)


cdef void copy_column(Rows* rows, char* out, long long start, long long count, long long step, long long offset, int size) noexcept nogil:
    """Copy ``count`` items of ``size`` bytes, every ``step`` rows from ``start`` on; the caller holds the lock."""
    cdef long long k, row = start
    cdef char* at
    cdef long long stride = rows.row_bytes * step
    cdef long long left
    k = 0
    while k < count:
        at = row_address(rows, row) + offset
        left = (rows.per_chunk - row % rows.per_chunk + step - 1) // step  # items in this chunk
        if left > count - k:
            left = count - k
        row += left * step
        k += left
        if size == 8:
            while left > 0:
                (<long long*>out)[0] = (<long long*>at)[0]
                out += 8
                at += stride
                left -= 1
        else:
            while left > 0:
                memcpy(out, at, size)
                out += size
                at += stride
                left -= 1
