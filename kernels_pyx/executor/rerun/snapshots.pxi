# Snapshots: the state of a machine between two instructions, and going back to it.

cdef enum:
    # memory of Python objects: the snapshot, two dictionaries, two lists; for each store a tuple of four numbers
    SNAPSHOT_BYTES = 1024
    STORE_BYTES = 192
    # entries of each store's list of rewinds
    REWINDS = 32


cdef class Snapshot:
    """State of a machine between two instructions, sufficient to continue from there."""

    cdef readonly long long events
    cdef readonly int ip
    cdef long long base_events
    cdef list rows     # per frame: (row, activations)
    cdef dict live     # frame -> (bytes of the row before and the row in progress, objects of both)
    cdef dict arrays   # store of arrays -> (bytes that the next row reads, bytes of the row in progress or None)
    cdef set pins      # stores of arrays whose row in progress must be kept whole
    cdef Machine origin

    @property
    def bytes(self):
        """Bytes of the rows and arrays that it keeps alive, and of the snapshot itself."""
        cdef long long held = SNAPSHOT_BYTES + STORE_BYTES * len(self.rows)
        for raw, objects in self.live.values():
            held += len(raw)
            for item in objects:
                held += getattr(item, "nbytes", 0)
        for before, row in self.arrays.values():
            held += 0 if row is None else len(row)
            for piece in before:
                held += 0 if piece is None else len(piece)
        return held

    def row(self, int frame):
        """Row in progress of a frame; -1 before its first activation."""
        return self.rows[frame][0]

    def counts(self, int frame):
        """(row in progress, number of activations, init row and parent row of the last one, or -1)."""
        return self.rows[frame]


def snapshot(Machine machine not None, active):
    """Copy the state; ``active`` lists the frames that are open at the machine's position, including the outermost."""
    cdef Snapshot s = Snapshot()
    cdef Rows* rows
    cdef int f, k
    cdef long long back
    s.ip = machine.ip
    s.base_events = machine.e.events
    s.events = machine.e.events + machine.e.code[machine.ip].ev_index
    s.rows = [_counts(&machine.e.frames[f]) for f in range(machine.e.n_stores)]
    s.live, s.arrays, s.origin, s.pins = {}, {}, machine, set()
    for f in range(machine.e.n_frames):
        rows = &machine.e.frames[max(0, machine.e.array_store[f])]
        if rows.pinning and f in active:
            s.pins.add(machine.e.array_store[f])
        elif rows.pinning and pin_row(rows, machine.lock) < 0:
            raise MemoryError("no memory for a checkpoint")
    for f in active:
        if machine.e.array_store[f] >= 0 and f > 0:
            s.arrays[machine.e.array_store[f]] = _array_rows(machine, f, s.ip)
        elif machine.e.array_store[f] >= 0 and s.ip > 0:
            s.arrays[machine.e.array_store[f]] = _shared_arrays(machine), None
        rows = &machine.e.frames[f]
        raw = (rows.cur - rows.row_bytes)[: 2 * rows.row_bytes]
        objects = []
        for back in range(2):
            for k in range(rows.n_objects):
                objects.append(_object_at(rows.cur - (1 - back) * rows.row_bytes + rows.object_offsets[k]))
        s.live[f] = (raw, objects)
    return s


cdef tuple _array_rows(Machine machine, int f, int ip):
    """Values in a frame's array rows that cannot be computed from here on: those of the previous row that the row in
    progress reads, and the row in progress itself, unless its iteration has not begun. (The single row of the outermost
    level never changes once it is computed; restore takes it from the machine itself.)
    """
    cdef int store = machine.e.array_store[f]
    cdef Rows* rows = &machine.e.frames[store]
    cdef char* before = machine.e.base[wb_base_of(&machine.e, store) + 1]
    kept = []
    for start, size in machine.program.stores[store - machine.e.n_frames][2]:
        kept.append((before + <int>start)[: <Py_ssize_t>size] if before != NULL else None)
    if ip == machine.program.heads.get(f):
        return kept, None
    rest = (rows.scratch + rows.recorded)[: rows.scratch_bytes] if rows.scratch_bytes else b""
    return kept, rows.cur[: rows.row_bytes] + rest


