"""Comparison of two runs, from any framework.

::

    session, trace, file ─► TraceSide ──┐ columns: firings of one value with their iteration paths
    record, arrays ───────► RecordSide ─┤
                                        ▼
            pairing (which value is which) ─► aligned (which firing is which) ─► measure (how far apart)
                                        │
                                        └─► rows in execution order, lengths of loops ─► introduces ─► Diff
"""

from workbench.analysis.diff.compare_values import Row
from workbench.analysis.diff.dtypes import in_dtype
from workbench.analysis.diff.external_record import Record
from workbench.analysis.diff.programs.two_dtypes import diff_dtypes
from workbench.analysis.diff.result import Curve, Diff
from workbench.analysis.diff.run_diff import diff
from workbench.analysis.diff.run_with import run_with
from workbench.analysis.diff.tolerance import Kind, Tolerance

__all__ = ["Curve", "Diff", "Kind", "Record", "Row", "Tolerance", "diff", "diff_dtypes", "in_dtype", "run_with"]
