"""Interface for compiled callers: C calls without the GIL. Any Cython module may cimport this, even one
compiled as C.
"""

from libc.stdint cimport int64_t, uint32_t, uint64_t


cdef class ShapeTrie:
    cdef void* core
    cdef void* objects
    cdef readonly object capacity
    cdef object __weakref__

    # Ids of a shape, 0 for none. `strides` (bytes) is NULL for contiguous C order; `dtype` is NumPy's type number, -1
    # for none. intern_key adds a reference, which release_key takes back; lookup_key takes none: its id is valid while
    # any reference exists.
    cdef uint32_t lookup_key(self, int rank, const int64_t* dims, const int64_t* strides, int dtype, uint32_t flags) noexcept nogil
    cdef uint32_t intern_key(self, int rank, const int64_t* dims, const int64_t* strides, int dtype, uint32_t flags) noexcept nogil
    cdef bint release_key(self, uint32_t id) noexcept nogil
