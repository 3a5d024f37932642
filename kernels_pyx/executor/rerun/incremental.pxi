# Revision of a run for new inputs: parts of the program executed on existing rows.

def carry_out(Machine machine not None, int start, int stop):
    """Execute the instructions from ``start`` to ``stop`` (exclusive) of the outermost level, none of which drives a
    frame; returns the number of events.

    If one fails, the machine stops before it, ``machine.error`` holds the error, and -1 is returned.
    """
    cdef int status = RUNNING, mode
    cdef long long fired
    with nogil:
        mode = wb_set_flush(machine.program.flushes)
        fired = _carry_out(machine, start, stop, &status)
        wb_restore_flush(mode)
    return fired if status != FAILED else -1


cdef long long _carry_out(Machine machine, int start, int stop, int* status) noexcept nogil:
    """Execute the instructions; returns the number of events, which are not added to those of the run."""
    cdef Instr* code = machine.e.code
    cdef Instr* i = &code[start]
    cdef Instr* last
    cdef long long before = machine.e.events, fired = 0
    while i - code < stop:
        last = i
        if i.op == OP_ARRAY and i - code + 1 < stop:
            i = wb_chain_before(&machine.e, i, &code[stop])
            if i != NULL:
                while last < i:
                    fired += last.is_event
                    last += 1
                continue
            i = last
        i = machine._do(i, False, status)
        if status[0] == FAILED:
            machine.ip = <int>(last - code)
            break
        fired += last.is_event
    machine.e.events = before
    return fired


def window(Machine machine not None, int base, int offset, dtype, shape):
    """A read-only array on the rows in progress; it also shows later writes, and must not outlive the machine."""
    return _window(machine.e.base[base] + offset, np.ndarray(shape, dtype))


def same_bits(a, b):
    """Whether two values are bit for bit the same for all readers: arrays with equal dtype, shape, memory order and
    content; other objects only if identical.
    """
    if a is b:
        return True
    if not isinstance(a, np.ndarray) or not isinstance(b, np.ndarray) or a.dtype != b.dtype or a.shape != b.shape:
        return False
    if a.strides != b.strides and a.size > 1:  # sums run in memory order
        return False
    if a.dtype.hasobject:
        return a.dtype == object and all(type(x) is type(y) and x == y for x, y in zip(a.flat, b.flat))
    one, two = np.ascontiguousarray(a), np.ascontiguousarray(b)
    return memcmp(cnp.PyArray_DATA(<cnp.ndarray>one), cnp.PyArray_DATA(<cnp.ndarray>two), one.nbytes) == 0


def holds(Machine machine not None, list guard not None):
    """Whether all conditions (base, offset, expect) hold in the rows in progress."""
    cdef Literal literal
    for base, offset, expect in guard:
        literal = Literal(base, offset, expect)
        if not wb_holds(machine.e.base, &literal):
            return False
    return True


def outermost_events(Machine machine not None, int stop, dict loops not None):
    """The path of the outermost level to instruction ``stop``, by the values in its row.

    ``loops`` maps the first instruction of each loop to the one after its last. Returns (the first instruction reached
    from ``stop`` on, events of the outermost level before it as ``Machine.e.events`` would count them, {first
    instruction of each loop that it enters: such events when the loop begins}).
    """
    cdef int k = 0, j
    cdef long long events = 0
    cdef Instr* i
    cdef dict entered = {}
    while k < stop:
        i = &machine.e.code[k]
        if i.op & ~OP_TRAP == OP_LOOP:
            events += i.n_events
            entered[k] = events
            k = loops[k]
            continue
        if wb_is_control(i.op):
            events += i.n_events
        if i.op & ~OP_TRAP == OP_GUARD:
            for j in range(i.x0, i.x0 + i.x1):
                if not wb_holds(machine.e.base, &machine.e.literals[j]):
                    k = i.jump
                    break
            else:
                k += 1
            continue
        k += 1
    return k, events, entered


def loop_events(Machine machine not None, int frame):
    """Events before the last activation of a frame."""
    return machine.e.frames[frame].opened


def head_of(Machine machine not None, int frame):
    """The first instruction of each iteration of a frame."""
    return machine.program.heads[frame]


def counts(Machine machine not None):
    """Per store (row, activations, init row and parent row of the last activation)."""
    return [_counts(&machine.e.frames[f]) for f in range(machine.e.n_stores)]


def set_position(Machine machine not None, int ip, long long events, dict stores not None, dict opened=None):
    """Move to instruction ``ip`` after ``events`` events (as ``Machine.e.events`` counts them).

    ``stores`` maps stores to their counts at this position; later rows are dropped, and rows that will be read must
    exist. ``opened`` sets the events at which the activations of frames began.
    """
    cdef int f
    machine.epoch += 1
    machine.ip = ip
    machine.e.events = events
    machine.error = None
    machine.status = POLL
    for f, (row, acts, start, parent) in stores.items():
        _note_rewind(machine, f, row)
        if f < machine.e.n_frames:
            _seek(machine, f, row, None)
        else:
            _seek_arrays(machine, f, row, True, None)
        _set_activations(machine, &machine.e.frames[f], acts, start, parent)
    for f, at in (opened or {}).items():
        machine.e.frames[f].opened = at
    machine.epoch += 1


def base_events(Machine machine not None):
    """Events up to the last control instruction."""
    return machine.e.events


def revised(Snapshot s not None, Machine machine not None, long long shift, stores):
    """A snapshot with the current outermost level of ``machine``, ``shift`` events later, and the current rows of all
    stores except ``stores``. At the beginning it keeps only the original content: the rest is computed again, and
    results kept alive here would take new memory in each update.
    """
    cdef Snapshot made = Snapshot()
    cdef int f
    cdef Rows* outer = &machine.e.frames[0]
    cdef int back, k, at
    made.ip, made.base_events, made.events = s.ip, s.base_events + shift, s.events + shift
    kept = set(stores)
    made.rows = [s.rows[f] if f in kept else _counts(&machine.e.frames[f]) for f in range(machine.e.n_stores)]
    made.origin, made.pins = machine, s.pins
    made.arrays = dict(s.arrays)
    made.live = dict(s.live)
    raw = bytearray((outer.cur - outer.row_bytes)[: 2 * outer.row_bytes])
    objects = []
    for back in range(2):
        for k in range(outer.n_objects):
            at = back * outer.row_bytes + outer.object_offsets[k]
            if s.events == 0 and s.live[0][1][len(objects)] is None:
                raw[at : at + 16] = bytes(16)
                objects.append(None)
            else:
                objects.append(_object_at(outer.cur - outer.row_bytes + at))
    made.live[0] = bytes(raw), objects
    return made


def drop_stores(Snapshot s not None, stores):
    """Remove the rows of these stores from a snapshot."""
    for f in stores:
        s.rows[f] = (-1, 0, -1, -1)
