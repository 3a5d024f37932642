# Instructions and programs.

ARRAY_KINDS = ("flat", "nest", "copy", "reduce", "matmul", "stats", "rows", "core")
cdef int STATS_KIND = ARRAY_KINDS.index("stats")

cdef struct Release:  # see rows/liveness.pxi
    int until
    int offset


cdef struct Recipe:  # see rows/recompute.pxi
    int store
    int offset
    int size
    int n
    int* steps


cdef struct Pointer:  # an array that a loop carries unchanged: read through the object column
    int frame
    int offset


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


cdef int fill_array(Array* x, dict row) except -1:
    """An array instruction from its description (plan: arrays)."""
    cdef int k, d
    x.kind = ARRAY_KINDS.index(row["kind"])
    x.fn = <void*><size_t>row.get("fn", 0)
    x.data = <void*><size_t>row.get("data", 0)
    x.n, x.outer, x.inner = row.get("n", 0), row.get("outer", 1), row.get("inner", 1)
    x.item = row.get("item", 0)
    x.raises = row.get("raises", False)
    x.op, x.pairs = row.get("op", -1), <void**><size_t>row.get("pairs", 0)
    x.part, x.join = <void*><size_t>row.get("part", 0), <void*><size_t>row.get("join", 0)
    x.mean = ord(row["mean"]) if row.get("mean") else 0
    dims, steps = row.get("dims", ()), row.get("steps", ())
    x.nd, x.n_in = len(dims), row.get("n_in", 1)
    if x.nd > 8 or len(steps) > 4:
        raise ValueError("an array instruction has at most 8 dimensions and 4 operands")
    for d in range(x.nd):
        x.dims[d] = dims[d]
    for k in range(len(steps)):
        for d in range(len(steps[k])):
            x.steps[k][d] = steps[k][d]
    for k, size in enumerate(row.get("stride", ())):
        x.stride[k] = size
    return 0


