"""Backward commands: every earlier state is reached by replaying from the checkpoint before it, bit for bit.

``reverse_continue`` looks at the stretch behind each checkpoint, the latest first, with the same breakpoints armed and
the same questions asked as on the way forward: so it stops exactly where a run from the beginning would have stopped
last. Counts of hits are those that held there; where they are not known any more the hits are counted again.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator

from workbench.debugger import timetravel
from workbench.debugger.breakpoint import Breakpoint
from workbench.debugger.forward import Forward, positive
from workbench.debugger.hits import UNKNOWN
from workbench.debugger.stop import Stop, StopReason
from workbench.debugger.tally import Beside

#: after these the run has been through its last event
BEHIND = (StopReason.FINISHED, StopReason.NOT_REACHED, StopReason.FAILED)


class Backward(Forward):
    """Commands that go back."""

    stop: Stop

    # -- commands --------------------------------------------------------------------------------------------------
    def _do_step_back(self, n: int = 1) -> Iterator[Stop | None]:
        positive("step_back", n)
        yield timetravel.step_back(self.run, n)

    def _do_step_back_over(self, n: int = 1) -> Iterator[Stop | None]:
        """Back by ``n`` nodes of this frame; frames inside it are passed over."""
        positive("step_back_over", n)
        stop = self.stop
        for _ in range(n):
            stop = yield from self._back_over(self.frame_here())
            if stop.reason is StopReason.BEGINNING:
                break
        yield stop

    def _do_step_back_out(self) -> Iterator[Stop | None]:
        """Back to the node before the innermost open frame was entered; at the outermost level, to the beginning."""
        frame = self.run.active_frames()[-1]
        if frame == 0:
            self.run.seek(0)
            yield Stop(StopReason.BEGINNING, self.run.position())
            return
        self.run.seek(self.opened(frame))
        stop = yield from self._back_over(self.run.plan.layout.frames[frame].parent)
        at_start = stop.reason is StopReason.BEGINNING
        yield Stop(StopReason.BEGINNING if at_start else StopReason.FRAME_LEFT, stop.position)

    def _do_previous_iteration(self, n: int = 1) -> Iterator[Stop | None]:
        positive("previous_iteration", n)
        for _ in range(n):
            stop = timetravel.previous_iteration(self.run)
            if stop.reason is StopReason.BEGINNING:
                break
            yield None
        yield stop

    def _do_reverse_continue(self) -> Iterator[Stop | None]:
        """Back to the last place where a breakpoint was hit; to the beginning if there was none."""
        yield from self._last_stop()

    def _do_restart(self) -> Iterator[Stop | None]:
        self.run.forget_edits()
        yield Stop(StopReason.STARTED, self.run.position())

    # -- over frames -----------------------------------------------------------------------------------------------
    def _back_over(self, base: int) -> Generator[None, None, Stop]:
        """To the last node before this one that is in the frame ``base`` or around it."""
        while True:
            stop = timetravel.step_back(self.run, 1)
            inner = self._child_of(base, self.frame_here())
            if stop.reason is StopReason.BEGINNING or inner is None:
                return stop
            yield None
            self.run.seek(self.opened(inner))

    # -- the last stop ---------------------------------------------------------------------------------------------
    def _last_stop(self, points: list[Breakpoint] | None = None) -> Iterator[Stop | None]:
        """To the last stop before this one of some breakpoints, by default of all that are on."""
        run, here = self.run, self.run.event
        end = here + 1 if self.stop.reason in BEHIND else here
        stop: Stop | None = None
        counted = [p for p in self.breakpoints.counted() if points is None or p in points]
        since = {p.since for p in counted if 0 < p.since < end}
        for floor in (*sorted(since, reverse=True), 0):
            stop = yield from self._between(floor, end, points)
            if stop is not None or floor == 0:
                break
            for point in counted:  # in front of where it was set, it counts from the beginning
                if point.since == floor:
                    point.count_anew(0, UNKNOWN)
                    point.since = 0
            end = floor
        run.seek(stop.event if stop is not None else 0)
        self.recount()
        if stop is None:
            yield Stop(StopReason.BEGINNING, run.position())
            return
        self._count_front()
        yield stop

    def _between(self, floor: int, end: int, points: list[Breakpoint] | None) -> Generator[None, None, Stop | None]:
        """The last stop from event ``floor`` on and before ``end``; leaves the run anywhere."""
        run, last, upto = self.run, end, end
        for checkpoint in reversed([c for c in run.checkpoints if c.events < end]):
            counts = yield from self._counts_at(checkpoint.events)
            found: Stop | None = None
            run.restore(checkpoint)

            with self._tallying(Beside(counts), points):
                for stop in self._stops(upto):
                    if stop is not None and floor <= stop.event < last:
                        found = stop
                    yield None
            if found is not None:
                return found
            if checkpoint.events <= floor:
                break
            upto = checkpoint.events
        return None
