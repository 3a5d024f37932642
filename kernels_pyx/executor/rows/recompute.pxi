# Values that rows of arrays do not hold are recomputed on demand, bit for bit.
#
#   row of a store of arrays:  | recorded: in the rows | the rest: one piece of memory, rewritten in every iteration |
#                              0                       recorded                                           row_bytes of the plan
#
# Readers refer to a value by its offset in the whole row. A recipe lists the instructions that compute one array of the
# rest from recorded values; they run here on separate bases, so that the run is not disturbed.
#
# Edits: a row with an edit is kept whole (a pin), because some of its nodes ran before the edit. Rows that were
# complete before an edit were computed with the overwritten values, which are restored in copies.

cdef enum:
    LOOK_UP = 1048576  # bytes that a reader computes before it releases the lock for others


cdef void free_recipes(Program p) noexcept:
    cdef int k
    if p.recipes != NULL:
        for k in range(p.n_recipes + 1):
            free(p.recipes[k].steps)
    free(p.recipes)


cdef Recipe* recipe_of(Program p, int store, long long offset) noexcept nogil:
    """The recipe for the array at an offset of a store; for a negative offset: for all of them."""
    cdef int k
    for k in range(p.n_recipes):
        if p.recipes[k].store == store and offset < 0 and p.recipes[k].size == 0:
            return &p.recipes[k]
        if p.recipes[k].store == store and p.recipes[k].offset <= offset < p.recipes[k].offset + p.recipes[k].size:
            return &p.recipes[k]
    return NULL


cdef int pin_row(Rows* rows, PyThread_type_lock lock) noexcept nogil:
    """Keep the rest of the row in progress; -1 without memory."""
    cdef Pin* one = <Pin*>malloc(sizeof(Pin))
    cdef char* kept = <char*>malloc(rows.scratch_bytes)
    if one == NULL or kept == NULL:
        free(one)
        free(kept)
        return -1
    memcpy(kept, rows.scratch + rows.recorded, rows.scratch_bytes)
    PyThread_acquire_lock(lock, 1)
    one.next, one.row, one.bytes = rows.pins, rows.row, kept
    rows.pins = one
    rows.pinning = 0
    PyThread_release_lock(lock)
    return 0


cdef void drop_pins(Rows* rows, long long last) noexcept nogil:
    """Free the pins of rows after ``last``. The caller holds the lock, or is the only thread."""
    cdef Pin** at = &rows.pins
    cdef Pin* one
    while at[0] != NULL:
        one = at[0]
        if one.row > last:
            at[0] = one.next
            free(one.bytes)
            free(one)
        else:
            at = &one.next
    rows.pinning = 0


cdef Pin* pin_of(Rows* rows, long long row) noexcept nogil:
    cdef Pin* one = rows.pins
    while one != NULL and one.row != row:
        one = one.next
    return one


def note_edit(Machine machine not None, int base, int at, int store, long long row, int offset, long long size, list opened):
    """Record that ``size`` bytes at operand (base, at), which are at ``offset`` of a row of a store, are about to be
    edited; ``opened`` lists the frames that are open at the machine's position. Has no effect without rows that are
    computed again.
    """
    cdef int f, s
    cdef bint some = False
    cdef Edit* grown
    cdef Edit* one
    cdef Rows* rows
    for s in range(machine.e.n_frames, machine.e.n_stores):
        some = some or machine.e.frames[s].scratch_bytes > 0
    if not some:
        return
    for f in opened:
        s = machine.e.array_store[f]
        if s >= 0 and machine.e.frames[s].scratch_bytes > 0:
            machine.e.frames[s].pinning = 1
    if size <= 0 or (machine.e.frames[store].scratch_bytes > 0 and offset >= machine.e.frames[store].recorded):
        return  # only the row in progress has it, which is kept whole
    with nogil:
        PyThread_acquire_lock(machine.lock, 1)
    try:
        grown = <Edit*>realloc(machine.edits, (machine.n_edits + 1) * sizeof(Edit))
        if grown == NULL:
            raise MemoryError("no memory for an edit")
        machine.edits = grown
        one = &grown[machine.n_edits]
        one.old, one.since = <char*>malloc(size), <long long*>malloc(machine.e.n_frames * sizeof(long long))
        if one.old == NULL or one.since == NULL:
            free(one.old)
            free(one.since)
            raise MemoryError("no memory for an edit")
        one.event = machine.e.events + machine.e.code[machine.ip].ev_index
        one.store, one.row, one.offset, one.size = store, row, offset, <int>size
        memcpy(one.old, machine.e.base[base] + at, size)
        for f in range(machine.e.n_frames):
            one.since[f] = machine.e.frames[f].row + (0 if f in opened else 1)
        machine.n_edits += 1
    finally:
        PyThread_release_lock(machine.lock)


