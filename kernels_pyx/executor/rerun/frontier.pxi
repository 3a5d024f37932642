# The frontier of a change: nodes recomputed on complete rows, up to the first that gives another value.

def first_difference(
    Machine machine not None, int frame, int start, int stop, list guard not None, list outputs not None,
    long long row, long long last,
):
    """The first row of ``frame`` from ``row`` to ``last`` (exclusive) in which a node that fired there now gives
    another value than the row holds, or -1; and the number of rows in which it was computed.

    ``start`` and ``stop`` are its instructions, ``guard`` (base, offset, expect) of the conditions under which it
    fires, ``outputs`` (base, offset, bytes) of its results, with -1 bytes for an object. The rows are not changed. A
    failing node counts as another value.
    """
    cdef Rows* rows = &machine.e.frames[frame]
    cdef long long act = _activation(rows, row), r, checked = 0, found = -1
    cdef int k, n_guard = len(guard), n_out = len(outputs), status
    cdef Py_ssize_t total = 0, at
    cdef Literal* literals = <Literal*>calloc(n_guard + 1, sizeof(Literal))
    cdef long long* out = <long long*>calloc(3 * n_out + 1, sizeof(long long))
    cdef char* kept
    cdef char* where
    cdef long long begins, left = 0, many, at_row
    cdef bint with_objects = False, single
    cdef list before = []
    for k in range(n_guard):
        literals[k] = Literal(guard[k][0], guard[k][1], guard[k][2])
    for k in range(n_out):
        out[3 * k], out[3 * k + 1], out[3 * k + 2] = outputs[k]
        total += max(<long long>0, out[3 * k + 2])
        with_objects = with_objects or out[3 * k + 2] < 0
    kept = <char*>calloc(1, total + 1)
    single = stop == start + 1 and _is_single(machine, frame, start, out, n_out) and _in_rows_of(machine, frame, guard)
    try:
        if literals == NULL or out == NULL or kept == NULL:
            raise MemoryError("no memory to look at earlier iterations")
        _stand_in(machine, frame, row, act)
        begins = act_start(rows, act + 1) if act + 1 < rows.n_acts else -1  # the next init row
        r = row - 1
        while r + 1 < last:
            r += 1
            if r == begins:
                act += 1
                begins = act_start(rows, act + 1) if act + 1 < rows.n_acts else -1
                _stand_in(machine, frame, r, act)
                left = 0
                continue
            if left > 0:
                left -= 1
                machine.e.base[frame + 1] += rows.row_bytes
            else:
                _stand_on(machine, frame, r)
                left = rows.per_chunk - r % rows.per_chunk - 1 if machine.e.array_store[frame] < 0 and not machine.e.pointed[frame] else 0
            if act < 0:
                continue
            if single:  # one compiled kernel: all contiguous rows in one call
                many = min(last - r, rows.per_chunk - r % rows.per_chunk)
                if begins >= 0:
                    many = min(many, begins - r)
                with nogil:
                    at_row = _kernel_rows(
                        &machine.e, &machine.e.code[start], rows.row_bytes, literals, n_guard, <int>out[2], many, &checked
                    )
                if at_row >= 0:
                    found = r + at_row
                    break
                r += many - 1
                left = 0
                continue
            for k in range(n_guard):
                if not wb_holds(machine.e.base, &literals[k]):
                    break
            else:
                checked += 1
                at, status = 0, RUNNING
                if with_objects:
                    before = []
                for k in range(n_out):
                    where = machine.e.base[out[3 * k]] + out[3 * k + 1]
                    if out[3 * k + 2] == 8:
                        (<long long*>(kept + at))[0] = (<long long*>where)[0]
                        at += 8
                    elif out[3 * k + 2] < 0:
                        before.append(_object_at(where))
                    else:
                        memcpy(kept + at, where, out[3 * k + 2])
                        at += out[3 * k + 2]
                _carry_out(machine, start, stop, &status)
                if not _as_before(machine, out, n_out, kept, before) or status == FAILED:
                    found = r
                    break
        machine.error = None
        return found, checked
    finally:
        _stand_back(machine)
        free(literals)
        free(out)
        free(kept)


cdef bint _in_rows_of(Machine machine, int frame, list guard):
    """Whether conditions are in a frame's own rows or fixed while it is active."""
    cdef int array_store = machine.e.array_store[frame]
    return array_store < 0 or all(not 0 <= base - wb_base_of(&machine.e, array_store) <= 1 for base, _, _ in guard)


cdef bint _is_single(Machine machine, int frame, int k, long long* out, int n_out) noexcept:
    """Whether an instruction is a kernel whose operands satisfy :func:`_in_rows_of`."""
    cdef Instr* i = &machine.e.code[k]
    cdef int array_store = machine.e.array_store[frame], base
    cdef short* bases = [i.ba, i.bb, i.bc]
    if i.op & ~OP_TRAP != OP_KERNEL or n_out != 1 or out[0] != i.bo or out[1] != i.oo or i.bo != frame + 1:
        return False
    if array_store >= 0:
        base = wb_base_of(&machine.e, array_store)
        for n in range(3):
            if base <= bases[n] <= base + 1:
                return False
    return 0 < out[2] <= 16


