"""One run: a machine, its feeds, its checkpoints; forwards by running, backwards by replaying from a checkpoint."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from workbench.errors import DeadValueError, ExecutionError, WorkbenchError
from workbench.execution.checkpoints import FIRST_INTERVAL, SECONDS_APART, Checkpoints
from workbench.execution.edits import Edit, make_edit
from workbench.execution.failure import failure, not_retired
from workbench.execution.position import Position
from workbench.execution.released import use_after_release
from workbench.graph.node import Ref
from workbench.kernels import machine as core
from workbench.kernels.layout import Condition, NodeLayout, Place
from workbench.plan import ExecutionPlan
from workbench.trace import Trace
from workbench.trace.retention import Keepers, KeptSource, Retention, make_keeper
from workbench.trace.source import LiveSource
from workbench.trace.spill import SpillStore
from workbench.trace.spill.store import QUEUE

#: budget of runs that need no trace: only the newest rows stay, so many that views can still read them at full speed
NEWEST_ROWS = 4 << 20
#: bytes of their checkpoints, beside it
NEWEST_CHECKPOINTS = 4 << 20
#: bytes of the newest rows, at most, where keepers take those that leave
NEWEST_KEPT = 8 << 20
#: bytes of rows that may wait for the disk, at least
LEAST_QUEUE = 1 << 16
#: instructions and frame to stay in (see kernels: Machine.run): no limit
ANYWHERE = (-2, 0x7FFFFFFF, -1)
#: frame and row to stop at: none
NOWHERE = (-1, -1)


class Run:
    """State of one run. Not thread-safe: one thread drives it, the trace may be read from any."""

    def __init__(
        self, plan: ExecutionPlan, feeds: Mapping[str, np.ndarray], budget: int, window: int = 0,
        checkpoints: int | None = None, back: bool = True, keeping: Retention | None = None,
    ) -> None:  # fmt: skip
        """``budget`` bounds the bytes that the run holds (``held_bytes``), ``window`` those of the arrays of each frame
        (0: no such bound). Checkpoints take a quarter of the budget, or ``checkpoints`` bytes beside it; without
        ``back`` there are none, and the run goes back to its beginning only.
        ``keeping`` says what is kept of rows that leave, within the budget.

        The least that a run needs is ``machine.least_bytes``, two checkpoints, and what Python objects of three
        iterations hold: a budget below that is exceeded by it.
        """
        self.plan, self.feeds, self.budget, self.window = plan, dict(feeds), budget, window
        self._manner = (budget, window, checkpoints, back, keeping)
        self.machine = core.Machine(plan.program, budget, window)
        self.view = core.View(self.machine)
        self.keeper: Keepers | None = None
        self.spill: SpillStore | None = None
        self.trace = self.trace_for(lambda: False)
        self._by_ip = {n.ip: n for n in plan.layout.nodes}
        for name, array in self.feeds.items():
            place = plan.layout.values.get((plan.graph.inputs[name].node, 0))
            if place is not None and place.place is not None:
                self.put(place.place, array)
        self._counted = checkpoints is None  # whether checkpoints count against the budget
        allowed = (budget // 4 if budget > 0 else NEWEST_CHECKPOINTS) if checkpoints is None else checkpoints
        self._kept = Checkpoints(core.snapshot(self.machine, [0]), allowed)
        self._ran = 0.0  # seconds of running so far
        self._done = 0  # events that the machine has run in them
        self.keeps = back  # makes checkpoints on its way
        if keeping is not None and keeping.keeps_more:
            self._keep(keeping)
            self.trace = self.trace_for(lambda: False)
        if self._counted:
            self._reserve(self._kept.held)
            self.machine.aside = self._kept.held
        self.edits: list[Edit] = []  # by event
        self._applied = 0  # so many of them lie behind

    def _keep(self, policy: Retention) -> None:
        """Let keepers take the rows that leave. They and the newest rows have fixed shares, checkpoints the rest."""
        newest = self.budget // 2 if policy.keep == "all" else min(self.budget // 8, NEWEST_KEPT)
        self._newest = max(self.machine.least_bytes, newest)
        trace = self.trace_for(lambda: False)
        values = [(ref.node, ref.index) for ref in map(trace.ref, policy.names)]
        limit = max(0, self.budget - self._newest - self._kept.allowed)
        self.keeper = make_keeper(policy, self.plan.layout, limit, self.view.activations, values)
        if policy.spill is not None:
            queue = max(min(QUEUE, self.budget // 8), LEAST_QUEUE)
            self.spill = SpillStore(
                policy.spill, self.plan.graph, self.plan.layout, self.view.activations, limit=policy.disk,
                queue_bytes=queue,
            )  # fmt: skip
            # the first: when it cannot take rows, no other has taken them
            self.keeper = Keepers([self.spill, *self.keeper.parts])
        self.machine.retire, self.machine.rewind = self.keeper.retire, self.keeper.rewind

    def close(self) -> None:
        """Give back what is on disk; SpillError if files that are to be kept cannot be completed."""
        if self.spill is not None:
            self.spill.close()

    def trace_for(self, running: Callable[[], bool]) -> Trace:
        """A trace of this run for readers on other threads; ``running`` says whether rows in progress may change."""
        live = LiveSource(self.view, self.plan.layout, running)
        if self.keeper is None:
            return Trace(self.plan.graph, self.plan.layout, live)
        return Trace(self.plan.graph, self.plan.layout, KeptSource(live, self.keeper, self.plan.layout))

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
    def checkpoints(self) -> list[core.Snapshot]:
        """States to which the run can go back at once, oldest first."""
        return self._kept.all

    @property
    def held_bytes(self) -> int:
        """Bytes of everything that grows with the run: rows, arrays, activations, checkpoints, and what a keeper of
        retired rows has reserved; exact at any moment, from any thread."""
        held = self.machine.held_bytes + (0 if self._counted else self._kept.held)
        return held if self.keeper is None else held - self.machine.reserved + self.keeper.bytes

    @property
    def event(self) -> int:
        """Events so far (a running machine: as of its last control instruction)."""
        return self.view.events

    @property
    def spent(self) -> tuple[int, float]:
        """(events that the machine has run, the seconds that took)."""
        return self._done, self._ran

    @property
    def checkpoint_bytes(self) -> int:
        """Bytes of the states to replay from, at most."""
        return self._kept.held

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

    def released(self, place: Place) -> bool:
        """Whether what stood there has been released, or may have been written over."""
        return place.until >= 0 and self.trace.source.first(place) > 0

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
        until: tuple[int, int] = NOWHERE,
    ) -> str:  # fmt: skip
        """Run to a status of the machine (see kernels); at most to the next checkpoint in fast mode. ``until`` is a
        frame and its row at which to stop.

        Raises ExecutionError when a node fails; the run then stands in front of that node.
        """
        margin = 2 * self.plan.program.length  # so far may fast mode run beyond its limit
        reach = None if limit is None else limit if exact else limit + margin
        while self._applied < len(self.edits) and (reach is None or self.edits[self._applied].event <= reach):
            edit = self.edits[self._applied]
            if not exact and edit.event - self.event > margin:
                return self._go(edit.event - margin, exact, through, watch, loud, home, until)
            if self.event < edit.event:
                status = self._go(edit.event, True, through, watch, False, home, until)
                if self.event == edit.event:
                    self._apply_here()
                if status != "reached" or self.event < edit.event:  # the end, or a breakpoint
                    return status
                through = False
            self._apply_here()
        return self._go(limit, exact, through, watch, loud, home, until)

    def _go(
        self, limit: int | None, exact: bool, through: bool, watch: tuple[int, int], loud: bool,
        home: tuple[int, int, int], until: tuple[int, int],
    ) -> str:  # fmt: skip
        stop = -1 if limit is None else limit
        if not exact:
            if self.keeps and self.event >= self._kept.due:
                self.checkpoint()  # there was no room for it, which is asked for again before the run goes on
            due = self._kept.due if self.keeps else self.event + self._slice()
            stop = due if stop < 0 else min(stop, due)
        # NumPy's floating-point warnings are switched off for the whole run, here and nowhere else: NaN and Inf are
        # results
        before, begin = self.event, time.perf_counter()
        with np.errstate(all="ignore"):
            status = self.machine.run(stop, exact, through, *watch, loud, *home, *until)
        self._ran += time.perf_counter() - begin
        self._done += self.event - before
        if status == "failed":
            error = self.machine.error
            if not isinstance(error, Exception):
                raise error  # KeyboardInterrupt inside an op is no failure of the op
            raise not_retired(error) if self.machine.retire_failed else self.failure_of(error)
        if not exact and self.keeps and self.event >= self._kept.due:
            self.checkpoint()
        return status

    def _slice(self) -> int:
        """Events that a run without checkpoints goes in one piece: now and then Python is to handle signals."""
        return max(FIRST_INTERVAL, int(SECONDS_APART * self._done / self._ran)) if self._ran > 1e-6 else FIRST_INTERVAL

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
        """Remember this state, if it is later than the last one remembered; ExecutionError, and nothing is remembered,
        where rows that would make room for it cannot leave."""
        if self.event > self.checkpoints[-1].events:
            expected = self._kept.expected
            self._room_for(expected)
            latest = core.snapshot(self.machine, self.active_frames())
            if latest.bytes > expected:
                self._room_for(latest.bytes)
            self._kept.add(latest, self._ran)
            self._account()
        self._kept.pace(self.event, self._ran)

    def _room_for(self, more: int) -> None:
        self._reserve(self._kept.held + more)
        self._make_room(more)

    def _account(self) -> None:
        """Checkpoints count: rows make room for them."""
        if self._counted:
            self._reserve(self._kept.held)
            self.machine.aside = self._kept.held
            self._make_room(0)

    def _reserve(self, checkpoints: int) -> None:
        """Leave the newest rows their share: what checkpoints and keepers do not use yet stays reserved for them."""
        if self.keeper is not None:
            self.machine.reserved = max(0, self.budget - self._newest - checkpoints)

    def _make_room(self, more: int) -> None:
        try:
            self.machine.make_room(more if self._counted else 0)
        except Exception as error:
            if not self.machine.retire_failed:
                raise
            raise not_retired(error) from error

    # -- backwards ------------------------------------------------------------------------------------------------
    def seek(self, event: int, loud: bool = False) -> None:
        """Go to exactly this number of events, forwards or by replay from the checkpoint before it."""
        event = max(0, event)
        if event < self.event:
            self.restore(self.before(event))
        self.to_event(event, loud)

    def before(self, event: int) -> core.Snapshot:
        """The latest checkpoint at or before an event."""
        return self._kept.before(event)

    def last_checkpoint(self, wanted: Callable[[core.Snapshot], bool]) -> core.Snapshot:
        """The latest checkpoint of which something is true that is true of all earlier ones too; else the first."""
        return self._kept.last(wanted)

    def restore(self, checkpoint: core.Snapshot) -> None:
        """Go to a checkpoint; later ones are forgotten, replay makes them again."""
        core.restore(self.machine, checkpoint)
        if self.spill is not None:
            self.spill.patches.forget(checkpoint.events)
        self._edits_of(checkpoint)
        self._kept.forget_after(checkpoint.events, self._ran)
        self._account()

    def another(self, plan: ExecutionPlan, feeds: Mapping[str, np.ndarray]) -> Run:
        """A fresh run of another plan that keeps what this one keeps."""
        return Run(plan, feeds, *self._manner)

    def continue_from(self, checkpoints: list[core.Snapshot]) -> None:
        """Take these for the checkpoints of a state that the machine was put into; replays begin there."""
        self._kept.start_anew(checkpoints, self._ran)
        self._account()

    def fork(self, checkpoint: core.Snapshot | None = None, budget: int = NEWEST_ROWS) -> Run:
        """A run of its own that starts at a checkpoint of this one (the latest by default). It keeps the newest rows
        only, ``budget`` bytes of them, and no checkpoints but the one it starts from."""
        other = Run(self.plan, self.feeds, min(self.budget, budget), self.window, NEWEST_CHECKPOINTS, back=False)
        other.machine.least_released = self.machine.least_released
        other.edits = list(self.edits)
        core.restore(other.machine, checkpoint or self.checkpoints[-1])
        other._edits_of(checkpoint or self.checkpoints[-1])
        # a checkpoint of its own: one of this run would keep all of this run in memory
        other._kept = Checkpoints(core.snapshot(other.machine, other.active_frames()), NEWEST_CHECKPOINTS)
        return other

    # -- edits -------------------------------------------------------------------------------------------------------
    def edit(self, ref: Ref, value: Any) -> Edit:
        """Write a value where the run stands; it goes on with it, in every replay too.

        Edits that lay ahead are dropped. SessionError for what cannot be edited (see ``execution.edits``).
        """
        edit = make_edit(self, ref, value)
        self.edits = [*self.edits[: self._applied], edit]
        # checkpoints of this very place hold the old value
        self._kept.forget_after(edit.event - 1, self._ran)
        self._apply(edit)
        if self.checkpoints[-1].events >= edit.event:  # an edit in front of everything: the first one is made anew
            self._kept = Checkpoints(core.snapshot(self.machine, self.active_frames()), self._kept.allowed)
        else:
            self._kept.add(core.snapshot(self.machine, self.active_frames()), self._ran)
        self._account()
        return edit

    def forget_edits(self) -> None:
        """Back to the beginning of the first history."""
        self.restore(self.checkpoints[0])
        for edit in reversed(self.edits[: self._applied]):
            self._write(edit, edit.before)
        self.edits, self._applied = [], 0
        self._kept = Checkpoints(core.snapshot(self.machine, [0]), self._kept.allowed)
        self._account()

    def _apply_here(self) -> None:
        """The edits that were made after just so many events."""
        while self._applied < len(self.edits) and self.edits[self._applied].event <= self.event:
            self._apply(self.edits[self._applied])

    def _apply(self, edit: Edit) -> None:
        self._write(edit, edit.value)
        for place in edit.places:
            if self.spill is not None and place.shift < 0:
                row = self.view.rows(place.base - 1)[1]
                self.spill.patches.add(place.base - 1, row - 1, place.offset, edit.value, edit.event)
        self._applied += 1

    def _write(self, edit: Edit, value: Any) -> None:
        for place in edit.places:
            self.put(place, value)

    def _edits_of(self, checkpoint: core.Snapshot) -> None:
        """After going to a checkpoint: arrays of the outermost level that stay are not in it, so edits of them are done
        or undone here."""
        outermost = [e for e in self.edits if self.plan.layout.frame_of(e.places[0]) == 0 and e.places[0].until < 0]
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

    def failure_of(self, error: BaseException) -> ExecutionError:
        """The failing node with its tag, source line and operands."""
        ip, _, _ = core.stands_on(self.machine)
        named = error.node if isinstance(error, WorkbenchError) else None  # a check in front of a node that is later
        later = [n for n in self.plan.layout.nodes if (n.name == named if named else n.ip >= ip)]
        node = self.plan.graph.nodes[later[0].name] if later else None
        if node is None:
            return ExecutionError(f"The run failed: {error}.")
        frame = later[0].frame
        path = self.plan.layout.frames[frame].path
        if isinstance(error, core.ReleasedError):
            return use_after_release(self.plan.graph, self.plan.layout, error)
        return failure(self.trace, node.name, path, self.iteration_of(frame) if path else (), error)


def _own(array: Any) -> Any:
    return np.array(array, copy=True) if isinstance(array, np.ndarray) else array
