# Regions: a stretch of instructions executed as one call.

cdef bint _unwatched(Machine self, Instr* i) noexcept nogil:
    """Whether no stop is requested inside a region, and none of its values need be visible there."""
    cdef Instr* code = self.e.code
    cdef int k
    for k in range(<int>(i - code), i.jump):
        if code[k].op & OP_TRAP or code[k].armed or code[k].condition:
            return False
    return True


cdef int run_region(Machine self, Instr* i) noexcept nogil:
    """1 if the region was executed, 0 if its instructions must run one by one, -1 for an error."""
    if not self.ignore_traps and not _unwatched(self, i):
        return 0
    return call_region(self, i)


cdef int call_region(Machine self, Instr* i) noexcept with gil:
    cdef Instr* code = self.e.code
    cdef int k
    try:
        if self.next_release < self.program.n_releases:
            release_objects_before(self, <int>(i - self.e.code))
        function, inputs, outputs = self.program.regions[i.x0]
        results = function(
            [
                load_operand(self, base, offset, dtype, shape, True) if dtype is None
                else <size_t>(self.e.base[<int>base] + <int>offset)
                for base, offset, dtype, shape in inputs
            ],
            [None if dtype is None else <size_t>(self.e.base[<int>base] + <int>offset) for base, offset, dtype, _ in outputs],
        )
        if results is None:
            return 0
        if room_for(self, sum([item.nbytes for item in results if item is not None])) < 0:
            return -1
        for item, (base, offset, dtype, shape) in zip(results, outputs):
            if dtype is None:
                put_item(self, base, offset, dtype, shape, item)
        for k in range(<int>(i - code), i.jump):
            if code[k].op & ~OP_TRAP == OP_ARRAY and (<Array*>code[k].data).kind == STATS_KIND:
                wb_run_array(self.e.base, &code[k])
    except BaseException as error:
        self.error = error
        return -1
    return 1
