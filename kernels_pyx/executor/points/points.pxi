# One program for many points: the machine restarts with other inputs, without Python and without the GIL.

cdef enum:
    FIRST_LOOK = 1024  # events after which a run that has not ended is checked for a recurrence; then twice as many

# outcome of the run of a point
cdef enum PointStatus:
    POINT_OPEN = 0       # neither an end nor a recurrence within the limit
    POINT_ENDED = 1
    POINT_FAILED = 2
    POINT_RECURS = 3     # the values that a loop carries recurred bit for bit, so the loop never ends
    POINT_WAITING = 255  # not run

POINT_STATUS = {"open": POINT_OPEN, "ended": POINT_ENDED, "failed": POINT_FAILED, "recurs": POINT_RECURS}


cdef void return_to_start(Machine m) noexcept nogil:
    """Reset a machine without objects in its rows to its first instruction. Its chunks are kept for reuse."""
    cdef int s
    cdef Rows* rows
    for s in range(1, m.e.n_stores):
        if s == m.e.array_store[0]:
            continue
        rows = &m.e.frames[s]
        while rows.first_chunk < rows.n_chunks:
            if rows.spare == NULL:
                rows.spare = rows.chunks[rows.first_chunk - rows.base_chunk]
            else:
                give_chunk(rows, rows.chunks[rows.first_chunk - rows.base_chunk])
            rows.first_chunk += 1
        rows.base_chunk = rows.first_chunk = rows.n_chunks = rows.first_row = 0
        rows.row = -1
        rows.cur = rows.end = NULL
        rows.edge = 0
        if rows.act_blocks:
            free_blocks(rows, rows.first_act // ACTS, rows.act_blocks)
        rows.base_act = rows.act_blocks = rows.n_acts = rows.first_act = 0
        if s >= m.e.n_frames:
            m.e.base[wb_base_of(&m.e, s)] = m.e.base[wb_base_of(&m.e, s) + 1] = NULL
    m.ip = 0
    m.e.events = 0
    m.next_release = 0


cdef inline char* _state_at(Machine m, StatePart* part, long long row) noexcept nogil:
    return row_address(&m.e.frames[part.store], row + part.shift) + part.offset


cdef long long recurrence(Machine m, PointSpecs specs, int f) noexcept nogil:
    """Number of iterations after which the values that frame f carries recurred bit for bit in this activation; 0 if
    they did not within the kept rows, or if the carried values are not known.
    """
    cdef Rows* rows = &m.e.frames[f]
    cdef long long now = rows.row, row, low
    cdef int k, n = 0
    cdef StatePart* part
    if rows.n_acts == 0:
        return 0
    low = act_start(rows, rows.n_acts - 1) + 1
    for k in range(specs.n_states):
        part = &specs.states[k]
        if part.frame == f:
            n += 1
            low = max(low, m.e.frames[part.store].first_row - part.shift)
    if n == 0:
        return 0
    for row in range(now - 1, low - 1, -1):
        for k in range(specs.n_states):
            part = &specs.states[k]
            if part.frame == f and memcmp(_state_at(m, part, now), _state_at(m, part, row), part.size) != 0:
                break
        else:
            return now - row
    return 0


cdef int _run_point(Machine m, PointSpecs specs, long long limit, long long* period) noexcept nogil:
    """Run to the end, a failure, a recurrence or the limit; returns a PointStatus, or -1: stop requested, -2: no
    memory.
    """
    cdef long long look = FIRST_LOOK
    cdef int status, k
    while True:
        m.e.poll_at = min(look, limit)
        status = m._fast()
        if status == HALT:
            return POINT_ENDED
        if status == FAILED:
            return POINT_FAILED
        if status == NO_MEMORY:
            return -2
        if wb_flag(&m.e.stop_flag):
            return -1
        if m.e.events < m.e.poll_at:
            continue
        for k in range(specs.n_spans):
            if specs.spans[k].start < m.ip < specs.spans[k].stop:
                period[0] = recurrence(m, specs, specs.spans[k].frame)
                if period[0]:
                    return POINT_RECURS
        if m.e.events >= limit:
            return POINT_OPEN
        look = 2 * look if look < limit else limit


cdef void _write_feeds(Machine m, PointSpecs specs, long long point) noexcept nogil:
    cdef FeedColumn* feed
    cdef int k
    for k in range(specs.n_feeds):
        feed = &specs.feeds[k]
        memcpy(m.e.base[feed.base] + feed.offset, feed.data + point * feed.stride, feed.size)


cdef void _read_outputs(Machine m, PointSpecs specs, long long point) noexcept nogil:
    cdef OutputColumn* out
    cdef int k, j
    for k in range(specs.n_outputs):
        out = &specs.outputs[k]
        out.alive[point] = 1
        for j in range(out.first_literal, out.first_literal + out.n_literals):
            if not wb_holds(m.e.base, &specs.literals[j]):
                out.alive[point] = 0
        if out.alive[point]:
            memcpy(out.data + point * out.size, m.e.base[out.base] + out.offset, out.size)


cdef void _read_series(Machine m, PointSpecs specs, long long point) noexcept nogil:
    """The newest values of loop variables in the last activation, including the start value of the iteration in
    progress.
    """
    cdef SeriesColumn* series
    cdef Rows* rows
    cdef long long first, count
    cdef int k
    for k in range(specs.n_series):
        series = &specs.series[k]
        rows = &m.e.frames[series.frame]
        series.counts[point] = 0
        if rows.n_acts == 0:
            continue
        first = act_start(rows, rows.n_acts - 1) + 1
        series.counts[point] = rows.row - first + 1
        count = min(series.length, rows.row - max(first, m.e.frames[series.store].first_row - series.shift) + 1)
        copy_column(
            &m.e.frames[series.store], series.data + ((point + 1) * series.length - count) * <long long>series.size,
            rows.row - count + 1 + series.shift, count, 1, series.offset, <int>series.size,
        )


def run_points(Machine machine not None, PointSpecs specs not None, long long start, long long stop, long long limit,
               unsigned char[::1] status, long long[::1] events, long long[:, ::1] iterations, long long[::1] periods,
               list failures):
    """Run each of the points ``start`` to ``stop`` from the beginning; returns the first one that was not run.

    limit: events of one point after which it is stopped at the next back jump. status, events, iterations (points,
    frames), periods: results for each point: POINT_STATUS, events, iteration of each frame in its last activation (-1:
    never entered), iterations after which the state recurred. failures: receives (point, instruction, exception) for
    each point in which a node failed.

    The rows of the program must not hold objects (ValueError). After ``request_stop`` it returns before the current
    point.
    """
    cdef long long point = start
    cdef int done = 0, f, mode
    cdef bint objects = any(machine.program.object_offsets)
    take_natives(machine)
    if objects:
        raise ValueError("run_points: rows that hold objects begin again with restore")
    if not (0 <= start <= stop <= len(status) <= len(events) and len(iterations) >= stop and len(periods) >= stop):
        raise ValueError(f"run_points: points {start} to {stop} are not within the columns")
    machine.ignore_traps = True
    with nogil:
        mode = wb_set_flush(machine.program.flushes)
        while point < stop:
            return_to_start(machine)
            _write_feeds(machine, specs, point)
            periods[point] = 0
            done = _run_point(machine, specs, limit, &periods[point])
            if done < 0:
                break
            status[point] = <unsigned char>done
            events[point] = machine.e.events + machine.e.code[machine.ip].ev_index
            for f in range(machine.e.n_frames):
                iterations[point, f] = machine._iteration(f) if f == 0 or machine.e.frames[f].n_acts else -1
            _read_series(machine, specs, point)
            if done == POINT_ENDED:
                _read_outputs(machine, specs, point)
            elif done == POINT_FAILED:
                with gil:
                    failures.append((point, machine.ip, machine.error))
                    machine.error = None
            point += 1
        wb_restore_flush(mode)
    if done == -2:
        raise MemoryError("the trace cannot grow: there is no memory left")
    return point
