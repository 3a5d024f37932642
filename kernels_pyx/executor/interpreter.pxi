# The interpreter. One function executes one instruction; the exact loop uses it for all instructions, the fast path
# (threaded_code.h) for those that it does not execute itself.

cdef enum Status:
    RUNNING = 0
    REACHED = 1   # the event limit
    BREAK = 2     # an armed instruction
    POLL = 3      # a stop is requested, or the driver is due
    HALT = 4
    FAILED = 5    # a Python callable raised; machine.error holds it
    NO_MEMORY = 6
    HIT = 7       # a condition on a value holds; the machine is after the instruction

# reasons why a frame did not get its next row, besides -1 for lack of memory
cdef enum:
    NOT_RETIRED = -2  # the retire hook raised: nothing has advanced
    HALF_WAY = -3     # no memory for its arrays: the frame itself has advanced

STATUS_NAMES = ("running", "reached", "break", "poll", "halt", "failed", "no-memory", "hit")


cdef class Machine:
    """State of one run of a :class:`Program`: rows of every frame, position, number of events so far.

    ``budget`` bounds the bytes that it holds (rows/eviction.pxi); ``window`` those of each store of arrays (0: none).
    One thread runs it; ``request_stop``, ``events`` and the readers may be used from any thread.
    """

    cdef readonly Program program
    cdef InlineCache* caches            # one for each call
    cdef set shapes             # ids of shapes seen so far, each held once
    cdef readonly long long cache_hits
    cdef readonly long long cache_misses
    cdef Engine e               # in __dealloc__ the program may already be cleared
    cdef PyThread_type_lock lock
    cdef int ip
    cdef int status
    cdef public long long budget
    cdef public long long window
    cdef public bint ignore_traps   # replaying: ignore armed instructions and requests to stop
    cdef public bint regions        # regions run as one call each; otherwise node by node
    cdef public object error
    cdef public object retire       # see machine.pyi
    cdef public object rewind
    cdef readonly bint retire_failed   # the error comes from that call
    cdef public bint retire_computed   # it also receives values that are not recorded
    cdef bint retiring              # it is being called
    cdef public long long reserved_bytes  # bytes of the budget that a keeper of retired rows holds ...
    cdef public long long checkpoint_bytes     # ... and that checkpoints hold
    cdef int stop_frame
    cdef long long stop_row
    cdef readonly long long dropped_chunks
    cdef readonly long long epoch      # number of times that going back rewrote earlier rows
    cdef dict rewound                  # store -> [(epoch after it, row)]: how far back it went, both ascending
    cdef int next_release              # in the program's list of releases
    cdef public long long least_released   # smaller arrays stay
    cdef readonly long long released_objects
    cdef long long peak_bytes
    cdef Edit* edits            # the values that edits overwrote, oldest first
    cdef int n_edits
    cdef int native_version     # version of the program's machine code when it was packed

    def __cinit__(self, Program program not None, long long budget=0, long long window=0):
        cdef int f, k
        cdef Engine* e = &self.e
        self.program = program
        self.budget = budget
        self.window = window
        self.lock = PyThread_allocate_lock()
        self.least_released = COPIED_BYTES
        self.retire_computed = True
        self.shapes = set()
        self.rewound = {}
        self.caches = <InlineCache*>calloc(len(program.calls) + 1, sizeof(InlineCache))
        e.n_frames = program.n_frames
        e.n_stores = program.n_frames + len(program.stores)
        e.literals = program.literals
        e.sizes = program.sizes
        e.code = <Instr*>calloc(program.length, sizeof(Instr))
        e.fast_ops = <FastOp*>calloc(5 * program.length, sizeof(FastOp))  # with conditions, scalars in chains
        e.cached = <Cached*>calloc(6 * program.length, sizeof(Cached))
        e.fast_op_of = <int*>calloc(program.length, sizeof(int))
        e.elided = <char*>calloc(program.length, 1)
        e.nonlocal_list = <int*>calloc(2 * program.length, sizeof(int))
        e.nonlocal_first = <int*>calloc(program.n_frames + 1, sizeof(int))
        e.frames = <Rows*>calloc(e.n_stores, sizeof(Rows))
        e.array_store = <int*>calloc(program.n_frames, sizeof(int))
        e.pointed = <char*>calloc(program.n_frames, 1)
        e.base = <char**>calloc(program.n_bases, sizeof(char*))
        if not (self.caches and e.array_store and e.pointed and e.code and e.fast_ops and e.cached and e.fast_op_of and e.elided and e.nonlocal_list and e.nonlocal_first and e.frames and e.base and self.lock):
            raise MemoryError("no memory for the machine")
        memcpy(e.code, program.code, program.length * sizeof(Instr))
        for k in range(program.n_pointers):
            e.pointed[program.pointers[k].frame] = 1
        for f in range(program.n_frames):
            e.array_store[f] = -1
        for f in range(program.n_frames):
            self._init_rows(&self.e.frames[f], f)
        for k, (f, row_bytes, _, _, recorded, _, _) in enumerate(program.stores):
            e.array_store[f] = program.n_frames + k
            self._init_store(&e.frames[e.array_store[f]], f, recorded)
            if recorded < row_bytes:
                self._init_scratch(e.array_store[f], recorded, row_bytes - recorded)
        link(e, program.length)
        e.base[0] = program.pool
        for k, array in enumerate(program.constants):
            e.base[1 + program.n_frames + 3 * len(program.stores) + k] = <char*>cnp.PyArray_DATA(array)
        if push_chunk(&self.e.frames[0], self.lock) < 0 or room_in_tables(&self.e.frames[0], self.lock) < 0:
            raise MemoryError("no memory for the machine")
        push_activation(&self.e.frames[0], -1)
        self.e.frames[0].row = 0
        self.e.base[1] = self.e.frames[0].cur
        if e.array_store[0] >= 0 and self._advance_store(e.array_store[0]) < 0:
            raise MemoryError("no memory for the machine")
        self.status = POLL

    cdef int _init_rows(self, Rows* rows, int f) except -1:
        cdef FrameSpec spec = self.program.frames[f]
        cdef long long wanted = chunk_wanted(self)
        offsets = self.program.object_offsets[f]
        rows.row_bytes = spec.row_bytes
        rows.chunk_bytes = HUGE_BYTES
        rows.per_chunk = max(<long long>2, wanted // spec.row_bytes - 1)
        if spec.per_chunk > 0:
            rows.per_chunk = min(<long long>spec.per_chunk, rows.per_chunk)
        if spec.per_chunk > 0 or wanted < HUGE_BYTES or (rows.per_chunk + 1) * spec.row_bytes > HUGE_BYTES:
            rows.chunk_bytes = (rows.per_chunk + 1) * spec.row_bytes
        rows.row = -1
        rows.carry = 1
        rows.n_objects = len(offsets)
        if rows.n_objects:
            rows.object_offsets = <int*>calloc(rows.n_objects, sizeof(int))
            if not rows.object_offsets:
                raise MemoryError("no memory for the machine")
            for k, offset in enumerate(offsets):
                rows.object_offsets[k] = offset
        return 0

    cdef int _init_store(self, Rows* rows, int f, long long row_bytes) except -1:
        cdef long long wanted = chunk_wanted(self)
        if self.window > 0:
            wanted = min(wanted, self.window // 8)
        rows.row_bytes = row_bytes
        rows.per_chunk = 1 if f == 0 else max(<long long>1, wanted // row_bytes)
        rows.chunk_bytes = HUGE_BYTES if f and rows.per_chunk > 1 and wanted == HUGE_BYTES else rows.per_chunk * row_bytes
        rows.row = -1
        # its memory is rewritten after this many further bytes
        wanted = max(4 * row_bytes, self.window if self.window > 0 else self.budget if self.budget > 0 else CACHED_BYTES)
        rows.streams = wb_can_stream() and wanted >= CACHED_BYTES
        return 0

    cdef int _init_scratch(self, int s, int recorded, int size) except -1:
        """Allocate memory for values that the rows of a store do not hold. Its rows leave before those of the frame,
        from which they are computed again, so it has no more rows in a chunk.
        """
        cdef Rows* rows = &self.e.frames[s]
        cdef int f = self.program.stores[s - self.e.n_frames][0]
        cdef char* memory = wb_big_chunk(size, 0)
        if memory == NULL:
            raise MemoryError("no memory for the machine")
        rows.recorded, rows.scratch_bytes, rows.scratch = recorded, size, memory - recorded
        self.e.base[wb_base_of(&self.e, s) + 2] = rows.scratch
        if rows.per_chunk > self.e.frames[f].per_chunk:
            rows.per_chunk = self.e.frames[f].per_chunk
            rows.chunk_bytes = rows.per_chunk * rows.row_bytes
        return 0

    def __dealloc__(self):
        cdef int f
        cdef long long c
        cdef Rows* rows
        if self.e.frames != NULL:
            for f in range(self.e.n_stores):
                rows = &self.e.frames[f]
                give_chunk(rows, rows.spare)
                for c in range(rows.first_chunk - rows.base_chunk, rows.n_chunks - rows.base_chunk):
                    if rows.n_objects:
                        release_objects(rows, rows.chunks[c], 0, rows.per_chunk + 1)
                    give_chunk(rows, rows.chunks[c])
                free(rows.chunks)
                free_blocks(rows, rows.first_act // ACTS, rows.act_blocks)
                free(rows.act_spare)
                free(rows.acts)
                free(rows.object_offsets)
                drop_pins(rows, -1)
                if rows.scratch != NULL:
                    wb_free_chunk(rows.scratch + rows.recorded, rows.scratch_bytes)
        if self.shapes is not None:
            for held in self.shapes:
                SHAPES.release_key(held)
        forget_edits(self, -1)
        free(self.edits)
        free_conditions(self)
        free(self.caches)
        free(self.e.frames)
        free(self.e.array_store)
        free(self.e.pointed)
        free(self.e.code)
        free(self.e.fast_ops)
        free(self.e.cached)
        free(self.e.fast_op_of)
        wb_free_groups(&self.e)
        free(self.e.elided)
        free(self.e.nonlocal_list)
        free(self.e.nonlocal_first)
        free(self.e.base)
        if self.lock:
            PyThread_free_lock(self.lock)

    # -- running -------------------------------------------------------------------------------------------
    def run(self, long long limit=-1, bint exact=False, bint through=False, int watch_frame=-1, long long watch_row=-1,
            bint loud=True, int home_start=-2, int home_stop=0x7FFFFFFF, int home_frame=-1, int stop_frame=-1,
            long long stop_row=-1):
        """Run on; returns a name of STATUS_NAMES.

        limit: stop before event number ``limit`` (exact) or at the first back jump from there on (fast); -1: never.
        through: do not stop at an armed instruction at the current position.
        watch_frame, watch_row: exact only; stop before the first event after that frame's row has changed.
        loud: exact only; do not stop before silent events (constants and loop invariants).
        home_start, home_stop: exact only; stop before the first event outside these instructions.
        home_frame: exact only; stop before the first event in another frame.
        stop_frame, stop_row: stop once that frame's row is this one or a later one (exact: before an event).
        """
        cdef int status, f, mode
        for f in range(self.e.n_frames):  # memory ran out between the two: continuing would write into the previous row
            if self.e.array_store[f] >= 0 and self.e.frames[f].row != self.e.frames[self.e.array_store[f]].row:
                raise MemoryError("memory ran out in the middle of a step of the trace; go back to an earlier one first")
        if not exact:
            take_natives(self)
        self.status = RUNNING
        self.retire_failed = False
        self.e.poll_at = limit if limit >= 0 else 0x7FFFFFFFFFFFFFFF
        self.stop_frame, self.stop_row = stop_frame, stop_row
        with nogil:
            mode = wb_set_flush(self.program.flushes)
            if stop_frame >= 0:
                limit_rows(&self.e.frames[stop_frame], stop_row)
            if exact:
                status = self._exact(through, watch_frame, watch_row, loud, home_start, home_stop, home_frame)
            else:
                status = self._fast()
            if stop_frame >= 0:
                limit_rows(&self.e.frames[stop_frame], -1)
            wb_restore_flush(mode)
        self.stop_frame = -1
        self.status = status
        if status == HALT:
            release_objects_before(self, self.program.length)
        note_peak(self, 0)
        if status == NO_MEMORY:
            raise MemoryError("the trace cannot grow: there is no memory left")
        return STATUS_NAMES[status]

    cdef int _fast(self) noexcept nogil:
        cdef int status = self._fast_to_stop()
        if status != HALT:
            write_elided(self)
        return status

    cdef int _fast_to_stop(self) noexcept nogil:
        cdef Engine* e = &self.e
        cdef Instr* i = &e.code[self.ip]
        cdef int status = RUNNING
        cdef int op, frame
        cdef Instr* done_one
        wb_resolve_addresses(e, 0, e.nonlocal_first[e.n_frames])
        e.met = 0
        e.quiet = self.ignore_traps
        while True:
            i = wb_run_fast(e, i)
            if e.met:
                self.ip = <int>(i - e.code) + (e.met == 2)
                return BREAK if e.met == 1 else HIT
            op = i.op & ~OP_TRAP
            frame = i.frame
            if i.op & OP_TRAP:
                if not self.ignore_traps and (i.trap_iteration < 0 or self._iteration(i.frame) == i.trap_iteration):
                    e.n_reported = 0
                    self.ip = <int>(i - e.code)
                    return BREAK
            done_one = i
            i = self._do(i, True, &status)
            if done_one.condition_after and (status == RUNNING or status == POLL) and not self.ignore_traps:
                if wb_conditions_hold(e, done_one, False):
                    self.ip = <int>(done_one - e.code) + 1
                    return HIT
            if status != RUNNING:
                self.ip = <int>(i - e.code)
                return status
            if op == OP_LOOP:  # the rows of enclosing frames are fixed from here on
                wb_resolve_addresses(e, e.nonlocal_first[frame], e.nonlocal_first[frame + 1])

    cdef int _exact(self, bint through, int watch_frame, long long watch_row, bint loud, int home_start, int home_stop,
                    int home_frame) noexcept nogil:
        cdef Instr* code = self.e.code
        cdef Instr* i = &code[self.ip]
        cdef Instr* done_one
        cdef int status = RUNNING
        while True:
            if i.is_event and not (loud and i.silent):
                if self.e.events + i.ev_index >= self.e.poll_at:
                    status = REACHED
                elif watch_frame >= 0 and self.e.frames[watch_frame].row != watch_row:
                    status = REACHED
                elif self.stop_frame >= 0 and self.e.frames[self.stop_frame].row >= self.stop_row:
                    status = REACHED
                elif (i - code) <= home_start or (i - code) >= home_stop or (home_frame >= 0 and i.frame != home_frame):
                    status = REACHED
                elif not self.ignore_traps:
                    if wb_flag(&self.e.stop_flag) and not (i.armed and not through):
                        status = POLL
                    elif not through and (i.armed or i.condition_before) and self._trapped(i):
                        status = BREAK
            if i.is_event:
                through = False
            if status == RUNNING:
                done_one = i
                i = self._do(i, False, &status)
                if done_one.condition_after and status == RUNNING and not self.ignore_traps:
                    if wb_conditions_hold(&self.e, done_one, False):
                        i, status = done_one + 1, HIT
            if status != RUNNING:
                self.ip = <int>(i - code)
                return status

    cdef inline Instr* _do(self, Instr* i, const bint fast, int* status) noexcept nogil:
        """Execute one instruction and return the next; on a status other than RUNNING the one to continue with."""
        cdef char** base = self.e.base
        cdef Instr* code = self.e.code
        cdef int op = i.op & ~OP_TRAP
        cdef Rows* rows
        cdef int k
        cdef char* args[4]
        cdef cnp.npy_intp one = 1
        cdef int done
        if op == OP_KERNEL:
            i.fn(base[i.bo] + i.oo, base[i.ba] + i.oa, base[i.bb] + i.ob, base[i.bc] + i.oc)
        elif op == OP_TEST:
            self.e.events += i.n_events
            if not (base[i.ba] + i.oa)[0]:
                return &code[i.fast_jump if fast else i.jump]
        elif op == OP_BACK:
            self.e.events += i.n_events
            rows = &self.e.frames[i.frame]
            done = self._advance(i.frame)
            if done == HALF_WAY:
                status[0] = NO_MEMORY  # this iteration has begun without its arrays: run refuses to continue
                return &code[i.jump]
            if done < 0:
                self.e.events -= i.n_events
                status[0] = FAILED if done == NOT_RETIRED else NO_MEMORY
                return i
            if self.e.events >= self.e.poll_at or wb_flag(&self.e.stop_flag) or self._there(i.frame):
                if fast:
                    status[0] = POLL
                return &code[i.jump]
            return &code[i.fast_jump if fast else i.jump]
        elif op == OP_ARRAY:
            wb_run_array(base, i)
            if (<Array*>i.data).raises and raised(self):
                status[0] = FAILED
                return i
        elif op == OP_GUARD:
            self.e.events += i.n_events
            for k in range(i.x0, i.x0 + i.x1):
                if not wb_holds(base, &self.e.literals[k]):
                    return &code[i.fast_jump if fast else i.jump]
        elif op == OP_MARK:
            self.e.events += i.n_events
        elif op == OP_UFUNC:
            args[0] = base[i.ba] + i.oa
            args[1] = base[i.bb] + i.ob
            args[2] = base[i.bc] + i.oc
            args[i.x0] = base[i.bo] + i.oo
            (<InnerLoop>i.fn)(args, &one, self.e.sizes + 4 * (i - code), i.data)
            if i.x1 and raised(self):
                status[0] = FAILED
                return i
        elif op == OP_CALL:
            if i.data != NULL and (<Check>i.data)(base[i.bo] + i.oo, base[i.ba] + i.oa, base[i.bb] + i.ob,
                                                  base[i.bc] + i.oc, self.e.sizes + 4 * (i - code)) == 0:
                pass
            elif call_python(self, i) < 0:
                status[0] = FAILED
                return i
            if fast and wb_flag(&self.e.stop_flag):  # calls can be long: a pause need not wait for a back jump
                status[0] = POLL
        elif op == OP_REGION:
            if fast and self.regions:
                done = run_region(self, i)
                if done < 0:
                    status[0] = FAILED
                    return i
                if done:
                    if wb_flag(&self.e.stop_flag):
                        status[0] = POLL
                    return &code[i.fast_jump]
        elif op == OP_MOVE:
            if move_object(self, i) < 0:
                status[0] = FAILED
                return i
        elif op == OP_LOOP or op == OP_START:
            self.e.events += i.n_events
            done = self._room_to_activate(i.frame) if op == OP_LOOP else 0
            if done == 0:
                if op == OP_LOOP:
                    self.e.frames[i.frame].opened = self.e.events
                done = self._advance(i.frame)
            if done < 0:
                self.e.events -= i.n_events
                status[0] = FAILED if done == NOT_RETIRED else NO_MEMORY
                return i
            if op == OP_LOOP:
                push_activation(&self.e.frames[i.frame], self.e.frames[self.program.frames[i.frame].parent].row)
            if fast and self._there(i.frame):
                status[0] = POLL
                return i + 1
        elif op == OP_HALT:
            status[0] = HALT
            return i
        return &code[i.next] if fast else i + 1

    cdef bint _trapped(self, Instr* i) noexcept nogil:
        """Whether to stop before an instruction."""
        if i.armed and (i.trap_iteration < 0 or self._iteration(i.frame) == i.trap_iteration):
            self.e.n_reported = 0
            return True
        return i.condition_before and wb_conditions_hold(&self.e, i, True)

    cdef inline bint _there(self, int f) noexcept nogil:
        """Whether a frame has reached the row at which the run should stop."""
        return f == self.stop_frame and self.e.frames[f].row >= self.stop_row

    cdef inline long long _iteration(self, int f) noexcept nogil:
        cdef Rows* rows = &self.e.frames[f]
        return rows.row - act_start(rows, rows.n_acts - 1) - 1 if f else 0

    cdef int _room_to_activate(self, int f) noexcept nogil:
        """Make room in the tables for one more activation of a frame."""
        cdef Rows* rows = &self.e.frames[f]
        cdef long long more = acts_to_come(rows)
        if more > 0 and make_room(self, -1, more) < 0:
            return NOT_RETIRED
        return room_in_tables(rows, self.lock)

    cdef int _advance(self, int f) noexcept nogil:
        """Advance a frame and its store of arrays to the next row. Everything that can fail, except for lack of memory,
        is done before the first of the two advances.
        """
        cdef Rows* rows = &self.e.frames[f]
        cdef int array_store = self.e.array_store[f]
        if f == self.stop_frame:
            limit_rows(rows, -1)
        if (at_end(rows) or (array_store >= 0 and at_end(&self.e.frames[array_store]))) and self._make_room(f) < 0:
            return NOT_RETIRED
        if not at_end(rows):
            rows.cur += rows.row_bytes
        elif self._more(f) < 0:
            return -1
        self.e.base[f + 1] = rows.cur
        wb_publish(&rows.row, rows.row + 1)
        if f == self.stop_frame:
            limit_rows(rows, self.stop_row)
        if self.e.pointed[f]:
            point_from(self.program, self.e.base, f, rows.cur - rows.row_bytes)
        return HALF_WAY if array_store >= 0 and self._advance_store(array_store) < 0 else 0

    cdef int _advance_store(self, int s) noexcept nogil:
        """Advance a store of arrays to the next row."""
        cdef Rows* rows = &self.e.frames[s]
        cdef int base = wb_base_of(&self.e, s)
        cdef char* before = rows.cur
        if rows.pinning and pin_row(rows, self.lock) < 0:
            return -1
        if not at_end(rows):
            rows.cur += rows.row_bytes
        elif push_chunk(rows, self.lock) < 0:
            return -1
        self.e.base[base + 1] = before
        self.e.base[base] = rows.cur
        wb_publish(&rows.row, rows.row + 1)
        return 0

    cdef int _more(self, int f) noexcept nogil:
        """Append a chunk to frame f. No thread waits for the lock while it holds the GIL."""
        cdef Rows* rows = &self.e.frames[f]
        cdef int done = push_chunk(rows, self.lock)
        if done == 0 and rows.n_objects and rows.n_chunks > 1:
            with gil:
                hold_row_objects(rows, rows.cur - rows.row_bytes)
        return done

    cdef int _make_room(self, int f) noexcept nogil:
        """Make room for the next row of a frame and of its arrays; -1 if the retire hook raised."""
        cdef Rows* rows = &self.e.frames[f]
        cdef long long more = 0
        if rows.n_objects and rows.row >= 0 and at_end(rows):  # the new chunk begins with a copy of this row
            with gil:
                more = row_objects(rows, rows.cur)
        return make_room(self, f, more)

    @property
    def unwritten(self):
        return self.e.unwritten

    @unwritten.setter
    def unwritten(self, int newest):
        self.e.unwritten = newest

    def make_room(self, long long more):
        """Drop the oldest rows that may be dropped until ``more`` bytes fit the budget; raises errors of the retire
        hook. Only while the machine does not run.
        """
        cdef int done
        self.retire_failed = False
        with nogil:
            done = make_room(self, -1, more)
        if done < 0:
            raise self.error

    @property
    def held_bytes(self):
        """Bytes that count against the budget: rows, arrays, activations, ``checkpoint_bytes`` and ``reserved_bytes``."""
        return read_held(self)

    @property
    def least_bytes(self):
        """Bytes of rows that are always kept, without those of objects: two chunks of each frame, three of
        large rows.
        """
        cdef long long least = 0
        cdef int s
        cdef Rows* rows
        for s in range(self.e.n_stores):
            rows = &self.e.frames[s]
            once = s == 0 or s == self.e.array_store[0]
            least += (1 if once else 3 if rows.per_chunk == 1 else 2) * <long long>rows.chunk_bytes
            if rows.scratch_bytes:  # one more row, from which the first readable one is computed again
                least += rows.scratch_bytes + (<long long>rows.chunk_bytes if rows.per_chunk == 1 else 0)
            least += 3 * ACT_BYTES if s < self.e.n_frames else 256
        return least
