# All variables of one loop, and the calls that write a row of values.

cdef class LoopRecorder:
    """Rows of the variables of one loop over all activations; see the module's header.

    ``on_row`` is called, from the recording thread, when row ``alarm`` has been written, and sets the next one.
    ``refused`` maps names to the reason why a value was not recorded.
    """

    cdef readonly list variables
    cdef dict index
    cdef readonly int64_t row  # the newest complete one
    cdef readonly int64_t calls
    cdef readonly int64_t version  # grows when a variable is added or changes its dtype or shape
    cdef public int64_t alarm
    cdef public object on_row
    cdef public int64_t budget
    cdef public object folder
    cdef readonly dict refused
    cdef public bint stop_requested
    cdef public bint pending  # the next call begins an activation
    cdef readonly object error
    cdef list starts, parents, given
    cdef int64_t init  # init row of the current activation
    cdef bint given_now  # its iteration 0 was given
    cdef int64_t most, seen
    cdef PyThread_type_lock lock
    cdef double heard  # time of the newest call
    cdef unsigned long inside  # the thread that is recording now

    def __cinit__(self, *args, **options):
        self.variables, self.index, self.refused = [], {}, {}
        self.starts, self.parents, self.given = [], [], []
        self.budget, self.most = 512 << 20, 256
        self.row, self.alarm = -1, 1 << 62
        self.lock, self.inside = PyThread_allocate_lock(), 0

    def __init__(self, int64_t budget=512 << 20, folder=None, int64_t most=256):
        self.budget, self.folder, self.most = budget, folder, most

    def __dealloc__(self):
        PyThread_free_lock(self.lock)

    # -- activations --------------------------------------------------------------------------------------------------
    def begin(self, int64_t parent=0):
        """Begin an activation under a row of the enclosing loop: an init row, and iteration 0."""
        self.starts.append(self.row + 1)
        self.parents.append(parent)
        self.init, self.given_now = self.row + 1, False
        for v in self.variables:
            for r in (self.row + 1, self.row + 2):
                (<VariableRows>v).absent(r)
        self.row += 2

    @property
    def begun(self):
        """Number of activations."""
        return len(self.starts)

    def activations(self):
        """(init rows, parent rows) of all activations."""
        return np.array(self.starts, np.int64), np.array(self.parents, np.int64)

    def given_starts(self):
        """Init rows of the activations whose iteration 0 was given."""
        return np.array(self.given, np.int64)

    @property
    def iteration(self):
        """Number of calls in the current activation."""
        return self.row - self.init - 1 if self.starts else 0

    @property
    def silent(self):
        """Seconds since the newest call; 0 before the first one."""
        return max(0.0, wb_heard_now() - self.heard) if self.calls else 0.0

    # -- recording ----------------------------------------------------------------------------------------------------
    def record(self, **values):
        """Record one iteration. Values that cannot be recorded are named in ``refused``; nothing is raised."""
        self._locked(values)

    def __call__(self, *values, **named):
        """Record one iteration: values by name, or the arguments of a solver's callback. True if the loop
        should stop.
        """
        if values or (len(named) == 1 and "intermediate_result" in named):
            return self.from_callback(values, named)
        self._locked(named)
        return self.stop_requested

    def from_callback(self, values, named):
        """The values of a call by position; subclasses implement it."""
        raise TypeError("values are recorded by name: watch(residual=r)")

    def take_state(self, name, value):
        """Keep a value that is not a number; False if that is not possible. Subclasses implement it."""
        return False

    def opened(self):
        """Called before the first call of an activation that no block began."""

    cdef int _locked(self, dict values) except -1:
        cdef unsigned long me = PyThread_get_thread_ident()
        if self.pending:
            self.pending = False
            self.opened()
        if not PyThread_acquire_lock(self.lock, NOWAIT_LOCK):
            if self.inside == me:
                self.refused.setdefault("", "a watch was called while it read a value of its own call")
                return 0
            with nogil:
                PyThread_acquire_lock(self.lock, WAIT_LOCK)
        self.inside = me
        try:
            self._record(values)
        finally:
            self.inside = 0
            PyThread_release_lock(self.lock)
        if self.row >= self.alarm and self.on_row is not None:
            self.on_row()
        return 0

    def start(self, dict values):
        """Values of iteration 0, the start of the loop; ValueError after the first iteration."""
        if not self.starts or self.row != self.init + 1:
            raise ValueError("the start values come before the first iteration")
        self.row -= 1
        self.given_now = True
        self.given.append(self.init)
        self._record(values)
        self.calls -= 1
        for v in self.variables:
            if v.written == self.row and (<VariableRows>v).missing is not None:
                (<VariableRows>v).missing._slot(self.row)[0] = 0

    cdef int _record(self, dict values) except -1:
        cdef int64_t row = self.row + 1
        cdef Py_ssize_t at = 0, k = 0, done = 0, count = len(self.variables)
        cdef PyObject* key
        cdef PyObject* value
        cdef VariableRows v
        cdef int64_t held
        if not self.starts:
            self.begin()
            row = self.row + 1
        while PyDict_Next(values, &at, &key, &value):
            v = <VariableRows>self.variables[k] if k < count else None
            if v is None or <PyObject*>v.name != key:
                v = self.index.get(<object>key)
                if v is None:
                    v = self._new(<str>(<object>key), <object>value, row)
                    count = len(self.variables)
            if v is not None and self._put(v, row, <object>value):
                done += 1
            k += 1
        if done < count:
            for v in self.variables:
                if v.written < row:
                    v.absent(row)
        self.row = row
        self.calls += 1
        self.heard = wb_heard_now()
        if _grown != self.seen:
            self.seen = _grown
            held = self.bytes
            if held > self.budget:
                self._make_room(held)
        return 0

    cdef bint _put(self, VariableRows v, int64_t row, object value) except -1:
        cdef Kind kind = v.kind
        before = v.dtype
        try:
            v.put(row, value)
        except Exception as error:
            if v.name not in self.refused and not self.take_state(v.name, value):
                self.refused[v.name] = str(error)
            return False
        if v.kind != kind or v.dtype is not before:
            self.version += 1
        return True

    cdef VariableRows _new(self, str name, object value, int64_t row):
        """A column for a new name, or None if its value cannot be recorded."""
        cdef VariableRows v
        if len(self.variables) >= self.most:
            self.refused.setdefault(name, f"a watch has at most {self.most} variables")
            return None
        from workbench.kernels.typed import statistics
        try:
            a = as_numbers(value)
            run = statistics(a.dtype.name) if a.ndim else None
            v = VariableRows(name, a.dtype, a.shape, statistics=run or 0)
        except Exception as error:
            if name not in self.refused and not self.take_state(name, value):
                self.refused[name] = str(error)
            return None
        if self.calls or not self.given_now:
            for r in range(row):
                v.absent(r)
        else:
            v.absent(0)
        self.variables.append(v)
        self.index[name] = v
        self.version += 1
        return v

    # -- memory -------------------------------------------------------------------------------------------------------
    @property
    def bytes(self):
        """Bytes of rows in memory."""
        cdef int64_t n = 0
        for v in self.variables:
            n += (<VariableRows>v).total()
        return n

    def _make_room(self, int64_t held):
        """Retire the oldest chunks of arrays until the budget is met, and those of numbers if that is not enough."""
        tried = set()
        while held > self.budget:
            left = [v for v in self.variables if v.name not in tried]
            arrays = [v for v in left if v.shape or v.dtype is None]
            if not left:
                return
            v = max(arrays or left, key=lambda v: v.bytes)
            try:
                freed = v.retire(self.folder)
            except OSError as error:
                self.error = f"{error.strerror or error}: older rows are dropped instead"
                self.folder = None
                continue
            held -= freed
            if not freed:
                tried.add(v.name)

    def close(self):
        """Remove the files of rows that were spilled."""
        for v in self.variables:
            v.close()
