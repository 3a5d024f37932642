# cython: language_level=3, boundscheck=False, cdivision=True, initializedcheck=False, embedsignature=True
"""Typed kernels: one compiled function for each op and combination of types that the build's type profile admits.

The instances come from the rule table (``workbench.kernels.types``); the C++ templates are in ``typed/templates/``.
Each is compiled for several instruction sets, of which one is chosen when this module is loaded: the best that the
processor has, or the one named by the environment variable WORKBENCH_ISA ("x86-64", "avx2", "avx512"). All give the
same bits.

``kernel``, ``reduce``, ``cumulate``, ``matmul`` and ``statistics`` return addresses, for callers in compiled code;
``call`` computes with NumPy arrays; ``stats`` describes one.
"""

import os

import numpy as np

cimport numpy as cnp

cnp.import_array()

from libc.stddef cimport ptrdiff_t

cdef extern from "table.hpp" nogil:
    ctypedef void (*wb_kernel)(char* out, const char* a, const char* b, const char* c, ptrdiff_t n) noexcept
    ctypedef void (*wb_scalar)(char* out, const char* a, const char* b, const char* c) noexcept
    ctypedef void (*wb_strided)(char** args, const ptrdiff_t* dims, const ptrdiff_t* steps, void* data) noexcept
    ctypedef void (*wb_reduce)(char* out, const char* a, ptrdiff_t outer, ptrdiff_t n, ptrdiff_t inner) noexcept
    ctypedef void (*wb_matmul)(char* out, const char* a, const char* b, ptrdiff_t m, ptrdiff_t k, ptrdiff_t n) noexcept
    ctypedef void (*wb_statistics)(const char* a, ptrdiff_t n, double* out) noexcept
    ctypedef void (*wb_of_op)(char* out, const char* a, const char* b, ptrdiff_t n, double* numbers) noexcept
    ctypedef struct wb_row:
        const char* name
        wb_scalar scalar
        wb_kernel vv
        wb_kernel vs
        wb_kernel sv
        wb_strided strided
    ctypedef struct wb_reduce_row:
        const char* name
        wb_reduce call
    ctypedef struct wb_matmul_row:
        const char* name
        wb_matmul call
    ctypedef struct wb_statistics_row:
        const char* name
        wb_statistics call
        const wb_of_op* of_ops
    ctypedef struct wb_table:
        const wb_row* rows
        const wb_reduce_row* reductions
        const wb_matmul_row* products
        const wb_statistics_row* statistics

cdef extern from *:
    """
    extern "C" const wb_table** wb_choose(const char* forced, const char** name);
    """
    const wb_table** wb_choose(const char* forced, const char** name)

include "tables.pxi"
include "call.pxi"
include "repeat.pxi"
