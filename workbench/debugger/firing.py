"""The values of a firing that breakpoints ask about: its own, those of iterations before, and other values beside it.

What is recorded is read; what was dropped is recomputed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from workbench.debugger import timetravel
from workbench.debugger.armed import Armed
from workbench.debugger.batch import Batch
from workbench.debugger.breakpoints import Breakpoints
from workbench.debugger.health import STRIDE
from workbench.debugger.ranges import values_between
from workbench.errors import DeadValueError, TraceError, WorkbenchError
from workbench.execution import Position, Run
from workbench.graph.node import Ref

#: so many iterations are read one by one, more in one go
ONE_BY_ONE = 12


class Firing:
    """The part of the debugger that reads values for breakpoints."""

    run: Run
    breakpoints: Breakpoints
    #: names the pattern of a series; set by whoever can
    classify: Callable[[np.ndarray], str] | None = None

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
