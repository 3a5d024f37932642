# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False, embedsignature=True
"""Processing of retired rows for their keepers: columns copied out of rows, and statistics of blocks of rows.

All columns are gathered in one pass over tiles of rows that stay in the nearest cache. Their memory is reused from
earlier keepers: pages that were touched before, huge pages for blocks of that size.
"""

import numpy as np

cimport numpy as cnp
from cpython.pythread cimport PyThread_acquire_lock, PyThread_allocate_lock, PyThread_release_lock, PyThread_type_lock
from libc.stddef cimport ptrdiff_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

cnp.import_array()

cdef extern from "structs.h" nogil:
    char* wb_big_chunk(size_t bytes, int huge)
    void wb_free_chunk(char* chunk, size_t bytes)

ctypedef void (*wb_statistics)(const char* a, ptrdiff_t n, double* out) noexcept nogil

cdef enum:
    SHELF = 64
    SHELF_BYTES = 67108864
    HUGE = 2097152
    TILE = 512

include "memory.pxi"
include "gather.pxi"
include "blocks.pxi"
