"""Watches in workers: each sends its outlook to the notebook that started it, over a socket.

::

    worker: Watch ──► Observer ──► Reporter ──── lines of JSON ───► WatchReports: notebook ──► ReportsView
                                            ◄─── "stop" ─────────
"""

from workbench.recorder.remote.reporter import ReportAddress
from workbench.recorder.remote.reports import WatchReports

__all__ = ["ReportAddress", "WatchReports"]
