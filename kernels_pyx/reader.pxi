# What other threads and the driver see of a machine: columns of rows, activations, traps.

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
    put_item(machine, base, offset, dtype, shape, item)


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
