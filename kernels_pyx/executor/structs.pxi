# The C structures and functions of the executor, declared once for all .pxi of machine.pyx. Only the fields that Cython
# code reads are listed; the comments are in structs.h, array_ops.h and conditions.h.

cdef extern from "structs.h" nogil:
    enum:
        N_OPCODES "WB_N_OPCODES"
        OP_TRAP "WB_TRAP"
    ctypedef struct Opcode "wb_opcode":
        const char* name
        bint is_control
        const char* operands
        const char* meaning
    const Opcode* wb_opcodes
    bint wb_is_control(int op) noexcept
    bint wb_raised() noexcept
    int wb_raise() except -1
    ctypedef void (*Kernel "wb_kernel")(char* out, const char* p, const char* q, const char* r) noexcept nogil
    ctypedef struct Pin "wb_pin":
        Pin* next
        long long row
        char* bytes
    ctypedef struct Edit "wb_edit":
        long long event
        int store
        long long row
        int offset
        int size
        char* old
        long long* since
    ctypedef struct Rows "wb_rows":
        long long row_bytes
        long long per_chunk
        size_t chunk_bytes
        char** chunks
        long long n_chunks
        long long capacity
        long long first_chunk
        long long first_row
        long long row
        char* cur
        char* end
        long long** acts
        long long n_acts
        long long act_room
        int n_objects
        int* object_offsets
        long long object_bytes
        int carry
        char* spare
        long long base_chunk
        long long base_act
        long long act_blocks
        long long first_act
        long long* act_spare
        long long opened
        int recorded
        int scratch_bytes
        char* scratch
        Pin* pins
        int pinning
        int edge
        int streams
    ctypedef struct Instr "wb_instr":
        Kernel fn
        void* data
        int op
        int next
        int jump
        int fast_jump
        int oo
        int oa
        int ob
        int oc
        short bo
        short ba
        short bb
        short bc
        int frame
        int n_events
        int ev_index
        int x0
        int x1
        int scalar_op
        char is_event
        char silent
        char armed
        char given
        char condition_before
        char condition_after
        int condition
        long long trap_iteration
    ctypedef struct Literal "wb_literal":
        int base
        int offset
        int expect
    ctypedef struct ConditionOp "wb_condition_op"
    ctypedef struct ConditionStep "wb_condition_step"
    ctypedef struct Condition "wb_condition"
    ctypedef struct FastOp "wb_fast_op":
        int frame
    ctypedef struct Cached "wb_cached":
        int base
    ctypedef struct Engine "wb_engine":
        char** base
        Rows* frames
        int* array_store
        char* pointed
        Instr* code
        const Literal* literals
        const cnp.npy_intp* sizes
        long long events
        long long poll_at
        int stop_flag
        int unwritten
        int n_frames
        int n_stores
        FastOp* fast_ops
        Cached* cached
        int* fast_op_of
        int* nonlocal_list
        int* nonlocal_first
        int met
        int quiet
        Condition* conditions
        Literal* condition_literals
        ConditionStep* condition_steps
        ConditionOp* condition_code
        int* reported
        int n_conditions
        int n_reported
        FastOp* at
        int go
        char* elided
        void** natives
        const int* native_backs
    char* wb_big_chunk(size_t bytes, int huge) noexcept
    void wb_free_chunk(char* chunk, size_t bytes) noexcept
    void wb_spare_chunk(char* chunk, size_t bytes) noexcept
    void wb_publish(long long* where, long long value) noexcept
    long long wb_read(const long long* where) noexcept
    int wb_flag(const int* where) noexcept
    bint wb_holds(char** base, const Literal* literal) noexcept

cdef extern from "fast_path/threaded_code.h" nogil:
    ctypedef struct ScalarOp "wb_scalar_op":
        const char* name
        void* check
    const ScalarOp* wb_scalar_ops
    void wb_pack(Engine* m, int length, const char* jumped) noexcept
    void wb_resolve_addresses(Engine* m, int start, int stop) noexcept
    Instr* wb_run_fast(Engine* m, Instr* start) noexcept
    Instr* wb_chain_before(Engine* m, Instr* s, Instr* stop) noexcept
    void wb_free_groups(Engine* m) noexcept
    int wb_group_facts(const Engine* m, int first, int* last, int* pairs) noexcept
    ctypedef struct ByGroups "wb_again":
        size_t piece_bytes
        int direct
    ByGroups* wb_make_again(const Engine* m, const int* ip, int n, int base, Py_ssize_t offset, Py_ssize_t size) noexcept
    void wb_run_again(char** base, char* pieces, const ByGroups* how) noexcept
    void wb_free_again(ByGroups* how) noexcept
    int wb_call_loop_once(Engine* m, Instr* s) noexcept
    const bint WB_HAS_TAIL_CALLS

cdef extern from "array_ops.h" nogil:
    enum:
        WB_BLOCK
    bint wb_can_stream() noexcept
    ctypedef struct Array "wb_array":
        int kind
        int nd
        int n_in
        int raises
        void* fn
        void* data
        cnp.npy_intp n
        cnp.npy_intp outer
        cnp.npy_intp inner
        cnp.npy_intp item
        cnp.npy_intp dims[8]
        cnp.npy_intp steps[4][8]
        cnp.npy_intp stride[4]
        int op
        void** pairs
        void* part
        void* join
        int mean
    ctypedef struct CacheEntry "wb_cache_entry":
        unsigned int ids[4]
        int known
        int nd
        int type
        cnp.npy_intp dims[8]
        Array x
    ctypedef struct InlineCache "wb_inline_cache":
        CacheEntry entries[4]
        int next
        long long hits
        long long misses
    CacheEntry* wb_find_entry(InlineCache* cache, const unsigned int* ids) noexcept
    bint wb_is_thrashing(const InlineCache* cache) noexcept
    void wb_run_array(char** base, const Instr* s) noexcept
    void wb_run_on(const Array* x, char* out, char* a, char* b, char* c) noexcept
    int wb_base_of(const Engine* m, int store) noexcept

cdef extern from "conditions.h" nogil:
    ctypedef struct ConditionOp "wb_condition_op":
        int op
        int of
        int absolute
        double number
    ctypedef struct ConditionStep "wb_condition_step":
        int frame
        long long iteration
    ctypedef struct Condition "wb_condition":
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
    bint wb_conditions_hold(Engine* m, const Instr* s, bint front) noexcept

# Python's arithmetic in cases without errors (checked_arithmetic.h); not 0: call Python
ctypedef int (*Check)(char* out, const char* a, const char* b, const char* c, const cnp.npy_intp* sizes) noexcept nogil
