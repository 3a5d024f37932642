"""Going through stops without standing at them: to count hits again, and to find the last one.

A breakpoint counts the hits of its past. After going back the count is what it was there; where the events of so many
hits are no longer remembered, or the run is in front of the place where the breakpoint was set, the past is gone
through once more.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import contextmanager

from workbench.debugger.breakpoint import Breakpoint
from workbench.debugger.looking import Looking
from workbench.debugger.stop import Stop
from workbench.debugger.tally import DIRECT, Anew, Tally
from workbench.errors import ExecutionError


class Counting(Looking):
    """The part of the debugger that counts hits."""

    # -- through stops ---------------------------------------------------------------------------------------------
    def _stops(self, end: int) -> Iterator[Stop | None]:
        """Every stop from here on whose firing is in front of ``end``; None now and then. Does not end at breakpoints.

        The first is that of the node in front, if there is one.
        """
        run, through = self.run, False
        margin = 4 * run.plan.program.length
        self.rearm()
        self.let_pass()
        while run.event < end and not run.finished:
            fast = run.event + margin < end and not through
            try:
                if through:
                    status = run.go(run.event + 1, exact=True, through=True, loud=False)
                elif fast:
                    status = run.go(end - margin)
                else:
                    status = run.go(end, exact=True, loud=False)
                through = False
                if status == "break":
                    yield self._in_front()
                    through = True
                elif status == "hit":
                    yield self._value_hit()
            except ExecutionError:
                if run.machine.retire_failed:
                    raise
                return  # what failed behind the last event fails there again
            yield None

    # -- counts ----------------------------------------------------------------------------------------------------
    def recount(self) -> None:
        """Let counts and the lines of logpoints be as they were here."""
        self.absorb()
        event = self.run.event
        for point in self.breakpoints.all():
            point.back_to(event)
        self.breakpoints.back_to(event)

    def _ready(self) -> Iterator[None]:
        """Find counts that are not known any more, before the run goes on from here."""
        event = self.run.event
        lost = [p for p in self.breakpoints.counted() if p.count_before(event) is None]
        if lost:
            yield from self._count_again(lost, event)
            self.run.seek(event)
        self.let_pass()

    def _counts_at(self, event: int) -> Generator[None, None, dict[int, int]]:
        """Number -> hits in front of an event, of those that stop by their count."""
        counted = self.breakpoints.counted()
        lost = [p for p in counted if p.count_before(event) is None]
        if lost:
            yield from self._count_again(lost, event)
        return {p.number: p.count_before(event) or 0 for p in counted}

    def _count_again(self, points: list[Breakpoint], event: int) -> Iterator[None]:
        """Count the hits from the beginning up to an event; leaves the run near it."""
        for point in points:
            point.since = 0
            point.count_anew(0, 0)

        self.run.restore(self.run.checkpoints[0])
        with self._tallying(Anew(), points):
            yield from (None for _ in self._stops(event))

    def _count_front(self) -> None:
        """The node in front is left without a stop: if it is a hit, it counts all the same."""
        position = self.run.position()
        if position.node is None:
            return
        self.absorb()
        for armed in self.breakpoints.armed().get(position.node, ()):
            point = armed.point
            asked = not point.after and point.probe is None and point.matches(position.iteration, position.node)
            if asked and not point.was_hit(position.event):
                point.hit(position.event)
        self.let_pass()

    @contextmanager
    def _tallying(self, tally: Tally, points: list[Breakpoint] | None) -> Iterator[None]:
        """Look at what was looked at before: only these breakpoints (None: all), hits counted there, no lines."""
        self.absorb()
        self._tally, self._only = tally, None if points is None else {p.number for p in points}
        try:
            yield
        finally:
            self.absorb()
            self._tally, self._only = DIRECT, None
            self.let_pass()
