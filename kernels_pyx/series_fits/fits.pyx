# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False, embedsignature=True
"""The numeric inner loops of ``workbench.analysis.series.classify``: all of its loops over many numbers.

==================  ==========================================================================================
record.pxi          scaling, differences, usable and smooth tails
exact.pxi           runs of equal values, exact periods, lattices of rounded differences
rows.pxi            norms and movements of tensors
algebra.pxi         least squares by Householder's QR, real and complex; roots of polynomials
tails.pxi           laws of log|d|: constant, geometric, power
linear.pxi          linear prediction: free runs over held-out values, modes and their shares
limits.pxi          Wynn's epsilon, Levin's u
maps.pxi            polynomial maps, their orbits and Lyapunov exponents
neighbours.pxi      return maps, neighbours in delay coordinates
local_maps.pxi      local linear maps, of one record and of several
long_lags.pxi       linear maps of the last values, and of values of long ago
noise.pxi           moments, block means and spreads, one sine
==================  ==========================================================================================

Arrays are contiguous float64 (exact integers: int64); anything else is a TypeError.  No function keeps a reference.
Loops run without the GIL.  Sizes of work space are bounded by constants, whatever the length of the record.
"""

import numpy as np

cimport numpy as cnp
from cpython.mem cimport PyMem_Free, PyMem_Malloc
from libc.math cimport INFINITY, cos, exp, fabs, frexp, isfinite, isinf, isnan, ldexp, log, log2, sin, sqrt
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.string cimport memcpy, memset

cnp.import_array()

cdef enum:
    ORDERS = 8          # of linear prediction
    COLUMNS = 16        # at most, of a least-squares problem
    ROWS = 520          # at most, of a least-squares problem

ctypedef double complex cdouble


include "vectors.pxi"
include "record.pxi"
include "exact.pxi"
include "rows.pxi"
include "algebra.pxi"
include "tails.pxi"
include "linear.pxi"
include "limits.pxi"
include "maps.pxi"
include "neighbours.pxi"
include "local_maps.pxi"
include "long_lags.pxi"
include "noise.pxi"
