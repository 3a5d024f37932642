"""The revision of one run for other feeds of the same types, in slices between which it can be left."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from workbench.execution.failure import failure_of
from workbench.execution.incremental.changes import MISSES, SMALL, UNKNOWN
from workbench.execution.incremental.loops import Loops
from workbench.execution.incremental.steps import Step, size_of
from workbench.kernels import machine as core

#: nodes that are computed in one piece, at most
LONGEST = 256


class Revision(Loops):
    """Use once: ``for _ in revision.slices()``; call :meth:`leave` first where that ends early.

    Between two slices the machine may stand anywhere; :meth:`leave` puts it where a run with the new feeds could stand,
    in front of what has not been revised, so that running on gives the rest.
    """

    _next = 0  # steps before this one are done

    def slices(self) -> Iterator[None]:
        """Revise, then run on to the end. Raises ExecutionError when a node fails; the run stands in front of it."""
        yield from self._revise()
        yield from self.tally.to_end(self.run)

    def _revise(self) -> Iterator[None]:
        run, steps, machine = self.run, self.steps, self.run.machine
        end = run.view.ip
        amid = steps.step_at(end)
        open_loop = amid if amid is not None and amid.is_loop else None
        if amid is not None and open_loop is None:
            end = amid.start  # what was done of a node for nothing is done again
        self._fired = {s.number for s in steps.all if s.start < end and core.holds(machine, s.guard)}
        # those between loops would only keep old results alive
        spans = [(s.start, s.stop) for s in steps.all if s.is_loop]
        first, *later = run.checkpoints
        self._old = [first, *(c for c in later if any(low < c.ip < high for low, high in spans))]
        self._open = open_loop
        self._remember_events()
        self._here = core.snapshot(machine, run.active_frames()) if open_loop is not None else None
        self._feed()
        run.continue_from([core.revised(self._old[0], machine, 0, range(len(steps.plan.layout.stores)))])
        for step in steps.all:
            if step.is_loop and step.start < end:
                self._push(step.number)
        while self._todo:
            step = steps.all[heapq.heappop(self._todo)]
            if step.start >= end:
                break
            if step.number < self._next:
                continue  # done in a stretch
            self._at = step.start
            if step.is_loop:
                yield from self._loop(step)
                if self._landed:
                    return
            else:
                self._node(step, end)
        self._stand(end)
        self._landed, self._at = True, None

    def _remember_events(self) -> None:
        """How many events the old run had in each loop that it has left."""
        machine, view, opened = self.run.machine, self.run.view, self._open
        frames = {s.start: s.frame for s in self.steps.all if s.is_loop}
        stop = view.ip if opened is None else opened.start + 1
        _, outside, entered = core.outermost_events(machine, stop, self.steps.ends)
        # events that loops had in front of each: what the machine had counted there, less those of the outermost level
        inside = [(core.loop_events(machine, frames[ip]) - at, ip) for ip, at in entered.items()]
        if opened is None:
            inside.append((core.base_events(machine) - outside, -1))
        self._old_within = {ip: after - before for (before, ip), (after, _) in pairwise(inside)}

    def _node(self, step: Step, end: int) -> None:
        run, fired = self.run, step.number in self._fired
        if not core.holds(run.machine, step.guard):
            if fired:
                self._compare(step, None)
            return
        stretch = self._stretch(step, end) if fired and self._misses > MISSES else [step]
        before = self._keep(step) if fired and len(stretch) == 1 else None
        with np.errstate(all="ignore"):
            events = core.carry_out(run.machine, step.start, stretch[-1].stop)
        if events < 0:
            error = run.machine.error
            self._at = run.view.ip
            self.leave()
            self._at, self._landed = None, True
            if not isinstance(error, Exception):
                raise error or SystemError("an instruction failed without saying why")
            raise failure_of(run, error)
        if len(stretch) > 1:
            self._misses = MISSES  # the next one is compared again
            self._next = stretch[-1].number + 1
            for each in stretch:
                if each.reads:
                    self.tally.add(each.name, 1)
                    self._compare(each, [UNKNOWN] * len(each.outputs))
            return
        self.tally.add(step.name, events)
        if not self._compare(step, before) and fired:
            self.cut.append(step.name)

    def _stretch(self, step: Step, end: int) -> list[Step]:
        """The nodes from ``step`` on that go in one piece, as in a full run: large arrays under one guard, each of
        which reads one that differs or is computed here; constants between them are no work."""
        found, ours, last = [step], {ref for ref, _ in step.outputs}, 1
        if not self._large(step):
            return found
        for each in self.steps.all[step.number + 1 : step.number + LONGEST]:
            constant = not each.reads and self.steps.plan.graph.nodes[each.name].op == "Const"
            if each.is_loop or each.start != found[-1].stop or each.stop > end or each.guard != step.guard:
                break
            if not constant:
                if each.number not in self._fired or not self._large(each):
                    break
                if not any(ref in ours or ref in self.changed for ref in each.reads):
                    break
                ours |= {ref for ref, _ in each.outputs}
            found.append(each)
            last = last if constant else len(found)
        return found[:last]

    def _large(self, step: Step) -> bool:
        """Whether a node's results are large arrays in memory that no loop reads."""
        places = [p for ref, p in step.outputs if ref not in self.steps.looped]
        return len(places) == len(step.outputs) > 0 and all(p.dtype is not None and size_of(p) > SMALL for p in places)
