"""Logs of runs that are over, read as records of loops: one row of a log is one iteration.

::

    file ──► reading (which format?) ──► tables, documents, events, lines ──► rows (one iteration per step) ──► RunLog

A log is read with bounds on its size, its rows and its columns; nothing in it is executed or unpickled.
"""

from workbench.recorder.logs.folder import read_logs
from workbench.recorder.logs.reading import read_log
from workbench.recorder.logs.run_log import RunLog

__all__ = ["RunLog", "read_log", "read_logs"]