cdef void forget_edits(Machine machine, long long event) noexcept:
    """Forget the edits after an event. The caller holds the lock, or is the only thread."""
    cdef int k, left = 0
    for k in range(machine.n_edits):
        if machine.edits[k].event <= event:
            machine.edits[left] = machine.edits[k]
            left += 1
        else:
            free(machine.edits[k].old)
            free(machine.edits[k].since)
    machine.n_edits = left


# -- computing ---------------------------------------------------------------------------------------------------------
cdef struct Again:  # state of a recomputation
    char** bases
    char* scratch      # memory for the rest of a row; none if the result is written directly to its target ...
    char* copies[5]    # ... and copies of rows with edits undone: numbers (two), arrays, the previous row; outermost
    ByGroups* how
    char* pieces


cdef int begin_again(Machine m, int store, Recipe* recipe, long long offset, long long size, Again* again) noexcept nogil:
    """Prepare recomputation of ``size`` bytes at ``offset`` of rows; -1 without memory."""
    cdef Rows* arrays = &m.e.frames[store]
    memset(again, 0, sizeof(Again))
    again.bases = <char**>malloc(m.program.n_bases * sizeof(char*))
    again.how = wb_make_again(&m.e, recipe.steps, recipe.n, wb_base_of(&m.e, store) + 2, recipe.offset, recipe.size)
    if again.how != NULL:
        again.pieces = wb_big_chunk(again.how.piece_bytes + 64, 0)
        if not (again.how.direct and offset == recipe.offset and size == recipe.size):
            again.scratch = wb_big_chunk(arrays.scratch_bytes, arrays.scratch_bytes >= HUGE_BYTES)
            again.how.direct = 0
    if again.bases == NULL or again.pieces == NULL or (again.scratch == NULL and not again.how.direct):
        end_again(arrays, again)
        return -1
    return 0


cdef void end_again(Rows* arrays, Again* again) noexcept nogil:
    cdef int k
    free(again.bases)
    if again.how != NULL:
        wb_free_chunk(again.pieces, again.how.piece_bytes + 64)
    wb_free_again(again.how)
    wb_free_chunk(again.scratch, arrays.scratch_bytes)
    for k in range(5):
        free(again.copies[k])


cdef char* _copy_of(char** copy, const char* source, long long size) noexcept nogil:
    if copy[0] == NULL:
        copy[0] = <char*>malloc(size)
    if copy[0] != NULL:
        memcpy(copy[0], source, size)
    return copy[0]


