# Objects of the outermost level are released when their last reader has run.
#
# The plan lists them in program order: (instruction, base, offset), the object being needed until before the
# instruction. Calls allocate memory, so dead objects are released before each call, including those of skipped
# instructions. A released slot stores the index of its entry in the list: reading it is an error, releasing it again
# has no effect.

class ReleasedError(RuntimeError):
    """An instruction read a released object, which is an error of the plan."""

    def __init__(self, place, until):
        super().__init__(f"the object at {place} had been released in front of instruction {until}")
        self._place, self._until = place, until

    @property
    def place(self):
        """(base, offset) of the object."""
        return self._place

    @property
    def until(self):
        """The instruction after its last reader."""
        return self._until


cdef void release_objects_before(Machine self, int ip) noexcept:
    """Release objects that no instruction from ``ip`` on reads; small arrays are kept. The caller holds the GIL."""
    cdef Rows* rows = &self.e.frames[0]
    cdef Release* one
    cdef PyObject** where
    cdef PyObject* item
    while self.next_release < self.program.n_releases:
        one = &self.program.releases[self.next_release]
        if one.until > ip:
            return
        self.next_release += 1
        where = <PyObject**>(self.e.base[1] + one.offset)
        item = where[0]
        if item == NULL or _is_small(self, item):
            continue
        where[0] = NULL
        (<unsigned int*>(where + 1))[0] = 0
        (<unsigned int*>(where + 1))[1] = <unsigned int>self.next_release  # entry + 1
        rows.object_bytes -= object_size(item)
        self.released_objects += 1
        Py_DECREF(<object>item)


def release(Machine machine not None, int ip):
    """Release the remaining objects that by the program are not read from instruction ``ip`` on."""
    release_objects_before(machine, ip)


cdef bint _is_small(Machine self, PyObject* item) noexcept:
    """Whether an object is an array with its own memory that is too small to be released."""
    if not isinstance(<object>item, cnp.ndarray):
        return False
    return cnp.PyArray_NBYTES(<cnp.ndarray>item) < self.least_released and cnp.PyArray_BASE(<cnp.ndarray>item) == NULL


cdef object released_error(Machine self, char* at):
    """The error for reading an empty object slot."""
    cdef unsigned int entry = (<unsigned int*>(<PyObject**>at + 1))[1]
    cdef ptrdiff_t offset = at - self.e.base[1]
    if entry == 0 or entry > <unsigned int>self.program.n_releases or self.program.releases[entry - 1].offset != offset:
        return RuntimeError("an instruction reads an object that no instruction has made")
    return ReleasedError((1, offset), self.program.releases[entry - 1].until)


cdef void note_peak(Machine self, long long more) noexcept nogil:
    """Update the peak of bytes of rows and objects; ``more`` bytes are about to be added."""
    cdef long long held = more
    cdef int f
    for f in range(self.e.n_stores):
        held += (self.e.frames[f].n_chunks - self.e.frames[f].first_chunk) * self.e.frames[f].chunk_bytes
        held += self.e.frames[f].object_bytes
    if held > self.peak_bytes:
        self.peak_bytes = held
