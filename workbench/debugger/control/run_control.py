"""Run control shared by all forward commands: run until a goal, a breakpoint, or the end of a frame.

Every method that runs is a generator of the type :data:`Command`: it yields None after each slice, and returns its
Stop. A command delegates to another with ``yield from``.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, replace

from workbench.debugger.breakpoints.manager import Breakpoints
from workbench.debugger.control.breakpoint_checks import BreakpointChecks
from workbench.debugger.control.context import DebugContext
from workbench.debugger.control.hit_recount import HitRecount
from workbench.debugger.stop import Stop, StopReason
from workbench.execution import Run
from workbench.execution.run_limits import ANYWHERE, NOWHERE
from workbench.ir.node import Ref
from workbench.kernels import machine as core
from workbench.kernels.layout import NodeLayout

#: a command in progress: yields after each slice, returns its Stop
Command = Generator[None, None, Stop]


@dataclass(frozen=True, slots=True)
class RunGoal:
    """The goal of a forward command: ``reason`` is that of the Stop when the goal is reached, ``steps`` the maximum
    number of nodes to fire (None: no limit)."""

    reason: StopReason
    steps: int | None = None


class RunControl:
    """Runs forwards until a goal or a stop; composes the breakpoint checks and the hit counts of one debugger."""

    def __init__(self, context: DebugContext) -> None:
        self.context = context
        self.checks = BreakpointChecks(context)
        self.hits = HitRecount(self.checks)

    @property
    def run(self) -> Run:
        """The present run."""
        return self.context.run

    @property
    def breakpoints(self) -> Breakpoints:
        """The breakpoints of the debugger."""
        return self.context.breakpoints

    @property
    def nodes(self) -> dict[str, NodeLayout]:
        """Name -> node of the present plan."""
        return self.context.nodes

    # -- goals -----------------------------------------------------------------------------------------------------
    def run_until(self, goal: RunGoal, fresh: bool = False) -> Command:
        """Run to a goal or a stop. ``fresh`` means that no command has stopped at the next node yet, so its breakpoints
        apply."""
        stop = yield from self._run(goal, lambda: NOWHERE, fresh)
        assert stop is not None
        return stop

    def run_through_rows(
        self, goal: RunGoal, next_row: Callable[[], tuple[int, int] | None]
    ) -> Generator[None, None, Stop | None]:
        """Run to one (frame, row) after another, as returned by ``next_row``, until it returns None. Returns the Stop
        if the run stops earlier."""
        return (yield from self._run(goal, next_row, fresh=False))

    def _run(
        self, goal: RunGoal, next_row: Callable[[], tuple[int, int] | None], fresh: bool
    ) -> Generator[None, None, Stop | None]:
        yield from self.hits.restore_counts()
        run, checks, left = self.run, self.checks, goal.steps
        if not fresh:
            self.hits.count_node_ahead()
        ignore_current = not fresh
        while True:
            if left is not None and left <= 0:
                return checks.stop_at_next_node(goal.reason)
            checks.rearm()
            row = next_row()
            if row is None:
                return None
            if run.finished:
                return self._at_end(goal)
            if left is not None:
                status = run.go(run.event + 1, exact=True, ignore_current=ignore_current)
            elif ignore_current and checks.any_installed:  # fast mode would stop again at the next node
                status = run.go(run.event + 1, exact=True, ignore_current=True, skip_silent=False)
            else:
                status = run.go(until_row=row)
            ignore_current, stop = False, None
            if status == "break":
                stop = checks.check_node_ahead()
                ignore_current = stop is None
            elif status == "hit":
                stop = checks.check_fired_value()
                if stop is None and left is not None:
                    run.go(0, exact=True, ignore_current=True)  # skip silent nodes, which a step does not count
            if left is not None and status in ("hit", "reached"):
                left -= 1
            if stop is not None:
                return stop
            if left is None or left > 0:
                yield

    def run_until_row_or_range(
        self,
        reason: StopReason,
        until_row_changes: tuple[int, int] = NOWHERE,
        instruction_range: tuple[int, int, int] = ANYWHERE,
    ) -> Command:
        """Run event by event until a frame's row changes, or the next event is outside the instruction range."""
        yield from self.hits.restore_counts()
        run, checks, ignore_current = self.run, self.checks, True
        self.hits.count_node_ahead()
        while True:
            checks.rearm()
            status = run.go(
                exact=True,
                ignore_current=ignore_current,
                until_row_changes=until_row_changes,
                instruction_range=instruction_range,
            )
            ignore_current, stop = False, None
            if status == "halt":
                stop = self._at_end(RunGoal(reason))
            elif status == "break":
                stop = checks.check_node_ahead()
                ignore_current = stop is None
            elif status == "hit":
                stop = checks.check_fired_value()
            elif status == "reached":
                left = not instruction_range[0] < run.view.ip < instruction_range[1]
                if left or reason is not StopReason.FRAME_LEFT:
                    stop = Stop(StopReason.FRAME_LEFT if left else reason, run.position())
            if stop is not None:
                return stop
            yield

    # -- frames ----------------------------------------------------------------------------------------------------
    def step_over_node(self) -> Command:
        """Fire one node of this frame or an enclosing one, and all nodes of the frames that it opens."""
        run, base = self.run, self.frame_here()
        stop = yield from self.run_until(RunGoal(StopReason.STEP, steps=1))
        while stop.reason in (StopReason.STEP, StopReason.FRAME_LEFT):
            inner = self.child_of(base, self.frame_here())
            if inner is None or run.finished:
                break
            stop = yield from self.leave_frame(inner, at_first_exit=True)
        if stop.reason is StopReason.FRAME_LEFT:
            stop = replace(stop, reason=StopReason.STEP)
        return stop

    def leave_frame(self, frame: int, at_first_exit: bool = False) -> Command:
        """Run at full speed to the end of an open frame, then past its Exits, or only up to the first one."""
        start, end = self.instructions_of(frame)
        last = self._first_exit_of(frame)
        if last is not None and self.run.view.ip < self.nodes[last].ip:
            point = self.breakpoints.probe((Ref(last),), lambda position: "The frame is done.")
            try:
                stop = yield from self.run_until(RunGoal(StopReason.FRAME_LEFT))
            finally:
                self.breakpoints.remove(point)
            if stop.reason is not StopReason.TARGET:
                return stop
        if last is not None and at_first_exit:
            return Stop(StopReason.FRAME_LEFT, self.run.position())
        return (yield from self.run_until_row_or_range(StopReason.FRAME_LEFT, instruction_range=(start, end, -1)))

    def next_row(self) -> Command:
        """Run to the next row of the innermost open frame, or at the outermost level into the next frame."""
        frame = self.run.active_frames()[-1]
        start, end = self.instructions_of(frame)
        if frame == 0:
            return self.run_until_row_or_range(StopReason.ITERATION, instruction_range=(start, end, 0))
        return self.run_until_row_or_range(
            StopReason.ITERATION,
            until_row_changes=(frame, self.run.view.rows(frame)[1]),
            instruction_range=(start, end, -1),
        )

    def _first_exit_of(self, frame: int) -> str | None:
        """The first node that fires whenever a frame ends; None if it is unknown."""
        layout, unstructured = self.run.plan.layout, self.run.plan.guards.raw
        if layout.frames[frame].path in unstructured:
            return None
        start, end = self.instructions_of(frame)
        parent = layout.frames[frame].parent
        exits = [
            n for n in layout.nodes if n.op == "Exit" and start < n.ip < end and n.frame == parent and not n.silent
        ]
        return min(exits, key=lambda n: n.ip).name if exits else None

    def frame_here(self) -> int:
        """Index of the frame in which the next node fires."""
        node = self.run.position().node
        return 0 if node is None else self.nodes[node].frame

    def child_of(self, base: int, frame: int) -> int | None:
        """The ancestor of ``frame`` (or ``frame`` itself) whose parent is ``base`` or encloses it; None if ``frame`` is
        ``base`` or encloses it."""
        frames, around = self.run.plan.layout.frames, set[int]()
        while base >= 0:
            around.add(base)
            base = frames[base].parent
        inner = None
        while frame not in around:
            inner, frame = frame, frames[frame].parent
        return inner

    def instructions_of(self, frame: int) -> tuple[int, int]:
        """The first instruction of a frame, and the one after its last."""
        layout = self.run.plan.layout.frames[frame]
        return layout.start, layout.stop

    def event_at_entry(self, frame: int) -> int:
        """Number of events before the last activation of a frame."""
        return core.loop_events(self.run.machine, frame)

    def _at_end(self, goal: RunGoal) -> Stop:
        reason = goal.reason if goal.reason is StopReason.NOT_REACHED else StopReason.FINISHED
        return Stop(reason, self.run.position())