cdef int _undo_edits(Machine m, int f, int store, long long row, Again* again) noexcept nogil:
    """Let the bases point to the values with which a row was computed; -1 without memory."""
    cdef Engine* e = &m.e
    cdef Rows* numbers = &e.frames[f]
    cdef Rows* arrays = &e.frames[store]
    cdef int outer = e.array_store[0], base = wb_base_of(e, store), k, j
    cdef Edit* one
    cdef bint some = False
    cdef char* where[5]
    for k in range(m.n_edits):
        some = some or row < m.edits[k].since[f]
    if not some:
        return 0
    where[0] = _copy_of(&again.copies[0], again.bases[f + 1] - numbers.row_bytes, 2 * numbers.row_bytes)
    where[1] = _copy_of(&again.copies[1], again.bases[base], arrays.row_bytes)
    where[2] = _copy_of(&again.copies[2], again.bases[base + 1], arrays.row_bytes)
    where[3] = _copy_of(&again.copies[3], e.base[1], e.frames[0].row_bytes)
    where[4] = _copy_of(&again.copies[4], e.frames[outer].cur, e.frames[outer].row_bytes) if outer >= 0 else where[3]
    for j in range(5):
        if where[j] == NULL:
            return -1
    again.bases[f + 1] = where[0] + numbers.row_bytes
    again.bases[base], again.bases[base + 1], again.bases[1] = where[1], where[2], where[3]
    if outer >= 0:
        again.bases[wb_base_of(e, outer)] = where[4]
    for k in range(m.n_edits - 1, -1, -1):
        one = &m.edits[k]
        if row >= one.since[f]:
            continue
        if one.store == f and row - 1 <= one.row <= row:
            memcpy(where[0] + (one.row - row + 1) * numbers.row_bytes + one.offset, one.old, one.size)
        elif one.store == store and row - 1 <= one.row <= row:
            memcpy(where[2 - (one.row - row + 1)] + one.offset, one.old, one.size)
        elif one.store == 0:
            memcpy(where[3] + one.offset, one.old, one.size)
        elif one.store == outer:
            memcpy(where[4] + one.offset, one.old, one.size)
    return 0


cdef int compute_again(Machine m, int f, int store, long long row, char* rest, Again* again) noexcept nogil:
    """Compute the result of a recipe in a row; ``rest`` is the address of byte 0 of the row; -1 without memory. The
    caller holds the lock, or is the thread of the run.
    """
    cdef Engine* e = &m.e
    cdef Rows* arrays = &e.frames[store]
    cdef int base = wb_base_of(e, store), mode
    cdef bint first = row <= arrays.first_chunk * arrays.per_chunk
    memcpy(again.bases, e.base, m.program.n_bases * sizeof(char*))
    again.bases[f + 1] = row_address(&e.frames[f], row)
    again.bases[base] = row_address(arrays, row)
    again.bases[base + 1] = row_address(arrays, row if first else row - 1)  # a first row reads nothing there
    again.bases[base + 2] = rest
    if e.pointed[f]:  # an edit in the next row changed this row's reference
        point_from(m.program, again.bases, f, row_address(&e.frames[f], row) - e.frames[f].row_bytes)
    if m.n_edits and _undo_edits(m, f, store, row, again) < 0:
        return -1
    mode = wb_set_flush(m.program.flushes)
    wb_run_again(again.bases, again.pieces, again.how)
    wb_restore_flush(mode)
    return 0


cdef inline bint _in_progress(Machine m, int store, long long row) noexcept nogil:
    """Whether the memory of the rest holds this row."""
    cdef int* span = m.program.spans + 2 * (store - m.e.n_frames)
    return row == m.e.frames[store].row and m.status != RUNNING and span[0] < m.ip < span[1]


cdef int rest_of_row(Machine m, int f, int store, long long row, Again* again, char* out, long long offset, long long size) noexcept nogil:
    """Copy ``size`` bytes at ``offset`` of a row, in the rest, to ``out``; -1 without memory."""
    cdef Rows* arrays = &m.e.frames[store]
    cdef Pin* pin = pin_of(arrays, row)
    cdef char* source = out - offset if again.how.direct else again.scratch - arrays.recorded
    if pin != NULL:
        source = pin.bytes - arrays.recorded
    elif _in_progress(m, store, row) or (arrays.pinning and row == arrays.row):
        source = arrays.scratch  # the last row of a finished loop is pinned when the next one begins
    elif compute_again(m, f, store, row, source, again) < 0:
        return -1
    if source + offset != out:
        memcpy(out, source + offset, size)
    return 0


