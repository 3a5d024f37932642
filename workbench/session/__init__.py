"""The session: a run and its debugger on a worker thread.

``worker`` queues and carries out, ``commands`` steps and runs, ``values`` reads, ``session`` makes, edits and forks.
"""

from workbench.execution.direct import plan_for, run_graph
from workbench.session.commands import Commands
from workbench.session.orders import Snapshot
from workbench.session.session import DEFAULT_BUDGET, Session
from workbench.session.values import Values
from workbench.session.worker import Worker

__all__ = ["DEFAULT_BUDGET", "Commands", "Session", "Snapshot", "Values", "Worker", "plan_for", "run_graph"]
