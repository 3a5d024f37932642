# distutils: language = c++
# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Streaming evolution state of a loop variable, in memory bounded for any number of iterations.

``ScalarState`` keeps, in under 8 KB:

==================  ==========================================================================================
ring                the last 512 values as raw 64-bit words: float64, or exact int64, uint64 and bool
head                the first 32 values
sample              every 2^j-th value of the whole record, at most 64 of them
Brent slot          exact recurrence on the bit pattern (R. P. Brent, BIT 20, 1980), verified against the ring
run lengths         constant, monotone and alternating tails; the longest constant run before the current one, and
                    the 16 values that led to that
blocks              at most 48 blocks of 2^k values each: when all are full, neighbours merge and k grows by one
health              index of the first NaN and the first Inf, number of non-finite values
==================  ==========================================================================================

Block sums are taken of ``x - origin`` (origin: the first finite value), which keeps the variance of a small
movement around a large level.  Sums of squares may overflow to inf beyond 1e154; minima and maxima do not.

``VectorState`` makes one fused pass over a tensor (norm, |d|, max |d|, non-finite count, 64-bit hash) and feeds the
norms and up to eight of the most active components to scalar states.

A state is the same, bit for bit, for every split of its values into updates, and on every instruction set. The GIL is
released in all loops over values; one thread at a time may use a state. Errors are only TypeError and ValueError.
"""

cimport cython
cimport numpy as cnp
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t, uintptr_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memcmp, memcpy

import numpy as np

cnp.import_array()

cdef extern from "evolution.h" nogil:
    enum:
        WB_RING
        WB_BLOCKS
        WB_FIELDS
        WB_HEAD
        WB_APPROACH
        WB_SAMPLE
        WB_F8
        WB_U8

    ctypedef struct WbScalar:
        uint64_t ring[512]
        uint64_t head[32]
        uint64_t sample[64]
        uint64_t approach[16]
        double blocks[336]
        int64_t block_size, n_blocks, n, skipped, since, stride, n_sample
        int64_t first_nan, first_inf, nonfinite
        int64_t const_run, longest_const, mono_run, alt_run
        int64_t candidate, candidate_run, approached
        double origin, low, high
        int32_t mono_sign, has_origin

    ctypedef struct WbPass:
        double norm, step, sum_abs_d, max_abs_d
        int64_t nan, inf
        uint64_t hash

    ctypedef struct WbTensorRow:
        uint32_t site, nan, inf, zeros
        double least, largest, mean
        uint64_t hash
        float rms
        uint32_t count, first_bad, kind

    void wb_clear(WbScalar* s)
    void wb_feed(WbScalar* s, const char* data, int type, int64_t count, int64_t stride)
    void wb_skip(WbScalar* s, int64_t count)
    void wb_pass(const char* now, char* before, int type, int64_t n, int compare, WbPass* out)
    void wb_moved(const char* now, const char* before, int type, int64_t n, double* moved)
    void wb_scan(const char* data, int type, int64_t n, WbTensorRow* out)
    const char* wb_evolution_isa()

BLOCK_FIELDS = ("sum", "sumsq", "min", "max", "sum_abs_d", "max_abs_d", "min_abs_d")

#: the order of enum WbType
_NAMES = (
    "float64", "float32", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint64", "uint32", "uint16", "uint8",
    "bool",
)
cdef dict _CODES = {name: code for code, name in enumerate(_NAMES)}


def instruction_set():
    """Name of the instruction set chosen at load (the processor's widest, or the one named by the environment variable
    WORKBENCH_ISA): "x86-64", "avx2" or "avx512"; "portable" on other processors.
    """
    return wb_evolution_isa().decode()


cdef enum:
    TYPES = 32

# NumPy's number of a type -> code, or -1; no conversion is needed for bytes in this machine's order
cdef int[TYPES] _code_of
for _number in range(TYPES):
    _code_of[_number] = -1
for _name in _NAMES:
    if _name != "bfloat16":
        _code_of[np.dtype(_name).num] = _CODES[_name]
# of two C types with the same bits, such as long and long long, only one has this name
for _char in "bBhHiIlLqQ":
    _code_of[np.dtype(_char).num] = _CODES[np.dtype(_char).name]


cdef inline char _kind(int code) noexcept nogil:
    """b"f", b"i", b"u" or b"b" of a code."""
    return b"f" if code < 4 else b"i" if code < 8 else b"u" if code < 12 else b"b"


cdef cnp.ndarray _native(cnp.ndarray a, int* code):
    """An array of one of the types of ``_NAMES`` with the same numbers, and its code. TypeError for values that are not
    real numbers or bools. Of the types beyond NumPy's own bfloat16 is used directly, float8 and narrower as float32,
    int4 and int2 as int8; float128 is rounded to float64.
    """
    cdef int number = cnp.PyArray_TYPE(a)
    if 0 <= number < TYPES and _code_of[number] >= 0 and cnp.PyArray_ISNOTSWAPPED(a):
        code[0] = _code_of[number]
        return a
    dtype = a.dtype
    name = dtype.name
    if dtype.kind == "V" and dtype.names is None:
        if name == "bfloat16":
            code[0] = _CODES[name]
            return a
        if name.startswith("float"):
            return _native(a.astype(np.float32), code)
        if name.startswith(("int", "uint")):
            return _native(a.astype(np.int8 if name[0] == "i" else np.uint8), code)
    elif dtype.kind == "f":
        return _native(a.astype(np.float64 if name not in _CODES else dtype.newbyteorder("=")), code)
    elif dtype.kind in "iub":
        return _native(a.astype(dtype.newbyteorder("=")), code)
    raise TypeError(f"expected a real numeric or bool array, got dtype {dtype}")


include "scalar_state.pxi"
include "vector_state.pxi"
include "tensor_log.pxi"
