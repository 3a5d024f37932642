# Revising a run for new inputs: parts of the program carried out on rows that are there already.

def carry_out(Machine machine not None, int start, int stop):
    """Carry out the instructions from ``start`` to ``stop`` (exclusive) of the outermost level, none of which drives a
    frame; returns how many events fired.

    Where one fails the machine stands in front of it, ``machine.error`` says why, and -1 comes back.
    """
    cdef int status = RUNNING, mode
    cdef long long fired
    with nogil:
        mode = wb_set_flush(machine.program.flushes)
        fired = _carry_out(machine, start, stop, &status)
        wb_restore_flush(mode)
    return fired if status != FAILED else -1


cdef long long _carry_out(Machine machine, int start, int stop, int* status) noexcept nogil:
    """Events are counted for the caller, not for the run."""
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
    """A read-only array of what stands in the rows in progress; it shows what is written there later, too, and must not
    be kept longer than the machine."""
    return _window(machine.e.base[base] + offset, np.ndarray(shape, dtype))


def same_bits(a, b):
    """Whether two values are bit for bit the same to everything that may read them: arrays of one dtype, shape, order
    in memory and content; anything else only if it is one object."""
    if a is b:
        return True
    if not isinstance(a, np.ndarray) or not isinstance(b, np.ndarray) or a.dtype != b.dtype or a.shape != b.shape:
        return False
    if a.strides != b.strides and a.size > 1:  # sums go through memory in order
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
    """How the outermost level goes to instruction ``stop``, by the values that stand in its row.

    ``loops`` maps the first instruction of each loop to that behind its last. Returns (the first instruction from
    ``stop`` on that it comes to, events of the outermost level in front of it as ``Machine.e.events`` would count them,
    {first instruction of each loop that it enters: such events when that begins}).
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
    """Events in front of the last activation of a frame."""
    return machine.e.frames[frame].opened


def head_of(Machine machine not None, int frame):
    """The first instruction of each iteration of a frame."""
    return machine.program.heads[frame]


def counts(Machine machine not None):
    """Per store (row, activations, init row and parent row of the last activation)."""
    return [_counts(&machine.e.frames[f]) for f in range(machine.e.n_stores)]


def set_position(Machine machine not None, int ip, long long events, dict stores not None, dict opened=None):
    """Stand in front of instruction ``ip`` after ``events`` events (as ``Machine.e.events`` counts them).

    ``stores`` maps stores to the counts that hold there; later rows of them are forgotten, and what is to be read must
    be there. ``opened`` sets when the activations of frames began.
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
    """A snapshot with the outermost level as it stands in ``machine`` now, ``shift`` events later, and of all stores but
    ``stores`` the rows that are there now. In front of everything, only what stood there then: the rest is computed
    again, and results kept alive here would take fresh memory in each update."""
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
    """Let a snapshot know of no rows of these stores."""
    for f in stores:
        s.rows[f] = (-1, 0, -1, -1)
