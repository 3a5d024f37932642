"""The session: a run and its debugger on a worker thread, with commands from any thread.

::

    caller threads --commands--> queue --> worker thread: Debugger.advance(), slice by slice
    caller threads <--snapshot, trace, Stop--   (the executor holds no GIL inside a slice)

The kernel of a notebook never blocks: ``post`` only queues. The blocking commands wait, and Interrupt means pause.
"""

from __future__ import annotations

import asyncio
import atexit
import logging
import queue
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.analysis import Fix, Termination
from workbench.analysis.answer import chosen_fix
from workbench.analysis.desk import Desk
from workbench.analysis.repair import Fixed, repaired
from workbench.debugger import Breakpoints, Debugger, History, Stop, StopReason, timetravel
from workbench.debugger.beside import value_beside
from workbench.debugger.ranges import values_between
from workbench.errors import DeadValueError, SessionError, TraceError
from workbench.execution import (
    NEWEST_CHECKPOINTS,
    NEWEST_ROWS,
    MemoryReport,
    Position,
    Run,
    memory_report,
    prepare_feeds,
)
from workbench.execution.direct import plan_for, run_graph
from workbench.execution.incremental import Update
from workbench.execution.memory import LEDGER, Array, Origin, RunFigures, held_value, run_figures
from workbench.graph.graph import Graph
from workbench.graph.node import Ref, Tag
from workbench.kernels import machine as core
from workbench.plan import PLANS, ExecutionPlan, ForwardExecutionDAG, PlanMemory, memory_of
from workbench.trace import Trace
from workbench.trace.provenance import MAX_LINKS, Explanation, explain
from workbench.trace.retention import DEFAULT_MEMORY, Retention, retention_of

log = logging.getLogger(__name__)

#: bytes that a trace may hold; beyond it the oldest rows are dropped and recomputed when asked for
DEFAULT_BUDGET = DEFAULT_MEMORY
#: with trace="stats" so many bytes of the newest arrays of each loop stay beside the statistics of all
STATS_WINDOW = 1 << 20


#: commands that the next one ends; the others are carried out in full unless a pause ends them
OPEN_ENDED = ("run", "resume", "reverse_continue")