cdef void write_elided(Machine m) noexcept nogil:
    """Where a run stops, write the values held only in blocks of chains to the memory of the rest
    (fast_path/blocks.h).
    """
    cdef Engine* e = &m.e
    cdef Instr* i
    cdef int s, k
    cdef int* span
    for s in range(e.n_frames, e.n_stores):
        span = m.program.spans + 2 * (s - e.n_frames)
        if e.frames[s].scratch_bytes == 0 or e.frames[s].pinning or not span[0] < m.ip < span[1]:
            continue
        for k in range(span[0], m.ip):
            i = &e.code[k]
            if e.elided[k] and e.array_store[i.frame] == s:
                wb_run_array(e.base, i)


cdef long long first_recomputable(Machine m, int f, int store) noexcept nogil:
    """The first row for which unrecorded values can be computed."""
    return max(m.e.frames[store].first_row, m.e.frames[f].first_row)


cdef int frame_of_store(Machine m, int store) noexcept nogil:
    cdef int f
    for f in range(m.e.n_frames):
        if m.e.array_store[f] == store:
            return f
    return -1


cdef object column_again(Machine m, int store, long long offset, dtype, long long start, long long stop, long long step, shape):
    """:meth:`View.column` of an array that is not recorded."""
    cdef Rows* arrays = &m.e.frames[store]
    cdef int f = frame_of_store(m, store)
    cdef Recipe* recipe = recipe_of(m.program, store, offset)
    cdef cnp.ndarray out = np.empty((max(0, (stop - start + step - 1) // step), *shape), dtype)
    cdef char* data = <char*>cnp.PyArray_DATA(out)
    cdef long long size = out.itemsize * <long long>math.prod(shape), begin = start, row, first, computed = 0
    cdef int done = 0
    cdef Again again
    if recipe == NULL:
        raise ValueError(f"the program does not say how byte {offset} of store {store} is computed again")
    if begin_again(m, store, recipe, offset, size, &again) < 0:
        raise MemoryError("no memory to compute arrays again")
    with nogil:
        PyThread_acquire_lock(m.lock, 1)
        row = start
        while True:
            first = first_recomputable(m, f, store)
            if start < first:  # rows may have been dropped since the start
                start += (first - start + step - 1) // step * step
                row = max(row, start)
            stop = min(stop, arrays.row + 1)
            if row >= stop:
                break
            done = rest_of_row(m, f, store, row, &again, data + (row - begin) // step * size, offset, size)
            if done < 0:
                break
            row += step
            computed += arrays.scratch_bytes
            if computed > LOOK_UP:
                computed = 0
                PyThread_release_lock(m.lock)
                PyThread_acquire_lock(m.lock, 1)
        PyThread_release_lock(m.lock)
    end_again(arrays, &again)
    if done < 0:
        raise MemoryError("no memory to compute arrays again")
    return start, out[(start - begin) // step : (row - begin + step - 1) // step]


cdef object whole_rows(Machine m, int store, long long start, long long stop):
    """Complete rows of a store as bytes, including unrecorded values; in the thread of the run."""
    cdef Rows* arrays = &m.e.frames[store]
    cdef int f = frame_of_store(m, store)
    cdef long long width = arrays.recorded + arrays.scratch_bytes, row
    cdef cnp.ndarray out = np.empty((stop - start, width), np.uint8)
    cdef char* at = <char*>cnp.PyArray_DATA(out)
    cdef Again again
    cdef Recipe* recipe = recipe_of(m.program, store, -1)
    cdef int done = 0
    if begin_again(m, store, recipe, 0, 0, &again) < 0:
        raise MemoryError("no memory to compute arrays again")
    with nogil:
        for row in range(start, stop):
            memcpy(at, row_address(arrays, row), arrays.recorded)
            done = rest_of_row(m, f, store, row, &again, at + arrays.recorded, arrays.recorded, arrays.scratch_bytes)
            if done < 0:
                break
            at += width
    end_again(arrays, &again)
    if done < 0:
        raise MemoryError("no memory to compute arrays again")
    return out
