"""Looking at breakpoints: what the machine is to ask, and what is decided where it stops.

::

    machine, in front of a node   --"break"--> plain breakpoints decide
             behind its firing    --"hit"----> those that ask for its value decide

The machine stops where something that it asks holds (:mod:`workbench.debugger.asks`), or may hold; here it is asked
again, with all that the language knows. Hits that are no stops it counts by itself, where it is sure of them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from workbench.debugger.armed import Armed
from workbench.debugger.asks import Asks
from workbench.debugger.breakpoint import Breakpoint
from workbench.debugger.firing import Firing
from workbench.debugger.health import complaint
from workbench.debugger.stop import Stop, StopReason
from workbench.debugger.tally import DIRECT, Tally
from workbench.debugger.template import LogLine
from workbench.execution import Position
from workbench.kernels import machine as core
from workbench.trace.describe import short

if TYPE_CHECKING:
    from workbench.kernels.layout import NodeLayout

class Looking(Firing):
    """The part of the debugger that knows the breakpoints."""

    _nodes: dict[str, NodeLayout]

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

    # -- the end of a command --------------------------------------------------------------------------------------
    def _settle(self, reason: StopReason) -> Stop:
        """Go on to the next node that is not silent, so that the position is one to look at."""
        position = self.run.position()
        if position.silent or position.node is None and not self.run.finished:
            self.run.go(0, exact=True, through=True)
        return Stop(StopReason.FINISHED if self.run.finished else reason, self.run.position())
