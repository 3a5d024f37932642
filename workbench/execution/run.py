"""One run: a machine, its feeds and its checkpoints; it goes forwards by running, and back by replaying from a
checkpoint."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from workbench.device import host_objects
from workbench.execution.checkpoints import FIRST_INTERVAL, SECONDS_APART, Checkpoints
from workbench.execution.edit_log import EditLog
from workbench.execution.edits import Edit, make_edit
from workbench.execution.failure import failure_of, not_retired
from workbench.execution.inspection import StoppedRun
from workbench.execution.memory_budget import NEWEST_CHECKPOINTS, NEWEST_ROWS, BudgetSplit
from workbench.execution.outputs import outputs_of
from workbench.execution.run_limits import ANYWHERE, NOWHERE, RunLimits
from workbench.ir.graph import check_files
from workbench.ir.node import Ref
from workbench.kernels import machine as core
from workbench.ops.effect_log import EffectLog, noted_in
from workbench.plan import ExecutionPlan
from workbench.trace import Trace
from workbench.trace.device_source import DeviceSource
from workbench.trace.retention import KeptSource, Retention, RetentionBackends, has_objects, make_keeper
from workbench.trace.source import LiveSource
from workbench.trace.spill import SpillStore


class Run(StoppedRun):
    """State of one run: executor, feeds, checkpoints, edits. One thread drives it; any thread may read the trace."""

    def __init__(
        self,
        plan: ExecutionPlan,
        feeds: Mapping[str, np.ndarray],
        budget: int,
        window: int = 0,
        checkpoints: int | None = None,
        back: bool = True,
        keeping: Retention | None = None,
    ) -> None:
        """``budget`` limits the bytes that the run holds (``held_bytes``), ``window`` those of the arrays of each frame
        (0: no limit). Checkpoints take a quarter of the budget, or ``checkpoints`` bytes in addition to it; without
        ``back`` there are none, and the run can only go back to its beginning. ``keeping`` is the policy for evicted
        rows, within the budget.

        The minimum that a run needs is ``machine.least_bytes``, two checkpoints, and the Python objects of three
        iterations: it exceeds any smaller budget by the difference.
        """
        super().__init__(plan, budget, window)
        self.feeds, self.budget, self.window = dict(feeds), budget, window
        self._options = (budget, window, checkpoints, back, keeping)
        self.keeper: RetentionBackends | None = None
        self.spill: SpillStore | None = None
        self._edits = EditLog()
        self.effects: EffectLog = {}
        self.trace = self.trace_for(lambda: False)
        for name, array in self.feeds.items():
            place = plan.layout.values.get((plan.graph.inputs[name].node, 0))
            if place is not None and place.place is not None:
                self.put(place.place, array)
        self._budget_split = BudgetSplit(self.machine, budget, checkpoints)
        self._checkpoints = Checkpoints(core.snapshot(self.machine, [0]), self._budget_split.checkpoints)
        self._run_seconds = 0.0  # seconds of run time so far
        self._run_events = 0  # events in that time
        self.keeps = back  # True if it makes checkpoints while it runs
        self.renewed = 0  # how often the executor was put into another state
        if keeping is not None and keeping.keeps_more:
            self._keep(keeping)
            self.trace = self.trace_for(lambda: False)
        self._budget_split.account(self._checkpoints.held)

    def _keep(self, policy: Retention) -> None:
        """Install the retention backends that take evicted rows."""
        trace, layout = self.trace, self.plan.layout
        values = [(ref.node, ref.index) for ref in map(trace.ref, policy.names)]
        limit = self._budget_split.bytes_for_backends(share_of_all=policy.keep == "all")
        self.keeper = make_keeper(policy, layout, limit, self.view.activations, values)
        if policy.spill is not None:
            self.spill = SpillStore(
                policy.spill,
                self.plan.graph,
                layout,
                self.view.activations,
                limit=policy.disk,
                queue_bytes=self._budget_split.queue,
            )
            # first: if it refuses rows, no other backend has taken them
            self.keeper = RetentionBackends([self.spill, *self.keeper.parts])
        retire, self.machine.rewind = self.keeper.hooks()
        if policy.keep == "carried" and self.spill is None and not has_objects(layout):
            retire = self._budget_split.lend_unused(self.keeper, retire)
        self.machine.retire = retire
        if self.plan.device is not None:
            self.machine.retire = lambda store, first, rows, objects: retire(store, first, rows, host_objects(objects))
        # unrecorded arrays of rows that leave are recomputed only if a backend keeps them
        named = [layout.values[value].place for value in values]
        whole = policy.spill is not None or policy.window is not None or policy.every is not None
        self.machine.retire_computed = whole or any(p is not None and layout.is_recomputed(p) for p in named)

    def close(self) -> None:
        """Close the files on disk; SpillError if files to be kept cannot be completed."""
        if self.spill is not None:
            self.spill.close()

    def trace_for(self, running: Callable[[], bool]) -> Trace:
        """A trace of this run for readers on other threads; ``running`` returns True while rows in progress may
        change."""
        source = LiveSource if self.plan.device is None else DeviceSource
        live = source(self.view, self.plan.layout, running)
        kept = live if self.keeper is None else KeptSource(live, self.keeper, self.plan.layout)
        return Trace(self.plan.graph, self.plan.layout, kept, self._edits.written)

    @contextmanager
    def breakpoints_disabled(self) -> Iterator[None]:
        """Ignore breakpoints within a ``with`` block, for replays."""
        before, self.machine.ignore_traps = self.machine.ignore_traps, True
        try:
            yield
        finally:
            self.machine.ignore_traps = before

    # -- state ---------------------------------------------------------------------------------------------------
    @property
    def checkpoints(self) -> list[core.Snapshot]:
        """States that can be restored directly, oldest first."""
        return self._checkpoints.all

    @property
    def held_bytes(self) -> int:
        """Bytes of everything that grows with the run: rows, arrays, activations, checkpoints, and the memory of
        retention backends; exact at any moment, from any thread."""
        held = self.machine.held_bytes + (0 if self._budget_split.counted else self._checkpoints.held)
        return held if self.keeper is None else held - self.machine.reserved_bytes + self.keeper.bytes

    @property
    def spent(self) -> tuple[int, float]:
        """(number of events executed, seconds of run time)."""
        return self._run_events, self._run_seconds

    @property
    def checkpoint_bytes(self) -> int:
        """Upper bound of the bytes of checkpoints."""
        return self._checkpoints.held

    # -- forwards ---------------------------------------------------------------------------------------------------
    def go(
        self,
        event: int | None = None,
        *,
        exact: bool = False,
        ignore_current: bool = False,
        until_row_changes: tuple[int, int] = NOWHERE,
        skip_silent: bool = True,
        instruction_range: tuple[int, int, int] = ANYWHERE,
        until_row: tuple[int, int] = NOWHERE,
    ) -> str:
        """Run to one of these limits (see :class:`RunLimits`) and return the status of the executor; a fast run also
        ends at the next checkpoint.

        Raises ExecutionError when a node fails, and leaves the run before that node.
        """
        limits = RunLimits(event, exact, ignore_current, until_row_changes, skip_silent, instruction_range, until_row)
        margin = 2 * self.plan.program.length  # a fast run may pass its limit by this many events
        reach = None if event is None else event if exact else event + margin
        while (due := self._edits.due) is not None and (reach is None or due <= reach):
            if not exact and due - self.event > margin:
                return self._run_machine(replace(limits, event=due - margin))
            if self.event < due or not self._at_node():
                status = self._run_machine(replace(limits, event=due, exact=True, skip_silent=False))
                self._write_edits()
                if status != "reached" or self.event < due:  # the end, or a breakpoint
                    return status
                limits = replace(limits, ignore_current=False)
            self._edits.catch_up(self)
            if self._met(limits):
                return "reached"
            if not exact and event is not None and self.event >= event:
                return "poll"  # a fast run would continue to the next back jump, which may be after the limit
        if due is None or not exact or not skip_silent or event is None:
            return self._run_machine(limits)
        # step over silent nodes one by one, because an edit may have been made between them
        status = self._run_machine(replace(limits, skip_silent=False))
        self._write_edits()
        while status == "reached" and core.current_instruction(self.machine)[2]:
            status = self._run_machine(RunLimits(self.event + 1, exact=True, ignore_current=True, skip_silent=False))
            self._write_edits()
        return status

    def _met(self, limits: RunLimits) -> bool:
        """True if the executor would stop at once for a row or an instruction, as it does at an edit made exactly
        there."""
        ip, is_event, silent = core.current_instruction(self.machine)
        if not is_event or limits.exact and limits.skip_silent and silent:
            return False
        changed, row = limits.until_row_changes
        frame, goal = limits.until_row
        if frame >= 0 and self.view.rows(frame)[1] >= goal:
            return True
        if not limits.exact:
            return False
        start, end, home = limits.instruction_range
        away = home >= 0 and self._by_ip[ip].frame != home
        return ip <= start or ip >= end or away or changed >= 0 and self.view.rows(changed)[1] != row

    def _at_node(self) -> bool:
        """True before a node and at the end of the run, which are the only positions at which edits are made."""
        return bool(core.current_instruction(self.machine)[1]) or self.finished

    def _write_edits(self) -> None:
        """Write the edits that were made at the present position."""
        if self._at_node():
            self._edits.catch_up(self)

    def _run_machine(self, limits: RunLimits) -> str:
        """One call of the executor, and a checkpoint if one is due."""
        stop, exact = -1 if limits.event is None else limits.event, limits.exact
        if not exact:
            self.plan.native.consider(self.plan.program)
            if self.keeps and self.event >= self._checkpoints.due:
                self.checkpoint()  # there was no memory for it before; try again
            due = self._checkpoints.due if self.keeps else self.event + self._slice()
            stop = due if stop < 0 else min(stop, due)
        # before and after, because another program may write to the files during the computation
        check_files(self.plan.graph)
        # NumPy's floating-point warnings are switched off for the whole run, here and nowhere else: NaN and Inf are
        # results
        before, begin = self.event, time.perf_counter()
        with np.errstate(all="ignore"), noted_in(self.effects):
            status = self.machine.run(
                stop,
                exact,
                limits.ignore_current,
                *limits.until_row_changes,
                limits.skip_silent,
                *limits.instruction_range,
                *limits.until_row,
            )
        check_files(self.plan.graph)
        self._run_seconds += time.perf_counter() - begin
        self._run_events += self.event - before
        self.plan.native.events += self.event - before
        if status == "failed":
            error = self.machine.error
            assert error is not None  # the machine holds the exception
            if not isinstance(error, Exception):
                raise error  # KeyboardInterrupt inside an op is not a failure of the op
            raise not_retired(error) if self.machine.retire_failed else failure_of(self, error)
        if not exact and self.keeps and self.event >= self._checkpoints.due:
            self.checkpoint()
        return status

    def _slice(self) -> int:
        """Events of one call of the executor without checkpoints; Python handles signals between two calls."""
        return (
            max(FIRST_INTERVAL, int(SECONDS_APART * self._run_events / self._run_seconds))
            if self._run_seconds > 1e-6
            else FIRST_INTERVAL
        )

    def to_event(self, event: int, skip_silent: bool = False) -> None:
        """Run forwards to exactly this number of events (or the end)."""
        margin = 2 * self.plan.program.length
        with self.breakpoints_disabled():
            while self.event + margin < event:
                if self.go(event - margin) == "halt":
                    return
            if self.event < event or skip_silent:
                self.go(event, exact=True, skip_silent=skip_silent)

    def checkpoint(self) -> None:
        """Make a checkpoint if this state is later than the last one. If rows must be evicted to make room for it and
        cannot be, no checkpoint is made, and ExecutionError is raised."""
        if self.event > self.checkpoints[-1].events:
            expected = self._checkpoints.expected
            self._budget_split.make(self._checkpoints.held, expected)
            latest = core.snapshot(self.machine, self.active_frames())
            if latest.bytes > expected:
                self._budget_split.make(self._checkpoints.held, latest.bytes)
            self._checkpoints.add(latest, self._run_seconds)
            self._budget_split.account(self._checkpoints.held)
        self._checkpoints.pace(self.event, self._run_seconds)

    # -- backwards ------------------------------------------------------------------------------------------------
    def seek(self, event: int, skip_silent: bool = False) -> None:
        """Go to exactly this number of events, forwards or by a replay from the checkpoint before it."""
        event = max(0, event)
        if event < self.event:
            self.restore(self.before(event))
        self.to_event(event, skip_silent)

    def before(self, event: int) -> core.Snapshot:
        """The latest checkpoint at or before an event."""
        return self._checkpoints.before(event)

    def last_checkpoint(self, wanted: Callable[[core.Snapshot], bool]) -> core.Snapshot:
        """The latest checkpoint for which ``wanted`` is True, which must then be True for all earlier ones; otherwise
        the first."""
        return self._checkpoints.last(wanted)

    def restore(self, checkpoint: core.Snapshot) -> None:
        """Go to a checkpoint; later checkpoints are dropped, and a replay creates them again."""
        core.restore(self.machine, checkpoint)
        if self.spill is not None:
            self.spill.patches.forget(checkpoint.events)
        self._edits.after_restore(self, checkpoint)
        self._checkpoints.forget_after(checkpoint.events, self._run_seconds)
        self._budget_split.account(self._checkpoints.held)

    def another(self, plan: ExecutionPlan, feeds: Mapping[str, np.ndarray]) -> Run:
        """A new run of another plan with the same budget and retention."""
        return Run(plan, feeds, *self._options)

    def continue_from(self, checkpoints: list[core.Snapshot]) -> None:
        """Replace the checkpoints after the executor was put into another state; replays start at these."""
        self.renewed += 1
        self._checkpoints.start_anew(checkpoints, self._run_seconds)
        self._budget_split.account(self._checkpoints.held)

    def fork(self, checkpoint: core.Snapshot | None = None, budget: int = NEWEST_ROWS) -> Run:
        """An independent run that starts at a checkpoint of this run (by default the latest). It keeps only its newest
        rows, at most ``budget`` bytes of them, and only the checkpoint from which it starts."""
        other = Run(self.plan, self.feeds, min(self.budget, budget), self.window, NEWEST_CHECKPOINTS, back=False)
        other.machine.least_released = self.machine.least_released
        other.edits, other.effects = self.edits, dict(self.effects)
        core.restore(other.machine, checkpoint or self.checkpoints[-1])
        other._edits.after_restore(other, checkpoint or self.checkpoints[-1])
        # a new checkpoint: one of this run would keep the whole run in memory
        other._checkpoints = Checkpoints(core.snapshot(other.machine, other.active_frames()), NEWEST_CHECKPOINTS)
        return other

    def outputs(self) -> dict[str, np.ndarray]:
        """Outputs by name; DeadValueError names the Switch that left a requested output dead."""
        return outputs_of(self)

    # -- edits -------------------------------------------------------------------------------------------------------
    @property
    def edits(self) -> list[Edit]:
        """All edits by event; later ones are written when the run reaches them. The attribute can be assigned."""
        return self._edits.all

    @edits.setter
    def edits(self, edits: Iterable[Edit]) -> None:
        """Replace the edits."""
        self._edits.replace(edits)

    @property
    def edits_behind(self) -> list[Edit]:
        """The edits that have been written, oldest first."""
        return self._edits.written()

    @property
    def edits_ahead(self) -> bool:
        """True if edits remain to be written at later events."""
        return self._edits.due is not None

    def edit(self, ref: Ref, value: Any) -> Edit:
        """Write a value at the present event; the run continues with it, and so does every replay.

        Edits at later events are dropped. SessionError for values that cannot be edited (see ``execution.edits``).
        """
        edit = make_edit(self, ref, value)
        # checkpoints of this event contain the old value
        self._checkpoints.forget_after(edit.event - 1, self._run_seconds)
        self._edits.append(self, edit)
        if self.checkpoints[-1].events >= edit.event:  # an edit before the first event: renew the first checkpoint
            self._checkpoints = Checkpoints(
                core.snapshot(self.machine, self.active_frames()), self._checkpoints.allowed
            )
        else:
            self._checkpoints.add(core.snapshot(self.machine, self.active_frames()), self._run_seconds)
        self._budget_split.account(self._checkpoints.held)
        return edit

    def without_edit(self, edit: Edit, edits: Iterable[Edit]) -> None:
        """Go to the event of ``edit``, with the edits made before it."""
        if edit.event == 0:
            self.forget_edits()
        else:
            self.restore(self.before(edit.event - 1))
        self._edits.replace(edits)
        self.to_event(edit.event)
        self._write_edits()
        if edit.event == 0:
            self._checkpoints = Checkpoints(
                core.snapshot(self.machine, self.active_frames()), self._checkpoints.allowed
            )

    def forget_edits(self) -> None:
        """Go back to the beginning and drop all edits."""
        self.restore(self.checkpoints[0])
        self._edits.undo(self)
        self._checkpoints = Checkpoints(core.snapshot(self.machine, [0]), self._checkpoints.allowed)
        self._budget_split.account(self._checkpoints.held)
