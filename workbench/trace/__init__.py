"""The record of a run: rows as written by the executor, read as series, firings, branches and events.

::

    machine rows --LiveSource--+--KeptSource (older rows: retention)
                               +--> RowReader: which rows, which values, which tags --> Series, EventTable, BranchTable
    trace file --SavedSource---+
"""

from workbench.trace.retention import Retention
from workbench.trace.series import Series
from workbench.trace.tables import BranchTable, EventTable
from workbench.trace.trace import Trace

__all__ = ["BranchTable", "EventTable", "Retention", "Series", "Trace"]
