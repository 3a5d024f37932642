# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False, embedsignature=True
"""The executor core: a register machine with the rows of the trace as registers.

A program is a flat list of instructions. Operands are (base, offset): base 0 is the constant pool, base f + 1 the row
in progress of frame f, and a negative offset refers to the previous row. Kernels write where the trace will be read, so
tracing costs nothing. Whole loops run without the GIL; an instruction that calls Python acquires it.

A program can run in two ways: the fast way links from one computing instruction to the next and checks for stops only
at back jumps; the exact way executes every instruction, counts every event and can stop before any of them.
"""

import math

import numpy as np

cimport numpy as cnp
from cpython.pythread cimport (
    PyThread_acquire_lock, PyThread_allocate_lock, PyThread_free_lock, PyThread_release_lock, PyThread_type_lock,
)
from cpython.ref cimport Py_DECREF, Py_INCREF, Py_REFCNT, Py_XDECREF, PyObject
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memcmp, memcpy, memmove, memset

cnp.import_array()
cnp.import_ufunc()

include "structs.pxi"
include "subnormals.pxi"
include "opcodes.pxi"
include "rows/row_store.pxi"
include "rows/chunks.pxi"
include "rows/activations.pxi"
include "calls/ufunc_loops.pxi"
include "calls/shapes.pxi"
include "program.pxi"
include "listing.pxi"
include "calls/windows.pxi"
include "interpreter.pxi"
include "conditions.pxi"
include "rows/eviction.pxi"
include "rows/liveness.pxi"
include "rows/recompute.pxi"
include "calls/object_calls.pxi"
include "calls/array_calls.pxi"
include "calls/pointers.pxi"
include "calls/region_calls.pxi"
include "rows/views.pxi"
include "rerun/snapshots.pxi"
include "rerun/incremental.pxi"
include "rerun/frontier.pxi"
include "points/specs.pxi"
include "points/points.pxi"
include "native.pxi"

#: maximum number of items of a block; arrays up to this size are not divided
BLOCK = WB_BLOCK


def move_kernel(int size):
    """Address of the kernel that copies ``size`` bytes."""
    return {1: <size_t>&move_1, 2: <size_t>&move_2, 4: <size_t>&move_4, 8: <size_t>&move_8, 16: <size_t>&move_16}[size]


def address_table(addresses not None):
    """Address of a C array of these addresses, for instructions; it is never freed."""
    cdef int k
    cdef size_t* table = <size_t*>malloc(len(addresses) * sizeof(size_t) + 1)
    if table == NULL:
        raise MemoryError("no memory for a table of addresses")
    for k, address in enumerate(addresses):
        table[k] = address
    return <size_t>table


def opcodes():
    """(name, is_control, operands, meaning) of every opcode, by number (opcodes.def)."""
    cdef int k
    return [
        (wb_opcodes[k].name.decode(), bool(wb_opcodes[k].is_control), wb_opcodes[k].operands.decode(),
         wb_opcodes[k].meaning.decode())
        for k in range(N_OPCODES)
    ]


def scalar_ops():
    """Names of the ops that the fast path runs itself: op, operand dtypes and result dtype, joined by ``_``."""
    return list(SCALAR_OPS)
