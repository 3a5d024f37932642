# What other threads and the driver see of a machine: columns of rows, activations, snapshots.

cdef class Snapshot:
    """State of a machine between two instructions, enough to go on from there."""

    cdef readonly long long events
    cdef readonly int ip
    cdef long long base_events
    cdef list rows     # per frame: (row, activations)
    cdef dict live     # frame -> (bytes of the row before and the row in progress, objects of both)
    cdef dict arrays   # store of arrays -> (bytes of what the next row reads, bytes of the row in progress or None)
    cdef Machine origin

    @property
    def bytes(self):
        """Bytes of the rows and of the arrays that it keeps alive."""
        held = sum(len(raw) + sum(getattr(o, "nbytes", 0) for o in objects) for raw, objects in self.live.values())
        return held + sum(sum(map(len, before)) + len(row or b"") for before, row in self.arrays.values())

    def row(self, int frame):
        """Row in progress of a frame; -1 before its first activation."""
        return self.rows[frame][0]


cdef class View:
    """Reads a machine's rows; hands out copies only. Safe while the machine runs."""

    cdef Machine machine

    def __cinit__(self, Machine machine not None):
        self.machine = machine

    def rows(self, int frame):
        """(first row that can be read, row in progress, number of activations)."""
        cdef Rows* rows = &self.machine.e.frames[frame]
        return rows.first_row, wb_read(&rows.row), wb_read(&rows.n_acts)

    def first(self, int store, int shift):
        """The first row in which a place of a store can be read; with shift -1 a place in the row before it."""
        cdef Rows* rows = &self.machine.e.frames[store]
        return _first_row(rows, shift) - shift

    def iteration(self, int frame):
        """Iteration number of the row in progress in its activation; -1 before the first."""
        cdef Rows* rows = &self.machine.e.frames[frame]
        cdef long long found = -1
        with nogil:
            PyThread_acquire_lock(self.machine.lock, 1)
            if rows.n_acts:
                found = rows.row - rows.act_start[rows.n_acts - 1] - 1
            PyThread_release_lock(self.machine.lock)
        return max(found, -1)

    def column(self, int frame, int offset, dtype, long long start, long long stop, long long step=1, shape=(), int shift=0):
        """Items at ``offset`` (below zero: of the row before) of rows start, start + step, ... as an array of ``dtype``.

        ``frame`` is the number of a store: a frame, or what holds its arrays. Object columns (dtype None) come as a list. Rows that were dropped are left out at the front:
        returns (first row read, items). In a store of arrays ``shift`` -1 means the row before each of these rows.
        """
        cdef Rows* rows = &self.machine.e.frames[frame]
        cdef long long count, k, first
        cdef cnp.ndarray out
        cdef char* data = NULL
        cdef int size
        cdef PyObject* item
        cdef PyThread_type_lock lock = self.machine.lock
        out = None if dtype is None else np.empty((max(0, (stop - start + step - 1) // step), *shape), dtype)
        size = 8 if dtype is None else out.itemsize * math.prod(shape)
        if dtype is not None:
            data = <char*>cnp.PyArray_DATA(out)
        with nogil:  # whoever waits for the lock must not hold the GIL
            PyThread_acquire_lock(lock, 1)
            start, stop, first = start + shift, stop + shift, _first_row(rows, shift)
            if start < first:
                start += (first - start + step - 1) // step * step
            stop = min(stop, rows.row + 1)
            count = max(<long long>0, (stop - start + step - 1) // step)
            if data != NULL:
                copy_column(rows, data, start, count, step, offset, size)
                PyThread_release_lock(lock)
        if data != NULL:
            return start - shift, out[:count]
        found = []
        try:
            for k in range(count):
                item = (<PyObject**>(row_address(rows, start + k * step) + offset))[0]
                found.append(None if item == NULL else <object>item)
        finally:
            PyThread_release_lock(lock)
        return start - shift, found

    def pool(self, int offset, dtype):
        """A number or object of the program's pool."""
        cdef char* at = self.machine.program.pool + offset
        cdef cnp.ndarray out
        if dtype is None:
            return <object>(<PyObject**>at)[0]
        out = np.empty((), dtype)
        memcpy(cnp.PyArray_DATA(out), at, out.itemsize)
        return out

    def activations(self, int frame):
        """(init rows, parent rows) of all activations of a frame, as int64 arrays."""
        cdef Rows* rows = &self.machine.e.frames[frame]
        cdef long long n = wb_read(&rows.n_acts)
        cdef cnp.ndarray start = np.empty(n, np.int64)
        cdef cnp.ndarray parent = np.empty(n, np.int64)
        cdef char* one = <char*>cnp.PyArray_DATA(start)
        cdef char* two = <char*>cnp.PyArray_DATA(parent)
        with nogil:
            PyThread_acquire_lock(self.machine.lock, 1)
            n = min(n, rows.n_acts)
            if n:
                memcpy(one, rows.act_start, n * 8)
                memcpy(two, rows.act_parent, n * 8)
            PyThread_release_lock(self.machine.lock)
        return start[:n], parent[:n]

    @property
    def epoch(self):
        """Grows whenever the machine goes back to a snapshot; odd while it does."""
        return self.machine.epoch

    @property
    def ip(self):
        """Instruction in front of which the machine stands; meaningful while it does not run."""
        return self.machine.ip

    @property
    def events(self):
        """Events so far: exact while the machine does not run, else as of the last control instruction."""
        return self.machine.e.events + (self.machine.e.code[self.machine.ip].ev_index if self.machine.status != RUNNING else 0)

    @property
    def bytes(self):
        """Bytes that rows and the arrays in them hold."""
        cdef int f
        cdef long long held = 0
        for f in range(self.machine.e.n_stores):
            held += (self.machine.e.frames[f].n_chunks - self.machine.e.frames[f].first_chunk) * self.machine.e.frames[f].chunk_bytes
            held += self.machine.e.frames[f].object_bytes
        return held


cdef inline long long _first_row(Rows* rows, int shift) noexcept nogil:
    """The first row that can be read. After going back to a checkpoint the row before it holds what the next one reads."""
    if shift and rows.first_row - 1 >= rows.first_chunk * rows.per_chunk:
        return max(<long long>0, rows.first_row - 1)
    return rows.first_row


def request_stop(Machine machine not None, bint on=True):
    """Ask a running machine to stop at the next back jump (fast) or event (exact), from any thread; or take that back."""
    machine.e.stop_flag = on


def put(Machine machine not None, int base, int offset, dtype, shape, item):
    """Write a value into a slot of the row in progress: feeds, and edits while stopped."""
    machine._put(base, offset, dtype, shape, item)


def arm(Machine machine not None, int ip, bint on, long long iteration=-1):
    """Make the machine stop in front of an instruction (of one iteration of its frame only, if that is given)."""
    cdef Instr* i = &machine.e.code[ip]
    i.armed = on
    i.trap_iteration = iteration
    i.op = (i.op | OP_TRAP) if on else (i.op & ~OP_TRAP)
    link(&machine.e, machine.program.length)


def stands_on(Machine machine not None):
    """(instruction, is event, silent) in front of which the machine stands."""
    cdef Instr* i = &machine.e.code[machine.ip]
    return machine.ip, bool(i.is_event), bool(i.silent)


def snapshot(Machine machine not None, active):
    """Copy the state; ``active`` lists the frames that are open where the machine stands, the outermost included."""
    cdef Snapshot s = Snapshot()
    cdef Rows* rows
    cdef int f, k
    cdef long long back
    s.ip = machine.ip
    s.base_events = machine.e.events
    s.events = machine.e.events + machine.e.code[machine.ip].ev_index
    s.rows = [_counts(&machine.e.frames[f]) for f in range(machine.e.n_stores)]
    s.live, s.arrays, s.origin = {}, {}, machine
    for f in active:
        if machine.e.twin[f] >= 0 and f > 0:
            s.arrays[machine.e.twin[f]] = _array_rows(machine, f, s.ip)
        rows = &machine.e.frames[f]
        raw = (rows.cur - rows.row_bytes)[: 2 * rows.row_bytes]
        objects = []
        for back in range(2):
            for k in range(rows.n_objects):
                objects.append(_object_at(rows.cur - (1 - back) * rows.row_bytes + rows.object_offsets[k]))
        s.live[f] = (raw, objects)
    return s


cdef tuple _array_rows(Machine machine, int f, int ip):
    """What a frame's array rows hold that cannot be computed from here on: what the row in progress reads of the row
    before it, and itself, unless its iteration has not begun. (The one row of the outermost level never changes once it
    is computed; restore takes it from the machine itself.)"""
    cdef int store = machine.e.twin[f]
    cdef Rows* rows = &machine.e.frames[store]
    cdef char* before = machine.e.base[wb_base_of(&machine.e, store) + 1]
    kept = []
    for start, size in machine.program.stores[store - machine.e.n_frames][2]:
        kept.append((before + <int>start)[: <Py_ssize_t>size] if before != NULL else None)
    return kept, None if ip == machine.program.heads.get(f) else rows.cur[: rows.row_bytes]


cdef tuple _counts(Rows* rows):
    """(row, activations, init row and parent row of the last activation)."""
    if rows.n_acts == 0:
        return rows.row, 0, -1, -1
    return rows.row, rows.n_acts, rows.act_start[rows.n_acts - 1], rows.act_parent[rows.n_acts - 1]


cdef object _object_at(char* where):
    cdef PyObject* item = (<PyObject**>where)[0]
    return None if item == NULL else <object>item


def restore(Machine machine not None, Snapshot s not None):
    """Go back (or, in a fresh machine, forward) to a snapshot; later rows are forgotten, earlier ones stay readable."""
    cdef int f
    machine.epoch += 1
    machine.ip = s.ip
    machine.e.events = s.base_events
    machine.error = None
    machine.status = POLL
    for f in range(machine.e.n_stores):
        row, acts, start, parent = s.rows[f]
        if f < machine.e.n_frames:
            _seek(machine, f, row, s.live.get(f))
        else:
            _seek_arrays(machine, f, row, s.arrays.get(f))
        _set_activations(machine, &machine.e.frames[f], acts, start, parent)
    if machine.e.twin[0] >= 0 and s.origin is not machine:
        f = machine.e.twin[0]
        memcpy(machine.e.frames[f].cur, s.origin.e.frames[f].cur, machine.e.frames[f].row_bytes)
    machine.epoch += 1


cdef object _set_activations(Machine machine, Rows* rows, long long acts, long long start, long long parent):
    """Forget later activations; in a fresh machine stand in for earlier ones, whose rows it does not have."""
    while rows.n_acts < acts:
        if push_activation(rows, -1, machine.lock) < 0:
            raise MemoryError("no memory to go back to a checkpoint")
        rows.act_start[rows.n_acts - 1] = -1
    rows.n_acts = acts
    if acts:
        rows.act_start[acts - 1] = start
        rows.act_parent[acts - 1] = parent


cdef object _seek(Machine machine, int f, long long row, object live):
    """Make ``row`` the row in progress of a frame; later rows are forgotten."""
    cdef Rows* rows = &machine.e.frames[f]
    cdef long long chunk = row // rows.per_chunk if row >= 0 else -1
    cdef long long c, n_gone = 0
    cdef bint lost = chunk >= 0 and (chunk < rows.first_chunk or chunk >= rows.n_chunks)
    cdef char* fresh = NULL
    cdef char** gone = <char**>calloc(rows.n_chunks + 1, sizeof(char*))
    if gone == NULL or (lost and _room_for(machine, rows, chunk) < 0):
        free(gone)
        raise MemoryError("no memory to go back to a checkpoint")
    if lost:
        fresh = take_chunk(rows)
        if fresh == NULL:
            free(gone)
            raise MemoryError("no memory to go back to a checkpoint")
    # first nobody may see the chunks any more, then they are given back
    with nogil:
        PyThread_acquire_lock(machine.lock, 1)
        wb_publish(&rows.row, row)
        for c in range(rows.first_chunk if lost else max(rows.first_chunk, chunk + 1), rows.n_chunks):
            gone[n_gone] = rows.chunks[c]
            n_gone += 1
            rows.chunks[c] = NULL
        if lost:
            for c in range(chunk):
                rows.chunks[c] = NULL
            rows.chunks[chunk] = fresh
            rows.first_chunk = chunk
            rows.first_row = row
        elif chunk < 0:
            rows.first_chunk = 0
            rows.first_row = 0
        rows.n_chunks = chunk + 1
        PyThread_release_lock(machine.lock)
    for c in range(n_gone):
        if rows.n_objects:
            release_objects(rows, gone[c])
        give_chunk(rows, gone[c])
    free(gone)
    if chunk >= 0:
        rows.cur = row_address(rows, row)
        rows.end = rows.chunks[chunk] + (rows.per_chunk + 1) * rows.row_bytes
        machine.e.base[f + 1] = rows.cur
    else:
        rows.cur = rows.end = NULL
    if live is not None:
        _write_live(machine, rows, live)


cdef object _seek_arrays(Machine machine, int store, long long row, object live):
    """The same for a store of arrays, which needs the row before ``row`` too, wherever that stands."""
    cdef Rows* rows = &machine.e.frames[store]
    cdef int base = wb_base_of(&machine.e, store)
    cdef long long low = max(<long long>0, row - 1) // rows.per_chunk
    cdef long long high = row // rows.per_chunk if row >= 0 else -1
    cdef long long c, n_gone = 0
    cdef bint lost = row >= 0 and (low < rows.first_chunk or high >= rows.n_chunks)
    cdef char* fresh[2]
    cdef char** gone = <char**>calloc(rows.n_chunks + 1, sizeof(char*))
    fresh[0] = fresh[1] = NULL
    if lost:
        fresh[0] = take_chunk(rows)
        fresh[1] = take_chunk(rows) if high > low else NULL
    if gone == NULL or (lost and (fresh[0] == NULL or (high > low and fresh[1] == NULL) or _room_for(machine, rows, high) < 0)):
        free(gone)
        give_chunk(rows, fresh[0])
        give_chunk(rows, fresh[1])
        raise MemoryError("no memory to go back to a checkpoint")
    with nogil:
        PyThread_acquire_lock(machine.lock, 1)
        wb_publish(&rows.row, row)
        for c in range(rows.first_chunk if lost else max(rows.first_chunk, high + 1), rows.n_chunks):
            gone[n_gone] = rows.chunks[c]
            n_gone += 1
            rows.chunks[c] = NULL
        if lost:
            for c in range(low):
                rows.chunks[c] = NULL
            rows.chunks[low] = fresh[0]
            if high > low:
                rows.chunks[high] = fresh[1]
            rows.first_chunk = low
            rows.first_row = row
        elif row < 0:
            rows.first_chunk = 0
            rows.first_row = 0
        rows.n_chunks = high + 1
        PyThread_release_lock(machine.lock)
    for c in range(n_gone):
        give_chunk(rows, gone[c])
    free(gone)
    rows.cur = rows.end = NULL
    if row >= 0:
        rows.cur = row_address(rows, row)
        rows.end = rows.chunks[high] + rows.per_chunk * rows.row_bytes
    machine.e.base[base] = rows.cur
    machine.e.base[base + 1] = row_address(rows, row - 1) if row > 0 else NULL
    if live is not None:
        _write_arrays(machine, store, live)


cdef object _write_arrays(Machine machine, int store, tuple live):
    cdef char* before = machine.e.base[wb_base_of(&machine.e, store) + 1]
    cdef const char* source
    for (start, size), raw in zip(machine.program.stores[store - machine.e.n_frames][2], live[0]):
        if raw is not None:
            source = <bytes>raw
            memcpy(before + <int>start, source, <size_t>size)
    if live[1] is not None:
        source = <bytes>live[1]
        memcpy(machine.e.frames[store].cur, source, machine.e.frames[store].row_bytes)


cdef int _room_for(Machine machine, Rows* rows, long long chunk) noexcept:
    """Make the directory of chunks large enough; -1 without memory."""
    cdef char** grown
    if chunk < rows.capacity:
        return 0
    with nogil:
        PyThread_acquire_lock(machine.lock, 1)
        grown = <char**>realloc(rows.chunks, (chunk + 8) * sizeof(char*))
        if grown != NULL:
            memset(grown + rows.capacity, 0, (chunk + 8 - rows.capacity) * sizeof(char*))
            rows.chunks = grown
            rows.capacity = chunk + 8
        PyThread_release_lock(machine.lock)
    return 0 if grown != NULL else -1


cdef object _write_live(Machine machine, Rows* rows, tuple live):
    """The row before and the row in progress, as the snapshot has them."""
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
        memcpy(row, source + back * rows.row_bytes, rows.row_bytes)
        for k in range(rows.n_objects):
            where = <PyObject**>(row + rows.object_offsets[k])
            item = live[1][n]
            n += 1
            if item is None:
                where[0] = NULL
            else:
                Py_INCREF(item)
                where[0] = <PyObject*>item
                # the snapshot may be another machine's, whose ids this one does not hold
                (<unsigned int*>(where + 1))[0] = machine._shape(item) if isinstance(item, cnp.ndarray) else 0
            if kept[k] is not None:
                Py_DECREF(kept[k])
