# Memory with mapped pages: returned blocks are kept for the next request of the same size.

cdef char* _shelf[SHELF]
cdef size_t _sizes[SHELF]
cdef size_t _shelved = 0
cdef PyThread_type_lock _lock = PyThread_allocate_lock()


cdef class _Owner:
    """Returns memory when the last array on it is deleted."""

    cdef char* at
    cdef size_t size

    def __dealloc__(self):
        global _shelved
        cdef char* gone = self.at
        cdef int k
        if gone == NULL:
            return
        PyThread_acquire_lock(_lock, 1)
        if _shelved + self.size <= SHELF_BYTES:
            for k in range(SHELF):
                if _shelf[k] == NULL:
                    _shelf[k], _sizes[k] = gone, self.size
                    _shelved += self.size
                    gone = NULL
                    break
        PyThread_release_lock(_lock)
        wb_free_chunk(gone, self.size)


def memory(Py_ssize_t size):
    """An uninitialized (size,) uint8 array. ValueError unless ``size`` is positive, MemoryError without memory."""
    global _shelved
    cdef char* found = NULL
    cdef int k
    cdef cnp.npy_intp dims[1]
    if size <= 0:
        raise ValueError(f"memory: needs a positive size, got {size}")
    PyThread_acquire_lock(_lock, 1)
    for k in range(SHELF):
        if _shelf[k] != NULL and _sizes[k] == <size_t>size:
            found, _shelf[k] = _shelf[k], NULL
            _shelved -= size
            break
    PyThread_release_lock(_lock)
    if found == NULL:
        found = wb_big_chunk(size, size >= HUGE)
    if found == NULL:
        raise MemoryError(f"no memory for {size} bytes")
    cdef _Owner owner = _Owner()
    owner.at, owner.size = found, size
    dims[0] = size
    array = cnp.PyArray_SimpleNewFromData(1, dims, cnp.NPY_UINT8, found)
    cnp.set_array_base(array, owner)
    return array
