"""Inspection of a stopped run: its position, and the values in its rows in progress."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.execution.position import Position
from workbench.ir.node import Ref
from workbench.kernels import machine as core
from workbench.kernels.layout import Condition, NodeLayout, Place
from workbench.plan import ExecutionPlan
from workbench.trace import Trace


class StoppedRun:
    """The part of a Run that reads the executor's state; it only writes single places."""

    def __init__(self, plan: ExecutionPlan, budget: int, window: int) -> None:
        self.plan = plan
        self.machine = core.Machine(plan.program, budget, window)
        self.view = core.View(self.machine)
        self.trace: Trace
        self._by_ip = {n.ip: n for n in plan.layout.nodes}

    @property
    def event(self) -> int:
        """Number of events so far (while the machine runs, at its last control instruction)."""
        return self.view.events

    @property
    def finished(self) -> bool:
        """True at the end of the run."""
        ip, is_event, _ = core.current_instruction(self.machine)
        return not is_event and ip == self.plan.program.length - 1

    def active_frames(self) -> list[int]:
        """Indices of the frames that are open here, outermost first."""
        ip = self.view.ip
        return [i for i, f in enumerate(self.plan.layout.frames) if f.start < ip < f.stop]

    def iteration_of(self, frame: int) -> tuple[int, ...]:
        """Iteration path of the row in progress of an open frame."""
        path: list[int] = []
        while frame > 0:
            path.append(self.view.iteration(frame))
            frame = self.plan.layout.frames[frame].parent
        return tuple(reversed(path))

    def value_now(self, ref: Ref) -> np.ndarray | None:
        """The value in the rows in progress, after its node has fired; None if it is dead there."""
        layout = self.plan.layout.values[ref]
        if not self.holds(layout.guard):
            return None
        if layout.kind != "slot" or layout.place is None:
            return self.trace[ref][-1]
        return np.asarray(self._now(layout.place))

    def fired_now(self, node: NodeLayout) -> bool:
        """True if a node that the run has passed fired in the rows in progress."""
        if node.frame not in self.active_frames():
            return True  # its frame has run and is closed
        return node.first or self.holds(node.guard)

    def holds(self, guard: tuple[Condition, ...]) -> bool:
        """True if all literals of a guard hold in the rows in progress."""
        for condition in guard:
            found = self._now(condition.place)
            if (found >= 0 if condition.expect >= 2 else bool(found)) != (condition.expect in (1, 2)):
                return False
        return True

    def released(self, place: Place) -> bool:
        """True if the value of a place was released, or may have been overwritten."""
        return place.until >= 0 and self.trace.source.first(place) > 0

    def _now(self, place: Place) -> Any:
        if place.base == 0:
            return self.trace.source.pool(place)
        row = self.view.rows(place.base - 1)[1]
        return self.trace.source.column(place, row, row + 1)[1][0]

    def position(self) -> Position:
        """The present position; valid only while the run is stopped."""
        ip, is_event, silent = core.current_instruction(self.machine)
        if self.finished:
            return Position(None, self.event)
        node = self._by_ip[ip] if is_event else None
        frame = self.active_frames()[-1] if node is None else node.frame
        path = self.plan.layout.frames[frame].path
        iteration = self.iteration_of(frame) if path else ()
        return Position(None if node is None else node.name, self.event, path, iteration, silent, between=node is None)

    def put(self, place: Place, item: Any) -> None:
        """Write a value into the rows in progress."""
        dtype = None if place.dtype is None else np.dtype(place.dtype)
        core.put(self.machine, *self.plan.layout.operand(place), dtype, place.shape, item)
