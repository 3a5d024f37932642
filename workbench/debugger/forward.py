"""Forward commands: run, step, over and out of frames, to an iteration, to a place."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from workbench.debugger import timetravel
from workbench.debugger.iterations import as_path, short_repr
from workbench.debugger.pursuing import Goal, Pursuing
from workbench.debugger.stop import Stop, StopReason
from workbench.errors import SessionError


class Forward(Pursuing):
    """Commands that go on."""

    # -- commands --------------------------------------------------------------------------------------------------
    def _do_run(self) -> Iterator[Stop | None]:
        yield from self._pursue(Goal(StopReason.FINISHED))

    _do_resume = _do_run

    def _do_step(self, n: int = 1) -> Iterator[Stop | None]:
        positive("step", n)
        yield from self._pursue(Goal(StopReason.STEP, steps=n))

    def _do_step_over(self, n: int = 1) -> Iterator[Stop | None]:
        """Fire the next ``n`` nodes of this frame; frames inside it run to their end on the way."""
        positive("step_over", n)
        stop: Stop | None = None
        for _ in range(n):
            for stop in self._over():
                if stop is not None:
                    break
                yield None
            if stop is None or stop.reason is not StopReason.STEP:
                break
        yield stop

    def _do_next_iteration(self, n: int = 1) -> Iterator[Stop | None]:
        """To the next iteration of the innermost open loop; outside of any, into the next one."""
        positive("next_iteration", n)
        for _ in range(n):
            stop: Stop | None = None
            for stop in self._to_next_row():
                if stop is not None:
                    break
                yield None
            if stop is None or stop.reason is not StopReason.ITERATION:
                break
        yield stop

    def _do_step_into(self) -> Iterator[Stop | None]:
        """Run until a frame opens inside this one; out of it if none does."""
        frame = self.run.active_frames()[-1]
        yield from self._seek(StopReason.FRAME_ENTERED, home=(*self._span(frame), frame))

    def _do_step_out(self) -> Iterator[Stop | None]:
        """Run until the innermost open frame is left; at the outermost level, to the end."""
        frame = self.run.active_frames()[-1]
        if frame == 0:
            yield from self._pursue(Goal(StopReason.FINISHED))
        else:
            yield from self._through(frame)

    def _do_run_to(self, name: str, iteration: Any = None) -> Iterator[Stop | None]:
        """To the firing of ``name`` (in ``iteration``); where that lies behind, back to it."""
        ref = self.breakpoints.ref(name)
        iteration = as_path(iteration)
        here = self.run.position()
        if iteration is not None and here.node == ref.node and here.iteration == iteration:
            yield Stop(StopReason.TARGET, here)
            return
        if iteration is not None and timetravel.has_fired(self.run, ref, iteration):
            yield timetravel.back_to_firing(self.run, ref, iteration)
            return
        goal, start = Goal(StopReason.NOT_REACHED), self.run.event
        if iteration is not None:  # at full speed to where it begins, from there on event by event
            yield from self._pursue(goal, lambda: timetravel.next_row(self.run, ref, iteration))
        if iteration is not None and timetravel.is_past(self.run, ref, iteration):
            yield from self._pursue(goal)
            return
        point = self.breakpoints.add(str(ref), iteration, internal=True)
        try:
            yield from self._pursue(goal, fresh=self.run.event != start)
        finally:
            self.breakpoints.remove(point)


def positive(command: str, n: int) -> None:
    """SessionError for what is no number of times."""
    if not isinstance(n, int) or n < 1:
        raise SessionError(f"{command} takes a number from 1 on, {short_repr(n)} came.", slug="bad-count")