cdef list _shared_arrays(Machine machine):
    """Content of the memory of the outermost level that is shared by several arrays."""
    cdef int store = machine.e.array_store[0]
    cdef char* cur = machine.e.frames[store].cur
    return [(cur + <int>start)[: <Py_ssize_t>size] for start, size in machine.program.stores[store - machine.e.n_frames][2]]


cdef tuple _counts(Rows* rows):
    """(row, activations, init row and parent row of the last activation)."""
    if rows.n_acts == 0:
        return rows.row, 0, -1, -1
    return rows.row, rows.n_acts, act_start(rows, rows.n_acts - 1), act_parent(rows, rows.n_acts - 1)


cdef object _object_at(char* where):
    cdef PyObject* item = (<PyObject**>where)[0]
    return None if item == NULL else <object>item


def restore(Machine machine not None, Snapshot s not None):
    """Go back (or, in a new machine, forward) to a snapshot; later rows are dropped, earlier ones stay readable."""
    cdef int f
    if machine.rewind is not None:
        rewind_rows(machine, s)
    machine.epoch += 1
    machine.ip = s.ip
    machine.e.events = s.base_events
    machine.error = None
    machine.status = POLL
    machine.next_release = 0  # objects that the snapshot brings back are released again
    for f in range(machine.e.n_stores):
        row, acts, start, parent = s.rows[f]
        if f < machine.e.n_frames:
            _note_rewind(machine, f, row)
            _seek(machine, f, row, s.live.get(f))
        else:
            outermost = f == machine.e.array_store[0]
            live = None if outermost else s.arrays.get(f)
            _note_rewind(machine, f, row)
            _seek_arrays(machine, f, row, live is None and not outermost, live)
            machine.e.frames[f].pinning = s.pins is not None and f in s.pins
        _set_activations(machine, &machine.e.frames[f], acts, start, parent)
    forget_edits(machine, s.events)
    if machine.e.array_store[0] >= 0 and s.origin is not machine:
        f = machine.e.array_store[0]
        memcpy(machine.e.frames[f].cur, s.origin.e.frames[f].cur, machine.e.frames[f].row_bytes)
    if machine.e.array_store[0] in s.arrays:
        _write_shared(machine, s.arrays[machine.e.array_store[0]][0])
    point_again(machine)
    machine.epoch += 1


cdef object _write_shared(Machine machine, list pieces):
    cdef int store = machine.e.array_store[0]
    cdef const char* source
    for (start, size), raw in zip(machine.program.stores[store - machine.e.n_frames][2], pieces):
        source = <bytes>raw
        memcpy(machine.e.frames[store].cur + <int>start, source, <size_t>size)


