"""Looking at breakpoints: what the machine is to ask, and what is decided where it stops.

::

    machine, in front of a node   --"break"--> plain breakpoints decide
             behind its firing    --"hit"----> those that ask for its value decide

The machine stops where something that it asks holds (:mod:`workbench.debugger.asks`), or may hold; here it is asked
again, with all that the language knows. Hits that are no stops it counts by itself, where it is sure of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.debugger import timetravel
from workbench.debugger.armed import Armed
from workbench.debugger.asks import Asks
from workbench.debugger.batch import Batch
from workbench.debugger.breakpoint import Breakpoint
from workbench.debugger.breakpoints import Breakpoints
from workbench.debugger.health import STRIDE, complaint
from workbench.debugger.ranges import values_between
from workbench.debugger.stop import Stop, StopReason
from workbench.debugger.tally import DIRECT, Tally
from workbench.debugger.template import LogLine
from workbench.errors import DeadValueError, TraceError, WorkbenchError
from workbench.execution import Position, Run
from workbench.graph.node import Ref
from workbench.kernels import machine as core
from workbench.trace.describe import short

if TYPE_CHECKING:
    from workbench.kernels.layout import NodeLayout

#: so many iterations are read one by one, more in one go
ONE_BY_ONE = 12


class Looking:
    """The part of the debugger that knows the breakpoints."""

    run: Run
    breakpoints: Breakpoints
    _nodes: dict[str, NodeLayout]
    #: names the pattern of a series; set by whoever can
    classify: Callable[[np.ndarray], str] | None = None

    def __init__(self) -> None:
        self._stale = False
        #: number of an ask -> what it stands for; and of those whose hits the machine counts, their breakpoint
        self._asked_of: list[Armed] = []
        self._passing: dict[int, Breakpoint] = {}
        self._tally: Tally = DIRECT
        #: numbers of the only breakpoints that are asked
        self._only: set[int] | None = None

    # -- setting ----------------------------------------------------------------------------------------------------
    def _arm(self) -> None:
        self._stale = True  # carried out by rearm, on the thread that runs the machine

    def rearm(self) -> None:
        """Tell the machine what is asked where, if that has changed."""
        if not self._stale:
            return
        self.absorb()
        self._stale = False
        asks = Asks(self.run)
        self._asked_of = []
        self._passing = {}
        for name, at in self.breakpoints.armed().items():
            node = self._nodes.get(name)
            if node is None or node.silent:
                continue
            for armed in at:
                if asks.add(node, armed) and armed.point.counted and len(armed.point.refs) == 1:
                    self._passing[len(self._asked_of)] = armed.point
                self._asked_of.append(armed)
        core.set_asks(self.run.machine, [q.spec for q in asks.questions], asks.sites)
        self.let_pass()

    def disarm(self) -> None:
        """Run over breakpoints until the next command that goes on."""
        self.absorb()
        core.set_asks(self.run.machine, [], [])
        self._asked_of, self._passing, self._stale = [], {}, True

    # -- counting --------------------------------------------------------------------------------------------------
    def let_pass(self) -> None:
        """Let the machine count the hits that are no stops by itself."""
        for number, point in self._passing.items():
            core.let_pass(self.run.machine, number, self._tally.left(point))

    def absorb(self) -> None:
        """Take over the hits that the machine has let pass."""
        if self._passing:
            for number, count, events in core.take_passed(self.run.machine):
                self._tally.many(self._passing[number], count, events)

    def _counts(self, point: Breakpoint, event: int) -> bool:
        """Count a hit; whether it is one to stop at."""
        due = self._tally.one(point, event)
        if point in self._passing.values():
            self.let_pass()
        return due

    # -- asking ----------------------------------------------------------------------------------------------------
    def _reported(self, after: bool) -> list[Armed]:
        """What the machine stopped for."""
        self.absorb()
        found = [self._asked_of[k] for k in core.reported(self.run.machine) if k < len(self._asked_of)]
        return [
            a for a in found
            if a.point.after == after and a.point.enabled and (self._only is None or a.point.number in self._only)
        ]  # fmt: skip

    def _in_front(self) -> Stop | None:
        """What plain breakpoints say to the node in front."""
        position, found = self.run.position(), None
        assert position.node is not None
        for armed in self._reported(after=False):
            point, detail = armed.point, ""
            if not point.matches(position.iteration, position.node):
                continue
            if point.probe is not None:
                detail = point.probe(position)
                if not detail:
                    continue
            if self._counts(point, position.event) and found is None:
                reason = StopReason.TARGET if point.internal else StopReason.BREAKPOINT
                detail = detail if point.internal else f"Breakpoint: {point}."
                found = Stop(reason, position, detail, fired=position.tag)
        return found

    def _value_hit(self) -> Stop | None:
        """Decide about a firing that has just happened and may be a hit: a Stop, or None to go on."""
        watching, found = self._reported(after=True), None
        if not watching:
            return None
        node = self._nodes[watching[0].ref.node]
        path = self.run.plan.layout.frames[node.frame].path
        fired = Position(node.name, self.run.event - 1, path, self.run.iteration_of(node.frame) if path else ())
        for armed in watching:
            detail = self._ask(armed, fired)
            if detail and found is None:
                stop = self._settle(StopReason.BREAKPOINT)
                tag = fired.tag._replace(output=armed.ref.index) if fired.tag is not None else None
                found = replace(stop, reason=StopReason.BREAKPOINT, detail=detail, fired=tag)
        return found

    def _ask(self, armed: Armed, fired: Position) -> str:
        """Ask one breakpoint about a firing that has just happened; why to stop, or nothing."""
        point = armed.point
        if not point.matches(fired.iteration, fired.node):
            return ""
        batch = self.batch(armed, fired)
        if batch is None or not point.holds(batch, armed.health)[-1]:
            return ""
        tag = fired.tag
        assert tag is not None
        tag = tag._replace(output=armed.ref.index)
        if not self._counts(point, fired.event):
            return ""
        if point.log is not None:
            if self._tally is DIRECT:  # else it is looked at again: it was written
                line = point.log.line(batch, tag, point.hits_seen)
                self.breakpoints.write(LogLine(line, point.number, fired.event + 1, tag))
            return ""
        why = ""
        if point.watch is not None:
            why = f": {short(np.asarray(batch.previous[0][-1]))} became {short(np.asarray(batch.values[-1]))}"
        elif armed.health:
            why = f": {complaint(armed.health, batch)}"
        return f"Breakpoint: {point}, at {tag}{why}."

    # -- reading ---------------------------------------------------------------------------------------------------
    def batch(self, armed: Armed, fired: Position) -> Batch | None:
        """The value that has just fired and what a breakpoint reads of the iterations before; None if it is dead."""
        value = self._value_of(armed.ref, fired)
        if value is None:
            return None

        def lookup(name: str, back: int) -> tuple[np.ndarray, np.ndarray]:
            return self._other(name, fired, back)

        back, step = armed.point.looks_back, fired.iteration[-1] if fired.iteration else 0
        if armed.health == ("pattern",) and step % STRIDE:
            back = 0  # not looked at here
        earlier = self._earlier(armed.ref, fired, min(back, step)) if back and step else []
        earlier = _fitting(earlier, value)
        values = np.stack([*(v for _, v in earlier), np.asarray(value)]) if earlier else np.asarray(value)[None]
        iterations = np.array([(*fired.iteration[:-1], k) for k, _ in earlier] + [fired.iteration], np.int64)
        return Batch(values, iterations.reshape(len(values), -1), lookup, self.classify)

    def _value_of(self, ref: Ref, fired: Position) -> Any:
        """The value that has just fired, or None if it is dead; its row may be complete by now."""
        frame = self.run.plan.layout.values[tuple(ref)].frame
        if frame == 0 or frame in self.run.active_frames() and self.run.iteration_of(frame) == fired.iteration:
            return self.run.value_now(ref)
        return self._read(ref, fired.iteration)

    def _read(self, ref: Ref, iteration: tuple[int, ...]) -> Any:
        """A recorded value, recomputed where it is no longer kept; None if it is dead or has not fired."""
        try:
            return self.run.trace[ref].at(iteration)
        except DeadValueError:
            return None
        except TraceError as error:
            if error.slug != "not-recorded":
                return None
        try:
            return timetravel.recompute(self.run, ref, iteration)
        except WorkbenchError:
            return None

    def _earlier(self, ref: Ref, fired: Position, back: int) -> list[tuple[int, Any]]:
        """(iteration, value) of the ``back`` iterations before a firing, as far as they were alive."""
        around, step = fired.iteration[:-1], fired.iteration[-1]
        if back <= ONE_BY_ONE:
            read = [(k, self._read(ref, (*around, k))) for k in range(step - back, step)]
            return [(k, v) for k, v in read if v is not None]
        iterations, values = values_between(self.run, self.run.trace, ref, step - back, step, 1, around)
        return list(zip(iterations[:, -1].tolist(), values, strict=True))

    def _other(self, name: str, fired: Position, back: int) -> tuple[np.ndarray, np.ndarray]:
        """Another value in the same iteration, or the one before."""
        ref = self.breakpoints.ref(name)
        depth = len(self.run.plan.layout.frames[self.run.plan.layout.values[tuple(ref)].frame].path)
        iteration = fired.iteration[:depth]
        if back:
            iteration = (*iteration[:-1], iteration[-1] - 1) if iteration else ()
        found = None
        if not back or (iteration and iteration[-1] >= 0):
            found = self._read(ref, iteration)
        return (np.full(1, np.nan), np.zeros(1, bool)) if found is None else (np.asarray(found)[None], np.ones(1, bool))

    def _settle(self, reason: StopReason) -> Stop:
        """Go on to the next node that is not silent, so that the position is one to look at."""
        position = self.run.position()
        if position.silent or position.node is None and not self.run.finished:
            self.run.go(0, exact=True, through=True)
        return Stop(StopReason.FINISHED if self.run.finished else reason, self.run.position())


def _fitting(earlier: list[tuple[int, Any]], value: Any) -> list[tuple[int, Any]]:
    """The iterations right before a value that have its shape and dtype."""
    newest = np.asarray(value)
    found: list[tuple[int, Any]] = []
    for k, item in reversed(earlier):
        array = np.asarray(item)
        if array.shape != newest.shape or array.dtype != newest.dtype:
            break
        found.append((k, array))
    return found[::-1]
