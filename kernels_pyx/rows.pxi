# Row storage of one frame: what the executor computes in is what the trace keeps.
#
# A frame has one row per iteration and one more, the init row, in front of every activation: it holds the values
# that the loop starts with, in the columns of the values that the loop carries. So "the loop variable in this
# iteration" is always "its column in the row before".
#
# Arrays of known shape stand in a second store of the same frame, whose rows go with those of the first. There the row
# before is found by an address of its own instead of the copy.
#
#   chunk:   | carry | row 0 | row 1 | ... | row R-1 |      carry = copy of the last row of the chunk before, so that
#                                                           "the row before" is one row_bytes away everywhere
#
# One thread writes. Any thread reads complete rows; it holds the lock while it does, because chunks can be dropped.

cdef enum:
    HUGE_BYTES = 2097152  # one transparent huge page
    POOL_CHUNKS = 64

cdef extern from "core.h" nogil:
    ctypedef void (*Kernel "wb_kernel")(char* out, const char* p, const char* q, const char* r) noexcept nogil
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
        long long* act_start
        long long* act_parent
        long long n_acts
        long long act_capacity
        int n_objects
        int* object_offsets
        long long object_bytes
        int carry
        char* spare
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
        int hot
        char is_event
        char silent
        char armed
        long long trap_iteration
    ctypedef struct Literal "wb_literal":
        int base
        int offset
        int expect
    ctypedef struct Hot "wb_hot":
        int frame
    ctypedef struct Held "wb_held":
        int base
    ctypedef struct Engine "wb_engine":
        char** base
        Rows* frames
        int* twin
        Instr* code
        const Literal* literals
        const cnp.npy_intp* sizes
        long long events
        long long poll_at
        int stop_flag
        int n_frames
        int n_stores
        Hot* hot
        Held* held
        int* hot_of
        int* far_list
        int* far_first
    char* wb_big_chunk(size_t bytes, int huge) noexcept
    void wb_publish(long long* where, long long value) noexcept
    long long wb_read(const long long* where) noexcept
    int wb_flag(const int* where) noexcept
    bint wb_holds(char** base, const Literal* literal) noexcept

# Large chunks of array stores that are kept for the next run of the same size, whose pages are there then.
cdef enum:
    SHELVED = 4
    SHELVED_BYTES = 33554432

cdef char* _shelf[SHELVED]
cdef size_t _shelf_bytes[SHELVED]
cdef int _shelf_next = 0

cdef char* _pool[POOL_CHUNKS]
cdef int _pool_size = 0
cdef PyThread_type_lock _pool_lock = PyThread_allocate_lock()


cdef char* take_chunk(Rows* rows) noexcept nogil:
    """Memory for one chunk; object columns start as NULL."""
    global _pool_size
    cdef char* chunk = NULL
    if rows.spare != NULL:
        chunk, rows.spare = rows.spare, NULL
        return chunk
    if rows.carry and (rows.n_objects or rows.chunk_bytes != HUGE_BYTES):
        return <char*>calloc(1, rows.chunk_bytes)
    if rows.chunk_bytes != HUGE_BYTES:
        chunk = _take_shelved(rows.chunk_bytes)
        return chunk if chunk != NULL else wb_big_chunk(rows.chunk_bytes, rows.chunk_bytes > HUGE_BYTES)
    PyThread_acquire_lock(_pool_lock, 1)
    if _pool_size > 0:
        _pool_size -= 1
        chunk = _pool[_pool_size]
    PyThread_release_lock(_pool_lock)
    if chunk == NULL:
        chunk = wb_big_chunk(HUGE_BYTES, rows.n_chunks > 0)
    return chunk


cdef void give_chunk(Rows* rows, char* chunk) noexcept nogil:
    """Give memory back; the caller has released the objects in it."""
    global _pool_size
    if chunk == NULL:
        return
    if not rows.n_objects and rows.chunk_bytes == HUGE_BYTES:
        PyThread_acquire_lock(_pool_lock, 1)
        if _pool_size < POOL_CHUNKS:
            _pool[_pool_size] = chunk
            _pool_size += 1
            chunk = NULL
        PyThread_release_lock(_pool_lock)
    elif not rows.carry and rows.chunk_bytes > HUGE_BYTES:
        chunk = _shelve(chunk, rows.chunk_bytes)
    free(chunk)


cdef char* _take_shelved(size_t size) noexcept nogil:
    """A large chunk of exactly this size that an earlier run has given back, or NULL."""
    cdef char* found = NULL
    cdef int k
    PyThread_acquire_lock(_pool_lock, 1)
    for k in range(SHELVED):
        if _shelf[k] != NULL and _shelf_bytes[k] == size:
            found, _shelf[k] = _shelf[k], NULL
            break
    PyThread_release_lock(_pool_lock)
    return found


cdef char* _shelve(char* chunk, size_t size) noexcept nogil:
    """Keep a large chunk for the next run; returns what is to be freed instead: the oldest, itself or nothing."""
    global _shelf_next
    cdef char* gone = chunk
    if size <= SHELVED_BYTES:
        PyThread_acquire_lock(_pool_lock, 1)
        gone = _shelf[_shelf_next]
        _shelf[_shelf_next], _shelf_bytes[_shelf_next] = chunk, size
        _shelf_next = (_shelf_next + 1) % SHELVED
        PyThread_release_lock(_pool_lock)
    return gone