@dataclass(eq=False, slots=True)
class _Order:
    """A command on its way: ``number`` counts from 1; ``stop`` or ``failure`` is set when it is ``done``."""

    number: int
    command: str
    arguments: dict[str, Any]
    awaited: bool = False
    done: bool = False
    stop: Stop | None = None
    failure: BaseException | None = None


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What a view needs to know at one moment. ``iterations`` maps frame paths to the iteration in progress."""

    state: str
    position: Position
    event: int
    iterations: dict[tuple[str, ...], int]
    stop: Stop
    version: int


class Session:
    """Step, run, pause and go back in a graph.

    >>> session = Session(graph, {"a": 2.0})
    >>> session.step()
    >>> session.run()
    >>> session.trace["x"].values

    Parameters
    ----------
    graph, feeds:
        What to run, and its inputs by name.
    outputs:
        Names of values to compute; by default the graph's outputs.
    trace:
        What is kept: a :class:`workbench.Retention`, or the name of one. "all" keeps every value within
        ``memory_budget`` bytes, checkpoints included; "carried" what loops carry, of every iteration if that fits;
        "stats" every number, of arrays of known shape the statistics (``trace[name].statistics``) and only the newest
        values, large ones only until nothing in the run needs them any more; "off" only the newest rows. Values that
        are no longer kept are recomputed exactly by :meth:`value`, or many at once by :meth:`values`.
    """

    def __init__(
        self, graph: Graph, feeds: Mapping[str, Any] | None = None, *, outputs: Sequence[str] | None = None,
        trace: str | Retention = "all", memory_budget: int = DEFAULT_BUDGET,
    ) -> None:  # fmt: skip
        if memory_budget <= 0:
            raise SessionError(f"memory_budget is in bytes and positive, {memory_budget} came.", slug="bad-retention")
        self.retention = retention_of(trace, memory_budget)
        statistics = trace == "stats" or self.retention.keep == "statistics"
        if isinstance(trace, Retention) and memory_budget not in (DEFAULT_BUDGET, trace.memory):
            raise SessionError(
                "A Retention has its own memory, and memory_budget came too.", slug="bad-retention",
                fix=f"write Retention(..., memory={memory_budget}).",
            )  # fmt: skip
        self.graph = graph
        arrays = prepare_feeds(graph, feeds or {})
        lean = self.retention.keep in ("none", "statistics")
        plan = plan_for(graph, arrays, outputs, statistics, lean)
        self._manner = (outputs, trace if isinstance(trace, str) else "all", self.retention.memory)
        #: what came of the last :meth:`apply_fix`
        self.fixed: Fixed | None = None
        self._running = False
        self._state = "ready"
        self._planned: tuple[ExecutionPlan, PlanMemory] | None = None
        window = STATS_WINDOW if statistics else 0
        if trace == "off":
            run = Run(plan, arrays, NEWEST_ROWS, window, NEWEST_CHECKPOINTS)
        elif self.retention.keep == "none" and not self.retention.keeps_more:
            run = Run(plan, arrays, min(self.retention.memory, NEWEST_ROWS + NEWEST_CHECKPOINTS), window)
        else:
            run = Run(plan, arrays, self.retention.memory, window, keeping=self.retention)
        self._debugger = Debugger(run, lean)
        self._traces = (run, run.trace_for(weak_flag(self)))
        self._position = self._run.position()
        self._version = 0
        self._desk = Desk()
        self._lock = threading.Lock()
        self._idle = threading.Condition(self._lock)
        #: held while the machine moves; whoever else needs it to stand still takes it between two slices
        self._between = threading.Lock()
        self._visitors = 0
        self._pending = 0
        self._posted = 0  # number of the last order
        self._halted = 0  # orders up to this number are to end at once
        self._current: _Order | None = None
        self._closed = False
        self._queue: queue.SimpleQueue[_Order | None] = queue.SimpleQueue()
        self._listeners: list[Callable[[Snapshot], None]] = []
        self._thread: threading.Thread | None = None
        _OPEN.add(self)

    # -- state -----------------------------------------------------------------------------------------------------
    @property
    def trace(self) -> Trace:
        """The record so far; readable from any thread, also while running."""
        run = self._run
        if self._traces[0] is not run:  # inputs of other types came
            self._traces = (run, run.trace_for(weak_flag(self)))
        return self._traces[1]

    @property
    def plan(self) -> ExecutionPlan:
        return self._run.plan

    @property
    def _run(self) -> Run:
        return self._debugger.run

    @property
    def state(self) -> str:
        """ready, running, paused, finished, failed or closed."""
        return "closed" if self._closed else self._state

    @property
    def position(self) -> Position:
        """Where the session stands; while it runs, where it stood last."""
        return self._position

    @property
    def stop(self) -> Stop:
        """The end of the last command."""
        return self._debugger.stop

    @property
    def version(self) -> int:
        """Grows with every change of state and every stop."""
        return self._version

    @property
    def histories(self) -> tuple[History, ...]:
        """What the run did before each edit, oldest first; each has a ``trace``."""
        return tuple(self._debugger.histories)

    @property
    def breakpoints(self) -> Breakpoints:
        return self._debugger.breakpoints

    @property
    def dag(self) -> ForwardExecutionDAG:
        """What the session computes, node by node in execution order."""
        return ForwardExecutionDAG(self.plan)

    def snapshot(self) -> Snapshot:
        """State, position and iteration counts at this moment; cheap, from any thread, also at full speed."""
        view, frames = self._run.view, self.plan.layout.frames
        iterations: dict[tuple[str, ...], int] = {}
        for number, frame in enumerate(frames[1:], 1):  # of a frame in parts, the last one that was entered
            iteration = view.iteration(number)
            if iteration >= 0 or frame.path not in iterations:
                iterations[frame.path] = iteration
        return Snapshot(self.state, self._position, view.events, iterations, self.stop, self._version)

    @property
    def outputs(self) -> dict[str, np.ndarray]:
        """The outputs by name, once the run is finished; DeadValueError for one that is dead."""
        if self._state != "finished":
            raise SessionError(
                f"The outputs are not there yet: the session is {self._state}.",
                slug="not-finished",
                fix="call session.run().",
            )
        return self._run.outputs()

    def value(self, name: str | Ref, iteration: int | tuple[int, ...] | None = None) -> np.ndarray:
        """A value: the last one, or that of an iteration path. Recomputed exactly where its rows are no longer kept.

        What no required output needs is left out of a run. It is computed when it is asked for, beside the run.
        """
        try:
            self.trace.ref(name)
        except TraceError as error:
            if error.slug != "not-computed":
                raise
            return value_beside(self._run, self.graph.value(name), iteration, self.value)
        if iteration is None:
            series = self.trace[name]
            if len(series) == 0:
                found = timetravel.recompute_last(self._run, self.trace.ref(name))
                if found is not None:
                    return found
                raise DeadValueError(
                    f"{name!r} has not fired.", slug="not-fired", fix="step on, or look at its branch."
                )
            return series[-1]
        try:
            return self.trace[name].at(iteration)
        except TraceError as error:
            if error.slug != "not-recorded":
                raise
            found = timetravel.recompute(self._run, self.trace.ref(name), iteration)
            if found is None:
                raise
            return found

    def hold(self, name: str | Ref, iteration: int | tuple[int, ...] | None = None) -> Array:
        """A handle on a value (see :meth:`value`) that keeps it, whatever the trace drops and also after ``close``.

        No manager owns it: it is released with ``handle.release()``, or when the last handle on it has gone.
        """
        value, series = self.value(name, iteration), self.trace[name]
        if not isinstance(value, np.ndarray | np.generic):
            raise SessionError(
                f"{name!r} is a {type(value).__name__} here, and only arrays can be held.", slug="not-an-array",
                fix="keep what session.value gives.",
            )  # fmt: skip
        if iteration is None:
            tag = series.tag(-1) if len(series) else Tag(*self.trace.ref(name))
        else:
            path = (iteration,) if isinstance(iteration, int) else tuple(iteration)
            tag = Tag(*self.trace.ref(name), series.frame, path)
        return held_value(value, Origin(f"session of {self.graph.name!r}", tag=tag), LEDGER)

    def memory_now(self) -> RunFigures:
        """Bytes that the run holds at this moment, for views: cheap, any thread, also at full speed."""
        return run_figures(self._run)

    def values(
        self, name: str | Ref, start: int = 0, stop: int | None = None, step: int = 1, *,
        within: int | tuple[int, ...] = (),
    ) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
        """(iterations, values) of iterations start, start + step, ... below stop of a loop: what is kept from the
        trace, all the rest from one replay, exactly. Iterations in which the value is dead are left out.

        In nested loops they are iterations of the innermost one; ``within`` are the iterations around it.
        """
        return values_between(self._run, self.trace, self.trace.ref(name), start, stop, step, within)

    def explain(
        self, name: str, iteration: int | tuple[int, ...] | None = None, *, max_links: int = MAX_LINKS
    ) -> Explanation:
        """Where a value came from: the chain of values, each with its tag, back to inputs and constants.

        ``print`` it, or read it as data in ``links``. Values that are no longer kept are recomputed exactly.
        """
        return explain(
            self.trace, name, iteration, max_links=max_links, read=lambda ref, path: self.value(ref, path or None)
        )

    def termination(self, frame: Any = None, seconds: float | None = None) -> Termination:
        """Whether and when a loop ends, and why: the innermost open loop by default, else a loop's name or path.

        While the session runs this waits for a short stop between two slices, and the look-aheads take 2 % of the
        time that it has run (one may overshoot, later ones wait for it), unless ``seconds`` caps this one. What is
        proved stays so as the run goes on, and is not looked for again until a value or an input is changed.
        """
        with self._standing_still():
            failed = self.stop.error if self._state == "failed" else None
            return self._desk.ask(self._run, frame, seconds, failed, self._running)

    def apply_fix(
        self, fix: None | int | Fix = None, *, frame: Any = None, at: str = "start", seconds: float = 0.2
    ) -> Session:
        """A new session on an edited graph or with edited inputs, to compare with this one, which is not touched.

        ``fix`` is one of ``termination(frame).fix`` or its number; by default the first that can be applied. The fork
        has the same inputs and stands at its beginning, or with ``at="here"`` in the same iteration of the loop (at
        its end if the fixed loop ends before). :attr:`fixed` holds the answers before and after, and says whether it
        works; ``seconds`` caps each look-ahead. SessionError for what cannot be applied: slugs ``no-fix``,
        ``fix-not-applicable``, ``fix-no-clause``, ``fix-no-constant``, ``fix-no-step``, ``fix-types``.

        >>> fork = session.apply_fix()
        >>> print(session.fixed)
        """
        if at not in ("start", "here"):
            raise SessionError(f"at is 'start' or 'here', {at!r} came.", slug="bad-place", fix="give one of the two.")
        before = self.termination(frame, seconds)
        chosen = chosen_fix(before, fix)
        with self._standing_still():
            feeds, view, numbers = dict(self._run.feeds), self._run.view, self.plan.numbers
            path = chosen.frame if chosen.frame in numbers else None
            inside = path is not None and numbers[path] in self._run.active_frames()
            here = self._run.iteration_of(numbers[path]) if inside and path is not None else ()
            stand = self._run.position()
            entered = path is not None and view.iteration(numbers[path]) >= 0
        graph, feeds, changes = repaired(self.graph, feeds, chosen)
        outputs, trace, memory = self._manner
        fork = Session(graph, feeds, outputs=outputs, trace=trace, memory_budget=memory)
        if at == "here" and path is not None and entered:
            same = stand.node if stand.frame == path and stand.node in graph.nodes else graph.frames[path].loop_cond
            if inside and same is not None:
                fork.run_to(same, here)
            else:
                fork.run()
        self.fixed = Fixed(fork, chosen, before, fork.termination(path, seconds), tuple(changes))
        return fork

    def memory(self) -> MemoryReport:
        """What the run holds in memory now and at most, and the least that it could do with; any thread, also while
        running."""
        run, plan = self._run, self.plan
        if self._planned is None or self._planned[0] is not plan:
            self._planned = plan, memory_of(PLANS.get(self.graph, plan.outputs, plan.signature, plan.statistics, True))
        return memory_report(run, self._planned[1])

    # -- blocking commands ----------------------------------------------------------------------------------------
    def run(self, wait: bool = True) -> Stop | None:
        """Run to the end, a breakpoint or a pause. Without ``wait`` it returns at once."""
        if wait:
            return self._command("run")
        self.post("run")
        return None

    def resume(self, wait: bool = True) -> Stop | None:
        """Run on; the same as :meth:`run`."""
        if wait:
            return self._command("resume")
        self.post("resume")
        return None

    def step(self, n: int = 1) -> Stop:
        """Fire the next ``n`` nodes; constants and loop invariants go along silently."""
        return self._command("step", n=n)

    def step_back(self, n: int = 1) -> Stop:
        """Back by ``n`` nodes, by exact replay."""
        return self._command("step_back", n=n)

    def next_iteration(self, n: int = 1) -> Stop:
        """To the beginning of the next iteration of the innermost open loop, or out of it."""
        return self._command("next_iteration", n=n)

    def previous_iteration(self) -> Stop:
        """To the beginning of the iteration before."""
        return self._command("previous_iteration")

    def step_into(self) -> Stop:
        """On, until a frame opens."""
        return self._command("step_into")

    def step_out(self) -> Stop:
        """On, until the innermost open frame is left."""
        return self._command("step_out")

    def run_to(self, name: str, iteration: int | tuple[int, ...] | None = None) -> Stop:
        """To the firing of ``name``, forwards or back."""
        return self._command("run_to", name=name, iteration=iteration)

    def set_value(self, name: str, value: Any) -> Stop:
        """Edit a value that has fired where the session stands, and go on from there with :meth:`resume` or a step.

        The session is a fork from then on: every replay has the edit, and what was before is kept in ``histories``. A
        value and its other names (Identity, Switch, a loop's Merge) are one; what was computed from it already stays.
        SessionError where it cannot be: constants, dead values, loops that are not open, another dtype or shape.
        """
        return self._command("set_value", name=name, value=value)

    def update(self, changes: Mapping[str, Any] | None = None, /, **named: Any) -> Update:
        """Change inputs and go to the end, computing only what depends on them; in a loop, from the first iteration
        that differs.

        Afterwards all is as if the session had been run with the new inputs: outputs, trace, steps back, replays. What
        was before is kept in ``histories``. ``print`` the result to see what was computed and what it saved.
        Breakpoints are passed over; :meth:`run_to` goes back to any place. Edited values belong to the old inputs and
        are dropped.
        Inputs of another dtype or shape make a new :attr:`trace`. FeedError for what does not fit; a node that fails
        leaves the session ``failed`` in front of it.

        >>> session.update(a=3.0)
        >>> session.update({"input_0:0": array})
        """
        self._command("update", changes={**(changes or {}), **named})
        updated = self._debugger.updated
        assert updated is not None
        return updated

    def reverse_continue(self) -> Stop:
        """Back to the last place where a breakpoint was hit."""
        return self._command("reverse_continue")

    def restart(self) -> Stop:
        """Back to the beginning; breakpoints stay."""
        return self._command("restart")

    def pause(self, wait: bool = True, timeout: float | None = None) -> Stop | None:
        """End the running command and all that wait for their turn; any thread. Returns the stop, or None without
        ``wait``."""
        self._halt()
        return self.wait(timeout) if wait else None

    # -- commands that do not block --------------------------------------------------------------------------------
    def post(self, command: str, **arguments: Any) -> None:
        """Queue a command; any thread. It ends a run that is in progress, and waits for any other command.

        "pause" ends whatever runs or waits, and "restart" does so too before it begins.
        """
        self._check_open()
        if command == "pause":
            self._halt()
        else:
            self._post(command, arguments)

    def wait(self, timeout: float | None = None) -> Stop | None:
        """Until no command is running or queued; the last stop, or None when ``timeout`` seconds have passed."""
        with self._idle:
            if not self._idle.wait_for(lambda: self._pending == 0, timeout):
                return None
        return self.stop

    async def wait_async(self, timeout: float | None = None) -> Stop | None:
        """:meth:`wait` for notebooks: other cells and callbacks go on meanwhile."""
        limit = None if timeout is None else time.monotonic() + timeout
        while (stop := self.wait(0)) is None and (limit is None or time.monotonic() < limit):
            await asyncio.sleep(0.01)  # a waiting thread would keep the interpreter from ending while a run goes on
        return stop

    def subscribe(self, callback: Callable[[Snapshot], None]) -> Callable[[], None]:
        """Call ``callback`` on the worker thread at every stop; returns the function that ends it."""
        self._listeners.append(callback)
        return lambda: self._listeners.remove(callback) if callback in self._listeners else None

    def close(self) -> None:
        """Stop and join the worker thread. The trace stays readable."""
        self._halt()
        with self._lock:
            already, self._closed = self._closed, True
        if already:
            self._run.close()  # what could not be completed then
            return
        with self._lock:
            self._version += 1
            self._queue.put(None)
        thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join(10.0)
        _OPEN.discard(self)
        self._run.close()

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_queue", None) is not None:
            self._queue.put(None)

    def __repr__(self) -> str:
        return f"<Session {self.graph.name!r}: {self.state}, next {self._position}>"

    # -- parts ----------------------------------------------------------------------------------------------------
    def _check_open(self) -> None:
        if self._closed:
            raise SessionError("The session is closed.", slug="closed", fix="make a new Session.")

    @contextmanager
    def _standing_still(self) -> Iterator[None]:
        """The machine stands between two slices; a running command goes on afterwards."""
        with self._lock:
            self._visitors += 1
            core.request_stop(self._run.machine)
        try:
            with self._between:
                yield
        finally:
            with self._lock:
                self._visitors -= 1

    def _post(self, command: str, arguments: dict[str, Any], awaited: bool = False) -> _Order:
        if not hasattr(Debugger, f"_do_{command}"):
            known = ", ".join(sorted(n[4:] for n in dir(Debugger) if n.startswith("_do_")))
            raise SessionError(f"There is no command {command!r}.", slug="unknown-command", fix=f"there are {known}.")
        with self._lock:
            self._check_open()
            if command == "restart":
                self._halted = self._posted
            self._posted += 1
            order = _Order(self._posted, command, arguments, awaited)
            self._pending += 1
            if self._thread is None:
                self._thread = threading.Thread(
                    target=_worker,
                    args=(weakref.ref(self), self._queue),
                    name=f"workbench {self.graph.name}",
                    daemon=True,
                )
                self._thread.start()
            if self._called_off(self._current):
                core.request_stop(self._run.machine)
            self._queue.put(order)
        return order

    def _halt(self) -> None:
        """Call off every order so far."""
        with self._lock:
            self._halted = self._posted
            if self._current is not None:
                core.request_stop(self._run.machine)

    def _called_off(self, order: _Order | None) -> bool:
        """Whether an order is to end at once: paused, or an open-ended one that another order follows."""
        return order is not None and (
            order.number <= self._halted or order.command in OPEN_ENDED and order.number < self._posted
        )

    def _command(self, command: str, **arguments: Any) -> Stop:
        if threading.current_thread() is self._thread:
            raise SessionError(
                f"A listener cannot wait for {command!r}: it runs on the thread that would carry it out.",
                slug="on-the-worker", fix="use session.post(...).",
            )  # fmt: skip
        order = self._post(command, arguments, awaited=True)
        while not order.done:
            try:
                with self._idle:
                    self._idle.wait_for(lambda: order.done, 0.5)  # wakes up to let signals in
            except KeyboardInterrupt:
                self._halt()
        if order.failure is not None or order.stop is None:
            raise order.failure or SessionError("The command was lost.", slug="lost")
        return order.stop

    def _carry_out(self, order: _Order) -> None:
        """One command, on the worker thread."""
        with self._lock:
            self._running, self._state = True, "running"
            self._current = order
            self._version += 1
        stop: Stop | None = None
        try:
            self._debugger.begin(order.command, **order.arguments)
            while stop is None:
                while self._visitors:
                    time.sleep(0.0005)  # locks are not fair: let those in who wait for the machine to stand still
                with self._between:
                    with self._lock:
                        called_off = self._called_off(order)
                        core.request_stop(self._run.machine, called_off)
                    stop = self._debugger.interrupt() if called_off else self._debugger.advance()
        except BaseException as error:  # the worker must live on; a caller that waits gets the error
            order.failure = error
            if not order.awaited:
                log.warning("the command %r failed: %s", order.command, error)
        failed = order.failure is None and self.stop.reason is StopReason.FAILED
        self._position = self.stop.position if failed else self._run.position()
        with self._lock:
            self._running = False
            self._current = None
            order.stop = stop = self.stop
            done = stop.reason in (StopReason.FINISHED, StopReason.NOT_REACHED) and self._run.finished
            failed = stop.reason is StopReason.FAILED
            self._state = "failed" if failed else "finished" if done else "ready" if self._run.event == 0 else "paused"
            self._version += 1
        for listener in list(self._listeners):
            try:
                listener(self.snapshot())
            except Exception:
                log.exception("a listener of the session failed")
        with self._idle:
            order.done = True
            self._pending -= 1
            self._idle.notify_all()


_OPEN: weakref.WeakSet[Session] = weakref.WeakSet()


def weak_flag(session: Session) -> Callable[[], bool]:
    """Whether the session is running, without keeping it alive."""
    reference = weakref.ref(session)

    def running() -> bool:
        alive = reference()
        return alive is not None and alive._running

    return running


def _worker(reference: weakref.ref[Session], commands: queue.SimpleQueue[_Order | None]) -> None:
    """The worker thread: one command after the other until None comes. Holds no session while it waits."""
    while (item := commands.get()) is not None:
        session = reference()
        if session is None:
            return
        session._carry_out(item)
        del session, item


@atexit.register
def _close_all() -> None:
    for session in list(_OPEN):
        session.close()


__all__ = ["DEFAULT_BUDGET", "Session", "Snapshot", "plan_for", "run_graph"]
