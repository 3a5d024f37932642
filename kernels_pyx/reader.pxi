# What other threads and the driver see of a machine: columns of rows, activations, snapshots.

cdef class Snapshot:
    """State of a machine between two instructions, enough to go on from there."""

    cdef readonly long long events
    cdef readonly int ip
    cdef long long base_events
    cdef list rows     # per frame: (row, activations)
    cdef dict live     # frame -> (bytes of the row before and the row in progress, objects of both)

    @property
    def bytes(self):
        """Bytes of the rows and of the arrays that it keeps alive."""
        return sum(len(raw) + sum(getattr(o, "nbytes", 0) for o in objects) for raw, objects in self.live.values())

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

    def column(self, int frame, int offset, dtype, long long start, long long stop, long long step=1):
        """Items at ``offset`` (below zero: of the row before) of rows start, start + step, ... as an array of ``dtype``.

        Object columns (dtype None) come as a list. Rows that were dropped are left out at the front:
        returns (first row read, items).
        """
        cdef Rows* rows = &self.machine.e.frames[frame]
        cdef long long count, k
        cdef cnp.ndarray out
        cdef char* data = NULL
        cdef int size
        cdef PyObject* item
        cdef PyThread_type_lock lock = self.machine.lock
        out = None if dtype is None else np.empty(max(0, (stop - start + step - 1) // step), dtype)
        size = 8 if dtype is None else out.itemsize
        if dtype is not None:
            data = <char*>cnp.PyArray_DATA(out)
        with nogil:  # whoever waits for the lock must not hold the GIL
            PyThread_acquire_lock(lock, 1)
            if start < rows.first_row:
                start += (rows.first_row - start + step - 1) // step * step
            stop = min(stop, rows.row + 1)
            count = max(<long long>0, (stop - start + step - 1) // step)
            if data != NULL:
                copy_column(rows, data, start, count, step, offset, size)
                PyThread_release_lock(lock)
        if data != NULL:
            return start, out[:count]
        found = []
        try:
            for k in range(count):
                item = (<PyObject**>(row_address(rows, start + k * step) + offset))[0]
                found.append(None if item == NULL else <object>item)
        finally:
            PyThread_release_lock(lock)
        return start, found

    def pool(self, int offset, dtype):
        """A constant of the program's pool."""
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
        for f in range(self.machine.e.n_frames):
            held += (self.machine.e.frames[f].n_chunks - self.machine.e.frames[f].first_chunk) * self.machine.e.frames[f].chunk_bytes
            held += self.machine.e.frames[f].object_bytes
        return held


def request_stop(Machine machine not None, bint on=True):
    """Ask a running machine to stop at the next back jump (fast) or event (exact), from any thread; or take that back."""
    machine.e.stop_flag = on


def put(Machine machine not None, int base, int offset, dtype, item):
    """Write a value into a slot of the row in progress: feeds, and edits while stopped."""
    machine._put(base, offset, dtype, item)


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
    s.rows = [_counts(&machine.e.frames[f]) for f in range(machine.e.n_frames)]
    s.live = {}
    for f in active:
        rows = &machine.e.frames[f]
        raw = (rows.cur - rows.row_bytes)[: 2 * rows.row_bytes]
        objects = []
        for back in range(2):
            for k in range(rows.n_objects):
                objects.append(_object_at(rows.cur - (1 - back) * rows.row_bytes + rows.object_offsets[k]))
        s.live[f] = (raw, objects)
    return s


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
    for f in range(machine.e.n_frames):
        row, acts, start, parent = s.rows[f]
        _seek(machine, f, row, s.live.get(f))
        _set_activations(machine, &machine.e.frames[f], acts, start, parent)
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
        _write_live(rows, live)


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


cdef object _write_live(Rows* rows, tuple live):
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
            if kept[k] is not None:
                Py_DECREF(kept[k])