cdef void release_objects(Rows* rows, char* chunk) noexcept:
    """Drop the references of all object columns of a chunk, carry row included."""
    cdef long long slot
    cdef int k
    cdef PyObject** where
    for slot in range(rows.per_chunk + 1):
        for k in range(rows.n_objects):
            where = <PyObject**>(chunk + slot * rows.row_bytes + rows.object_offsets[k])
            if where[0] != NULL:
                if slot > 0:
                    rows.object_bytes -= object_size(where[0])
                Py_DECREF(<object>where[0])
                where[0] = NULL


cdef void hold_row_objects(Rows* rows, char* row) noexcept:
    cdef int k
    cdef PyObject* held
    for k in range(rows.n_objects):
        held = (<PyObject**>(row + rows.object_offsets[k]))[0]
        if held != NULL:
            Py_INCREF(<object>held)


cdef long long object_size(PyObject* item) noexcept:
    """Bytes of an array; a view counts in full, because it may be all that keeps its base alive."""
    return cnp.PyArray_NBYTES(<cnp.ndarray><object>item) if isinstance(<object>item, cnp.ndarray) else 0


cdef inline char* row_address(Rows* rows, long long row) noexcept nogil:
    return rows.chunks[row // rows.per_chunk] + (row % rows.per_chunk + rows.carry) * rows.row_bytes


cdef int push_chunk(Rows* rows, PyThread_type_lock lock) noexcept nogil:
    """Append one chunk and make its first row current; -1 when there is no memory."""
    cdef char* chunk = take_chunk(rows)
    cdef char** grown
    cdef long long capacity
    if chunk == NULL:
        return -1
    PyThread_acquire_lock(lock, 1)
    if rows.n_chunks == rows.capacity:
        capacity = rows.capacity * 2 + 8
        grown = <char**>realloc(rows.chunks, capacity * sizeof(char*))
        if grown == NULL:
            PyThread_release_lock(lock)
            free(chunk)
            return -1
        rows.chunks = grown
        rows.capacity = capacity
    rows.chunks[rows.n_chunks] = chunk
    rows.n_chunks += 1
    PyThread_release_lock(lock)
    if rows.carry and rows.n_chunks > 1 and rows.row >= 0:
        memcpy(chunk, rows.cur, rows.row_bytes)
    rows.cur = chunk + rows.carry * rows.row_bytes
    rows.end = chunk + (rows.per_chunk + rows.carry) * rows.row_bytes
    return 0


cdef void drop_oldest(Rows* rows, PyThread_type_lock lock) noexcept nogil:
    """Forget the oldest chunk, whose objects have been released."""
    cdef char* chunk
    PyThread_acquire_lock(lock, 1)
    chunk = rows.chunks[rows.first_chunk]
    rows.chunks[rows.first_chunk] = NULL
    rows.first_chunk += 1
    rows.first_row = rows.first_chunk * rows.per_chunk
    PyThread_release_lock(lock)
    if rows.carry == 0 and rows.spare == NULL:
        rows.spare = chunk  # its pages are there already; large ones would be asked of the system again and again
    else:
        give_chunk(rows, chunk)


cdef int push_activation(Rows* rows, long long parent_row, PyThread_type_lock lock) noexcept nogil:
    cdef long long capacity
    cdef long long* one
    cdef long long* two
    if rows.n_acts == rows.act_capacity:
        capacity = rows.act_capacity * 2 + 8
        PyThread_acquire_lock(lock, 1)
        one = <long long*>realloc(rows.act_start, capacity * sizeof(long long))
        if one != NULL:
            rows.act_start = one
        two = <long long*>realloc(rows.act_parent, capacity * sizeof(long long))
        if two != NULL:
            rows.act_parent = two
        if one != NULL and two != NULL:
            rows.act_capacity = capacity
        PyThread_release_lock(lock)
        if one == NULL or two == NULL:
            return -1
    rows.act_start[rows.n_acts] = rows.row
    rows.act_parent[rows.n_acts] = parent_row
    wb_publish(&rows.n_acts, rows.n_acts + 1)
    return 0


cdef void copy_column(Rows* rows, char* out, long long start, long long count, long long step, long long offset, int size) noexcept nogil:
    """Copy ``count`` items of ``size`` bytes, every ``step`` rows from ``start`` on; the caller holds the lock."""
    cdef long long k, row = start
    cdef char* at
    cdef long long stride = rows.row_bytes * step
    cdef long long left
    k = 0
    while k < count:
        at = row_address(rows, row) + offset
        left = (rows.per_chunk - row % rows.per_chunk + step - 1) // step  # items that this chunk still holds
        if left > count - k:
            left = count - k
        row += left * step
        k += left
        if size == 8:
            while left > 0:
                (<long long*>out)[0] = (<long long*>at)[0]
                out += 8
                at += stride
                left -= 1
        else:
            while left > 0:
                memcpy(out, at, size)
                out += size
                at += stride
                left -= 1
