"""The debugger's state machine: one command at a time, carried out in slices.

A forward command is a *goal*: an event limit, a frame to watch, or nothing but the end; breakpoints are armed
instructions. Backward commands replay. Nothing here knows threads: ``advance`` does a slice and returns a Stop when the
command is done, None when there is more to do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from workbench.debugger import timetravel
from workbench.debugger.breakpoints import Breakpoint, Breakpoints, as_path
from workbench.debugger.history import History
from workbench.debugger.stop import Stop, StopReason
from workbench.debugger.updating import Updating
from workbench.errors import DeadValueError, ExecutionError, SessionError
from workbench.execution import Position, Run
from workbench.execution.incremental import Steps, Update
from workbench.execution.run import ANYWHERE, NOWHERE
from workbench.graph.node import Ref
from workbench.kernels import machine as core
from workbench.trace.describe import short


@dataclass(frozen=True, slots=True)
class Goal:
    """What a forward command waits for; ``reason`` is what its Stop will say."""

    reason: StopReason
    steps: int | None = None


class Debugger:
    """Commands over one :class:`Run`."""

    def __init__(self, run: Run, lean: bool = False) -> None:
        """``lean``: plans of this session let values go when nothing needs them any more."""
        self.run, self.lean = run, lean
        self.breakpoints = Breakpoints(self._resolve, self._arm)
        self._nodes = {n.name: n for n in run.plan.layout.nodes}
        self._armed: set[int] = set()
        self._stale = False
        self._work: Iterator[Stop | None] = iter(())
        self.histories: list[History] = []
        self.updated: Update | None = None
        self._updating: Updating | None = None
        self._steps: Steps | None = None
        self.stop = Stop(StopReason.STARTED, run.position())

    # -- commands ------------------------------------------------------------------------------------------------
    def begin(self, command: str, **arguments: Any) -> None:
        """Start a command; :meth:`advance` carries it out. SessionError for unknown ones."""
        method = getattr(self, f"_do_{command}", None)
        if method is None:
            known = ", ".join(sorted(n[4:] for n in dir(self) if n.startswith("_do_")))
            raise SessionError(f"There is no command {command!r}.", slug="unknown-command", fix=f"there are {known}.")
        self._work = method(**arguments)

    def advance(self) -> Stop | None:
        """One slice of the command; the Stop when it is done."""
        try:
            result = next(self._work, None)
        except ExecutionError as error:
            result = self._failed(error)
        if result is not None:
            self._end(result)
        return result

    def interrupt(self) -> Stop:
        """End the command here: to the next node that is not silent, then PAUSED."""
        try:
            if self._updating is not None:
                self._updating.leave()
            stop = self._settle(StopReason.PAUSED)
        except ExecutionError as error:
            stop = self._failed(error)
        self._end(stop)
        return stop

    def _failed(self, error: ExecutionError) -> Stop:
        """A stop in front of the node that failed, also where that is a check between two events."""
        position = self.run.position()
        if position.node is None and error.tag is not None:
            position = Position(error.node, position.event, error.tag.frame, error.tag.iteration)
        reason = StopReason.NO_ROOM if self.run.machine.retire_failed else StopReason.FAILED
        return Stop(reason, position, error.message, error)

    def _end(self, stop: Stop) -> None:
        self._work.close()  # type: ignore[attr-defined]
        self._work = iter(())
        self.stop = stop
        if self._updating is not None:
            self.updated, self._updating = self._updating.result(), None

    # -- forward commands ------------------------------------------------------------------------------------------
    def _do_run(self) -> Iterator[Stop | None]:
        yield from self._pursue(Goal(StopReason.FINISHED))

    _do_resume = _do_run

    def _do_step(self, n: int = 1) -> Iterator[Stop | None]:
        _positive("step", n)
        yield from self._pursue(Goal(StopReason.STEP, steps=n))

    def _do_next_iteration(self, n: int = 1) -> Iterator[Stop | None]:
        """To the next iteration of the innermost open loop; outside of any, into the next one."""
        _positive("next_iteration", n)
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
            yield from self._seek(StopReason.FRAME_LEFT, home=(*self._span(frame), -1))

    def _do_set_value(self, name: str, value: Any) -> Iterator[Stop | None]:
        """Write a value where the run stands; what was before is kept in ``histories``."""
        ref, _ = self._resolve(name)
        before = list(self.run.edits)
        edit = self.run.edit(ref, value)
        self.histories.append(History(self.run, before, edit))
        shown = f"{self.run.plan.graph.name_of(ref)} = {short(edit.value)}, it was {short(edit.before)}."
        yield Stop(StopReason.EDITED, self.run.position(), shown)

    def _do_update(self, changes: Mapping[str, Any]) -> Iterator[Stop | None]:
        """Change inputs, compute what depends on them again, and go on to the end; ``updated`` says what was done."""
        self._updating = Updating(self, changes)  # at once: it may be called off before its first slice
        return self._update(self._updating)

    def _update(self, updating: Updating) -> Iterator[Stop | None]:
        for _ in updating.work():
            yield None
        yield Stop(StopReason.FINISHED, self.run.position())

    def _do_run_to(self, name: str, iteration: Any = None) -> Iterator[Stop | None]:
        """To the firing of ``name`` (in ``iteration``); where that lies behind, back to it."""
        ref, _ = self._resolve(name)
        iteration = as_path(iteration)
        here = self.run.position()
        if iteration is not None and here.node == ref.node and here.iteration == iteration:
            yield Stop(StopReason.TARGET, here)
            return
        if iteration is not None and timetravel.has_fired(self.run, ref, iteration):
            yield timetravel.back_to_firing(self, ref, iteration)
            return
        goal, start = Goal(StopReason.NOT_REACHED), self.run.event
        if iteration is not None:  # at full speed to where it begins, from there on event by event
            yield from self._pursue(goal, lambda: timetravel.next_row(self.run, ref, iteration))
        if iteration is not None and timetravel.is_past(self.run, ref, iteration):
            yield from self._pursue(goal)
            return
        number = self.breakpoints.add(str(ref), iteration, internal=True)
        try:
            yield from self._pursue(goal, fresh=self.run.event != start)
        finally:
            self.breakpoints.remove(number)

    # -- backward commands -------------------------------------------------------------------------------------------
    def _do_step_back(self, n: int = 1) -> Iterator[Stop | None]:
        _positive("step_back", n)
        yield timetravel.step_back(self.run, n)

    def _do_previous_iteration(self) -> Iterator[Stop | None]:
        yield timetravel.previous_iteration(self.run)

    def _do_reverse_continue(self) -> Iterator[Stop | None]:
        yield from timetravel.reverse_continue(self)

    def _do_restart(self) -> Iterator[Stop | None]:
        self.run.forget_edits()
        for point in self.breakpoints:
            point.count = 0
        yield Stop(StopReason.STARTED, self.run.position())

    # -- pursuing a goal ------------------------------------------------------------------------------------------
    def _pursue(
        self, goal: Goal, until: Callable[[], tuple[int, int] | None] | None = None, fresh: bool = False
    ) -> Iterator[Stop | None]:
        """To a goal or a stop. ``until`` names a frame and its row to run to next; at None it ends, without a stop.
        ``fresh``: the node in front was not stopped at yet."""
        run, left = self.run, goal.steps
        fired, stop = (False, None) if fresh else self._leave()
        through = not fired and not fresh
        while True:
            if fired and left is not None:
                left -= 1
                run.go(0, exact=True, through=True)  # past silent nodes, which are no steps
            if stop is None and left is not None and left <= 0:
                stop = self._settle(goal.reason)
            if stop is not None:
                yield stop
                return
            fired = False
            self.rearm()
            row = None if until is None else until()
            if until is not None and row is None:
                return
            if run.finished:
                yield self._finished(goal)
                return
            if left is not None:
                status = run.go(run.event + 1, exact=True, through=through)
            elif through and self._armed:
                status = run.go(run.event + 1, exact=True, through=True, loud=False)  # off the armed node we stand on
            else:
                status = run.go(until=row or NOWHERE)
            through = False
            if status == "break":
                at = run.event
                stop = self._hit(goal)
                through = run.event == at  # a condition on a value has run over the node already
                fired = not through
            elif left is not None and status == "reached":
                left -= 1
            if stop is None and (left is None or left > 0):
                yield None

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
        run = self.run
        fired, stop = self._leave()
        through = not fired
        while True:
            if stop is not None:
                yield stop
                return
            self.rearm()
            status = run.go(None, exact=True, through=through, watch=watch, home=home)
            through = False
            if status == "halt":
                yield self._finished(Goal(reason))
                return
            if status == "break":
                at = run.event
                stop = self._hit(Goal(reason))
                through = run.event == at
                if stop is not None:
                    continue
            if status == "reached":
                left = not home[0] < run.view.ip < home[1]
                if left or reason is not StopReason.FRAME_LEFT:
                    yield Stop(StopReason.FRAME_LEFT if left else reason, run.position())
                    return
            yield None

    def _span(self, frame: int) -> tuple[int, int]:
        layout = self.run.plan.layout.frames[frame]
        return layout.start, layout.stop

    # -- the run -------------------------------------------------------------------------------------------------------
    def steps(self) -> Steps:
        """The outermost level of the plan in steps."""
        if self._steps is None or self._steps.plan is not self.run.plan:
            self._steps = Steps(self.run.plan)
        return self._steps

    def adopt(self, run: Run) -> None:
        """Go on with another run of the same graph; breakpoints and histories stay."""
        self.run, self._nodes = run, {n.name: n for n in run.plan.layout.nodes}
        self._armed, self._stale = set(), True

    def disarm(self) -> None:
        """Run over breakpoints until the next command that goes on."""
        for ip in self._armed:
            core.arm(self.run.machine, ip, False)
        self._armed, self._stale = set(), True

    # -- parts ---------------------------------------------------------------------------------------------------------
    def _finished(self, goal: Goal) -> Stop:
        reason = goal.reason if goal.reason is StopReason.NOT_REACHED else StopReason.FINISHED
        return Stop(reason, self.run.position())

    def _settle(self, reason: StopReason) -> Stop:
        """Go on to the next node that is not silent, so that the position is one to look at."""
        position = self.run.position()
        if position.silent or position.node is None and not self.run.finished:
            self.run.go(0, exact=True, through=True)
        return Stop(StopReason.FINISHED if self.run.finished else reason, self.run.position())

    def _hit(self, goal: Goal) -> Stop | None:
        """Decide an armed node that was reached: a Stop, or None to go on."""
        position = self.run.position()
        assert position.node is not None
        for point in self.breakpoints.at(position.node):
            if point.when is None and point.matches(position.iteration) and self._counts(point):
                reason = StopReason.TARGET if point.internal else StopReason.BREAKPOINT
                return Stop(reason, position, "" if point.internal else f"Breakpoint: {point}.")
        return self._leave()[1]

    def _leave(self) -> tuple[bool, Stop | None]:
        """Run over the node in front if breakpoints have conditions on its value: (whether it ran, the Stop if one
        holds)."""
        position = self.run.position()
        if position.node is None:
            return False, None
        watching = [
            p for p in self.breakpoints.at(position.node) if p.when is not None and p.matches(position.iteration)
        ]  # fmt: skip
        if not watching:
            return False, None
        self.run.go(self.run.event + 1, exact=True, through=True, loud=False)
        return not position.silent, self._value_hit(watching, position)

    def would_hit(self) -> bool:
        """Whether the breakpoints of the node in front would stop here; may run over that node."""
        return self._hit(Goal(StopReason.BREAKPOINT)) is not None

    def _value_hit(self, points: list[Breakpoint], fired: Position) -> Stop | None:
        for point in points:
            value = self._value_of(point.ref, fired)
            assert point.when is not None
            if value is None:  # dead on this side: no value, no hit
                continue
            if point.when(value, fired.iteration[-1] if fired.iteration else 0) and self._counts(point):
                stop = self._settle(StopReason.BREAKPOINT)
                return replace(stop, reason=StopReason.BREAKPOINT, detail=f"Breakpoint: {point}, at {fired.tag}.")
        return None

    def _value_of(self, ref: Ref, fired: Position) -> Any:
        """The value that has just fired, or None if it is dead; its row may be complete by now."""
        frame = self.run.plan.layout.values[tuple(ref)].frame
        if frame == 0 or frame in self.run.active_frames() and self.run.iteration_of(frame) == fired.iteration:
            return self.run.value_now(ref)
        try:
            return self.run.trace[ref].at(fired.iteration)
        except DeadValueError:
            return None

    @staticmethod
    def _counts(point: Breakpoint) -> bool:
        point.count += 1
        return point.hits is None or point.count == point.hits

    def _resolve(self, name: str) -> tuple[Any, int]:
        ref = self.run.trace.ref(name)
        frame = self.run.plan.layout.values[tuple(ref)].frame
        return ref, len(self.run.plan.layout.frames[frame].path)

    def _arm(self) -> None:
        self._stale = True  # carried out by rearm on the thread that runs the machine

    def rearm(self) -> None:
        """Arm the instructions of all breakpoints; where all of a node's name one iteration, the machine filters it."""
        if not self._stale:
            return
        self._stale = False
        wanted = {self._nodes[n].ip: n for n in self.breakpoints.nodes() if n in self._nodes}
        for ip in self._armed - set(wanted):
            core.arm(self.run.machine, ip, False)
        for ip, node in wanted.items():
            last = {p.iteration[-1] if p.iteration else None for p in self.breakpoints.at(node)}
            only = last.pop() if len(last) == 1 else None
            own_frame = self.run.plan.graph.nodes[node].op != "Exit"
            core.arm(self.run.machine, ip, True, -1 if only is None or not own_frame else only)
        self._armed = set(wanted)


def _positive(command: str, n: int) -> None:
    if not isinstance(n, int) or n < 1:
        raise SessionError(f"{command} takes a number from 1 on, {n!r} came.", slug="bad-count")
