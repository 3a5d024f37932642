"""Where NaN and infinities come from, and which values would become infinite in a narrower dtype.

::

    trace ─► scan (first bad firing of each value, a block at a time) ─► nan_origin: the first whose inputs are clean
                                                                            └─► guilty: the operand, and why
          ├► newest: the same in the newest firings of one loop, quick enough to be asked while a run goes on
          └► overflow_candidates: the largest magnitude of each value against the limits of a dtype
"""

from workbench.analysis.origins.nan_origin import nan_origin
from workbench.analysis.origins.overflow import OverflowCandidate, overflow_candidates
from workbench.analysis.origins.told import NanOrigin, Operand

__all__ = ["NanOrigin", "Operand", "OverflowCandidate", "nan_origin", "overflow_candidates"]
