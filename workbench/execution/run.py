"""One run: a machine, its feeds, its checkpoints; forwards by running, backwards by replaying from a checkpoint."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from workbench.execution.checkpoints import FIRST_INTERVAL, SECONDS_APART, Checkpoints
from workbench.execution.edit_log import EditLog
from workbench.execution.edits import Edit, make_edit
from workbench.execution.failure import failure_of, not_retired
from workbench.execution.outputs import outputs_of
from workbench.execution.room import NEWEST_CHECKPOINTS, NEWEST_ROWS, Room
from workbench.execution.standing import Standing
from workbench.graph.node import Ref
from workbench.kernels import machine as core
from workbench.plan import ExecutionPlan
from workbench.trace import Trace
from workbench.trace.retention import Keepers, KeptSource, Retention, make_keeper
from workbench.trace.source import LiveSource
from workbench.trace.spill import SpillStore

#: instructions and frame to stay in (see kernels: Machine.run): no limit
ANYWHERE = (-2, 0x7FFFFFFF, -1)
#: frame and row to stop at: none
NOWHERE = (-1, -1)


class Run(Standing):
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
        super().__init__(plan, budget, window)
        self.feeds, self.budget, self.window = dict(feeds), budget, window
        self._manner = (budget, window, checkpoints, back, keeping)
        self.keeper: Keepers | None = None
        self.spill: SpillStore | None = None
        self.trace = self.trace_for(lambda: False)
        for name, array in self.feeds.items():
            place = plan.layout.values.get((plan.graph.inputs[name].node, 0))
            if place is not None and place.place is not None:
                self.put(place.place, array)
        self._room = Room(self.machine, budget, checkpoints)
        self._kept = Checkpoints(core.snapshot(self.machine, [0]), self._room.checkpoints)
        self._ran = 0.0  # seconds of running so far
        self._done = 0  # events that the machine has run in them
        self.keeps = back  # makes checkpoints on its way
        if keeping is not None and keeping.keeps_more:
            self._keep(keeping)
            self.trace = self.trace_for(lambda: False)
        self._room.account(self._kept.held)
        self._edits = EditLog()

    def _keep(self, policy: Retention) -> None:
        """Let keepers take the rows that leave."""
        trace, layout = self.trace, self.plan.layout
        values = [(ref.node, ref.index) for ref in map(trace.ref, policy.names)]
        limit = self._room.for_keepers(share_of_all=policy.keep == "all")
        self.keeper = make_keeper(policy, layout, limit, self.view.activations, values)
        if policy.spill is not None:
            self.spill = SpillStore(
                policy.spill, self.plan.graph, layout, self.view.activations, limit=policy.disk,
                queue_bytes=self._room.queue,
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
        held = self.machine.held_bytes + (0 if self._room.counted else self._kept.held)
        return held if self.keeper is None else held - self.machine.reserved + self.keeper.bytes

    @property
    def spent(self) -> tuple[int, float]:
        """(events that the machine has run, the seconds that took)."""
        return self._done, self._ran

    @property
    def checkpoint_bytes(self) -> int:
        """Bytes of the states to replay from, at most."""
        return self._kept.held

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
        while (due := self._edits.due) is not None and (reach is None or due <= reach):
            if not exact and due - self.event > margin:
                return self._go(due - margin, exact, through, watch, loud, home, until)
            if self.event < due:
                status = self._go(due, True, through, watch, False, home, until)
                if self.event == due:
                    self._edits.catch_up(self)
                if status != "reached" or self.event < due:  # the end, or a breakpoint
                    return status
                through = False
            self._edits.catch_up(self)
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
            raise not_retired(error) if self.machine.retire_failed else failure_of(self, error)
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
            self._room.make(self._kept.held, expected)
            latest = core.snapshot(self.machine, self.active_frames())
            if latest.bytes > expected:
                self._room.make(self._kept.held, latest.bytes)
            self._kept.add(latest, self._ran)
            self._room.account(self._kept.held)
        self._kept.pace(self.event, self._ran)

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
        self._edits.after_restore(self, checkpoint)
        self._kept.forget_after(checkpoint.events, self._ran)
        self._room.account(self._kept.held)

    def another(self, plan: ExecutionPlan, feeds: Mapping[str, np.ndarray]) -> Run:
        """A fresh run of another plan that keeps what this one keeps."""
        return Run(plan, feeds, *self._manner)

    def continue_from(self, checkpoints: list[core.Snapshot]) -> None:
        """Take these for the checkpoints of a state that the machine was put into; replays begin there."""
        self._kept.start_anew(checkpoints, self._ran)
        self._room.account(self._kept.held)

    def fork(self, checkpoint: core.Snapshot | None = None, budget: int = NEWEST_ROWS) -> Run:
        """A run of its own that starts at a checkpoint of this one (the latest by default). It keeps the newest rows
        only, ``budget`` bytes of them, and no checkpoints but the one it starts from."""
        other = Run(self.plan, self.feeds, min(self.budget, budget), self.window, NEWEST_CHECKPOINTS, back=False)
        other.machine.least_released = self.machine.least_released
        other.edits = self.edits
        core.restore(other.machine, checkpoint or self.checkpoints[-1])
        other._edits.after_restore(other, checkpoint or self.checkpoints[-1])
        # a checkpoint of its own: one of this run would keep all of this run in memory
        other._kept = Checkpoints(core.snapshot(other.machine, other.active_frames()), NEWEST_CHECKPOINTS)
        return other

    def outputs(self) -> dict[str, np.ndarray]:
        """Outputs by name; DeadValueError names the Switch that left a requested output dead."""
        return outputs_of(self)

    # -- edits -------------------------------------------------------------------------------------------------------
    @property
    def edits(self) -> list[Edit]:
        """By event; those that lie ahead are written when the run comes to them. It can be set."""
        return self._edits.all

    @edits.setter
    def edits(self, edits: Iterable[Edit]) -> None:
        self._edits.replace(edits)

    def edit(self, ref: Ref, value: Any) -> Edit:
        """Write a value where the run stands; it goes on with it, in every replay too.

        Edits that lay ahead are dropped. SessionError for what cannot be edited (see ``execution.edits``).
        """
        edit = make_edit(self, ref, value)
        # checkpoints of this very place hold the old value
        self._kept.forget_after(edit.event - 1, self._ran)
        self._edits.append(self, edit)
        if self.checkpoints[-1].events >= edit.event:  # an edit in front of everything: the first one is made anew
            self._kept = Checkpoints(core.snapshot(self.machine, self.active_frames()), self._kept.allowed)
        else:
            self._kept.add(core.snapshot(self.machine, self.active_frames()), self._ran)
        self._room.account(self._kept.held)
        return edit

    def forget_edits(self) -> None:
        """Back to the beginning of the first history."""
        self.restore(self.checkpoints[0])
        self._edits.undo(self)
        self._kept = Checkpoints(core.snapshot(self.machine, [0]), self._kept.allowed)
        self._room.account(self._kept.held)
