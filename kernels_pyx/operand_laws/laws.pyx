# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False, embedsignature=True
"""The laws of ``workbench.analysis.forecast``: fits of a record's laws, their free runs, and their first crossings.

===================  =====================================================================================
least_squares.pxi    least squares by the normal equations, refined, or by QR
law.pxi              a law as plain data, its values and its first crossing of a number
evaluate.pxi         values of closed forms and of maps
maps.pxi             one-dimensional maps
powers.pxi           power laws of values and of steps
recurrences.pxi      linear recurrences of steps, of logarithms and of squares
oscillation.pxi      the magnitude of a damped oscillation
selection.pxi        all laws of a record, scored by their prediction of its last quarter
noise.pxi            whether the steps of a record follow from earlier ones; its slope, as that of a trend or of a walk
rests.pxi            whether a record is at rest, or repeats itself
rules.pxi            counters, multipliers and repeating steps, continued digit by digit
first_look.pxi       the laws that a record may follow to its last digits
===================  =====================================================================================

The methods and their sources are described in the modules of ``workbench/analysis/forecast/laws``; an equivalent in
plain NumPy is in ``tests/kernels/reference/operand_laws.py``.  Arrays are contiguous float64; anything else is a
TypeError.
"""

import functools

import numpy as np

cimport numpy as cnp
from cpython.mem cimport PyMem_Free, PyMem_Malloc
from libc.math cimport (
    INFINITY, NAN, atan2, copysign, cos, exp, fabs, fmax, fmin, isfinite, isinf, isnan, log, pow, sin, sqrt)
from libc.stdint cimport int64_t
from libc.string cimport memcpy, memset

cnp.import_array()

cdef enum:
    ORDERS = 8          # maximum number of roots of a polynomial

ctypedef double complex cdouble


include "../series_fits/vectors.pxi"
include "../series_fits/algebra.pxi"
include "least_squares.pxi"
include "evaluate.pxi"
include "law.pxi"
include "maps.pxi"
include "powers.pxi"
include "recurrences.pxi"
include "oscillation.pxi"
include "selection.pxi"
include "noise.pxi"
include "rests.pxi"
include "rules.pxi"
include "first_look.pxi"
