# Where the memory of chunks comes from and goes to: what an earlier run has given back is taken first.

# Chunks that are kept for the next run of the same size, whose pages are there then: large ones of array stores, and,
# apart from those, chunks of frames under small budgets.
cdef enum:
    SHELVED = 12  # two loops without a trace have six or seven
    SHELVED_BYTES = 33554432
    LEAST_SHELVED = 65536

cdef char* _shelf[2 * SHELVED]
cdef size_t _shelf_bytes[2 * SHELVED]
cdef int _shelf_next[2]

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
    if rows.carry and (rows.n_objects or rows.chunk_bytes < LEAST_SHELVED):
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
    cdef size_t size = rows.chunk_bytes
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
        chunk = _shelve(chunk, &size, 0)
    elif rows.carry and not rows.n_objects and rows.chunk_bytes >= LEAST_SHELVED:
        chunk = _shelve(chunk, &size, 1)
    if rows.carry and (rows.n_objects or rows.chunk_bytes < LEAST_SHELVED):
        free(chunk)
    else:
        wb_free_chunk(chunk, size)


cdef char* _take_shelved(size_t size) noexcept nogil:
    """A large chunk of exactly this size that an earlier run has given back, or NULL."""
    cdef char* found = NULL
    cdef int k
    PyThread_acquire_lock(_pool_lock, 1)
    for k in range(2 * SHELVED):
        if _shelf[k] != NULL and _shelf_bytes[k] == size:
            found, _shelf[k] = _shelf[k], NULL
            break
    PyThread_release_lock(_pool_lock)
    return found


cdef char* _shelve(char* chunk, size_t* size, int shelf) noexcept nogil:
    """Keep a chunk for the next run; returns what is to be freed instead, and its size: the oldest of that shelf, itself
    or nothing."""
    cdef char* gone = chunk
    cdef size_t its = size[0]
    cdef int at
    if its <= SHELVED_BYTES:
        PyThread_acquire_lock(_pool_lock, 1)
        at = shelf * SHELVED + _shelf_next[shelf]
        gone, size[0] = _shelf[at], _shelf_bytes[at]
        _shelf[at], _shelf_bytes[at] = chunk, its
        _shelf_next[shelf] = (_shelf_next[shelf] + 1) % SHELVED
        PyThread_release_lock(_pool_lock)
    return gone
