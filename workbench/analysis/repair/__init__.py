"""Fixes carried out on a graph: each gives an edited graph and the feeds that go with it; the old ones stay.

::

    Fix --> repaired --> (Graph, feeds) --> a new Session beside the old one
             |- numbers: tolerance, step          |- cap, stop-at-nan: one more clause
             |- operators: comparison, sign       |- dtype: widen
"""

from workbench.analysis.repair.fixed import Fixed
from workbench.analysis.repair.repaired import repaired

__all__ = ["Fixed", "repaired"]