cdef class Program:
    """A frozen program; any number of machines can run it at once.

    Parameters
    ----------
    instructions:
        dicts with the fields of an instruction; ``kernel`` is an address, ``ufunc`` the result of :func:`ufunc_loop`,
        with ``sizes``; ``scalar_op`` names the equivalent op of the fast path, if there is one; for a call, one with
        checks, which is tried first.
    literals:
        (base, offset, expect) triples that GUARDs refer to.
    frames:
        (row_bytes, parent frame, rows per chunk, offsets of object columns); frame 0 is the outermost level.
    pool:
        bytes of the constant pool; ``pool_objects`` maps offsets in it to arrays.
    calls:
        (callable, inputs, outputs, 1 if it may see the rows themselves instead of copies, resolver or None, frames or
        None): inputs are (base, offset, dtype or None for an object, shape), outputs likewise. A resolver maps (dtype,
        shape, strides) of each input to an array instruction with the result's dtype and shape, or None. With frames
        the callable also gets the current iterations of these frames. With 2 instead of 1 it is called with the
        addresses of the inputs and of the outputs, which are all in rows or numbers, and writes the results there.
    stores:
        (frame, row_bytes, ranges that the next row reads, (dtype, shape) of the arrays) of the frames with arrays of
        known shape in rows. The outermost level has one row, for which they are the ranges shared by several arrays.
        Three more if the rows do not hold all values: the number of bytes recorded at the beginning of a row; (offset,
        size, instructions) of each array in the rest, with the instructions that compute it again; and (first
        instruction, the one after the last) of the frame.
    constants:
        contiguous arrays; number k is base 1 + frames + 3 * stores + k.
    pointers:
        (frame, offset, dtype, shape) of object columns in which a loop passes on a contiguous array unchanged; each has
        a base after those of the constants, which is the address of the array in the previous row.
    regions:
        (callable, inputs, outputs), operands as of calls: a callable for the instructions from REGION to its jump. It
        gets for each input its address in a row, or the object, and for each output its address or None for an object;
        it returns a list with the objects, None for the others, or None instead of the list if these instructions must
        run one by one. Outputs do not overlap with inputs or with each other.
    releases:
        (instruction, offset) of the outermost level's object columns that are not read from the instruction on, in
        order.
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
    cdef list regions
    cdef cnp.npy_intp* sizes  # 4 per instruction: item sizes for UFUNC
    cdef int n_literals
    cdef int pool_bytes
    cdef Array* arrays
    cdef list stores
    cdef dict heads            # frame -> first instruction of an iteration
    cdef list constants
    cdef int n_bases
    cdef list pointer_types    # (dtype, shape)
    cdef Pointer* pointers
    cdef int n_pointers
    cdef list shapes           # ids that this program holds
    cdef Release* releases
    cdef int n_releases
    cdef Recipe* recipes       # recipes for values that are not recorded
    cdef int n_recipes
    cdef int* spans            # for each store of arrays with recipes: beginning and end of its frame
    cdef void** natives        # see native.pxi
    cdef int* native_backs
    cdef list native_owners
    cdef int native_version
    cdef public bint flushes   # its instructions treat numbers below the normal range as zero

    def __cinit__(
        self, list instructions not None, list literals not None, list frames not None, bytes pool not None,
        dict pool_objects not None, list calls not None, stores=(), constants=(), releases=(), regions=(), pointers=(),
    ):
        cdef int k, j
        cdef unsigned int held
        cdef Instr* i
        self.length = len(instructions)
        self.n_frames = len(frames)
        self.code = <Instr*>calloc(self.length, sizeof(Instr))
        self.sizes = <cnp.npy_intp*>calloc(self.length * 4, sizeof(cnp.npy_intp))
        self.literals = <Literal*>calloc(len(literals) + 1, sizeof(Literal))
        self.frames = <FrameSpec*>calloc(self.n_frames, sizeof(FrameSpec))
        self.pool = <char*>calloc(len(pool) + 16, 1)
        self.arrays = <Array*>calloc(self.length, sizeof(Array))
        self.stores = [(*s, s[1], (), (-1, 0)) if len(s) == 4 else s for s in stores]
        self.constants = list(constants)
        self.n_bases = 1 + self.n_frames + 3 * len(self.stores) + len(self.constants) + len(pointers)
        self._recipes()
        if self.n_bases > 32767:
            raise ValueError(f"a program has at most 32767 bases, this one would have {self.n_bases}")
        if not (self.code and self.arrays and self.sizes and self.literals and self.frames and self.pool):
            raise MemoryError("no memory for the program")
        self.releases = <Release*>calloc(len(releases) + 1, sizeof(Release))
        if not self.releases:
            raise MemoryError("no memory for the program")
        self.n_releases = len(releases)
        self.pointers = <Pointer*>calloc(len(pointers) + 1, sizeof(Pointer))
        if not self.pointers:
            raise MemoryError("no memory for the program")
        self.n_pointers = len(pointers)
        self.pointer_types = [(np.dtype(dtype), tuple(shape)) for _, _, dtype, shape in pointers]
        for k, (frame, offset, _, _) in enumerate(pointers):
            self.pointers[k] = Pointer(frame, offset)
        self.n_literals, self.pool_bytes = len(literals), len(pool)
        for k, (until, offset) in enumerate(releases):
            self.releases[k] = Release(until, offset)
        memcpy(self.pool, <const char*>pool, len(pool))
        self.pool_objects = []
        self.shapes = []
        for offset, item in pool_objects.items():
            self.pool_objects.append(item)
            (<PyObject**>(self.pool + <size_t>offset))[0] = <PyObject*>item
            if isinstance(item, cnp.ndarray):
                held = shape_id(<cnp.ndarray>item, True)
                (<unsigned int*>(self.pool + <size_t>offset + 8))[0] = held
                self.shapes.append(held)
        for _, _, _, arrays, *_ in self.stores:
            for dtype, shape in arrays:
                self.shapes.append(SHAPES.intern(shape, dtype=dtype))
        self.calls, self.regions = calls, list(regions)
        self.object_offsets = [list(f[3]) for f in frames]
        for k, (base, offset, expect) in enumerate(literals):
            self.literals[k] = Literal(base, offset, expect)
        for k, (row_bytes, parent, per_chunk, _) in enumerate(frames):
            self.frames[k] = FrameSpec(row_bytes, parent, per_chunk)
        for k, row in enumerate(instructions):
            i = &self.code[k]
            i.op = row["op"]
            if not 0 <= i.op < N_OPCODES:
                raise ValueError(f"instruction {k}: expected an opcode from 0 to {N_OPCODES - 1}, got {i.op}")
            i.fn = <Kernel><void*><size_t>row.get("kernel", 0)
            i.jump = row.get("jump", 0)
            i.bo, i.oo = row.get("out", (0, 0))
            i.ba, i.oa = row.get("a", (0, 0))
            i.bb, i.ob = row.get("b", (0, 0))
            i.bc, i.oc = row.get("c", (0, 0))
            i.given = ("a" in row) | ("b" in row) << 1 | ("c" in row) << 2 | ("out" in row) << 3
            i.frame = row.get("frame", 0)
            i.x0 = row.get("x0", 0)
            i.x1 = row.get("x1", 0)
            i.is_event = row.get("event", False)
            i.silent = row.get("silent", False)
            i.trap_iteration = -1
            i.scalar_op = SCALAR_OPS.get(row.get("scalar_op"), -1)
            if "ufunc" in row:
                function, data, i.x1 = row["ufunc"]
                i.fn = <Kernel><void*><size_t>function
                i.data = <void*><size_t>data
                for j, size in enumerate(row["sizes"]):
                    self.sizes[k * 4 + j] = size
            if i.op == OP_CALL and i.scalar_op >= 0:  # cases that compiled code leaves to the callable
                i.data = <void*>wb_scalar_ops[i.scalar_op].check
                for j, size in enumerate(row.get("sizes", ())):
                    self.sizes[k * 4 + j] = size
            if "array" in row:
                fill_array(&self.arrays[k], row["array"])
                i.data = &self.arrays[k]
        self._count_events()
        self.heads = {}
        for k in range(self.length):
            if self.code[k].op == OP_BACK:
                self.heads[self.code[k].frame] = self.code[k].jump

    def __dealloc__(self):
        cdef object k
        if self.shapes is not None:
            for k in self.shapes:
                SHAPES.release_key(<unsigned int>k)
        free_recipes(self)
        free(self.natives)
        free(self.native_backs)
        free(self.spans)
        free(self.arrays)
        free(self.code)
        free(self.sizes)
        free(self.literals)
        free(self.frames)
        free(self.pool)
        free(self.releases)
        free(self.pointers)

    cdef int _recipes(self) except -1:
        """Store the recipes for arrays that are not recorded."""
        cdef Recipe* one
        cdef int k = 0, j
        self.recipes = <Recipe*>calloc(sum([len(s[5]) + 1 for s in self.stores]) + 1, sizeof(Recipe))
        self.spans = <int*>calloc(2 * len(self.stores) + 1, sizeof(int))
        if self.recipes == NULL or self.spans == NULL:
            raise MemoryError("no memory for the program")
        for number, (_, _, _, _, _, recipes, span) in enumerate(self.stores):
            self.spans[2 * <int>number], self.spans[2 * <int>number + 1] = span
            every = sorted({step for _, _, steps in recipes for step in steps})
            for offset, size, steps in [*recipes, (-1, 0, every)] if recipes else []:
                one = &self.recipes[k]
                one.steps = <int*>calloc(len(steps) + 1, sizeof(int))
                if one.steps == NULL:
                    raise MemoryError("no memory for the program")
                one.store, one.offset, one.size, one.n = self.n_frames + <int>number, offset, size, len(steps)
                for j in range(one.n):
                    one.steps[j] = steps[j]
                k += 1
                self.n_recipes = k
        return 0

    def listing(self):
        """The program as text, one line per instruction: number, ``*`` for events, opcode, effect."""
        return program_listing(self)

    def verify(self):
        """Check the assumptions of the executor; raises :class:`ProgramError`.

        Operands are inside the rows, the pool or the constants, and results are not written into constants; literals of
        guards and calls exist; jumps stay inside the program and lead to the beginning of a straight run, so that its
        events are counted correctly; frames open and close in order. For tests: it reads every instruction.
        """
        verify_program(self)

    cdef void _count_events(self):
        """Number the events of each straight run; a run ends at a control instruction."""
        cdef int k, count = 0
        for k in range(self.length):
            self.code[k].ev_index = count
            if wb_is_control(self.code[k].op):
                self.code[k].n_events = count
                count = 0
            elif self.code[k].is_event:
                count += 1


cdef dict _scalar_ops():
    found, k = {}, 0
    while wb_scalar_ops[k].name != NULL:
        found[wb_scalar_ops[k].name.decode()] = k
        k += 1
    return found

cdef dict SCALAR_OPS = _scalar_ops()


cdef int link(Engine* e, int length) except -1:
    """Link each instruction to the next that computes, controls or is armed; pack the fast path."""
    cdef int k, target = length - 1
    cdef Instr* code = e.code
    cdef char* jumped = <char*>calloc(length, 1)
    if jumped == NULL:
        raise MemoryError("no memory for the machine")
    for k in range(length - 1, -1, -1):
        code[k].next = target
        if code[k].op != OP_NOP or code[k].condition:
            target = k
    for k in range(length):
        if wb_is_control(code[k].op) or code[k].op & ~OP_TRAP == OP_REGION:
            target = code[k].jump
            code[k].fast_jump = target if code[target].op != OP_NOP or code[target].condition else code[target].next
            jumped[target] = jumped[code[k].fast_jump] = 1  # the fast path has no NOP that could count
    wb_pack(e, length, jumped)
    free(jumped)
    return 0
