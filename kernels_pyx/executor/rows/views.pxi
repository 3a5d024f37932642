# The interface of a machine for other threads and the driver: columns of rows, activations, traps.

#: beyond every row
FOREVER = 1 << 62


cdef class View:
    """Reads a machine's rows; returns only copies. Safe while the machine runs."""

    cdef Machine machine

    def __cinit__(self, Machine machine not None):
        self.machine = machine

    def rows(self, int frame):
        """(first row that can be read, row in progress, number of activations)."""
        cdef Rows* rows = &self.machine.e.frames[frame]
        cdef long long row = wb_read(&rows.row)  # before first_row, which machine code advances first
        return wb_read(&rows.first_row), row, wb_read(&rows.n_acts)

    def first(self, int store, int shift, long long offset=0):
        """The first row in which a value of a store can be read; with shift -1 a value in the previous row."""
        cdef Rows* rows = &self.machine.e.frames[store]
        if rows.scratch_bytes and offset >= rows.recorded:
            return first_recomputable(self.machine, frame_of_store(self.machine, store), store)
        return _first_row(rows, shift) - shift

    def rows_kept(self, int store):
        """Approximate number of the newest rows of a store that stay when rows are dropped."""
        cdef Rows* rows = &self.machine.e.frames[store]
        return rows.per_chunk if rows.per_chunk > 1 else 2

    def iteration(self, int frame):
        """Iteration number of the row in progress in its activation; -1 before the first."""
        cdef Rows* rows = &self.machine.e.frames[frame]
        cdef long long found = -1
        with nogil:
            PyThread_acquire_lock(self.machine.lock, 1)
            if rows.n_acts:
                found = rows.row - act_start(rows, rows.n_acts - 1) - 1
            PyThread_release_lock(self.machine.lock)
        return max(found, -1)

    def column(self, int frame, int offset, dtype, long long start, long long stop, long long step=1, shape=(), int shift=0):
        """Items at ``offset`` (negative: in the previous row) of rows start, start + step, ... as an array of
        ``dtype``.

        ``frame`` is the index of a store: a frame, or the store of its arrays. Object columns (dtype None) are returned
        as a list. Dropped rows at the beginning are left out: returns (first row read, items). In a store of arrays
        ``shift`` -1 means the row before each of these rows.
        """
        cdef Rows* rows = &self.machine.e.frames[frame]
        cdef long long count, k, first, newest
        cdef cnp.ndarray out
        cdef char* data = NULL
        cdef int size
        cdef PyObject* item
        cdef PyThread_type_lock lock = self.machine.lock
        if rows.scratch_bytes and offset >= rows.recorded:
            return column_again(self.machine, frame, offset, dtype, start, stop, step, shape)
        out = None if dtype is None else np.empty((max(0, (stop - start + step - 1) // step), *shape), dtype)
        size = 8 if dtype is None else out.itemsize * math.prod(shape)
        if dtype is not None:
            data = <char*>cnp.PyArray_DATA(out)
        with nogil:  # a thread that waits for the lock must not hold the GIL
            PyThread_acquire_lock(lock, 1)
            newest = wb_read(&rows.row)  # before first_row, which machine code advances first
            start, stop, first = start + shift, stop + shift, _first_row(rows, shift)
            if start < first:
                start += (first - start + step - 1) // step * step
            stop = min(stop, newest + 1)
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

    def released(self, int offset):
        """Whether an object of the outermost level has been released."""
        cdef PyObject** where = <PyObject**>(self.machine.e.base[1] + offset)
        return where[0] == NULL and (<unsigned int*>(where + 1))[1] != 0

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
        """(init rows, parent rows) of the activations of a frame, as int64 arrays. Those without remaining rows, in
        this frame or an inner one, are left out at the beginning; the first of all has init row 0.
        """
        cdef Rows* rows = &self.machine.e.frames[frame]
        cdef long long n, k, number, count
        cdef cnp.ndarray start
        cdef cnp.ndarray parent
        cdef long long* one
        cdef long long* two
        cdef long long* block
        n = max(<long long>0, wb_read(&rows.n_acts) - rows.first_act)
        start, parent = np.empty(n, np.int64), np.empty(n, np.int64)
        one = <long long*>cnp.PyArray_DATA(start)
        two = <long long*>cnp.PyArray_DATA(parent)
        with nogil:
            PyThread_acquire_lock(self.machine.lock, 1)
            n = min(n, rows.n_acts - rows.first_act)
            k = 0
            while k < n:
                number = rows.first_act + k
                block = rows.acts[number // ACTS - rows.base_act]
                count = min(n - k, ACTS - number % ACTS)
                memcpy(one + k, block + number % ACTS, count * sizeof(long long))
                memcpy(two + k, block + ACTS + number % ACTS, count * sizeof(long long))
                k += count
            PyThread_release_lock(self.machine.lock)
        return start[:n], parent[:n]

    def counts(self, int frame):
        """(row in progress, number of activations, init row and parent row of the last one, or -1)."""
        cdef Rows* rows = &self.machine.e.frames[frame]
        cdef long long row, acts, start = -1, parent = -1
        with nogil:
            PyThread_acquire_lock(self.machine.lock, 1)
            row, acts = rows.row, rows.n_acts
            if acts:
                start, parent = act_start(rows, acts - 1), act_parent(rows, acts - 1)
            PyThread_release_lock(self.machine.lock)
        return row, acts, start, parent

    @property
    def epoch(self):
        """Increases whenever the machine goes back to a snapshot; odd while it does."""
        return self.machine.epoch

    def changed_from(self, int store, long long epoch):
        """The first row of a store that may differ from that at this ``epoch``. (An edit of the row in progress does
        not count as going back; going back to a row also restores the one before it.)
        """
        rows = [row for at, row in list(self.machine.rewound.get(store, ())) if at > epoch]
        return max(0, min(rows) - 1) if rows else FOREVER

    @property
    def ip(self):
        """The next instruction; meaningful while the machine does not run."""
        return self.machine.ip

    @property
    def events(self):
        """Events so far: exact while the machine does not run, otherwise as of the last control instruction."""
        return self.machine.e.events + (self.machine.e.code[self.machine.ip].ev_index if self.machine.status != RUNNING else 0)

    @property
    def peak(self):
        """The maximum of ``bytes``, as observed at calls and ends of runs."""
        note_peak(self.machine, 0)
        return self.machine.peak_bytes

    @property
    def objects(self):
        """Bytes of the arrays in object columns; a view counts in full."""
        cdef int f
        cdef long long held = 0
        for f in range(self.machine.e.n_stores):
            held += self.machine.e.frames[f].object_bytes
        return held

    def store_bytes(self, int store):
        """Bytes of memory that a store of rows has."""
        cdef Rows* rows = &self.machine.e.frames[store]
        return (rows.n_chunks - rows.first_chunk) * <long long>rows.chunk_bytes + rows.scratch_bytes

    @property
    def bytes(self):
        """Bytes of rows, of the arrays in them and of the tables of activations; exact at any moment."""
        return read_held(self.machine) - self.machine.reserved_bytes - self.machine.checkpoint_bytes


cdef long long read_held(Machine machine) noexcept:
    """Bytes of a machine, which may be running: chunks change under the lock, objects under the GIL."""
    cdef long long held
    with nogil:
        PyThread_acquire_lock(machine.lock, 1)
    held = held_bytes(machine)
    PyThread_release_lock(machine.lock)
    return held


cdef inline long long _first_row(Rows* rows, int shift) noexcept nogil:
    """The first row that can be read. After going back to a checkpoint the row before it holds the values that the next
    one reads.
    """
    if shift and not rows.edge and rows.first_row - 1 >= rows.first_chunk * rows.per_chunk:
        return max(<long long>0, rows.first_row - 1)
    return rows.first_row


def request_stop(Machine machine not None, bint on=True):
    """Request a running machine to stop at the next back jump (fast) or event (exact), from any thread; or
    cancel that.
    """
    machine.e.stop_flag = on


def put(Machine machine not None, int base, int offset, dtype, shape, item):
    """Write a value into a slot of the row in progress: feeds, and edits while stopped."""
    if dtype is None and machine.program.n_pointers:
        item = fit_pointer(machine, base, offset, item)
    put_item(machine, base, offset, dtype, shape, item)
    if machine.program.n_pointers:
        point_again(machine)


def arm_many(Machine machine not None, changes):
    """(instruction, on, iteration): make the machine stop before these, with an iteration from 0 on only in that
    iteration of their frame; or no longer.
    """
    cdef int ip
    cdef Instr* i
    for ip, on, iteration in changes:
        if not 0 <= ip < machine.program.length:
            raise ValueError(f"the program has no instruction {ip}")
        i = &machine.e.code[ip]
        i.armed = bool(on)
        i.trap_iteration = iteration
        i.op = (i.op | OP_TRAP) if on else (i.op & ~OP_TRAP)
    if changes:
        link(&machine.e, machine.program.length)


def shapes_held(Machine machine not None):
    """Ids of the shapes seen by a machine and of those in its program, without duplicates."""
    return sorted((machine.shapes | set(machine.program.shapes)) - {0})


def arm(Machine machine not None, int ip, bint on, long long iteration=-1):
    """:func:`arm_many` of one instruction."""
    arm_many(machine, [(ip, on, iteration)])


def current_instruction(Machine machine not None):
    """(instruction, is event, silent) of the next instruction."""
    cdef Instr* i = &machine.e.code[machine.ip]
    return machine.ip, bool(i.is_event), bool(i.silent)
