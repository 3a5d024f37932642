"""The session: a run and its debugger on a worker thread, with commands from any thread, edits and forks.

::

    Session          the public methods, with their documentation
      SessionState   state, position, version; the debugger and the graph; listeners
      Worker         the queue of commands and the thread that executes them
        PendingRequests, SliceLock, CommandExecution
      SessionValues  reads the run, recomputes dropped values
      Forks          creates other sessions from this one

The constructor of each part takes the parts above it that it uses; none refers to the Session.
"""

from __future__ import annotations

import asyncio
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from typing import Any, NoReturn, Self

import numpy as np

from workbench.analysis import Fix, Termination
from workbench.analysis.fixes import FixOutcome
from workbench.analysis.fixes.trial import FixTrials
from workbench.analysis.slicing.next_values import next_values, real_numbers, variable_at
from workbench.analysis.termination.look_ahead import LookAhead
from workbench.analysis.termination.proof_cache import TerminationCache
from workbench.arrays import Array
from workbench.debugger import Breakpoints, History, Stop
from workbench.device import Device, checked_device
from workbench.errors import SessionError
from workbench.execution import MemoryReport, Position, Run
from workbench.execution.incremental import Update
from workbench.execution.run_memory import RunFigures, run_figures
from workbench.ir.graph import Graph
from workbench.ir.node import Ref
from workbench.kernels import ShapeInfo
from workbench.plan import ExecutionPlan, ForwardExecutionDAG
from workbench.session import live_sessions
from workbench.session.command_request import Snapshot
from workbench.session.forks import Forks
from workbench.session.run_setup import DEFAULT_BUDGET, checked_retention, debugger_for
from workbench.session.state import SessionState
from workbench.session.time_limits import checked_seconds
from workbench.session.values import SessionValues
from workbench.session.worker import Worker
from workbench.text import facts_html, harmless
from workbench.trace import Trace
from workbench.trace.describe import short
from workbench.trace.edited_firings import Written
from workbench.trace.provenance import MAX_LINKS, Explanation, explain
from workbench.trace.retention import Retention


