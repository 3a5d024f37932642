"""Revises loops: finds the first iteration of each loop that differs, and runs the loop again from there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from workbench.execution.incremental.changes import Changes
from workbench.execution.incremental.frontier import FrontierResult, first_row, frontier_nodes
from workbench.execution.incremental.revision_position import EMPTY, RevisionPosition
from workbench.execution.incremental.steps import RevisionStep
from workbench.execution.incremental.update import LoopUpdate
from workbench.execution.incremental.work_counter import counts_before, events_before
from workbench.kernels import machine as core


@dataclass(slots=True)
class OldRun:
    """The run as it was before the revision.

    ``open_loop`` is the loop in which it stopped, ``here`` its state there; ``events_within`` maps the first
    instruction of each finished loop to the number of events in the loop.
    """

    checkpoints: Sequence[core.Snapshot]
    open_loop: RevisionStep | None = None
    here: core.Snapshot | None = None
    events_within: dict[int, int] = field(default_factory=dict)


class LoopRestart:
    """Revises one loop after another; the old run may have stopped inside the last one."""

    def __init__(self, changes: Changes, position: RevisionPosition, old: OldRun) -> None:
        self.run, self.steps = changes.run, changes.steps
        self.changes, self.position, self.old = changes, position, old
        self.loops: list[LoopUpdate] = []
        #: nodes whose inputs differed but whose results did not
        self.cut: list[str] = []

    def revise(self, step: RevisionStep) -> Iterator[None]:
        """Revise one loop, in slices."""
        machine = self.run.machine
        fired = step.number in self.changes.fired
        if not core.holds(machine, step.guard):
            if fired:
                core.set_position(machine, step.start, 0, dict.fromkeys(self.steps.stores(step.tree), EMPTY))
                self.changes.compare(step, None)
                self.loops.append(LoopUpdate(step.name, None, 0, "it no longer runs"))
                if step is self.old.open_loop:
                    self.position.set_before(step.start, forget=True)
                    self.position.land()
            return
        _, outside, entered = core.outermost_events(machine, step.start + 1, self.steps.ends)
        opened = outside + sum(self.position.events_within.get(ip, 0) for ip in entered)
        found = FrontierResult(None, why="it is run for the first time")
        if fired:
            for slice_ in self._search(step):
                if slice_ is None:
                    yield
                else:
                    found = slice_
        begin = self._begin(step) if fired else 0
        if fired and found.row is None:
            self._keep_unchanged(step, opened)
        else:
            yield from self._run_again(step, found, opened, fired)
        first = None
        if not fired or found.row is not None:
            first = 0 if found.row is None else found.row - begin
        if self.changes.changed.keys() & step.reads or not fired:
            text = f"no iteration differs: {found.compared:,} results were compared"
            if first is not None:
                text = f"iteration {first:,} is the first that differs: {found.why}"
            self.loops.append(LoopUpdate(step.name, first, found.compared, text))
        self.changes.work.compared += found.compared
        if first is None:
            self.cut.extend(found.readers)

    def _begin(self, step: RevisionStep) -> int:
        """The row of a loop's first iteration."""
        return int(self.run.view.activations(step.frame)[0][-1]) + 1

    def _search(self, step: RevisionStep) -> Iterator[FrontierResult | None]:
        """Search for the first row of a loop that differs; yields None between slices, and the result at the end."""
        begin, view = self._begin(step), self.run.view
        if self.changes.changed.keys() & step.starts:
            yield FrontierResult(begin, why="one of its start values differs")
            return
        if not self.changes.changed.keys() & step.reads:
            yield FrontierResult(None)
            return
        if self._computed_from_changed(step):
            yield FrontierResult(begin, why="arrays that are not recorded are computed from an input that differs")
            return
        if any(view.rows(store)[0] > 0 for store in self.steps.stores(step.tree)):
            yield FrontierResult(begin, why="an input that it reads differs, and some of its rows were dropped")
            return
        until = {f: view.rows(f)[1] + 1 for f in step.tree}
        if step is self.old.open_loop:
            partial = view.rows(step.frame)[1]
            held = counts_before(self.run, self.steps, step, partial)
            until = {f: held[f][0] + 1 for f in step.tree} | {step.frame: partial}
        for found in first_row(self.run, self.steps, step, self.changes.changed, until):
            if found is not None and found.row is None and step is self.old.open_loop:
                found.row, found.why = until[step.frame], "the run is inside this iteration, which is run again"
            yield found

    def _computed_from_changed(self, step: RevisionStep) -> bool:
        """True if a node that reads a changed value computes or reads an array that is not stored in rows."""
        graph, layout = self.run.plan.graph, self.run.plan.layout
        nodes, _ = frontier_nodes(self.steps, step, self.changes.changed)
        for node in nodes:
            values = [layout.values.get((r.node, r.index)) for r in graph.nodes[node.name].inputs]
            values += [layout.values[node.name, k] for k in range(len(self.run.plan.types[node.name]))]
            if any(v is not None and v.place is not None and layout.is_recomputed(v.place) for v in values):
                return True
        return False

    def _keep_unchanged(self, step: RevisionStep, opened: int) -> None:
        """Keep the rows and checkpoints of a loop in which nothing differs."""
        run, machine = self.run, self.run.machine
        shift = opened - core.loop_events(machine, step.frame)
        self.position.events_before[step.frame] = opened
        later = self.steps.stores_from(step.start)
        inside = [c for c in self.old.checkpoints if step.start < c.ip < step.stop]
        kept = [core.revised(c, machine, shift, later) for c in inside]
        run.continue_from([*run.checkpoints, *kept])
        if step is not self.old.open_loop:
            self.position.events_within[step.start] = self.old.events_within[step.start]
            return
        assert self.old.here is not None
        core.set_position(machine, self.old.here.ip, 0, {}, self.position.events_before)
        here = core.revised(self.old.here, machine, shift, later)
        core.restore(machine, here)
        last = run.checkpoints[-1].events
        run.continue_from([*run.checkpoints, *([here] if here.events > last else [])])
        self.position.land()

    def _run_again(self, step: RevisionStep, found: FrontierResult, opened: int, fired: bool) -> Iterator[None]:
        """Run a loop again from the first row that differs."""
        run, machine, steps = self.run, self.run.machine, self.steps
        before = self.changes.keep_outputs(step) if fired and step is not self.old.open_loop else None
        begin = self._begin(step) if fired else 0
        row = begin if found.row is None else found.row
        later = steps.stores_from(step.start)
        counts: dict[int, tuple[int, int, int, int]] = {}
        if fired and row > begin:
            counts = counts_before(run, steps, step, row)
            at = (
                events_before(run, steps, step, row, self.old.checkpoints)
                - core.loop_events(machine, step.frame)
                + opened
            )
            shift = opened - core.loop_events(machine, step.frame)
            self.position.events_before[step.frame] = opened
            head = core.head_of(machine, step.frame)
            inside = [c for c in self.old.checkpoints if step.start < c.ip < step.stop and c.events + shift < at]
            kept = [core.revised(c, machine, shift, later) for c in inside]
            core.set_position(machine, head, at, counts, self.position.events_before)
            run.continue_from([*run.checkpoints, *kept, core.snapshot(machine, [0, step.frame])])
        else:
            self.position.set_before(step.start, empty=step.tree)
        if step is self.old.open_loop:
            self.position.land()
            return
        yield from self._run_through(step, {f: c[0] + (f != step.frame) for f, c in counts.items()})
        self.position.revised_to = step.stop
        self.changes.compare(step, before)

    def _run_through(self, step: RevisionStep, since: Mapping[int, int]) -> Iterator[None]:
        """Run to the end of a loop, from rows ``since``."""
        run, machine = self.run, self.run.machine
        self.position.revised_to, start = None, run.event
        core.arm(machine, step.stop, True)
        try:
            while run.go() != "break":
                yield
            self.position.events_within[step.start] = core.base_events(machine) - core.loop_events(machine, step.frame)
            self.position.events_before[step.frame] = core.loop_events(machine, step.frame)
        except GeneratorExit:
            raise
        except BaseException:
            self.position.leave()
            self.position.landed = True
            raise
        finally:
            core.arm(machine, step.stop, False)
            self.position.forget_later(self.steps.stores_from(step.stop))
            self.changes.work.rerun(run.event - start, step, since)
