"""Visits stops without ending at them: to recount hits, and to find the last stop.

Hit counts belong to an event. When the run goes back, the count is that of the earlier event; if the events of these
hits are no longer known, or the run is before the event at which the breakpoint was set, the past is replayed to count
the hits again.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator

from workbench.debugger.breakpoints.breakpoint import Breakpoint
from workbench.debugger.control.breakpoint_checks import BreakpointChecks
from workbench.debugger.control.hit_policy import Recount
from workbench.debugger.stop import Stop
from workbench.errors import ExecutionError


class HitRecount:
    """Keeps the hit counts of breakpoints correct when the run goes back."""

    def __init__(self, checks: BreakpointChecks) -> None:
        self.context, self.checks = checks.context, checks

    # -- over stops ------------------------------------------------------------------------------------------------
    def visit_stops(self, end: int, visit: Callable[[Stop], None] = lambda stop: None) -> Iterator[None]:
        """Run to event ``end`` in slices and call ``visit`` at every stop before it; breakpoints do not end the run.

        The first possible stop is at the next node.
        """
        run, ignore_current = self.context.run, False
        margin = 4 * run.plan.program.length
        self.checks.rearm()
        self.checks.set_hits_to_skip()
        while run.event < end and not run.finished:
            fast = run.event + margin < end and not ignore_current
            stop: Stop | None = None
            try:
                if ignore_current:
                    status = run.go(run.event + 1, exact=True, ignore_current=True, skip_silent=False)
                elif fast:
                    status = run.go(end - margin)
                else:
                    status = run.go(end, exact=True, skip_silent=False)
                ignore_current = False
                if status == "break":
                    stop = self.checks.check_node_ahead()
                    ignore_current = True
                elif status == "hit":
                    stop = self.checks.check_fired_value()
            except ExecutionError:
                if run.machine.retire_failed:
                    raise
                return  # a node that failed after the last event also fails in the replay
            if stop is not None:
                visit(stop)
            yield None

    # -- counts ----------------------------------------------------------------------------------------------------
    def rewind_counts(self) -> None:
        """Reset hit counts and the lines of logpoints to the present event."""
        self.checks.absorb()
        event = self.context.run.event
        for point in self.context.breakpoints.all():
            point.rewind_to(event)
        self.context.breakpoints.rewind_to(event)

    def restore_counts(self) -> Iterator[None]:
        """Recompute counts that are no longer known, before the run continues from here."""
        event = self.context.run.event
        lost = [p for p in self.context.breakpoints.counted() if p.count_before(event) is None]
        if lost:
            yield from self._count_again(lost, event)
            self.context.run.seek(event)
        self.checks.set_hits_to_skip()

    def counts_at(self, event: int) -> Generator[None, None, dict[int, int]]:
        """Breakpoint number -> hits before an event, for the breakpoints that stop by their count."""
        counted = self.context.breakpoints.counted()
        lost = [p for p in counted if p.count_before(event) is None]
        if lost:
            yield from self._count_again(lost, event)
        return {p.number: p.count_before(event) or 0 for p in counted}

    def _count_again(self, points: list[Breakpoint], event: int) -> Iterator[None]:
        """Count the hits from the beginning up to an event; leaves the run near that event."""
        for point in points:
            point.since = 0
            point.restart_count(0, 0)

        self.context.run.restore(self.context.run.checkpoints[0])
        with self.checks.counting_with(Recount(), points):
            yield from self.visit_stops(event)

    def count_node_ahead(self) -> None:
        """Count a hit of the next node, which the run is about to fire without a stop."""
        position = self.context.run.position()
        if position.node is None:
            return
        self.checks.absorb()
        for armed in self.context.breakpoints.armed().get(position.node, ()):
            point = armed.point
            checked = not point.after and point.probe is None and point.matches(position.iteration, position.node)
            if checked and not point.was_last_hit(position.event):
                point.hit(position.event)
        self.checks.set_hits_to_skip()