cdef object _set_activations(Machine machine, Rows* rows, long long acts, long long start, long long parent):
    """Drop later activations. If earlier ones are missing in this machine, only the last counts."""
    cdef bint lost = acts > rows.n_acts or acts <= rows.first_act
    cdef long long* block
    cdef long long** room
    if lost and acts > 0 and rows.act_spare == NULL:
        rows.act_spare = <long long*>malloc(ACT_BYTES)
    with nogil:
        PyThread_acquire_lock(machine.lock, 1)
        if lost and acts > 0 and rows.act_room == 0:
            room = <long long**>realloc(rows.acts, 4 * sizeof(long long*))
            if room != NULL:
                rows.acts, rows.act_room = room, 4
        block = rows.act_spare
        if lost and acts > 0 and block != NULL and rows.act_room > 0:
            free_blocks(rows, rows.first_act // ACTS, rows.act_blocks)
            rows.act_spare = NULL
            rows.base_act = (acts - 1) // ACTS
            rows.act_blocks = rows.base_act + 1
            rows.acts[0] = block
            rows.n_acts, rows.first_act = acts, acts - 1
        elif acts == 0:
            free_blocks(rows, rows.first_act // ACTS, rows.act_blocks)
            rows.base_act = rows.act_blocks = rows.n_acts = rows.first_act = 0
        elif not lost:
            free_blocks(rows, (acts - 1) // ACTS + 1, rows.act_blocks)
            rows.act_blocks = (acts - 1) // ACTS + 1
            rows.n_acts = acts
        if acts > 0 and rows.n_acts == acts:
            set_activation(rows, acts - 1, start, parent)
        PyThread_release_lock(machine.lock)
    if rows.n_acts != acts:
        raise MemoryError("no memory to go back to a checkpoint")


cdef object _note_rewind(Machine machine, int store, long long row):
    """Record that rows of a store from ``row`` on will be rewritten, in a bounded list whose oldest entries are
    merged.
    """
    noted = [entry for entry in machine.rewound.get(store, ()) if entry[1] < row]
    noted.append((machine.epoch + 1, row))
    if len(noted) > REWINDS:
        (_, lowest), (epoch, _), *newer = noted
        noted = [(epoch, lowest), *newer]
    machine.rewound[store] = noted


cdef object _seek(Machine machine, int f, long long row, object live):
    """Make ``row`` the row in progress of a frame, or the last one of a closed frame (``live`` is None then); later
    rows are dropped.
    """
    cdef Rows* rows = &machine.e.frames[f]
    cdef long long chunk = row // rows.per_chunk if row >= 0 else -1
    cdef long long next_row = row + (live is None)
    cdef long long c, n_gone = 0
    cdef bint lost = chunk >= 0 and (chunk < rows.first_chunk or chunk >= rows.n_chunks)
    cdef char* fresh = NULL
    cdef char** gone = <char**>calloc(rows.n_chunks - rows.first_chunk + 1, sizeof(char*))
    if gone == NULL or (lost and _room_for(machine, rows) < 0):
        free(gone)
        raise MemoryError("no memory to go back to a checkpoint")
    if lost:
        fresh = take_chunk(rows)
        if fresh == NULL:
            free(gone)
            raise MemoryError("no memory to go back to a checkpoint")
    # unpublish the chunks first, then return them
    with nogil:
        PyThread_acquire_lock(machine.lock, 1)
        wb_publish(&rows.row, row)
        for c in range(rows.first_chunk if lost else max(rows.first_chunk, chunk + 1), rows.n_chunks):
            gone[n_gone] = rows.chunks[c - rows.base_chunk]
            n_gone += 1
            rows.chunks[c - rows.base_chunk] = NULL
        if lost:
            rows.chunks[0] = fresh
            rows.base_chunk = rows.first_chunk = chunk
            rows.first_row = next_row  # the last row of a closed frame is missing
        elif chunk < 0:
            rows.base_chunk = rows.first_chunk = 0
            rows.first_row = 0
        else:
            rows.first_row = min(rows.first_row, next_row)
        rows.n_chunks = chunk + 1
        PyThread_release_lock(machine.lock)
    for c in range(n_gone):
        if rows.n_objects:
            release_objects(rows, gone[c], 0, rows.per_chunk + 1)
        give_chunk(rows, gone[c])
    free(gone)
    if chunk >= 0:
        rows.cur = row_address(rows, row)
        limit_rows(rows, -1)
        machine.e.base[f + 1] = rows.cur
    else:
        rows.cur = rows.end = NULL
    if live is not None:
        _write_live(machine, rows, live)


cdef object _seek_arrays(Machine machine, int store, long long row, bint closed, object live):
    """The same for a store of arrays, which also needs the row before ``row``, wherever that is."""
    cdef Rows* rows = &machine.e.frames[store]
    cdef int base = wb_base_of(&machine.e, store)
    cdef long long low = max(<long long>0, row - 1) // rows.per_chunk
    cdef long long high = row // rows.per_chunk if row >= 0 else -1
    cdef long long next_row = row + closed
    cdef long long c, n_gone = 0
    cdef bint lost = row >= 0 and (low < rows.first_chunk or high >= rows.n_chunks)
    cdef char* fresh[2]
    cdef char** gone = <char**>calloc(rows.n_chunks - rows.first_chunk + 1, sizeof(char*))
    fresh[0] = fresh[1] = NULL
    if lost:
        fresh[0] = take_chunk(rows)
        fresh[1] = take_chunk(rows) if high > low else NULL
    if gone == NULL or (lost and (fresh[0] == NULL or (high > low and fresh[1] == NULL) or _room_for(machine, rows) < 0)):
        free(gone)
        give_chunk(rows, fresh[0])
        give_chunk(rows, fresh[1])
        raise MemoryError("no memory to go back to a checkpoint")
    with nogil:
        PyThread_acquire_lock(machine.lock, 1)
        wb_publish(&rows.row, row)
        for c in range(rows.first_chunk if lost else max(rows.first_chunk, high + 1), rows.n_chunks):
            gone[n_gone] = rows.chunks[c - rows.base_chunk]
            n_gone += 1
            rows.chunks[c - rows.base_chunk] = NULL
        if lost:
            rows.chunks[0] = fresh[0]
            if high > low:
                rows.chunks[1] = fresh[1]
            rows.base_chunk = rows.first_chunk = low
            rows.first_row = next_row
            rows.edge = 0
        elif row < 0:
            rows.base_chunk = rows.first_chunk = 0
            rows.first_row = rows.edge = 0
        elif next_row < rows.first_row:
            rows.first_row, rows.edge = next_row, 0
        rows.n_chunks = high + 1
        drop_pins(rows, row if closed else row - 1)
        PyThread_release_lock(machine.lock)
    for c in range(n_gone):
        give_chunk(rows, gone[c])
    free(gone)
    rows.cur = rows.end = NULL
    if row >= 0:
        rows.cur = row_address(rows, row)
        limit_rows(rows, -1)
    machine.e.base[base] = rows.cur
    machine.e.base[base + 1] = row_address(rows, row - 1) if row > 0 else NULL
    if live is not None:
        _write_arrays(machine, store, live)


cdef object _write_arrays(Machine machine, int store, tuple live):
    cdef char* before = machine.e.base[wb_base_of(&machine.e, store) + 1]
    cdef const char* source
    cdef Rows* rows
    for (start, size), raw in zip(machine.program.stores[store - machine.e.n_frames][2], live[0]):
        if raw is not None:
            source = <bytes>raw
            memcpy(before + <int>start, source, <size_t>size)
    if live[1] is not None:
        source = <bytes>live[1]
        rows = &machine.e.frames[store]
        memcpy(rows.cur, source, rows.row_bytes)
        if rows.scratch_bytes:
            memcpy(rows.scratch + rows.recorded, source + rows.row_bytes, rows.scratch_bytes)


cdef int _room_for(Machine machine, Rows* rows) noexcept:
    """Make room for two chunks in the directory; -1 without memory."""
    cdef int done = 0
    with nogil:
        PyThread_acquire_lock(machine.lock, 1)
        if rows.capacity < 2:
            done = room_in_directory(rows)
        PyThread_release_lock(machine.lock)
    return done


cdef object _write_live(Machine machine, Rows* rows, tuple live):
    """Restore the previous row and the row in progress from the snapshot."""
    cdef bytes raw = live[0]
    cdef int k, back, n = 0
    cdef char* row
    cdef PyObject** where
    cdef PyObject* old
    cdef const char* source = raw
    for back in range(2):
        row = rows.cur - (1 - back) * rows.row_bytes
        kept = []
        for k in range(rows.n_objects):
            kept.append(_object_at(row + rows.object_offsets[k]))
            if kept[k] is not None:
                rows.object_bytes -= object_size(<PyObject*>kept[k])
        memcpy(row, source + back * rows.row_bytes, rows.row_bytes)
        for k in range(rows.n_objects):
            where = <PyObject**>(row + rows.object_offsets[k])
            item = live[1][n]
            n += 1
            if back or rows.row % rows.per_chunk:  # otherwise it is the copy before a chunk, which does not count
                rows.object_bytes += object_size(<PyObject*>item) - (object_size(<PyObject*>kept[k]) if kept[k] is not None else 0)
            if item is None:
                where[0] = NULL
            else:
                Py_INCREF(item)
                rows.object_bytes += object_size(<PyObject*>item)
                where[0] = <PyObject*>item
                # the snapshot may be another machine's, whose ids this one does not hold
                (<unsigned int*>(where + 1))[0] = held_shape(machine, item) if isinstance(item, cnp.ndarray) else 0
            if kept[k] is not None:
                Py_DECREF(kept[k])
