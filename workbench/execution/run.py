"""One run: a machine, its feeds, its checkpoints; forwards by running, backwards by replaying from a checkpoint."""

from __future__ import annotations

import bisect
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from workbench.errors import DeadValueError, ExecutionError, WorkbenchError
from workbench.execution.edits import Edit, make_edit
from workbench.execution.failure import failure
from workbench.execution.position import Position
from workbench.graph.node import Ref
from workbench.kernels import machine as core
from workbench.kernels.layout import Condition, NodeLayout, Place
from workbench.plan import ExecutionPlan
from workbench.trace import Trace
from workbench.trace.source import LiveSource

#: checkpoints lie this many events apart at first, later a 64th of the run so far
FIRST_INTERVAL = 4096
#: but not closer than a replay that nobody notices, and not further apart than this, in seconds of running
SECONDS_CLOSEST, SECONDS_APART = 0.001, 0.05
MAX_CHECKPOINTS = 512
#: budget of runs that need no trace: only the newest rows stay
NEWEST_ROWS = 1 << 18
LEAST_BYTES = 1 << 20
#: instructions and frame to stay in (see kernels: Machine.run): no limit
ANYWHERE = (-2, 0x7FFFFFFF, -1)


class Run:
    """State of one run. Not thread-safe: one thread drives it, the trace may be read from any."""

    def __init__(self, plan: ExecutionPlan, feeds: Mapping[str, np.ndarray], budget: int, window: int = 0) -> None:
        """``budget`` bounds the bytes of all rows, ``window`` those of the arrays of each frame (0: no such bound)."""
        self.plan, self.feeds, self.budget, self.window = plan, dict(feeds), budget, window
        self.machine = core.Machine(plan.program, budget, window)
        self.view = core.View(self.machine)
        self.trace = self.trace_for(lambda: False)
        self._by_ip = {n.ip: n for n in plan.layout.nodes}
        for name, array in self.feeds.items():
            place = plan.layout.values.get((plan.graph.inputs[name].node, 0))
            if place is not None and place.place is not None:
                self.put(place.place, array)
        self.checkpoints: list[core.Snapshot] = [core.snapshot(self.machine, [0])]
        self._held = 0  # bytes of all checkpoints, at most
        self._interval = FIRST_INTERVAL
        self._clock = (0, time.perf_counter())
        self.edits: list[Edit] = []  # by event
        self._applied = 0  # so many of them lie behind

    def trace_for(self, running: Callable[[], bool]) -> Trace:
        """A trace of this run for readers on other threads; ``running`` says whether rows in progress may change."""
        return Trace(self.plan.graph, self.plan.layout, LiveSource(self.view, self.plan.layout, running))

    @contextmanager
    def quiet(self) -> Iterator[None]:
        """Run over breakpoints: for replays."""
        before, self.machine.ignore_traps = self.machine.ignore_traps, True
        try:
            yield
        finally:
            self.machine.ignore_traps = before

    # -- state ---------------------------------------------------------------------------------------------------
    @property
    def event(self) -> int:
        """Events so far (a running machine: as of its last control instruction)."""
        return self.view.events

    @property
    def finished(self) -> bool:
        ip, is_event, _ = core.stands_on(self.machine)
        return not is_event and ip == self.plan.program.length - 1

    def active_frames(self) -> list[int]:
        """Numbers of the frames that are open here, the outermost first."""
        ip = self.view.ip
        return [i for i, f in enumerate(self.plan.layout.frames) if f.start < ip < f.stop]

    def iteration_of(self, frame: int) -> tuple[int, ...]:
        """Iteration path of the row in progress of a frame that is open."""
        path: list[int] = []
        while frame > 0:
            path.append(self.view.iteration(frame))
            frame = self.plan.layout.frames[frame].parent
        return tuple(reversed(path))

    def value_now(self, ref: Ref) -> np.ndarray | None:
        """What a value is in the rows in progress, where its node has just fired; None if it is dead there."""
        layout = self.plan.layout.values[tuple(ref)]
        if not self.holds(layout.guard):
            return None
        if layout.kind != "slot" or layout.place is None:
            return self.trace[ref][-1]
        return np.asarray(self._now(layout.place))

    def fired_now(self, node: NodeLayout) -> bool:
        """Whether a node in front of which the run does not stand any more fired in the rows in progress."""
        if node.frame not in self.active_frames():
            return True  # its frame ran and is closed
        return node.first or self.holds(node.guard)

    def holds(self, guard: tuple[Condition, ...]) -> bool:
        """Whether all literals of a guard hold in the rows in progress."""
        for condition in guard:
            found = self._now(condition.place)
            if (found >= 0 if condition.expect >= 2 else bool(found)) != (condition.expect in (1, 2)):
                return False
        return True

    def _now(self, place: Place) -> Any:
        if place.base == 0:
            return self.trace.source.pool(place)
        row = self.view.rows(place.base - 1)[1]
        return self.trace.source.column(place, row, row + 1)[1][0]

    def position(self) -> Position:
        """Where the run stands; only while it does not run."""
        ip, is_event, silent = core.stands_on(self.machine)
        event = self.event
        if not is_event:
            return Position(None, event)
        node = self._by_ip[ip]
        path = self.plan.layout.frames[node.frame].path
        return Position(node.name, event, path, self.iteration_of(node.frame) if path else (), silent)

    def put(self, place: Place, item: Any) -> None:
        """Write a value into the rows in progress."""
        dtype = None if place.dtype is None else np.dtype(place.dtype)
        core.put(self.machine, *self.plan.layout.operand(place), dtype, place.shape, item)

    # -- forwards ---------------------------------------------------------------------------------------------------
    def go(
        self, limit: int | None = None, *, exact: bool = False, through: bool = False,
        watch: tuple[int, int] = (-1, -1), loud: bool = True, home: tuple[int, int, int] = ANYWHERE,
    ) -> str:  # fmt: skip
        """Run to a status of the machine (see kernels); at most to the next checkpoint in fast mode.

        Raises ExecutionError when a node fails; the run then stands in front of that node.
        """
        margin = 2 * self.plan.program.length  # so far may fast mode run beyond its limit
        reach = None if limit is None else limit if exact else limit + margin
        while self._applied < len(self.edits) and (reach is None or self.edits[self._applied].event <= reach):
            edit = self.edits[self._applied]
            if not exact and edit.event - self.event > margin:
                return self._go(edit.event - margin, exact, through, watch, loud, home)
            if self.event < edit.event:
                status = self._go(edit.event, True, through, watch, False, home)
                if self.event == edit.event:
                    self._apply_here()
                if status != "reached" or self.event < edit.event:  # the end, or a breakpoint
                    return status
                through = False
            self._apply_here()
        return self._go(limit, exact, through, watch, loud, home)

    def _go(
        self, limit: int | None, exact: bool, through: bool, watch: tuple[int, int], loud: bool,
        home: tuple[int, int, int],
    ) -> str:  # fmt: skip
        stop = -1 if limit is None else limit
        if not exact:
            due = self.checkpoints[-1].events + self._interval
            stop = due if stop < 0 else min(stop, due)
        # NumPy's floating-point warnings are switched off for the whole run, here and nowhere else: NaN and Inf are
        # results
        with np.errstate(all="ignore"):
            status = self.machine.run(stop, exact, through, *watch, loud, *home)
        if status == "failed":
            error = self.machine.error
            if not isinstance(error, Exception):
                raise error  # KeyboardInterrupt inside an op is no failure of the op
            raise self._failure(error)
        if not exact and self.event >= self.checkpoints[-1].events + self._interval:
            self.checkpoint()
        return status

    def to_event(self, event: int, loud: bool = False) -> None:
        """Run forwards to exactly this number of events (or the end)."""
        margin = 2 * self.plan.program.length
        with self.quiet():
            while self.event + margin < event:
                if self.go(event - margin) == "halt":
                    return
            if self.event < event or loud:
                self.go(event, exact=True, loud=loud)

    def checkpoint(self) -> None:
        """Remember this state, if it is later than the last one remembered."""
        event, now = self.event, time.perf_counter()
        if event > self.checkpoints[-1].events:
            latest = core.snapshot(self.machine, self.active_frames())
            self.checkpoints.append(latest)
            self._held += latest.bytes
        if len(self.checkpoints) > MAX_CHECKPOINTS:
            half = len(self.checkpoints) // 2
            self.checkpoints[1:half] = self.checkpoints[1:half:2]
        # arrays in checkpoints count too: a quarter of the budget, the first and the last always stay
        while len(self.checkpoints) > 2 and self._held > max(self.budget // 4, LEAST_BYTES):
            self.checkpoints[1:-1] = self.checkpoints[2:-1:2]
            self._held = sum(c.bytes for c in self.checkpoints)
        done, since = event - self._clock[0], now - self._clock[1]
        self._clock = (event, now)
        rate = done / since if since > 1e-6 else 1e9
        wanted = max(FIRST_INTERVAL, event // 64, rate * SECONDS_CLOSEST)
        self._interval = max(64, int(min(wanted, rate * SECONDS_APART)))

    # -- backwards ------------------------------------------------------------------------------------------------
    def seek(self, event: int, loud: bool = False) -> None:
        """Go to exactly this number of events, forwards or by replay from the checkpoint before it."""
        event = max(0, event)
        if event < self.event:
            self.restore(self.before(event))
        self.to_event(event, loud)

    def before(self, event: int) -> core.Snapshot:
        """The latest checkpoint at or before an event."""
        at = bisect.bisect_right([c.events for c in self.checkpoints], event) - 1
        return self.checkpoints[max(0, at)]

    def restore(self, checkpoint: core.Snapshot) -> None:
        """Go to a checkpoint; later ones are forgotten, replay makes them again."""
        core.restore(self.machine, checkpoint)
        self._edits_of(checkpoint)
        self.checkpoints = [c for c in self.checkpoints if c.events <= checkpoint.events]
        self._interval = max(64, min(self._interval, max(FIRST_INTERVAL, checkpoint.events // 64)))
        self._clock = (checkpoint.events, time.perf_counter())

    def fork(self, checkpoint: core.Snapshot | None = None) -> Run:
        """A run of its own that starts at a checkpoint of this one (the latest by default)."""
        other = Run(self.plan, self.feeds, self.budget, self.window)
        other.edits = list(self.edits)
        core.restore(other.machine, checkpoint or self.checkpoints[-1])
        other._edits_of(checkpoint or self.checkpoints[-1])
        # a checkpoint of its own: one of this run would keep all of this run in memory
        other.checkpoints = [core.snapshot(other.machine, other.active_frames())]
        return other

    # -- edits -------------------------------------------------------------------------------------------------------
    def edit(self, ref: Ref, value: Any) -> Edit:
        """Write a value where the run stands; it goes on with it, in every replay too.

        Edits that lay ahead are dropped. SessionError for what cannot be edited (see ``execution.edits``).
        """
        edit = make_edit(self, ref, value)
        self.edits = [*self.edits[: self._applied], edit]
        # checkpoints of this very place hold the old value
        self.checkpoints = [c for c in self.checkpoints if c.events < edit.event]
        self._apply(edit)
        self.checkpoints.append(core.snapshot(self.machine, self.active_frames()))
        self._held = sum(c.bytes for c in self.checkpoints)
        return edit

    def forget_edits(self) -> None:
        """Back to the beginning of the first history."""
        self.restore(self.checkpoints[0])
        for edit in reversed(self.edits[: self._applied]):
            self._write(edit, edit.before)
        self.edits, self._applied = [], 0
        self.checkpoints = [core.snapshot(self.machine, [0])]

    def _apply_here(self) -> None:
        """The edits that were made after just so many events."""
        while self._applied < len(self.edits) and self.edits[self._applied].event <= self.event:
            self._apply(self.edits[self._applied])

    def _apply(self, edit: Edit) -> None:
        self._write(edit, edit.value)
        self._applied += 1

    def _write(self, edit: Edit, value: Any) -> None:
        for place in edit.places:
            self.put(place, value)

    def _edits_of(self, checkpoint: core.Snapshot) -> None:
        """After going to a checkpoint: arrays of the outermost level are not in it, so edits of them are done or undone
        here."""
        outermost = [e for e in self.edits if self.plan.layout.frame_of(e.places[0]) == 0]
        for edit in reversed(outermost):
            if edit.event > checkpoint.events:
                self.put(edit.places[0], edit.before)
        for edit in outermost:
            if edit.event <= checkpoint.events:
                self.put(edit.places[0], edit.value)
        self._applied = sum(e.event <= checkpoint.events for e in self.edits)

    # -- results -----------------------------------------------------------------------------------------------------
    def outputs(self) -> dict[str, np.ndarray]:
        """Outputs by name; DeadValueError names the Switch that left a requested output dead."""
        found = {}
        for name, ref in self.plan.outputs.items():
            series = self.trace[ref] if tuple(ref) in self.plan.layout.values else None
            inside = self.plan.graph.frame_of(ref.node) and self.plan.graph.nodes[ref.node].op != "Exit"
            if inside and series is not None:
                found[name] = series.values
                continue
            if series is None or len(series) == 0:
                raise self._dead(name, ref)
            found[name] = _own(series.firings()[-1])
        return found

    def _dead(self, name: str, ref: Ref) -> DeadValueError:
        graph = self.plan.graph
        switch, taken = self._deciding_switch(ref)
        if switch is None and ref.node not in self.plan.guards.dead:
            return DeadValueError(
                f"The output {name!r} ({ref}) is dead: no value came to {ref.node!r} in this run.",
                node=ref.node, source=graph.nodes[ref.node].source,
                fix="follow its inputs in session.trace.events(): the first that did not fire is the reason.",
            )  # fmt: skip
        if switch is None or ref.node in self.plan.guards.dead:
            return DeadValueError(
                f"The output {name!r} ({ref}) can never be alive: it needs both sides of one decision.",
                node=ref.node, source=graph.nodes[ref.node].source, fix="take it from a Merge of the two sides.",
            )  # fmt: skip
        pred = graph.nodes[switch].inputs[1]
        return DeadValueError(
            f"The output {name!r} ({ref}) is dead: Switch {switch!r} took its {'true' if taken else 'false'} side, "
            f"because {graph.name_of(pred)} was {taken}.",
            node=ref.node, source=graph.nodes[switch].source,
            fix=f"ask for a value on the side taken, or for the Merge behind it; {graph.name_of(pred)} comes from "
            f"{graph.nodes[pred.node].op} {pred.node!r}.",
        )  # fmt: skip

    def _deciding_switch(self, ref: Ref) -> tuple[str | None, bool]:
        """The outermost Switch behind ``ref`` whose other side was taken."""
        graph, stack, seen = self.plan.graph, [ref], set()
        found: tuple[str | None, bool] = (None, False)
        while stack:
            at = stack.pop()
            if at in seen:
                continue
            seen.add(at)
            node = graph.nodes[at.node]
            if node.op == "Switch" and node.name in self.trace.reader.node:
                taken = self.trace.last_branch(node.name)
                if taken is not None and taken != bool(at.index):
                    found = (node.name, taken)
                    continue
            stack.extend(node.inputs)
            stack.extend(Ref(c) for c in node.control)
        return found

    def _failure(self, error: BaseException) -> ExecutionError:
        """The failing node with its tag, source line and operands."""
        ip, _, _ = core.stands_on(self.machine)
        named = error.node if isinstance(error, WorkbenchError) else None  # a check in front of a node that is later
        later = [n for n in self.plan.layout.nodes if (n.name == named if named else n.ip >= ip)]
        node = self.plan.graph.nodes[later[0].name] if later else None
        if node is None:
            return ExecutionError(f"The run failed: {error}.")
        frame = later[0].frame
        path = self.plan.layout.frames[frame].path
        return failure(self.trace, node.name, path, self.iteration_of(frame) if path else (), error)


def _own(array: Any) -> Any:
    return np.array(array, copy=True) if isinstance(array, np.ndarray) else array
