"""Fixes: proposed for the claims of an answer, tried, and applied to a graph.

Each yields an edited graph and its feeds; the originals are unchanged.

::

    Claim --> table --> Fix, tried by trial before it is shown

    Fix --> repaired --> (Graph, feeds) --> a new Session next to the old one
             |- numbers: tolerance, step          |- cap, stop-at-nan: one more clause
             |- operators: comparison, sign       |- dtype: widen
"""

from workbench.analysis.fixes.apply import repaired
from workbench.analysis.fixes.fix import Fix
from workbench.analysis.fixes.outcome import FixOutcome
from workbench.analysis.fixes.table import fuse, proposed

__all__ = ["Fix", "FixOutcome", "fuse", "proposed", "repaired"]
