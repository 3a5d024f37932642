"""Going on to a goal, a stop or the end of a frame: what all forward commands are made of."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from workbench.debugger.counting import Counting
from workbench.debugger.stop import Stop, StopReason
from workbench.execution.run import ANYWHERE, NOWHERE
from workbench.graph.node import Ref
from workbench.kernels import machine as core


@dataclass(frozen=True, slots=True)
class Goal:
    """What a forward command waits for; ``reason`` is what its Stop will say."""

    reason: StopReason
    steps: int | None = None


class Pursuing(Counting):
    """The part of the debugger that goes on."""

    def _pursue(
        self, goal: Goal, until: Callable[[], tuple[int, int] | None] | None = None, fresh: bool = False
    ) -> Iterator[Stop | None]:
        """To a goal or a stop. ``until`` names a frame and its row to run to next; at None it ends, without a stop.
        ``fresh``: the node in front was not stopped at yet."""
        yield from self._ready()
        run, left = self.run, goal.steps
        if not fresh:
            self._count_front()
        through, stop = not fresh, None
        while stop is None:
            if left is not None and left <= 0:
                stop = self._settle(goal.reason)
                break
            self.rearm()
            row = None if until is None else until()
            if until is not None and row is None:
                return
            if run.finished:
                yield self._finished(goal)
                return
            if left is not None:
                status = run.go(run.event + 1, exact=True, through=through)
            elif through and self._asked_of:
                status = run.go(run.event + 1, exact=True, through=True, loud=False)  # off the node we stand on
            else:
                status = run.go(until=row or NOWHERE)
            through = False
            if status == "break":
                stop = self._in_front()
                through = stop is None
            elif status == "hit":
                stop = self._value_hit()
                if stop is None and left is not None:
                    run.go(0, exact=True, through=True)  # past silent nodes, which are no steps
            if left is not None and status in ("hit", "reached"):
                left -= 1
            if stop is None and (left is None or left > 0):
                yield None
        yield stop

    def _over(self) -> Iterator[Stop | None]:
        """One node of this frame, or of one around it, with all that runs in frames inside."""
        run, base = self.run, self.frame_here()
        stop: Stop | None = None
        for stop in self._pursue(Goal(StopReason.STEP, steps=1)):
            if stop is None:
                yield None
        while stop is not None and stop.reason in (StopReason.STEP, StopReason.FRAME_LEFT):
            inner = self._child_of(base, self.frame_here())
            if inner is None or run.finished:
                break
            for stop in self._through(inner, exits=True):
                if stop is None:
                    yield None
        if stop is not None and stop.reason is StopReason.FRAME_LEFT:
            stop = replace(stop, reason=StopReason.STEP)
        yield stop

    def _through(self, frame: int, exits: bool = False) -> Iterator[Stop | None]:
        """At full speed to the end of an open frame, then behind it, or only to the first Exit with ``exits``."""
        span = self._span(frame)
        last = self._exit_of(frame)
        if last is not None and self.run.view.ip < self._nodes[last].ip:
            point = self.breakpoints.probe((Ref(last),), lambda position: "The frame is done.")
            try:
                stop: Stop | None = None
                for stop in self._pursue(Goal(StopReason.FRAME_LEFT)):
                    if stop is None:
                        yield None
            finally:
                self.breakpoints.remove(point)
            if stop is None or stop.reason is not StopReason.TARGET:
                yield stop
                return
        if last is not None and exits:
            yield Stop(StopReason.FRAME_LEFT, self.run.position())
            return
        yield from self._seek(StopReason.FRAME_LEFT, home=(*span, -1))

    def _exit_of(self, frame: int) -> str | None:
        """The first node that fires whenever a frame is done; None where that is not known."""
        layout, raw = self.run.plan.layout, self.run.plan.guards.raw
        if layout.frames[frame].path in raw:
            return None
        start, stop = self._span(frame)
        found = [
            n for n in layout.nodes
            if n.op == "Exit" and start < n.ip < stop and n.frame == layout.frames[frame].parent and not n.silent
        ]  # fmt: skip
        return min(found, key=lambda n: n.ip).name if found else None

    def frame_here(self) -> int:
        """Number of the frame in which the node in front fires."""
        node = self.run.position().node
        return 0 if node is None else self._nodes[node].frame

    def _child_of(self, base: int, frame: int) -> int | None:
        """The frame on the way from ``frame`` up that lies right inside ``base`` or a frame around that; None if
        ``frame`` is one of these itself."""
        frames, around = self.run.plan.layout.frames, set[int]()
        while base >= 0:
            around.add(base)
            base = frames[base].parent
        inner = None
        while frame not in around:
            inner, frame = frame, frames[frame].parent
        return inner

    def _to_next_row(self) -> Iterator[Stop | None]:
        frame = self.run.active_frames()[-1]
        if frame == 0:
            return self._seek(StopReason.ITERATION, home=(*self._span(0), 0))
        return self._seek(
            StopReason.ITERATION, watch=(frame, self.run.view.rows(frame)[1]), home=(*self._span(frame), -1)
        )

    def _seek(
        self, reason: StopReason, watch: tuple[int, int] = (-1, -1), home: tuple[int, int, int] = ANYWHERE
    ) -> Iterator[Stop | None]:
        """On, event by event, until a frame's row changes or the run leaves its home."""
        yield from self._ready()
        run, through, stop = self.run, True, None
        self._count_front()
        while stop is None:
            self.rearm()
            status = run.go(None, exact=True, through=through, watch=watch, home=home)
            through = False
            if status == "halt":
                stop = self._finished(Goal(reason))
            elif status == "break":
                stop = self._in_front()
                through = stop is None
            elif status == "hit":
                stop = self._value_hit()
            elif status == "reached":
                left = not home[0] < run.view.ip < home[1]
                if left or reason is not StopReason.FRAME_LEFT:
                    stop = Stop(StopReason.FRAME_LEFT if left else reason, run.position())
            if stop is None:
                yield None
        yield stop

    def _span(self, frame: int) -> tuple[int, int]:
        layout = self.run.plan.layout.frames[frame]
        return layout.start, layout.stop

    def _finished(self, goal: Goal) -> Stop:
        reason = goal.reason if goal.reason is StopReason.NOT_REACHED else StopReason.FINISHED
        return Stop(reason, self.run.position())

    def opened(self, frame: int) -> int:
        """Events in front of the last activation of a frame."""
        return core.loop_events(self.run.machine, frame)