class Session:
    """A run of a graph that can be stepped, paused, rewound, edited and inspected at any moment.

    A session has a separate worker thread, which executes its commands one after another; every method may be called
    from any thread. Going back is exact: an earlier state is restored from a checkpoint and replayed bit for bit. Use a
    session as a context manager, or call :meth:`close`.

    Parameters
    ----------
    graph : Graph or GraphFunction
        The graph to run; for a function decorated with ``@wb.graph``, its graph for these feeds.
    feeds : mapping, optional
        Values of the inputs by name.
    outputs : sequence of str, optional
        Names of the values to compute; by default the graph's outputs. Nodes that they do not need are left out.
    trace : {"all", "carried", "stats", "off"} or Retention, default "all"
        The values that the trace keeps. "all": every value, within ``memory_budget``. "carried": loop variables, in
        every iteration if they fit. "stats": every number; for arrays of known shape only their statistics
        (``trace[name].statistics``) and the newest values, large ones until their last use. "off": only the newest
        values. Values that are not kept are recomputed exactly by :meth:`value` and :meth:`values`.
    memory_budget : int, default 512 MiB
        Limit of the trace in bytes, checkpoints included. A :class:`workbench.Retention` has its own limit instead.

    device : str or Device, optional
        Where arrays of 256 KiB or more are stored and computed: ``"cuda"`` for a GPU (needs ``cupy-cuda12x``), or a
        :class:`workbench.Device`; by default on the host. Values are copied to the host when they are read.

    Raises
    ------
    DeviceError
        For a device that cannot be used: ``unknown-device``, ``no-library``, ``no-device``.
    FeedError
        For an input that is missing (``missing-feed``), unknown (``unknown-feed``) or of another dtype or shape
        (``feed-type``).
    GraphError
        For ``outputs`` that the graph does not have (``unknown-value``).
    SessionError
        ``bad-retention`` for an invalid policy or budget. Later, commands raise ``closed`` after :meth:`close`, and
        ``on-the-worker`` when a listener calls a method that waits.

    Examples
    --------
    >>> with wb.Session(graph, {"a": 2.0}) as session:
    ...     print(session.step().tag)
    ...     session.run_to("x", iteration=3)
    ...     float(session.value("x"))
    while/x/Enter:0[while 0]
    <Stop TARGET: ...Next: while/x/Merge:0[while 3] (event ...).>
    1.41...
    """

    def __init__(
        self,
        graph: Graph,
        feeds: Mapping[str, Any] | None = None,
        *,
        outputs: Sequence[str] | None = None,
        trace: str | Retention = "all",
        memory_budget: int = DEFAULT_BUDGET,
        device: str | Device | None = None,
    ) -> None:
        if callable(graph_for := getattr(graph, "graph_for", None)):  # a function decorated with @wb.graph
            graph = graph_for(**dict(feeds or {}))
        #: the graph of the run
        self.graph = graph
        #: the retention policy of the trace
        self.retention = checked_retention(trace, memory_budget)
        #: device of large arrays; None for the host
        self.device = checked_device(device)
        debugger = debugger_for(graph, feeds or {}, outputs, trace, self.retention, self.device)
        self._state = SessionState(graph, debugger)
        self._worker = Worker(self._state)
        self._values = SessionValues(self._state, self._worker.stopped_between_slices)
        text = trace if isinstance(trace, str) else "all"
        make = partial(Session, outputs=outputs, trace=text, memory_budget=self.retention.memory, device=self.device)
        self._forks = Forks(self._state, self._worker, make, _follow)
        #: values that a panel shows before the loop variables: the values passed to the watch of a recorded loop
        self.watched: tuple[str, ...] = ()
        #: result of the last :meth:`apply_fix`
        self.fixed: FixOutcome | None = None
        self._proofs = TerminationCache()
        #: the number of the session in this process, used by lists of sessions and by its panel
        self.number = live_sessions.numbered(self)
        # weakly: a closed session must be freed at once with its trace, not at the next garbage collection
        still = weakref.WeakMethod(self._worker.stopped_between_slices)
        debugger.breakpoints.stopped_by(lambda: method() if (method := still()) else nullcontext())

    # -- state ---------------------------------------------------------------------------------------------------------

    @property
    def state(self) -> str:
        """The state: "ready", "running", "paused", "finished", "failed" or "closed"."""
        return self._state.name

    @property
    def position(self) -> Position:
        """The present position; during a run, the last position at which it was stopped."""
        return self._state.position

    @property
    def stop(self) -> Stop:
        """The stop at the end of the last command."""
        return self._state.stop

    @property
    def version(self) -> int:
        """A number that increases with every change of state and every stop."""
        return self._state.version

    def snapshot(self) -> Snapshot:
        """Return state, position and iteration counts at this moment. Cheap: any thread may call it, even during a run
        at full speed.

        Returns
        -------
        Snapshot

        Examples
        --------
        >>> snapshot = session.snapshot()
        >>> snapshot.state, snapshot.iterations
        ('finished', {('while',): 4})
        """
        return self._state.snapshot()

    @property
    def _run(self) -> Run:
        return self._state.run

    # -- commands ------------------------------------------------------------------------------------------------------

    def run(self, wait: bool = True) -> Stop | None:
        """Run to the end, a breakpoint or a pause.

        Parameters
        ----------
        wait : bool, default True
            Whether to wait for the stop. Without waiting, the run ends when the next command is given.

        Returns
        -------
        Stop or None
            The stop; None without ``wait``.

        Examples
        --------
        >>> with wb.Session(graph, {"a": 2.0}) as session:
        ...     session.run(wait=False)
        ...     session.wait()
        <Stop FINISHED: ...>
        """
        if wait:
            return self._worker.carry_out("run")
        self._worker.post("run", {})
        return None

    def resume(self, wait: bool = True) -> Stop | None:
        """Continue the run; the same as :meth:`run`.

        Parameters
        ----------
        wait : bool, default True
            Whether to wait for the stop.

        Returns
        -------
        Stop or None
            The stop; None without ``wait``.
        """
        if wait:
            return self._worker.carry_out("resume")
        self._worker.post("resume", {})
        return None

    def step(self, n: int = 1) -> Stop:
        """Fire the next ``n`` nodes, not counting constants and loop invariants, which fire silently.

        Parameters
        ----------
        n : int, default 1
            Number of nodes.

        Returns
        -------
        Stop
            With the reason STEP, or FINISHED at the end. If a node fails, the reason is FAILED, and the run stays
            before that node.

        Raises
        ------
        SessionError
            If ``n`` is not a positive integer (``bad-count``); the same holds for all commands with ``n``.

        Examples
        --------
        >>> session.restart()
        <Stop STARTED: ...>
        >>> session.step(2)
        <Stop STEP: ...>
        """
        return self._worker.carry_out("step", n=n)

    def step_back(self, n: int = 1) -> Stop:
        """Go back by ``n`` nodes, by exact replay."""
        return self._worker.carry_out("step_back", n=n)

    def step_over(self, n: int = 1) -> Stop:
        """Fire the next ``n`` nodes of this frame; a frame that opens on the way runs to its end as part of its
        node."""
        return self._worker.carry_out("step_over", n=n)

    def step_back_over(self, n: int = 1) -> Stop:
        """Go back by ``n`` nodes of this frame (or of enclosing frames), stepping over inner frames."""
        return self._worker.carry_out("step_back_over", n=n)

    def next_iteration(self, n: int = 1) -> Stop:
        """Run to the start of the next iteration of the innermost open loop, or out of the loop, ``n`` times.

        Examples
        --------
        >>> session.restart()
        <Stop STARTED: ...>
        >>> session.next_iteration(3).tag.iteration
        (2,)
        """
        return self._worker.carry_out("next_iteration", n=n)

    def previous_iteration(self, n: int = 1) -> Stop:
        """Go back to the start of the previous iteration, ``n`` times."""
        return self._worker.carry_out("previous_iteration", n=n)

    def step_into(self) -> Stop:
        """Run until an inner loop opens or this loop ends; if no loop follows, fire the next node."""
        return self._worker.carry_out("step_into")

    def step_out(self) -> Stop:
        """Run until the innermost open frame is left."""
        return self._worker.carry_out("step_out")

    def step_back_out(self) -> Stop:
        """Go back to the node before the innermost open frame was entered."""
        return self._worker.carry_out("step_back_out")

    def next_branch(self, name: str | None = None) -> Stop:
        """Run to the next flip: the position before a Switch that decides differently from last time.

        Decisions are compared within one activation of a loop. The end of a loop is a flip too.

        Parameters
        ----------
        name : str, optional
            A Switch or its predicate; by default any Switch.

        Returns
        -------
        Stop
            With the reason TARGET, or NOT_REACHED at the end of the run.

        Raises
        ------
        SessionError
            If there is no such branch (``no-branch``).

        Examples
        --------
        >>> session.restart()
        <Stop STARTED: ...>
        >>> session.next_branch().tag.iteration
        (4,)
        """
        return self._worker.carry_out("next_branch", name=name)

    def previous_branch(self, name: str | None = None) -> Stop:
        """Go back to the last flip (see :meth:`next_branch`); breakpoints are ignored.

        Parameters
        ----------
        name : str, optional
            A Switch or its predicate; by default any Switch.

        Returns
        -------
        Stop
            With the reason TARGET, or BEGINNING if there is no earlier flip.

        Raises
        ------
        SessionError
            If there is no such branch (``no-branch``).
        """
        return self._worker.carry_out("previous_branch", name=name)

    def run_to_branch(self, name: str | None = None, side: bool | None = None) -> Stop:
        """Run to the next firing of a Switch that goes to one side.

        Parameters
        ----------
        name : str, optional
            A Switch or its predicate; by default any Switch.
        side : bool, optional
            The side; None for both.

        Returns
        -------
        Stop
            With the reason TARGET, or NOT_REACHED at the end of the run.

        Raises
        ------
        SessionError
            ``no-branch``, or ``bad-side`` if ``side`` is not True, False or None.
        """
        return self._worker.carry_out("run_to_branch", name=name, side=side)

    def run_to(self, name: str, iteration: int | tuple[int, ...] | None = None) -> Stop:
        """Run to the next firing of a node, or to the firing in a given iteration, forwards or backwards.

        A node outside all loops fires once: if it has fired, the session goes back to it.

        Parameters
        ----------
        name : str
            A node or a value.
        iteration : int or tuple of int, optional
            One iteration per frame around it, or a single index if there is one frame.

        Returns
        -------
        Stop
            With the reason TARGET, before the firing. NOT_REACHED if the firing does not exist: the run is then at its
            end, or still at the same position if the firing would lie in the past (its branch was not taken).

        Raises
        ------
        TraceError
            ``unknown-value``, or ``not-computed`` for a node that the run leaves out.
        SessionError
            For an impossible ``iteration`` (``bad-iteration``).

        Examples
        --------
        >>> session.run_to("x", iteration=3)
        <Stop TARGET: The requested position is reached. Next: while/x/Merge:0[while 3] (event 47).>
        """
        return self._worker.carry_out("run_to", name=name, iteration=iteration)

    def reverse_continue(self) -> Stop:
        """Go back to the last breakpoint hit, or to the beginning."""
        return self._worker.carry_out("reverse_continue")

    def restart(self) -> Stop:
        """Go back to the beginning and drop all edits; breakpoints stay."""
        return self._worker.carry_out("restart")

    def pause(self, wait: bool = True, timeout: float | None = None) -> Stop | None:
        """End the running command and all queued ones.

        Parameters
        ----------
        wait : bool, default True
            Whether to wait until the commands have ended.
        timeout : float, optional
            Maximum wait in seconds.

        Returns
        -------
        Stop or None
            The stop; None without ``wait`` or after the timeout.
        """
        checked_seconds("pause", "timeout", timeout)
        return self._worker.pause(wait, timeout)

    def set_value(self, name: str, value: Any) -> Stop:
        """Edit a value: nodes that fire from here on read the new value.

        Every replay then includes the edit. The run without it, as far as it was ever computed, is kept in
        :attr:`histories`; :meth:`undo_edit` goes back to it. A value and its aliases (Identity, Switch, a loop's Merge)
        change together; values that were already computed from it stay unchanged. A loop variable may be edited before
        its Merge has fired in this iteration: the run then continues past the Merge.

        Parameters
        ----------
        name : str
            The value.
        value : array_like
            Its new value, of the same dtype and shape.

        Returns
        -------
        Stop
            With the reason EDITED.

        Raises
        ------
        SessionError
            ``not-editable`` for constants, for values of loops that are not open, and for an array with a view that
            will still be read; ``not-fired`` for a value that this iteration has yet to compute; ``dead-value``;
            ``bad-edit`` for another dtype or shape; ``already-decided`` for a predicate by which a Switch has decided
            (step back to before the Switch).

        Examples
        --------
        >>> session.run_to("x", 3)
        <Stop TARGET: ...>
        >>> session.set_value("x", 10.0)
        <Stop EDITED: ...>
        >>> session.resume()
        <Stop FINISHED: ...>
        >>> session.histories[-1].name, len(session.histories[-1].trace["x"]) > 3
        ('before edit 1', True)
        """
        return self._worker.carry_out("set_value", name=name, value=value)

    def undo_edit(self) -> Stop:
        """Undo the last edit: go back to its position, and continue the run as it was without the edit.

        Returns
        -------
        Stop
            With the reason UNDONE.

        Raises
        ------
        SessionError
            If the run has no edit to undo (``no-edit``).

        Examples
        --------
        >>> session.run_to("x", 3)
        <Stop TARGET: ...>
        >>> session.set_value("x", 10.0)
        <Stop EDITED: ...>
        >>> session.undo_edit()
        <Stop UNDONE: ...>
        >>> session.trace.edits(), session.histories
        ([], ())
        """
        return self._worker.carry_out("undo_edit")

    def repeat(self, edits: Sequence[Written], event: int) -> Stop:
        """Run from the beginning to an event, with the edits of another run of the same graph and inputs.

        Parameters
        ----------
        edits : sequence of edits
            The edits of a trace, ``trace.edits()``, which may be loaded from a file.
        event : int
            Number of events before the target position.

        Returns
        -------
        Stop
            With the reason TARGET, or FINISHED at the end.

        Raises
        ------
        SessionError
            If an edit cannot be made in this run; see :meth:`set_value`.

        Examples
        --------
        >>> session.run_to("x", 2)
        <Stop TARGET: ...>
        >>> session.set_value("x", 10.0)
        <Stop EDITED: ...>
        >>> session.run()
        <Stop FINISHED: ...>
        >>> with wb.Session(graph, {"a": 2.0}) as other:
        ...     other.repeat(session.trace.edits(), session.position.event)
        ...     wb.diff(session, other).equal
        <Stop FINISHED: ...>
        True
        """
        self._worker.carry_out("restart")
        return self._worker.carry_out("follow", edits=list(edits), event=event, plan=None)

    @property
    def can_undo(self) -> bool:
        """True if :meth:`undo_edit` can undo an edit."""
        last = next(reversed(self._state.debugger.histories), None)
        return last is not None and last.edit is not None and any(e is last.edit for e in self._run.edits)

    def update(self, changes: Mapping[str, Any] | None = None, /, **named: Any) -> Update:
        """Change inputs and run to the end, computing only values that depend on the changes.

        A loop is computed from the first iteration that differs. Afterwards outputs, trace, steps back and replays are
        as if the session had been run with the new inputs. The previous history is kept in :attr:`histories`.
        Breakpoints are ignored, and edits are dropped, because they belong to the old inputs. Inputs of another dtype
        or shape create a new :attr:`trace`. If a node fails, the session is ``failed`` before that node.

        Parameters
        ----------
        changes : mapping, optional
            New values by input name.
        **named
            The same, as keywords.

        Returns
        -------
        Update
            The work that was done, and the work that was saved.

        Raises
        ------
        FeedError
            For inputs that do not fit (``unknown-feed``, ``feed-type``).

        Examples
        --------
        >>> print(session.update(a=3.0))
        a changed.
        ...
        >>> session.outputs
        {'x': array(1.73205081)}
        """
        self._worker.carry_out("update", changes={**(changes or {}), **named})
        updated = self._state.debugger.updated
        assert updated is not None
        return updated

    # -- the queue of commands -----------------------------------------------------------------------------------------

    def post(self, command: str, **arguments: Any) -> None:
        """Queue a command and return at once. A run in progress ends; any other command is completed first.

        Parameters
        ----------
        command : str
            Name of a command ("run", "step", "run_to" ...). "pause" ends all running and queued commands, and so does
            "restart" before it begins.
        **arguments
            Arguments of the command.

        Raises
        ------
        SessionError
            For an unknown command (``unknown-command``) or a closed session (``closed``).

        Examples
        --------
        >>> session.post("run_to", name="x", iteration=1)
        >>> session.wait()
        <Stop TARGET: ...>
        """
        self._worker.post(command, arguments)

    def wait(self, timeout: float | None = None) -> Stop | None:
        """Wait until no command is running or queued.

        An interrupt (Ctrl-C, the stop button of a notebook) pauses the session and is raised as KeyboardInterrupt.

        Parameters
        ----------
        timeout : float, optional
            Maximum wait in seconds.

        Returns
        -------
        Stop or None
            The last stop; None after the timeout.

        Raises
        ------
        SessionError
            With slug ``bad-seconds``, for a time limit that is not a finite, non-negative number.
        """
        checked_seconds("wait", "timeout", timeout)
        return self._worker.wait(timeout)

    async def wait_async(self, timeout: float | None = None) -> Stop | None:
        """Wait like :meth:`wait`, but let other cells and callbacks of a notebook run meanwhile.

        Parameters
        ----------
        timeout : float, optional
            Maximum wait in seconds; unlimited by default.

        Returns
        -------
        Stop or None
            The last stop; None after the timeout.

        Raises
        ------
        SessionError
            With slug ``bad-seconds``, for a time limit that is not a finite, non-negative number.
        """
        checked_seconds("wait_async", "timeout", timeout)
        limit = None if timeout is None else time.monotonic() + timeout
        while (stop := self.wait(0)) is None and (limit is None or time.monotonic() < limit):
            await asyncio.sleep(0.01)  # a waiting thread would keep the interpreter from exiting during a run
        return stop

    def subscribe(self, callback: Callable[[Snapshot], None]) -> Callable[[], None]:
        """Call a function at every stop, on the worker thread.

        Parameters
        ----------
        callback : callable
            Called with a :class:`Snapshot`. Its exceptions are logged. The session keeps the callback alive; a callback
            that refers to the session keeps the session alive, until it is closed or the next garbage collection.

        Returns
        -------
        callable
            A function that ends the subscription.

        Examples
        --------
        >>> states = []
        >>> end = session.subscribe(lambda snapshot: states.append(snapshot.state))
        >>> session.restart()
        <Stop STARTED: ...>
        >>> states
        ['ready']
        >>> end()
        """
        listeners = self._state.listeners
        listeners.append(callback)
        return lambda: listeners.remove(callback) if callback in listeners else None

    def close(self) -> None:
        """Stop the session and join its worker thread. The trace stays readable.

        In a forked process it does nothing, because thread and files belong to the parent process.
        """
        self._worker.close()

    # -- values --------------------------------------------------------------------------------------------------------

    @property
    def trace(self) -> Trace:
        """The record of the run so far; any thread can read it, even during a run."""
        return self._values.trace

    @property
    def inputs(self) -> dict[str, np.ndarray]:
        """The inputs of the run by name, as NumPy arrays."""
        return dict(self._run.feeds)

    @property
    def plan(self) -> ExecutionPlan:
        """The execution plan: order, kernels, memory places, and the reason for each choice."""
        return self._run.plan

    @property
    def dag(self) -> ForwardExecutionDAG:
        """The nodes that the session computes, in execution order."""
        return ForwardExecutionDAG(self.plan)

    @property
    def outputs(self) -> dict[str, np.ndarray]:
        """The outputs by name, once the run has finished.

        Raises
        ------
        SessionError
            If the run is not finished (``not-finished``).
        DeadValueError
            If an output is dead (``dead-value``).
        """
        return self._values.outputs()

    def value(self, name: str | Ref, iteration: int | tuple[int, ...] | None = None) -> np.ndarray:
        """Return one value: recorded, recomputed if it was dropped, or computed on demand if no output needs it.

        Parameters
        ----------
        name : str or Ref
            The value.
        iteration : int or tuple of int, optional
            One iteration per frame around the value, or a single index if there is one frame; by default the last
            firing.

        Returns
        -------
        numpy.ndarray
            The value; a scalar value has shape ().

        Raises
        ------
        TraceError
            ``unknown-value``; ``bad-iteration``; ``not-recorded`` for an iteration that did not happen;
            ``not-computed`` if it cannot be computed on demand.
        DeadValueError
            If it was dead there (``dead-value``) or has not fired (``not-fired``).

        Examples
        --------
        >>> session.value("x", 1)
        array(1.5)
        >>> session.value("x")
        array(1.41421356)
        """
        return self._values.value(name, iteration)

    def hold(self, name: str | Ref, iteration: int | tuple[int, ...] | None = None) -> Array:
        """Keep a value in memory, even if the trace drops it and after :meth:`close`.

        Parameters
        ----------
        name : str or Ref
            The value.
        iteration : int or tuple of int, optional
            Its iteration, as in :meth:`value`.

        Returns
        -------
        Array
            A handle without a manager: the array is released by ``handle.release()``, or with the last handle to it.

        Raises
        ------
        SessionError
            For a value that is not an array (``not-an-array``).

        Examples
        --------
        >>> kept = session.hold("x", 1)
        >>> float(kept), kept.origin.op
        (1.5, "session of 'newton'")
        """
        return self._values.hold(name, iteration)

    def memory_now(self) -> RunFigures:
        """Return the bytes that the run holds now. Cheap: any thread may call it, even during a run at full speed.

        Returns
        -------
        RunFigures
            ``event``, and in bytes ``rows``, ``checkpoints``, ``feeds``, ``budget``, and ``device``, the arrays on
            ``device_name``.
        """
        return run_figures(self._run)

    def values(
        self,
        name: str | Ref,
        start: int = 0,
        stop: int | None = None,
        step: int = 1,
        *,
        within: int | tuple[int, ...] = (),
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the values of many iterations of a loop: recorded ones from the trace, dropped ones from one exact
        replay.

        Parameters
        ----------
        name : str or Ref
            The value.
        start, stop, step : int
            A range of iterations of the innermost loop, as for ``range``; by default all.
        within : int or tuple of int, default ()
            In nested loops, the iterations of the enclosing loops.

        Returns
        -------
        iterations : numpy.ndarray
            Shape (n, depth): one column per frame. Iterations in which the value is dead are left out.
        values : numpy.ndarray
            Shape (n, ...): the values.

        Raises
        ------
        TraceError
            For impossible iterations (``bad-iteration``).

        Examples
        --------
        >>> iterations, values = session.values("x", 1, 4)
        >>> iterations[:, 0], values
        (array([1, 2, 3]), array([1.5       , 1.41666667, 1.41421569]))
        """
        return self._values.between(name, start, stop, step, within)

    def whole_trace(self) -> Trace:
        """Return a complete trace of this run.

        Returns
        -------
        Trace
            :attr:`trace`, or if that has dropped rows, the trace of a replay from the beginning, which takes up to 256
            MiB while it is used. If that is not enough, or during a run, :attr:`trace` unchanged.
        """
        return self._values.whole_trace()

    def explain(
        self, name: str, iteration: int | tuple[int, ...] | None = None, *, max_links: int = MAX_LINKS
    ) -> Explanation:
        """Explain a value: the chain of values that it was computed from, back to inputs and constants.

        Parameters
        ----------
        name : str
            The value.
        iteration : int or tuple of int, optional
            Its iteration, as in :meth:`value`.
        max_links : int, default 200
            Maximum number of values in the chain.

        Returns
        -------
        Explanation
            ``print`` it, or read it as data in ``links``. Dropped values are recomputed exactly.

        Examples
        --------
        >>> print(session.explain("x", 1, max_links=4))
        x[while 1] = 1.5  <- Merge  (given by iteration 0)
          while/multiply_1:0[while 0] = 1.5  <- multiply
        ...
        """
        return explain(
            self.trace, name, iteration, max_links=max_links, read=lambda ref, path: self.value(ref, path or None)
        )

    def memory(self) -> MemoryReport:
        """Report the memory of the run: present, peak, and the lower bound of its plan; also during a run.

        Returns
        -------
        MemoryReport
        """
        return self._values.memory()

    @property
    def shapes(self) -> tuple[ShapeInfo, ...]:
        """The shapes, dtypes and layouts of the session's arrays so far, without duplicates; also during a run.

        Single numbers are not included.

        Examples
        --------
        >>> import numpy as np
        >>> b = wb.GraphBuilder("sums")
        >>> x = b.placeholder("x", "float32", (3, 17))
        >>> with wb.Session(b.build({"y": x + x}), {"x": np.ones((3, 17), "float32")}) as session:
        ...     print(*session.shapes)
        3 × 17, float32
        """
        return self._values.shapes()

    # -- breakpoints and analysis --------------------------------------------------------------------------------------

    @property
    def breakpoints(self) -> Breakpoints:
        """The breakpoints, logpoints and ignore rules of the session.

        Examples
        --------
        >>> with wb.Session(graph, {"a": 2.0}) as session:
        ...     session.breakpoints.add("x", when="value < 1.5")
        ...     session.run()
        <Breakpoint 1: x, when value < 1.5>
        <Stop BREAKPOINT: ...>
        """
        return self._state.debugger.breakpoints

    def termination(self, frame: Any = None, seconds: float | None = None) -> Termination:
        """Determine if and when a loop ends, and why.

        During a run, this waits for a short stop between two slices. A proof stays valid as the run continues, and is
        not repeated until a value or an input is changed.

        Parameters
        ----------
        frame : str or tuple of str, optional
            Name or path of the loop; by default the innermost open one.
        seconds : float, optional
            Limit of the look-ahead, in seconds of a reference core: work is counted, not timed, so that a busy machine
            gives the same answer. By default 0.2, and during a run 2 % of the run time so far.

        Returns
        -------
        Termination
            The answer, with its proof or forecast. Printing it first tries the fixes of an endless loop in copies of
            the session, and leaves out those that do not help.

        Raises
        ------
        SessionError
            For a loop that the run does not have (``no-such-frame``), or a time limit that is not a finite,
            non-negative number (``bad-seconds``).

        Examples
        --------
        >>> print(session.termination())
        Ended after 4 iterations.
        abs(x * x - a) > 1e-09 became false (...).
        ...
        """
        checked_seconds("termination", "seconds", seconds)
        with self._worker.stopped_between_slices():
            failed = self.stop.error if self._state.progress == "failed" else None
            answer = self._proofs.ask(self._run, frame, seconds, failed, self._state.running)
        if answer.outcome == "never" and answer.trials is None:
            answer.trials = FixTrials(self)
        return answer

    def look_ahead(self, frame: Any = None) -> LookAhead | None:
        """Compute the future iterations of a loop whose end is proved.

        The run does not change. The work is bounded: if there are many iterations, an even selection is computed, which
        includes the last one.

        Parameters
        ----------
        frame : str or tuple of str, optional
            Name or path of the loop; by default the innermost open one.

        Returns
        -------
        LookAhead or None
            ``iterations`` from the present one to the end, and the ``values`` of the loop's variables and of the
            operands of its condition. For a loop that provably never ends, some of its iterations. None without a
            proof, after the end, and during a run.

        Raises
        ------
        SessionError
            For a loop that the run does not have (``no-such-frame``).

        Examples
        --------
        >>> session.run_to("x", iteration=2)
        <Stop TARGET: ...>
        >>> ahead = session.look_ahead()
        >>> ahead.iterations.tolist(), ahead.end
        ([2, 3, 4], 4)
        """
        with self._worker.stopped_between_slices():
            if self._state.running or self._state.progress == "failed":
                return None
            return self._proofs.ahead(self._run, frame)

    def next_values(self, name: str, values: Any) -> np.ndarray | None:
        """Compute the next value of a loop variable, for several hypothetical present values.

        The run does not change. The panel draws the cobweb of this map.

        Parameters
        ----------
        name : str
            The variable, of a loop that is not nested.
        values : array_like
            (n,) real numbers.

        Returns
        -------
        ndarray or None
            (n,) float64, NaN where the loop would end. None if there is no such map, because the next value depends on
            other variables or on random numbers, or if computing it takes too long.

        Examples
        --------
        >>> session.next_values("x", [2.0])
        array([1.5])
        """
        ref = self.graph.value(name)
        found = variable_at(self.graph, Ref(*ref))
        if found is None:
            return None
        with self._worker.stopped_between_slices():
            return next_values(self._run, *found, real_numbers(values))

    # -- histories and forks -------------------------------------------------------------------------------------------

    @property
    def histories(self) -> tuple[History, ...]:
        """The complete runs before edits and updates, oldest first; each has a ``name`` and a ``trace``."""
        return tuple(self._state.debugger.histories)

    @property
    def forks(self) -> tuple[Session, ...]:
        """The open sessions that :meth:`fork` and :meth:`apply_fix` created from this one, oldest first."""
        return self._forks.open()

    def fork(self) -> Session:
        """Create an independent session with the same inputs, edits and breakpoints, at the same event.

        The new session runs to that event at full speed, so its trace is complete. Edit a value in one of the two
        sessions, continue both, and compare them with :func:`workbench.diff`.

        Returns
        -------
        Session

        Examples
        --------
        >>> session.run_to("x", iteration=2)
        <Stop TARGET: ...>
        >>> other = session.fork()
        >>> other.position == session.position
        True
        """
        return self._forks.at_same_event()

    def apply_fix(
        self, fix: None | int | Fix = None, *, frame: Any = None, at: str = "start", seconds: float = 0.2
    ) -> Session:
        """Apply a proposed fix in a new session, to compare it with this one, which does not change.

        Parameters
        ----------
        fix : int or Fix, optional
            One of ``termination(frame).fix``, or its index; by default the first that can be applied.
        frame : str or tuple of str, optional
            The loop, as in :meth:`termination`.
        at : {"start", "here"}, default "start"
            Position of the new session: at its beginning, or in the same iteration of the loop (at its end if the fixed
            loop ends before that).
        seconds : float, default 0.2
            Time limit of each look-ahead.

        Returns
        -------
        Session
            The new session, on an edited graph or with edited inputs. :attr:`fixed` holds the answers before and after,
            and whether the fix works.

        Raises
        ------
        SessionError
            ``bad-place`` for an invalid ``at``, ``no-fix`` if there is no such fix, and ``fix-not-applicable``,
            ``fix-no-clause``, ``fix-no-constant``, ``fix-no-step`` or ``fix-types`` if it cannot be applied.

        Examples
        --------
        >>> b = wb.GraphBuilder("endless")
        >>> n = b.while_loop(lambda n: n >= 0.0, lambda n: n + 1.0, {"n": b.placeholder("start")})
        >>> with wb.Session(b.build(n), {"start": 1.0}) as endless:
        ...     endless.next_iteration(3)
        ...     with endless.apply_fix() as fork:
        ...         print(endless.fixed)
        <Stop ITERATION: ...>
        Applied: ...
        """
        if at not in ("start", "here"):
            raise SessionError(
                f"apply_fix: at must be 'start' or 'here', got {at!r}.", slug="bad-place", fix="pass one of the two."
            )
        checked_seconds("apply_fix", "seconds", seconds)
        self.fixed = self._forks.with_fix(self.termination(frame, seconds), fix, at, seconds)
        fork: Session = self.fixed.fork
        return fork

    def try_fix(self, answer: Termination, fix: Fix, seconds: float = 0.2) -> FixOutcome:
        """Try a fix of ``answer`` from the start, in a copy that is closed afterwards; :meth:`apply_fix` keeps the
        copy.

        Parameters
        ----------
        answer : Termination
            The answer of :meth:`termination`.
        fix : Fix
            One of ``answer.fixes``.
        seconds : float, default 0.2
            Maximum run time of the copy in seconds. If its loop needs longer, the outcome remains open.

        Returns
        -------
        FixOutcome
            Whether the loop ended with the fix, and after how many iterations.

        Raises
        ------
        SessionError
            Like :meth:`apply_fix`.
        """
        checked_seconds("try_fix", "seconds", seconds)
        return self._forks.tried(answer, fix, seconds)

    # -- the object ----------------------------------------------------------------------------------------------------

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        raise SessionError(
            "A session cannot be copied or pickled: it has a running machine and a thread.",
            slug="not-copied",
            fix="make a second one with session.fork(), or save its trace with session.trace.save(path).",
        )

    @harmless
    def _repr_html_(self) -> str:
        snapshot = self.snapshot()
        loops = ", ".join(f"{'/'.join(p)} {i}" for p, i in snapshot.iterations.items() if i >= 0)
        inputs = ", ".join(f"{name} = {short(value)}" for name, value in list(self.inputs.items())[:12])
        runs = ", ".join(history.name for history in self.histories)
        facts = (
            ("state", snapshot.state),
            ("next", str(snapshot.position)),
            ("events", f"{snapshot.event:,}"),
            ("iterations", loops),
            ("inputs", inputs),
            ("earlier runs", runs),
        )
        return facts_html(f"Session of {self.graph.name!r}", facts)

    @harmless
    def __repr__(self) -> str:
        return f"<Session {self.graph.name!r}: {self.state}, next {self._state.position}>"


def _follow(session: Session, edits: list[Any], event: int, plan: ExecutionPlan) -> None:
    """Run a new session to an event of another one, with the edits of that session."""
    session._worker.carry_out("follow", edits=edits, event=event, plan=plan)
