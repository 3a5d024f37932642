"""The revision of a run for other feeds of the same types, in slices; it can be abandoned between slices.

::

    Revision               the steps of the outermost level, in program order
      LoopRestart          one loop: the first iteration that differs, and a rerun from it
      RevisionPosition     where the executor is, in events of the new run
      Changes              values that differ, and the queue of the steps that read them
      OldRun               the run as it was before
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from workbench.execution.failure import failure_of
from workbench.execution.incremental.changes import MISSES, SMALL, UNKNOWN, Changes
from workbench.execution.incremental.loop_restart import LoopRestart, OldRun
from workbench.execution.incremental.revision_position import RevisionPosition
from workbench.execution.incremental.steps import RevisionStep, RevisionSteps, size_of
from workbench.execution.incremental.update import LoopUpdate
from workbench.execution.incremental.work_counter import WorkCounter
from workbench.execution.run import Run
from workbench.kernels import machine as core

#: maximum number of nodes executed in one piece
LONGEST = 256


class Revision:
    """One revision. Use it once: iterate over ``slices()``, and call :meth:`leave` if the iteration ends early.

    Between two slices the executor may be anywhere; :meth:`leave` moves it to a position in a run with the new feeds,
    before the first step that has not been revised, so that the following run computes the rest.
    """

    def __init__(self, run: Run, steps: RevisionSteps, feeds: Mapping[str, Any]) -> None:
        self.run, self.steps = run, steps
        self._changes = Changes(run, steps, feeds)
        self._position = RevisionPosition(run, steps)
        self._old = OldRun(run.checkpoints)
        self._restart = LoopRestart(self._changes, self._position, self._old)
        self._next = 0  # steps before this one are done

    @property
    def work(self) -> WorkCounter:
        """The firings that were executed again."""
        return self._changes.work

    @property
    def loops(self) -> Sequence[LoopUpdate]:
        """The effect on each loop that was examined."""
        return self._restart.loops

    @property
    def cut(self) -> Sequence[str]:
        """Nodes whose inputs differed but whose results did not."""
        return self._restart.cut

    def leave(self) -> None:
        """Move the executor to the end of the revised part; everything later in the program is dropped."""
        self._position.leave()

    def slices(self) -> Iterator[None]:
        """Revise, then run to the end. Raises ExecutionError when a node fails, and leaves the run before that node."""
        yield from self._revise()
        yield from self.work.to_end(self.run)

    def _revise(self) -> Iterator[None]:
        run, steps, machine = self.run, self.steps, self.run.machine
        end = run.view.ip
        current = steps.step_at(end)
        open_loop = current if current is not None and current.is_loop else None
        if current is not None and open_loop is None:
            end = current.start  # a node that was interrupted is executed again
        self._changes.fired = {s.number for s in steps.all if s.start < end and core.holds(machine, s.guard)}
        # checkpoints between loops would only keep old results alive
        spans = [(s.start, s.stop) for s in steps.all if s.is_loop]
        first, *later = run.checkpoints
        self._old.checkpoints = [first, *(c for c in later if any(low < c.ip < high for low, high in spans))]
        self._old.open_loop = open_loop
        self._remember_events()
        self._old.here = core.snapshot(machine, run.active_frames()) if open_loop is not None else None
        self._changes.put_feeds()
        run.continue_from([core.revised(first, machine, 0, range(len(steps.plan.layout.stores)))])
        for step in steps.all:
            if step.is_loop and step.start < end:
                self._changes.push(step.number)
        for step in self._changes.steps_in_order():
            if step.start >= end:
                break
            if step.number < self._next:
                continue  # was executed in one piece with earlier nodes
            self._position.revised_to = step.start
            if step.is_loop:
                yield from self._restart.revise(step)
                if self._position.landed:
                    return
            else:
                self._node(step, end)
        self._position.set_before(end)
        self._position.land()

    def _remember_events(self) -> None:
        """Record the number of the old run's events in each loop that it has finished."""
        machine, view, opened = self.run.machine, self.run.view, self._old.open_loop
        frames = {s.start: s.frame for s in self.steps.all if s.is_loop}
        stop = view.ip if opened is None else opened.start + 1
        _, outside, entered = core.outermost_events(machine, stop, self.steps.ends)
        # events of all earlier loops: the event count at the entry of each loop, minus the events of the outermost
        # level
        inside = [(core.loop_events(machine, frames[ip]) - at, ip) for ip, at in entered.items()]
        if opened is None:
            inside.append((core.base_events(machine) - outside, -1))
        self._old.events_within = {ip: after - before for (before, ip), (after, _) in pairwise(inside)}

    def _node(self, step: RevisionStep, end: int) -> None:
        run, fired = self.run, step.number in self._changes.fired
        if not core.holds(run.machine, step.guard):
            if fired:
                self._changes.compare(step, None)
            return
        stretch = self._stretch(step, end) if fired and self._changes.misses > MISSES else [step]
        before = self._changes.keep_outputs(step) if fired and len(stretch) == 1 else None
        with np.errstate(all="ignore"):
            events = core.carry_out(run.machine, step.start, stretch[-1].stop)
        if events < 0:
            error = run.machine.error
            self._position.revised_to = run.view.ip
            self.leave()
            self._position.land()
            if not isinstance(error, Exception):
                raise error or SystemError("an instruction failed without an error")
            raise failure_of(run, error)
        if len(stretch) > 1:
            self._changes.misses = MISSES  # the next array is compared again
            self._next = stretch[-1].number + 1
            for each in stretch:
                if each.reads:
                    self.work.add(each.name, 1)
                    self._changes.compare(each, [UNKNOWN] * len(each.outputs))
            return
        self.work.add(step.name, events)
        if not self._changes.compare(step, before) and fired:
            self._restart.cut.append(step.name)

    def _stretch(self, step: RevisionStep, end: int) -> list[RevisionStep]:
        """The nodes from ``step`` that are executed in one piece, as in a full run: nodes with large arrays under one
        guard, each of which reads a value that differs or is computed here. Constants between them cost nothing."""
        found, ours, last = [step], {ref for ref, _ in step.outputs}, 1
        if not self._large(step):
            return found
        for each in self.steps.all[step.number + 1 : step.number + LONGEST]:
            constant = not each.reads and self.steps.plan.graph.nodes[each.name].op == "Const"
            if each.is_loop or each.start != found[-1].stop or each.stop > end or each.guard != step.guard:
                break
            if not constant:
                if each.number not in self._changes.fired or not self._large(each):
                    break
                if not any(ref in ours or ref in self._changes.changed for ref in each.reads):
                    break
                ours |= {ref for ref, _ in each.outputs}
            found.append(each)
            last = last if constant else len(found)
        return found[:last]

    def _large(self, step: RevisionStep) -> bool:
        """True if the results of a node are large arrays in fixed memory that no loop reads."""
        places = [p for ref, p in step.outputs if ref not in self.steps.looped]
        return len(places) == len(step.outputs) > 0 and all(p.dtype is not None and size_of(p) > SMALL for p in places)
