# Instructions and programs.

cdef extern from "hot.h" nogil:
    ctypedef struct HotOp "wb_hot_op":
        const char* name
        void* check
    const HotOp* wb_hot_table
    void wb_pack(Engine* m, int length, const char* jumped) noexcept
    void wb_aim(Engine* m, int start, int stop) noexcept
    Instr* wb_hot_run(Engine* m, Instr* start) noexcept
    Instr* wb_chain_before(Engine* m, Instr* s, Instr* stop) noexcept

cdef extern from "arrays.h" nogil:
    ctypedef struct Array "wb_array":
        int kind
        int nd
        int n_in
        void* fn
        void* data
        cnp.npy_intp n
        cnp.npy_intp outer
        cnp.npy_intp inner
        cnp.npy_intp item
        cnp.npy_intp dims[8]
        cnp.npy_intp steps[4][8]
        cnp.npy_intp stride[4]
    ctypedef struct Way "wb_way":
        unsigned int ids[4]
        int known
        int nd
        int type
        cnp.npy_intp dims[8]
        Array x
    ctypedef struct Site "wb_site":
        Way ways[4]
        int next
        long long hits
        long long misses
    Way* wb_find_way(Site* site, const unsigned int* ids) noexcept
    bint wb_hopeless(const Site* site) noexcept
    void wb_run_array(char** base, const Instr* s) noexcept
    void wb_run_on(const Array* x, char* out, char* a, char* b, char* c) noexcept
    int wb_base_of(const Engine* m, int store) noexcept

cdef extern from "asks.h" nogil:
    ctypedef struct AskOp "wb_ask_op":
        int op
        int of
        int absolute
        double number
    ctypedef struct AskStep "wb_ask_step":
        int frame
        long long iteration
    ctypedef struct Ask "wb_ask":
        int next
        int kind
        int front
        int node
        int event
        int frame
        int store
        int base
        int offset
        int place
        int shift
        char letter
        cnp.npy_intp n
        int guard
        int n_guard
        int step
        int n_steps
        int stride
        int code
        int n_code
        int op
        int absolute
        double number
        long long left
        long long passed
        long long* events
        long long room
        char back
        char counts
    bint wb_asks_here(Engine* m, const Instr* s, bint front) noexcept

ARRAY_KINDS = ("flat", "nest", "copy", "reduce", "matmul", "stats", "rows", "core")

# Python's arithmetic where nothing can go wrong (checked.h); not 0: call Python
ctypedef int (*Check)(char* out, const char* a, const char* b, const char* c, const cnp.npy_intp* sizes) noexcept nogil

cdef enum Op:
    OP_NOP = 0      # a node that only renames a value: an event, no work
    OP_KERNEL = 1   # out = kernel(a, b, c)
    OP_UFUNC = 2    # NumPy's inner loop on one item
    OP_CALL = 3     # a Python callable on arrays
    OP_MOVE = 4     # copy an object reference
    OP_ARRAY = 5    # arrays of known shape, in the rows
    OP_GUARD = 6    # go on if all literals hold, else jump
    OP_MARK = 7     # end of a straight run: count its events
    OP_LOOP = 8     # start an activation of a frame: its init row
    OP_START = 9    # from the init row to iteration 0
    OP_TEST = 10    # go on into the body if a is true, else jump to the exits
    OP_BACK = 11    # next iteration
    OP_HALT = 12
    OP_TRAP = 64    # added to the op of an armed instruction

