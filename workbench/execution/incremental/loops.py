"""The loops of a revision: from which iteration each is run again, if at all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from workbench.execution.incremental.counting import counts_before, events_before
from workbench.execution.incremental.frontier import Found, first_row
from workbench.execution.incremental.standing import EMPTY, Standing
from workbench.execution.incremental.steps import Step, Steps
from workbench.execution.incremental.update import LoopUpdate
from workbench.execution.run import Run
from workbench.kernels import machine as core


class Loops(Standing):
    """Revises one loop after the other; in the last one, the old run may have stood."""

    def __init__(self, run: Run, steps: Steps, feeds: Mapping[str, Any]) -> None:
        super().__init__(run, steps, feeds)
        self.loops: list[LoopUpdate] = []
        self.cut: list[str] = []
        self._old: Sequence[core.Snapshot] = run.checkpoints
        self._open: Step | None = None  # the loop in which the old run stood
        self._here: core.Snapshot | None = None  # ... and where
        self._old_within: dict[int, int] = {}  # first instruction of a loop -> events that the old run had in it

    def _loop(self, step: Step) -> Iterator[None]:
        machine = self.run.machine
        fired = step.number in self._fired
        if not core.holds(machine, step.guard):
            if fired:
                core.stand(machine, step.start, 0, dict.fromkeys(self.steps.stores(step.tree), EMPTY))
                self._compare(step, None)
                self.loops.append(LoopUpdate(step.name, None, 0, "it is not run any more"))
                if step is self._open:
                    self._stand(step.start, forget=True)
                    self._landed, self._at = True, None
            return
        _, outside, entered = core.outermost_events(machine, step.start + 1, self.steps.ends)
        opened = outside + sum(self._within.get(ip, 0) for ip in entered)
        found = Found(None, why="it is run for the first time")
        if fired:
            for slice_ in self._look(step):
                if slice_ is None:
                    yield
                else:
                    found = slice_
        begin = self._begin(step) if fired else 0
        if fired and found.row is None:
            self._stays(step, opened)
        else:
            yield from self._again(step, found, opened, fired)
        first = None
        if not fired or found.row is not None:
            first = 0 if found.row is None else found.row - begin
        if self.changed.keys() & step.reads or not fired:
            said = f"no iteration differs, {found.compared:,} firings were compared"
            if first is not None:
                said = f"iteration {first:,} is the first that differs: {found.why}"
            self.loops.append(LoopUpdate(step.name, first, found.compared, said))
        self.tally.compared += found.compared
        if first is None:
            self.cut.extend(found.readers)

    def _begin(self, step: Step) -> int:
        """The row of a loop's first iteration."""
        return int(self.run.view.activations(step.frame)[0][-1]) + 1

    def _look(self, step: Step) -> Iterator[Found | None]:
        """For the first row of a loop that differs."""
        begin, view = self._begin(step), self.run.view
        if self.changed.keys() & step.starts:
            yield Found(begin, why="a value that it starts with differs")
            return
        if not self.changed.keys() & step.reads:
            yield Found(None)
            return
        if any(view.rows(store)[0] > 0 for store in self.steps.stores(step.tree)):
            yield Found(begin, why="it reads an input that differs, and rows of it were dropped")
            return
        until = {f: view.rows(f)[1] + 1 for f in step.tree}
        if step is self._open:
            partial = view.rows(step.frame)[1]
            held = counts_before(self.run, self.steps, step, partial)
            until = {f: held[f][0] + 1 for f in step.tree} | {step.frame: partial}
        for found in first_row(self.run, self.steps, step, self.changed, until):
            if found is not None and found.row is None and step is self._open:
                found.row, found.why = until[step.frame], "the run stands in it, which is done again"
            yield found

    def _stays(self, step: Step, opened: int) -> None:
        """Nothing in a loop differs: its rows and checkpoints stay."""
        run, machine = self.run, self.run.machine
        shift = opened - core.loop_events(machine, step.frame)
        self._opened[step.frame] = opened
        later = self.steps.stores_from(step.start)
        inside = [c for c in self._old if step.start < c.ip < step.stop]
        kept = [core.revised(c, machine, shift, later) for c in inside]
        run.continue_from([*run.checkpoints, *kept])
        if step is not self._open:
            self._within[step.start] = self._old_within[step.start]
            return
        assert self._here is not None
        core.stand(machine, self._here.ip, 0, {}, self._opened)
        here = core.revised(self._here, machine, shift, later)
        core.restore(machine, here)
        last = run.checkpoints[-1].events
        run.continue_from([*run.checkpoints, *([here] if here.events > last else [])])
        self._landed, self._at = True, None

    def _again(self, step: Step, found: Found, opened: int, fired: bool) -> Iterator[None]:
        """Run a loop from its first row that differs."""
        run, machine, steps = self.run, self.run.machine, self.steps
        before = self._keep(step) if fired and step is not self._open else None
        begin = self._begin(step) if fired else 0
        row = begin if found.row is None else found.row
        later = steps.stores_from(step.start)
        counts: dict[int, tuple[int, int, int, int]] = {}
        if fired and row > begin:
            counts = counts_before(run, steps, step, row)
            at = events_before(run, steps, step, row, self._old) - core.loop_events(machine, step.frame) + opened
            shift = opened - core.loop_events(machine, step.frame)
            self._opened[step.frame] = opened
            head = core.head_of(machine, step.frame)
            inside = [c for c in self._old if step.start < c.ip < step.stop and c.events + shift < at]
            kept = [core.revised(c, machine, shift, later) for c in inside]
            core.stand(machine, head, at, counts, self._opened)
            run.continue_from([*run.checkpoints, *kept, core.snapshot(machine, [0, step.frame])])
        else:
            self._stand(step.start, empty=step.tree)
        if step is self._open:
            self._landed, self._at = True, None
            return
        yield from self._run_through(step, {f: c[0] + (f != step.frame) for f, c in counts.items()})
        self._at = step.stop
        self._compare(step, before)

    def _run_through(self, step: Step, since: Mapping[int, int]) -> Iterator[None]:
        """Run to the end of a loop, from rows ``since`` on."""
        run, machine = self.run, self.run.machine
        self._at, start = None, run.event
        core.arm(machine, step.stop, True)
        try:
            while run.go() != "break":
                yield
            self._within[step.start] = core.base_events(machine) - core.loop_events(machine, step.frame)
            self._opened[step.frame] = core.loop_events(machine, step.frame)
        except GeneratorExit:
            raise
        except BaseException:
            self.leave()
            self._landed = True
            raise
        finally:
            core.arm(machine, step.stop, False)
            self._forget_later(self.steps.stores_from(step.stop))
            self.tally.rerun(run.event - start, step, since)