cdef long long _kernel_rows(
    Engine* e, Instr* i, long long row_bytes, Literal* literals, int n_guard, int size, long long many,
    long long* checked,
) noexcept nogil:
    """Run a kernel on many rows, beginning with that of the bases; returns the first row that differs, or -1."""
    cdef char scratch[16]
    cdef char* p = e.base[i.ba] + i.oa
    cdef char* q = e.base[i.bb] + i.ob
    cdef char* r = e.base[i.bc] + i.oc
    cdef char* old = e.base[i.bo] + i.oo
    cdef long long by_p = row_bytes if i.ba == i.bo else 0
    cdef long long by_q = row_bytes if i.bb == i.bo else 0
    cdef long long by_r = row_bytes if i.bc == i.bo else 0
    cdef long long k, n = 0, found = -1
    cdef int g
    cdef bint differs
    cdef char* at
    for k in range(many):
        for g in range(n_guard):
            at = e.base[literals[g].base] + literals[g].offset + (k * row_bytes if literals[g].base == i.bo else 0)
            if literals[g].expect < 2:
                if (at[0] != 0) != literals[g].expect:
                    break
            elif ((<int*>at)[0] >= 0) != (literals[g].expect == 2):
                break
        else:
            n += 1
            i.fn(scratch, p, q, r)
            if size == 8:
                differs = (<long long*>scratch)[0] != (<long long*>old)[0]
            elif size == 1:
                differs = scratch[0] != old[0]
            else:
                differs = memcmp(scratch, old, size) != 0
            if differs:
                found = k
                break
        p += by_p
        q += by_q
        r += by_r
        old += row_bytes
    checked[0] += n
    return found


cdef bint _as_before(Machine machine, long long* out, int n_out, char* kept, list before) except -1:
    """Whether the outputs are unchanged bit for bit; restores the previous ones."""
    cdef int k
    cdef Py_ssize_t at = 0, n = 0
    cdef bint same = True
    cdef char* where
    cdef PyObject** slot
    for k in range(n_out):
        where = machine.e.base[out[3 * k]] + out[3 * k + 1]
        if out[3 * k + 2] < 0:
            slot = <PyObject**>where
            item = before[n]
            n += 1
            same = same and same_bits(_object_at(where), item)
            if item is not None:
                store_object(
                    machine, <int>out[3 * k], <int>out[3 * k + 1], item,
                    held_shape(machine, item) if isinstance(item, cnp.ndarray) else 0,
                )
        else:
            if memcmp(kept + at, where, out[3 * k + 2]):
                same = False
                memcpy(where, kept + at, out[3 * k + 2])
            at += out[3 * k + 2]
    return same


cdef long long _activation(Rows* rows, long long row) noexcept:
    """Index of the activation that a row belongs to."""
    cdef long long low = rows.first_act, high = rows.n_acts, mid
    while low < high:
        mid = (low + high) // 2
        if act_start(rows, mid) < row:
            low = mid + 1
        else:
            high = mid
    return low - 1


cdef void _stand_on(Machine machine, int frame, long long row) noexcept:
    """Let operands of a frame refer to a complete row."""
    cdef int store = machine.e.array_store[frame], base
    machine.e.base[frame + 1] = row_address(&machine.e.frames[frame], row)
    if store >= 0:
        base = wb_base_of(&machine.e, store)
        machine.e.base[base] = row_address(&machine.e.frames[store], row)
        machine.e.base[base + 1] = row_address(&machine.e.frames[store], row - 1) if row > 0 else NULL
    if machine.e.pointed[frame] and row > 0:
        point_from(machine.program, machine.e.base, frame, machine.e.base[frame + 1] - machine.e.frames[frame].row_bytes)


cdef void _stand_in(Machine machine, int frame, long long row, long long act) noexcept:
    """... and those of the enclosing frames to the rows that its activation belongs to."""
    cdef Rows* rows = &machine.e.frames[frame]
    cdef int parent = machine.program.frames[frame].parent
    cdef long long outer
    if parent <= 0 or act < rows.first_act:
        return
    outer = act_parent(rows, act)
    _stand_on(machine, parent, outer)
    _stand_in(machine, parent, outer, _activation(&machine.e.frames[parent], outer))


cdef void _stand_back(Machine machine) noexcept:
    """Let operands refer to the rows in progress again."""
    cdef int f, base
    cdef Rows* rows
    for f in range(machine.e.n_frames):
        rows = &machine.e.frames[f]
        machine.e.base[f + 1] = rows.cur
        if machine.e.array_store[f] >= 0:
            rows = &machine.e.frames[machine.e.array_store[f]]
            base = wb_base_of(&machine.e, machine.e.array_store[f])
            machine.e.base[base] = rows.cur
            if f:
                machine.e.base[base + 1] = row_address(rows, rows.row - 1) if rows.row > 0 else NULL
    point_again(machine)