cdef struct Release:  # see releases.pxi
    int until
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
        dicts with the fields of an instruction; ``kernel`` is an address, ``ufunc`` a pair of addresses with ``sizes``;
        ``hot`` names the op of the hot loop that computes the same, if there is one; of a call, one with checks, which is
        tried first.
    literals:
        (base, offset, expect) triples that GUARDs refer to.
    frames:
        (row_bytes, parent frame, rows per chunk, offsets of object columns); frame 0 is the outermost level.
    pool:
        bytes of the constant pool; ``pool_objects`` maps offsets in it to arrays.
    calls:
        (callable, inputs, outputs, 1 if it may see the rows themselves instead of copies, resolver or None, frames or
        None): inputs are (base, offset, dtype or None for an object, shape), outputs likewise. A resolver gives for
        (dtype, shape, strides) of each input an array instruction with the result's dtype and shape, or None. With
        frames the callable also gets the iterations in which these stand. With 2 instead of 1 it is called with the
        addresses of the inputs and of the outputs, which all stand in rows or are numbers, and leaves the results there.
    stores:
        (frame, row_bytes, ranges that the next row reads, (dtype, shape) of the arrays) of the frames that have arrays
        of known shape in rows. The outermost level has one row; there they are the ranges that arrays use in turn.
    constants:
        contiguous arrays; number k is base 1 + frames + 2 * stores + k.
    releases:
        (instruction, offset) of the outermost level's object columns that nothing reads from the instruction on, in
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
    cdef cnp.npy_intp* sizes  # 4 per instruction: item sizes for UFUNC
    cdef Array* arrays
    cdef list stores
    cdef dict heads            # frame -> first instruction of an iteration
    cdef list constants
    cdef int n_bases
    cdef list shapes           # ids that this program holds
    cdef Release* releases
    cdef int n_releases

    def __cinit__(
        self, list instructions not None, list literals not None, list frames not None, bytes pool not None,
        dict pool_objects not None, list calls not None, stores=(), constants=(), releases=(),
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
        self.stores, self.constants = list(stores), list(constants)
        self.n_bases = 1 + self.n_frames + 2 * len(self.stores) + len(self.constants)
        if self.n_bases > 32767:
            raise ValueError(f"a program has at most 32767 bases, this one would have {self.n_bases}")
        if not (self.code and self.arrays and self.sizes and self.literals and self.frames and self.pool):
            raise MemoryError("no memory for the program")
        self.releases = <Release*>calloc(len(releases) + 1, sizeof(Release))
        if not self.releases:
            raise MemoryError("no memory for the program")
        self.n_releases = len(releases)
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
        for _, _, _, arrays in self.stores:
            for dtype, shape in arrays:
                self.shapes.append(SHAPES.intern(shape, dtype=dtype))
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
            i.hot = HOT_OPS.get(row.get("hot"), -1)
            if "ufunc" in row:
                function, data = row["ufunc"]
                i.fn = <Kernel><void*><size_t>function
                i.data = <void*><size_t>data
                for j, size in enumerate(row["sizes"]):
                    self.sizes[k * 4 + j] = size
            if i.op == OP_CALL and i.hot >= 0:  # what compiled code leaves to the callable
                i.data = <void*>wb_hot_table[i.hot].check
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
        free(self.arrays)
        free(self.code)
        free(self.sizes)
        free(self.literals)
        free(self.frames)
        free(self.pool)
        free(self.releases)

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


cdef dict _hot_ops():
    found, k = {}, 0
    while wb_hot_table[k].name != NULL:
        found[wb_hot_table[k].name.decode()] = k
        k += 1
    return found

cdef dict HOT_OPS = _hot_ops()


cdef int link(Engine* e, int length) except -1:
    """Set the fast links from each instruction to the next that computes, controls or is armed; pack the hot loop."""
    cdef int k, target = length - 1
    cdef Instr* code = e.code
    cdef char* jumped = <char*>calloc(length, 1)
    if jumped == NULL:
        raise MemoryError("no memory for the machine")
    for k in range(length - 1, -1, -1):
        code[k].next = target
        if code[k].op != OP_NOP or code[k].ask:
            target = k
    for k in range(length):
        if code[k].op & ~OP_TRAP >= OP_GUARD:
            target = code[k].jump
            code[k].fast_jump = target if code[target].op != OP_NOP or code[target].ask else code[target].next
            jumped[target] = 1
    wb_pack(e, length, jumped)
    free(jumped)
    return 0
