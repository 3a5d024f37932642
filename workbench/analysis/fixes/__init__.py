"""Fixes applied to a graph: each gives an edited graph and its feeds; the originals are unchanged.

::

    Fix --> repaired --> (Graph, feeds) --> a new Session beside the old one
             |- numbers: tolerance, step          |- cap, stop-at-nan: one more clause
             |- operators: comparison, sign       |- dtype: widen
"""

from workbench.analysis.fixes.apply import repaired
from workbench.analysis.fixes.outcome import FixOutcome

__all__ = ["FixOutcome", "repaired"]
