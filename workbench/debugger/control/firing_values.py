"""Values that breakpoint conditions read: those of a firing, of previous iterations, and of other nodes.

Recorded values are read from the trace; dropped ones are recomputed.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from workbench.debugger.breakpoints.armed import ArmedBreakpoint
from workbench.debugger.conditions.batch import Batch
from workbench.debugger.control.context import DebugContext
from workbench.debugger.replay import step_back
from workbench.debugger.replay.read_range import values_between
from workbench.errors import DeadValueError, TraceError, WorkbenchError
from workbench.execution import Position
from workbench.ir.node import Ref
from workbench.ops.exact_integers import can_wrap
from workbench.trace.aligned_columns import origin

#: up to this many previous iterations are read one by one, more as a range
ONE_BY_ONE = 12


class FiringValues:
    """Reads the values that breakpoint conditions need for a firing."""

    def __init__(self, context: DebugContext) -> None:
        self._context = context

    def batch(self, armed: ArmedBreakpoint, fired: Position) -> Batch | None:
        """The value that has just fired and those of the previous iterations that a breakpoint reads; None if it is
        dead."""
        value = self._value_of(armed.ref, fired)
        if value is None:
            return None

        def lookup(name: str, back: int) -> tuple[np.ndarray, np.ndarray]:
            return self._other(name, fired, back)

        back, step = armed.point.looks_back, fired.iteration[-1] if fired.iteration else 0
        earlier = self._earlier(armed.ref, fired, min(back, step)) if back and step else []
        earlier = _same_type_suffix(earlier, value)
        values = np.stack([*(v for _, v in earlier), np.asarray(value)]) if earlier else np.asarray(value)[None]
        iterations = np.array([(*fired.iteration[:-1], k) for k, _ in earlier] + [fired.iteration], np.int64)
        iterations = iterations.reshape(len(values), -1)
        made = partial(self._made, armed.ref, fired, len(values))
        return Batch(values, iterations, lookup, self._context.label_of(armed.ref), made)

    def _made(self, ref: Ref, fired: Position, length: int) -> tuple[str, list[tuple[np.ndarray, np.ndarray]]] | None:
        """The op that computed a value which has just fired, and its operands; operands of earlier firings count as
        missing."""
        node, operands = self._context.run.plan.graph.nodes[ref.node], []
        if not can_wrap(node):
            return None
        newest = np.arange(length) == length - 1
        for given in node.inputs:
            value = self._operand(given, fired)
            there = newest & (value is not None)
            operands.append((np.asarray(0 if value is None else value)[None], there))
        return node.op, operands

    def _operand(self, ref: Ref, fired: Position) -> Any:
        """An operand of the node that has just fired; a loop invariant is read under its name outside the loop."""
        graph, layout = self._context.run.plan.graph, self._context.run.plan.layout
        source = origin(graph, ref)
        if source.op == "Const":
            return source.attrs["value"]
        if graph.frame_of(source.name) != graph.frame_of(ref.node) and source.ref(0) in layout.values:
            ref = source.ref(0)
        return self._read(ref, fired.iteration[: len(graph.frame_of(ref.node))])

    def _value_of(self, ref: Ref, fired: Position) -> Any:
        """The value that has just fired, or None if it is dead; its row may already be complete."""
        run = self._context.run
        frame = run.plan.layout.values[ref].frame
        if frame == 0 or frame in run.active_frames() and run.iteration_of(frame) == fired.iteration:
            return run.value_now(ref)
        return self._read(ref, fired.iteration)

    def _read(self, ref: Ref, iteration: tuple[int, ...]) -> Any:
        """A recorded value, recomputed if it was dropped; None if it is dead or has not fired."""
        run = self._context.run
        try:
            return run.trace[ref].at(iteration)
        except DeadValueError:
            return None
        except TraceError as error:
            if error.slug != "not-recorded":
                return None
        try:
            return step_back.recompute(run, ref, iteration)
        except WorkbenchError:
            return None

    def _earlier(self, ref: Ref, fired: Position, back: int) -> list[tuple[int, Any]]:
        """(iteration, value) of the ``back`` iterations before a firing, except those in which it was dead."""
        around, step = fired.iteration[:-1], fired.iteration[-1]
        if back <= ONE_BY_ONE:
            read = [(k, self._read(ref, (*around, k))) for k in range(step - back, step)]
            return [(k, v) for k, v in read if v is not None]
        run = self._context.run
        iterations, values = values_between(run, run.trace, ref, step - back, step, 1, around)
        return list(zip(iterations[:, -1].tolist(), values, strict=True))

    def _other(self, name: str, fired: Position, back: int) -> tuple[np.ndarray, np.ndarray]:
        """(another value in the same iteration, or with ``back`` in the previous one, mask that is False if it is
        missing)."""
        layout = self._context.run.plan.layout
        ref = self._context.breakpoints.ref(name)
        depth = len(layout.frames[layout.values[ref].frame].path)
        iteration = fired.iteration[:depth]
        if back:
            iteration = (*iteration[:-1], iteration[-1] - 1) if iteration else ()
        value = None
        if not back or (iteration and iteration[-1] >= 0):
            value = self._read(ref, iteration)
        return (np.full(1, np.nan), np.zeros(1, bool)) if value is None else (np.asarray(value)[None], np.ones(1, bool))


def _same_type_suffix(earlier: list[tuple[int, Any]], value: Any) -> list[tuple[int, Any]]:
    """The iterations directly before a value that have its shape and dtype."""
    newest = np.asarray(value)
    suffix: list[tuple[int, Any]] = []
    for k, item in reversed(earlier):
        array = np.asarray(item)
        if array.shape != newest.shape or array.dtype != newest.dtype:
            break
        suffix.append((k, array))
    return suffix[::-1]
