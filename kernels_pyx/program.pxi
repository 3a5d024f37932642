# Instructions and programs.

ctypedef void (*Kernel)(char* out, const char* p, const char* q, const char* r) noexcept nogil

cdef enum Op:
    OP_NOP = 0      # a node that only renames a value: an event, no work
    OP_KERNEL = 1   # out = kernel(a, b, c)
    OP_UFUNC = 2    # NumPy's inner loop on one item
    OP_CALL = 3     # a Python callable on arrays
    OP_MOVE = 4     # copy an object reference
    OP_GUARD = 5    # go on if all literals hold, else jump
    OP_MARK = 6     # end of a straight run: count its events
    OP_LOOP = 7     # start an activation of a frame: its init row
    OP_START = 8    # from the init row to iteration 0
    OP_TEST = 9     # go on into the body if a is true, else jump to the exits
    OP_BACK = 10    # next iteration
    OP_HALT = 11
    OP_TRAP = 64    # added to the op of an armed instruction

cdef struct Instr:
    Kernel fn
    Instr* then           # where the fast links lead: next
    Instr* leap           # and fast_jump, as addresses
    int op
    int next        # the next instruction that computes something
    int jump
    int fast_jump   # the jump's target, past instructions that compute nothing
    int oo
    int oa
    int ob
    int oc
    short bo
    short ba
    short bb
    short bc
    int frame       # frame in which it runs; for LOOP, START, BACK: the frame that they drive
    int n_events    # events of the straight run that this control instruction ends
    int ev_index    # events of the present straight run before this instruction
    int x0          # GUARD: first literal; CALL: number of the callable; UFUNC: number of inputs
    int x1          # GUARD: number of literals; MOVE: unused
    void* data
    char is_event
    char silent
    char armed
    long long trap_iteration

cdef struct Literal:
    int base
    int offset
    int expect      # 0: byte is false, 1: byte is true, 2: int32 is not negative, 3: int32 is negative

cdef struct FrameSpec:
    int row_bytes
    int parent
    int per_chunk


cdef void move_1(char* out, const char* p, const char* q, const char* r) noexcept nogil:
    out[0] = p[0]

cdef void move_2(char* out, const char* p, const char* q, const char* r) noexcept nogil:
    memcpy(out, p, 2)

cdef void move_4(char* out, const char* p, const char* q, const char* r) noexcept nogil:
    memcpy(out, p, 4)

cdef void move_8(char* out, const char* p, const char* q, const char* r) noexcept nogil:
    memcpy(out, p, 8)

cdef void move_16(char* out, const char* p, const char* q, const char* r) noexcept nogil:
    memcpy(out, p, 16)


cdef class Program:
    """A frozen program; any number of machines can run it at once.

    Parameters
    ----------
    instructions:
        dicts with the fields of an instruction; ``kernel`` is an address, ``ufunc`` a pair of addresses with ``sizes``.
    literals:
        (base, offset, expect) triples that GUARDs refer to.
    frames:
        (row_bytes, parent frame, rows per chunk, offsets of object columns); frame 0 is the outermost level.
    pool:
        bytes of the constant pool; ``pool_objects`` maps offsets in it to arrays.
    calls:
        (callable, inputs, outputs): inputs are (base, offset, dtype or None for an object), outputs likewise.
    """

    cdef Instr* code
    cdef public int length
    cdef Literal* literals
    cdef FrameSpec* frames
    cdef public int n_frames
    cdef char* pool
    cdef list pool_objects
    cdef list object_offsets
    cdef list calls
    cdef cnp.npy_intp* sizes  # 4 per instruction: item sizes for UFUNC

    def __cinit__(
        self, list instructions not None, list literals not None, list frames not None, bytes pool not None,
        dict pool_objects not None, list calls not None,
    ):
        cdef int k, j
        cdef Instr* i
        self.length = len(instructions)
        self.n_frames = len(frames)
        self.code = <Instr*>calloc(self.length, sizeof(Instr))
        self.sizes = <cnp.npy_intp*>calloc(self.length * 4, sizeof(cnp.npy_intp))
        self.literals = <Literal*>calloc(len(literals) + 1, sizeof(Literal))
        self.frames = <FrameSpec*>calloc(self.n_frames, sizeof(FrameSpec))
        self.pool = <char*>calloc(len(pool) + 16, 1)
        if not (self.code and self.sizes and self.literals and self.frames and self.pool):
            raise MemoryError("no memory for the program")
        memcpy(self.pool, <const char*>pool, len(pool))
        self.pool_objects = []
        for offset, item in pool_objects.items():
            self.pool_objects.append(item)
            (<PyObject**>(self.pool + <size_t>offset))[0] = <PyObject*>item
        self.calls = calls
        self.object_offsets = [list(f[3]) for f in frames]
        for k, (base, offset, expect) in enumerate(literals):
            self.literals[k] = Literal(base, offset, expect)
        for k, (row_bytes, parent, per_chunk, _) in enumerate(frames):
            self.frames[k] = FrameSpec(row_bytes, parent, per_chunk)
        for k, row in enumerate(instructions):
            i = &self.code[k]
            i.op = row["op"]
            i.fn = <Kernel><void*><size_t>row.get("kernel", 0)
            i.jump = row.get("jump", 0)
            i.bo, i.oo = row.get("out", (0, 0))
            i.ba, i.oa = row.get("a", (0, 0))
            i.bb, i.ob = row.get("b", (0, 0))
            i.bc, i.oc = row.get("c", (0, 0))
            i.frame = row.get("frame", 0)
            i.x0 = row.get("x0", 0)
            i.x1 = row.get("x1", 0)
            i.is_event = row.get("event", False)
            i.silent = row.get("silent", False)
            i.trap_iteration = -1
            if "ufunc" in row:
                function, data = row["ufunc"]
                i.fn = <Kernel><void*><size_t>function
                i.data = <void*><size_t>data
                for j, size in enumerate(row["sizes"]):
                    self.sizes[k * 4 + j] = size
        self._count_events()

    def __dealloc__(self):
        free(self.code)
        free(self.sizes)
        free(self.literals)
        free(self.frames)
        free(self.pool)

    cdef void _count_events(self):
        """Number the events of each straight run; a run ends at a control instruction."""
        cdef int k, count = 0
        for k in range(self.length):
            self.code[k].ev_index = count
            if self.code[k].op >= OP_GUARD:
                self.code[k].n_events = count
                count = 0
            elif self.code[k].is_event:
                count += 1


cdef void link(Instr* code, int length) noexcept nogil:
    """Set the fast links: from each instruction to the next that computes, controls or is armed."""
    cdef int k, target = length - 1
    for k in range(length - 1, -1, -1):
        code[k].next = target
        if code[k].op != OP_NOP:
            target = k
    for k in range(length):
        if code[k].op & ~OP_TRAP >= OP_GUARD:
            target = code[k].jump
            code[k].fast_jump = target if code[target].op != OP_NOP else code[target].next
        code[k].then = &code[code[k].next]
        code[k].leap = &code[code[k].fast_jump]
