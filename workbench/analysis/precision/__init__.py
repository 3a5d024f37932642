"""Origins of NaN and infinities, and the values that would become infinite in a narrower dtype.

::

    trace ─► scan (first bad firing of each value, a block at a time) ─► nan_origin: the first whose inputs are clean
                                                                            └─► responsible: the operand and the reason
                                                                            └─► first_nonfinite: for all screens, cached
          ├► newest: the same in the newest firings of one loop, fast enough to be used during a run
          ├► overflow_candidates: the largest magnitude of each value against the limits of a dtype
          ├► index_faults: indices of JAX that are out of range
          └► wraps: the first integer result that left the range of its dtype
"""

from workbench.analysis.precision.first_nonfinite import first_nonfinite
from workbench.analysis.precision.index_faults import IndexFault, index_faults
from workbench.analysis.precision.nan_origin import nan_origin
from workbench.analysis.precision.overflow import OverflowCandidate, overflow_candidates
from workbench.analysis.precision.result import NanOrigin, Operand
from workbench.analysis.precision.wraps import Wrap, first_wrap

__all__ = [
    "IndexFault",
    "NanOrigin",
    "Operand",
    "OverflowCandidate",
    "Wrap",
    "first_nonfinite",
    "first_wrap",
    "index_faults",
    "nan_origin",
    "overflow_candidates",
]
