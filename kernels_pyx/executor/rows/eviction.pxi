# The budget: the memory of a machine, the rows that are dropped to make room, and the hooks that receive them
# (machine.pyi: Machine).
#
# Everything that grows with the run counts: chunks, memory of their objects, activations, checkpoints, memory reported
# by a keeper of retired rows. Room is made before memory is taken. The store that holds most loses its oldest rows: a
# chunk, or some rows of an incomplete chunk with large objects.

cdef enum:
    LEAST_CHUNK = 4096
    CHUNKS_EACH = 6  # number of chunks into which a budget is divided, for every store: two or three stay


cdef long long held_bytes(Machine m) noexcept nogil:
    cdef long long held = m.reserved_bytes + m.checkpoint_bytes
    cdef int s
    for s in range(m.e.n_stores):
        held += kept_bytes(&m.e.frames[s])
    return held


cdef long long chunk_wanted(Machine m) noexcept:
    """Bytes of a chunk: small ones for a small budget, because chunks are dropped whole."""
    cdef long long stores = max(1, m.e.n_stores - 1)
    if m.budget <= 0:
        return HUGE_BYTES
    return min(<long long>HUGE_BYTES, max(<long long>LEAST_CHUNK, m.budget // (CHUNKS_EACH * stores)))


cdef inline long long chunk_to_come(Rows* rows) noexcept nogil:
    """Bytes that the next row of a store takes from the system."""
    cdef long long more = <long long>rows.chunk_bytes if rows.spare == NULL else 0
    if not at_end(rows):
        return 0
    if rows.n_chunks - rows.base_chunk == rows.capacity:  # the directory may have to grow
        more += (rows.capacity + 8) * <long long>sizeof(char*)
    return more


cdef inline long long rows_to_spare(Rows* rows) noexcept nogil:
    """Rows below this one may be dropped: the last complete row stays, and also the row before it, which it reads."""
    return rows.row - 1 if at_end(rows) else rows.row - 2


cdef inline bint droppable(Rows* rows) noexcept nogil:
    cdef long long more = rows.scratch_bytes > 0  # the first kept row is computed again from the one before it
    return rows.n_chunks - rows.first_chunk >= 2 and (rows.first_chunk + 1) * rows.per_chunk + more <= rows_to_spare(rows)


cdef inline Rows* needing(Machine m, int s) noexcept nogil:
    """The arrays of a frame that are computed again from its rows, so they are dropped before these. NULL: there are
    none.
    """
    cdef int arrays = m.e.array_store[s] if s < m.e.n_frames else -1
    return &m.e.frames[arrays] if arrays >= 0 and m.e.frames[arrays].scratch_bytes else NULL


cdef long long activation_of(Rows* rows, long long row) noexcept nogil:
    """The last activation of a frame that begins at or before a row; at least the first one that still counts."""
    cdef long long low = rows.first_act, high = rows.n_acts, middle
    while low + 1 < high:
        middle = (low + high) // 2
        if act_start(rows, middle) <= row:
            low = middle
        else:
            high = middle
    return low


cdef long long tied_bytes(Machine m, int s) noexcept nogil:
    """Bytes of activations of the frame enclosing s that are kept only because rows of s refer to them."""
    cdef Rows* rows = &m.e.frames[s]
    cdef Rows* around
    cdef long long low
    if s >= m.e.n_frames or m.program.frames[s].parent <= 0 or rows.n_acts <= rows.first_act or rows.first_row > rows.row:
        return 0
    around = &m.e.frames[m.program.frames[s].parent]
    low = act_parent(rows, rows.first_act)
    return ACT_BYTES // ACTS * (activation_of(around, around.first_row) - activation_of(around, low)) if low < around.first_row else 0


cdef long long rows_that_may_go(Machine m, int s) noexcept nogil:
    """Rows of a store below this one may be dropped if memory is short: all rows of a frame whose last activation
    belongs to a dropped iteration of the enclosing frame.
    """
    cdef Rows* rows = &m.e.frames[s]
    cdef Rows* around
    if s < m.e.n_frames and m.program.frames[s].parent > 0 and rows.n_acts > 0:
        around = &m.e.frames[m.program.frames[s].parent]
        if act_parent(rows, rows.n_acts - 1) < min(around.first_row, around.row):
            return rows.row + 1 if needing(m, s) == NULL else min(rows.row + 1, needing(m, s).first_row)
    return rows_to_spare(rows) if needing(m, s) == NULL else min(rows_to_spare(rows), needing(m, s).first_row)


cdef int victim(Machine m) noexcept nogil:
    """The largest store that can lose rows, or -1."""
    cdef int s, target, found = -1
    cdef long long most = 0, weight, tied
    cdef Rows* rows
    cdef Rows* arrays
    for s in range(1, m.e.n_stores):  # the outermost level has one row
        rows = &m.e.frames[s]
        if s == m.e.array_store[0] or rows.row < 0:
            continue
        weight = tied = tied_bytes(m, s)
        target = s
        arrays = needing(m, s)
        if arrays != NULL and droppable(rows) and (rows.first_chunk + 1) * rows.per_chunk > arrays.first_row:
            target = m.e.array_store[s]
            weight = (rows.n_chunks - rows.first_chunk) * <long long>rows.chunk_bytes if droppable(arrays) else 0
        elif droppable(rows):
            weight += (rows.n_chunks - rows.first_chunk) * <long long>rows.chunk_bytes + rows.object_bytes
        elif (rows.object_bytes > 0 or tied > 0) and rows.first_row < rows_that_may_go(m, s):
            weight += rows.object_bytes
        else:
            weight = 0
        if weight > most:
            found, most = target, weight
    return found


cdef int make_room(Machine m, int f, long long more) noexcept nogil:
    """Drop rows until ``more`` bytes and the next row of frame f (-1: none) fit the budget, or no more rows may be
    dropped; -1 if the retire hook raised.
    """
    cdef Rows* rows = NULL
    cdef Rows* arrays = NULL
    cdef long long wanted, chunk, row
    cdef int s
    if m.retiring:
        return 0
    if f >= 0:
        rows = &m.e.frames[f]
        if m.e.array_store[f] >= 0:
            arrays = &m.e.frames[m.e.array_store[f]]
    if arrays != NULL and m.window > 0 and at_end(arrays):
        while droppable(arrays) and (arrays.n_chunks - arrays.first_chunk + 1) * <long long>arrays.chunk_bytes > m.window:
            if shed(m, m.e.array_store[f]) < 0:
                return -1
    while m.budget > 0:
        wanted = more
        if rows != NULL:
            wanted += chunk_to_come(rows)
        if arrays != NULL:
            wanted += chunk_to_come(arrays)
        if held_bytes(m) + wanted <= m.budget:
            return 0
        s = victim(m)
        if s < 0:
            return 0
        chunk, row = m.e.frames[s].first_chunk, m.e.frames[s].first_row
        if shed(m, s) < 0:
            return -1
        if m.e.frames[s].first_chunk == chunk and m.e.frames[s].first_row == row:
            return 0  # all rows of its chunk were dropped, but the chunk stays
    return 0


cdef int shed(Machine m, int s) noexcept nogil:
    """Retire and drop the oldest chunk of a store, or a part of its rows; -1 if the hook raised, and they are kept."""
    cdef Rows* rows = &m.e.frames[s]
    cdef bint whole = droppable(rows)
    cdef long long begin = rows.first_chunk * rows.per_chunk
    cdef long long start = max(rows.first_row, begin)
    cdef long long upto = begin + rows.per_chunk
    if rows.scratch_bytes:
        return shed_computed(m, s)
    if not whole:
        upto = min(upto, start + max(<long long>1, (rows_that_may_go(m, s) - start) // 4))
    if m.retire is not None and upto > start and retire_rows(m, s, start, upto) < 0:
        return -1
    if rows.n_objects:
        with gil:  # the first kept row reads the row before it
            release_objects(
                rows, rows.chunks[rows.first_chunk - rows.base_chunk], 0 if whole else start - begin,
                rows.per_chunk + 1 if whole else upto - begin,
            )
    if whole:
        drop_oldest(rows, m.lock)
        if not at_end(rows):  # another store wants the room
            free_chunk(rows, rows.spare)
            rows.spare = NULL
        m.dropped_chunks += 1
    else:
        first_readable(rows, upto, m.lock)
    while s > 0 and s < m.e.n_frames:
        forget_activations(m, s)
        s = m.program.frames[s].parent
    return 0


cdef int shed_computed(Machine m, int s) noexcept nogil:
    """The same for a store of arrays that are computed again: drops its oldest chunk, and also the row after it."""
    cdef Rows* rows = &m.e.frames[s]
    cdef long long start = max(rows.first_row, rows.first_chunk * rows.per_chunk)
    cdef long long inside = (rows.first_chunk + 1) * rows.per_chunk, stop
    if not droppable(rows):
        return 0
    while m.retire is not None and start <= inside:
        stop = min(inside + 1, start + max(1, <long long>HUGE_BYTES // (rows.recorded + rows.scratch_bytes)))
        if not m.retire_computed and start < inside:
            stop = inside  # recorded values are passed in place
        if retire_rows(m, s, start, stop) < 0:
            return -1
        start = stop
        first_readable(rows, start, m.lock)
    drop_oldest(rows, m.lock)
    if not at_end(rows):  # another store wants the room
        free_chunk(rows, rows.spare)
        rows.spare = NULL
    m.dropped_chunks += 1
    return 0


cdef void forget_activations(Machine m, int f) noexcept nogil:
    """Drop activations without remaining rows to which no row of an inner frame refers."""
    cdef Rows* rows = &m.e.frames[f]
    cdef Rows* inner
    cdef long long low = rows.first_row, first
    cdef int c
    for c in range(f + 1, m.e.n_frames):
        inner = &m.e.frames[c]
        if m.program.frames[c].parent == f and inner.n_acts > inner.first_act and inner.first_row <= inner.row:
            low = min(low, act_parent(inner, inner.first_act))
    first = activation_of(rows, low)
    if first != rows.first_act:
        PyThread_acquire_lock(m.lock, 1)
        free_blocks(rows, rows.first_act // ACTS, first // ACTS)
        rows.first_act = first
        PyThread_release_lock(m.lock)


cdef int retire_rows(Machine m, int s, long long start, long long stop) noexcept with gil:
    """Pass rows of the oldest chunk of a store to the retire hook; -1 if it raised."""
    cdef Rows* rows = &m.e.frames[s]
    cdef char* at = row_address(rows, start)
    cdef cnp.npy_intp dims[2]
    cdef long long k
    cdef PyObject* item
    dims[0], dims[1] = stop - start, rows.row_bytes
    m.retiring = True
    try:
        if rows.scratch_bytes and m.retire_computed:
            window = whole_rows(m, s, start, stop)
        else:
            window = cnp.PyArray_SimpleNewFromData(2, dims, cnp.NPY_UINT8, <void*>at)
        window.flags.writeable = False
        objects = {}
        for n in range(rows.n_objects):
            column = []
            for k in range(stop - start):
                item = (<PyObject**>(at + k * rows.row_bytes + rows.object_offsets[n]))[0]
                column.append(None if item == NULL else <object>item)
            objects[rows.object_offsets[n]] = column
        with Subnormals(False):  # the hook is not part of the program
            m.retire(s, start, window, objects)
        if Py_REFCNT(window) > 1:
            raise BufferError("the retire hook kept the rows that it was shown, whose memory is used again: copy them")
    except BaseException as error:
        m.error = error
        m.retire_failed = True
        return -1
    finally:
        m.retiring = False
    return 0


cdef object rewind_rows(Machine m, Snapshot snap):
    """Call the rewind hook for every store in which going to a snapshot rewrites retired rows."""
    cdef int store, f
    cdef long long row
    frame_of = {m.e.array_store[f]: f for f in range(m.e.n_frames) if m.e.array_store[f] >= 0}
    for store in range(m.e.n_stores):
        f = store if store < m.e.n_frames else frame_of[store]
        # the row in progress, or the one after the last of a frame that is not open there
        row = max(<long long>0, <long long>snap.rows[store][0] + (0 if f in snap.live else 1))
        if row < m.e.frames[store].first_row:
            m.rewind(store, row)
