# Allocation of chunks: memory returned by earlier runs is used first.

# Chunks are kept for the next run with the same size, so that their pages are already mapped: large ones of array
# stores, which the system may reclaim when it is short of memory, and separately chunks of frames under small budgets.
cdef enum:
    SHELVED = 64
    SHELVED_BYTES = 268435456
    SHELVED_SMALL = 6291456  # of frames: two loops without a trace have 4 MB
    LEAST_SHELVED = 65536

cdef char* _shelf[2 * SHELVED]       # each a ring, from the oldest ...
cdef size_t _shelf_bytes[2 * SHELVED]
cdef int _shelf_next[2]
cdef size_t _shelf_held[2]           # ... and the bytes in it

cdef char* _pool[POOL_CHUNKS]
cdef int _pool_size = 0
cdef PyThread_type_lock _pool_lock = PyThread_allocate_lock()


cdef char* take_chunk(Rows* rows) noexcept nogil:
    """Allocate one chunk; object columns start as NULL."""
    global _pool_size
    cdef char* chunk = NULL
    if rows.spare != NULL:
        chunk, rows.spare = rows.spare, NULL
        return chunk
    if rows.carry and (rows.n_objects or rows.chunk_bytes < LEAST_SHELVED):
        return <char*>calloc(1, rows.chunk_bytes)
    if rows.chunk_bytes != HUGE_BYTES:
        chunk = _take_shelved(rows.chunk_bytes)
        if chunk == NULL:
            _displace(rows.chunk_bytes)
            chunk = wb_big_chunk(rows.chunk_bytes, rows.chunk_bytes > HUGE_BYTES)
        if chunk == NULL:
            _make_room(0, SHELVED_BYTES)
            chunk = wb_big_chunk(rows.chunk_bytes, rows.chunk_bytes > HUGE_BYTES)
        return chunk
    PyThread_acquire_lock(_pool_lock, 1)
    if _pool_size > 0:
        _pool_size -= 1
        chunk = _pool[_pool_size]
    PyThread_release_lock(_pool_lock)
    if chunk == NULL:
        chunk = wb_big_chunk(HUGE_BYTES, rows.n_chunks > 0)
    return chunk


cdef void give_chunk(Rows* rows, char* chunk) noexcept nogil:
    """Keep memory for the next run, or free it; the caller has released the objects in it."""
    global _pool_size
    cdef size_t size = rows.chunk_bytes
    if chunk == NULL:
        return
    if not rows.n_objects and rows.chunk_bytes == HUGE_BYTES:
        wb_spare_chunk(chunk, size)
        PyThread_acquire_lock(_pool_lock, 1)
        if _pool_size < POOL_CHUNKS:
            _pool[_pool_size] = chunk
            _pool_size += 1
            chunk = NULL
        PyThread_release_lock(_pool_lock)
    elif not rows.carry and rows.chunk_bytes > HUGE_BYTES:
        wb_spare_chunk(chunk, size)
        if _shelve(chunk, size, 0):
            chunk = NULL
    elif rows.carry and not rows.n_objects and rows.chunk_bytes >= LEAST_SHELVED:
        if _shelve(chunk, size, 1):
            chunk = NULL
    free_chunk(rows, chunk)


cdef void free_chunk(Rows* rows, char* chunk) noexcept nogil:
    """Free memory; the caller has released the objects in it."""
    if rows.carry and (rows.n_objects or rows.chunk_bytes < LEAST_SHELVED):
        free(chunk)
    else:
        wb_free_chunk(chunk, rows.chunk_bytes)


cdef char* _take_shelved(size_t size) noexcept nogil:
    """A large chunk of exactly this size from an earlier run, or NULL."""
    cdef char* found = NULL
    cdef int k
    PyThread_acquire_lock(_pool_lock, 1)
    for k in range(2 * SHELVED):
        if _shelf[k] != NULL and _shelf_bytes[k] == size:
            found, _shelf[k] = _shelf[k], NULL
            _shelf_held[k // SHELVED] -= size
            break
    PyThread_release_lock(_pool_lock)
    return found


cdef void _displace(size_t size) noexcept nogil:
    """Free this many bytes that earlier runs left for frames under small budgets, or all of them, so that a run with
    new ones stays within its budget.
    """
    cdef size_t held = _shelf_held[1]
    if held:
        _make_room(1, SHELVED_SMALL - (held - size if held > size else 0))


cdef void _make_room(int shelf, size_t wanted) noexcept nogil:
    """Free the oldest chunks of a shelf until it has room for this many bytes, and for one more chunk."""
    cdef char* gone
    cdef size_t its, most = SHELVED_SMALL if shelf else SHELVED_BYTES
    cdef int at
    while True:
        PyThread_acquire_lock(_pool_lock, 1)
        at = shelf * SHELVED + _shelf_next[shelf]
        gone, its = _shelf[at], _shelf_bytes[at]
        if gone == NULL and _shelf_held[shelf] + wanted <= most:
            PyThread_release_lock(_pool_lock)
            return
        _shelf[at] = NULL
        if gone != NULL:
            _shelf_held[shelf] -= its
        if _shelf_held[shelf] + wanted > most:
            _shelf_next[shelf] = (_shelf_next[shelf] + 1) % SHELVED
        PyThread_release_lock(_pool_lock)
        wb_free_chunk(gone, its)


cdef bint _shelve(char* chunk, size_t size, int shelf) noexcept nogil:
    """Keep a chunk for the next run, replacing the oldest ones of its shelf; False if it is too large."""
    cdef int at
    if size > <size_t>(SHELVED_SMALL if shelf else SHELVED_BYTES):
        return False
    _make_room(shelf, size)
    PyThread_acquire_lock(_pool_lock, 1)
    at = shelf * SHELVED + _shelf_next[shelf]
    if _shelf[at] == NULL:
        _shelf[at], _shelf_bytes[at] = chunk, size
        _shelf_held[shelf] += size
        _shelf_next[shelf] = (_shelf_next[shelf] + 1) % SHELVED
        chunk = NULL
    PyThread_release_lock(_pool_lock)
    return chunk == NULL
