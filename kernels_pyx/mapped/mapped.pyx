# cython: language_level=3
"""Maps of files that survive the truncation of the file: see bus_errors.h."""

from libc.stdint cimport uintptr_t

cdef extern from "bus_errors.h" nogil:
    int wb_guard(uintptr_t begin, uintptr_t length)
    int wb_lost(int slot)
    void wb_release(int slot)


cdef class MapGuard:
    """Watches the memory of one map while this object lives; ``lost`` is true after an access to a missing page.

    OSError if no more maps can be watched.
    """

    cdef int slot

    def __cinit__(self, const unsigned char[::1] memory not None):
        self.slot = -1
        if memory.shape[0] == 0:
            raise ValueError("an empty map cannot be watched")
        self.slot = wb_guard(<uintptr_t> &memory[0], <uintptr_t> memory.shape[0])
        if self.slot < 0:
            raise OSError("too many files are mapped")

    def __dealloc__(self):
        if self.slot >= 0:
            wb_release(self.slot)

    @property
    def lost(self):
        return bool(wb_lost(self.slot))
