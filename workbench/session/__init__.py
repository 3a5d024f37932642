"""The session: a run and its debugger on a worker thread.

:class:`Session` is the class to use, and :class:`Snapshot` is its state at one moment. Modules: ``session`` has the
public methods; ``state`` is shared by threads, ``worker`` queues commands, ``pending_requests`` orders and cancels
them, ``worker_thread`` and ``command_execution`` execute them, ``slice_lock`` lets readers in between two slices,
``values`` reads, ``forks`` creates other sessions, ``run_setup`` creates the run, and ``live_sessions`` lists all open
sessions.
"""

from workbench.execution.one_shot import plan_for, run_graph
from workbench.session.command_request import Snapshot
from workbench.session.input_examples import example_inputs
from workbench.session.run_setup import DEFAULT_BUDGET
from workbench.session.session import Session

__all__ = ["DEFAULT_BUDGET", "Session", "Snapshot", "example_inputs", "plan_for", "run_graph"]
