"""Recorder of loops that run elsewhere: one call per iteration writes their variables into a trace like that of a run.

::

    watch(residual=r) ──► kernels.recorder.LoopRecorder ──► RecordedSource ──► Trace ──► Series, analyze, diff, views
                                    graph, layout: the loop as a graph whose body is one node of unknown code
"""

from workbench.recorder import home, live_list
from workbench.recorder.make_watch import watch
from workbench.recorder.registry import live, watches
from workbench.recorder.remote import WatchReports
from workbench.recorder.terminal_line import TerminalLine
from workbench.recorder.watch import Watch

__all__ = ["TerminalLine", "Watch", "WatchReports", "home", "live", "live_list", "watch", "watches"]
