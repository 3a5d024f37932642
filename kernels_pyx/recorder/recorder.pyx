# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False, embedsignature=True
"""The record of a loop that runs elsewhere: one call per iteration writes its values into columns of rows.

::

    watch(residual=r, x=x) --LoopRecorder.record--> VariableRows "residual" | chunk | chunk | ...  (8 bytes a row)
                                                    VariableRows "x"        | chunk | chunk | ...  (the array)
                                                                 its statistics (7 numbers a row)

Row 0 of an activation is its init row, the next one is iteration 0, and each call adds a row. A variable is stored in
the type of its first value (a float64, an int64, an array of one dtype and shape); a value that does not fit widens the
column, up to a column of objects. Chunks that do not fit the budget are moved to a file or dropped, the oldest of the
largest column first.
"""

import os

import numpy as np

cimport numpy as cnp
from cpython.float cimport PyFloat_AS_DOUBLE, PyFloat_Check
from cpython.long cimport PyLong_AsLongLongAndOverflow, PyLong_CheckExact
from cpython.pythread cimport (
    NOWAIT_LOCK,
    PyThread_acquire_lock,
    PyThread_allocate_lock,
    PyThread_free_lock,
    PyThread_get_thread_ident,
    PyThread_release_lock,
    PyThread_type_lock,
    WAIT_LOCK,
)
from cpython.ref cimport PyObject
from libc.stdint cimport int64_t
from libc.stddef cimport ptrdiff_t
from libc.stdlib cimport calloc, free, realloc
from libc.string cimport memcpy, memset

cnp.import_array()

ctypedef void (*wb_statistics)(const char* a, ptrdiff_t n, double* out) noexcept nogil

cdef extern from "structs.h" nogil:
    char* wb_big_chunk(size_t bytes, int huge)
    void wb_free_chunk(char* chunk, size_t bytes)

cdef extern from *:
    """
    #include <time.h>
    #ifdef CLOCK_MONOTONIC_COARSE  /* some milliseconds fine, and a tenth of the price */
    #define WB_HEARD CLOCK_MONOTONIC_COARSE
    #else
    #define WB_HEARD CLOCK_MONOTONIC
    #endif
    static double wb_heard_now(void) {
        struct timespec t;
        clock_gettime(WB_HEARD, &t);
        return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
    }
    """
    double wb_heard_now() nogil

cdef extern from "Python.h":
    int PyDict_Next(object p, Py_ssize_t* pos, PyObject** key, PyObject** value)

include "rows.pxi"
include "loop.pxi"
