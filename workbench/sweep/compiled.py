"""The compiled runner: one machine for all points of a thread, without Python and without the GIL."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from workbench.errors import WorkbenchError
from workbench.ir.node import Ref
from workbench.kernels import machine as core
from workbench.kernels.layout import Place
from workbench.plan import ExecutionPlan
from workbench.sweep.chunk import Chunk, Failure, empty_chunk, message_of, wanted_series
from workbench.sweep.finite import checked_outputs, checked_sides, mark_not_finite
from workbench.sweep.problem import Problem
from workbench.sweep.recurrence import bytes_of, kept_in_rows, recurring_parts

#: bytes of a chunk of rows, small enough for the cache of a core
CHUNK, CHUNKS = 32768, 6


def compiles(problem: Problem, plan: ExecutionPlan) -> bool:
    """True if rows hold only numbers, and hold all collected values."""
    values = plan.layout.values
    places = [v.place for v in values.values() if v.place is not None]
    if plan.raw or any(p.dtype is None and p.base for p in places):
        return False
    return all(_stands_outside(plan, plan.outputs[name]) for name in problem.outputs) and all(
        _stands_in_rows(plan, Ref(problem.merge(name))) for name in wanted_series(problem)
    )


def _stands_outside(plan: ExecutionPlan, ref: Ref) -> bool:
    """True for a value outside all loops that has a place."""
    found = plan.layout.values.get(ref)
    return (
        found is not None
        and found.kind == "slot"
        and found.frame == 0
        and getattr(found.place, "dtype", None) is not None
    )


def _stands_in_rows(plan: ExecutionPlan, ref: Ref) -> bool:
    """True for a value of a loop that is in the rows of this loop, whichever branch is taken."""
    found = plan.layout.values.get(ref)
    if found is None or found.place is None or not kept_in_rows(plan.layout, found.place) or found.guard:
        return False
    return found.frame > 0 and plan.layout.frame_of(found.place) == found.frame


def slot(plan: ExecutionPlan, node: str, index: int = 0) -> Place:
    """The place of a value in rows."""
    place = plan.layout.values[node, index].place
    assert place is not None  # checked by compiles()
    return place


def _read(plan: ExecutionPlan, name: str) -> bool:
    found = plan.layout.values.get((plan.graph.inputs[name].node, 0))
    return found is not None and found.place is not None


class CompiledRunner:
    """One machine for all points of a thread; without Python and without the GIL from point to point."""

    def __init__(self, problem: Problem, plan: ExecutionPlan) -> None:
        self.problem, self.plan = problem, plan
        layout = plan.layout
        longest = max([0, *wanted_series(problem).values()]) + 4
        rows = [8, *(f.row_bytes for f in layout.frames), *array_bytes(plan)]
        chunk = max(CHUNK, longest * max(rows))
        self._machine = core.Machine(plan.program, CHUNKS * max(1, len(layout.stores) - 1) * chunk)
        self._parts, self._spans = recurring_parts(plan)
        self._number = plan.numbers.get(problem.loop, 0) if problem.loop is not None else 0
        self._by_ip = sorted(layout.nodes, key=lambda n: n.ip)
        checks = checked_outputs(problem, plan) | checked_sides(plan)
        self._outputs = {ref: dtype for ref, dtype in checks.items() if _stands_outside(plan, ref)}
        self._sides = {ref: dtype for ref, dtype in checks.items() if _stands_in_rows(plan, ref)}
        self._fixed = {n: np.ascontiguousarray(v) for n, v in problem.inputs.items() if _read(plan, n)}

    def stop(self) -> None:
        """End the run in progress before its current point."""
        core.request_stop(self._machine)

    def run(self, columns: Mapping[str, np.ndarray]) -> Chunk:
        """Run points; after a stop, the points that were not run are WAITING."""
        plan, layout = self.plan, self.plan.layout
        n = len(next(iter(columns.values())))
        feeds, outputs, series = [], [], []
        for name, column in columns.items():
            if _read(plan, name):
                feeds.append((*self._input(name), _bytes(column, n)))
        for name, value in self._fixed.items():
            feeds.append((*self._input(name), _bytes(value[None], 1)))
        chunk = empty_chunk(self.problem, plan, n)
        chunk.checks = {ref: np.zeros(n, dtype) for ref, dtype in (self._outputs | self._sides).items()}
        for name in self.problem.outputs:
            outputs.append(self._output(plan.outputs[name], chunk.values[name], chunk.alive[name]))
        outputs += [self._output(ref, chunk.checks[ref], np.zeros(n, bool)) for ref in self._outputs]
        for name, column in chunk.series.items():
            series.append(self._series(Ref(self.problem.merge(name)), column, chunk.counts[name]))
        for ref in self._sides:
            series.append(self._series(ref, chunk.checks[ref][:, None], np.zeros(n, np.int64)))
        specs = core.PointSpecs(self._machine, n, feeds, outputs, series, self._parts, self._spans)
        plan.native.consider(plan.program)
        iterations = np.full((n, len(layout.frames)), -1, np.int64)
        failures: list[tuple[int, int, BaseException]] = []
        with np.errstate(all="ignore"):
            core.run_points(
                self._machine, specs, 0, n, self.problem.work, chunk.status, chunk.events, iterations, chunk.periods,
                failures,
            )  # fmt: skip
        core.request_stop(self._machine, False)
        plan.native.events += int(chunk.events.sum())
        chunk.iterations[:] = iterations[:, self._number] if self._number else 0
        for point, ip, error in failures:
            if not isinstance(error, Exception):
                raise error  # KeyboardInterrupt inside an op is not a failure of the op
            chunk.failures[point] = self._failure(ip, error, iterations[point])
        mark_not_finite(chunk)
        return chunk

    def _output(self, ref: Ref, column: np.ndarray, alive: np.ndarray) -> tuple[Any, ...]:
        """The words with which the machine writes an output into a column."""
        layout = self.plan.layout
        guard = [(*layout.operand(c.place), c.expect) for c in layout.values[ref].guard]
        return *layout.operand(slot(self.plan, *ref)), guard, _bytes(column, len(column)), alive.view(np.uint8)

    def _series(self, ref: Ref, column: np.ndarray, counts: np.ndarray) -> tuple[Any, ...]:
        """The words with which the machine writes the newest values of a loop into a column."""
        place = slot(self.plan, *ref)
        raw = column.view(np.uint8).reshape(*column.shape[:2], bytes_of(place))
        return self.plan.layout.values[ref].frame, place.base - 1, place.offset, place.shift, raw, counts

    def _input(self, name: str) -> tuple[int, int]:
        return self.plan.layout.operand(slot(self.plan, self.plan.graph.inputs[name].node))

    def _failure(self, ip: int, error: Exception, iterations: np.ndarray) -> Failure:
        named = error.node if isinstance(error, WorkbenchError) else None
        node = next(n for n in self._by_ip if (n.name == named if named else n.ip >= ip))
        frames, at, path = self.plan.layout.frames, node.frame, []
        while at > 0:
            path.append(int(iterations[at]))
            at = frames[at].parent
        return Failure(node.name, tuple(reversed(path)), message_of(error))


def array_bytes(plan: ExecutionPlan) -> list[int]:
    """Bytes of the arrays in a row of each frame; an upper bound if some share memory."""
    layout, found = plan.layout, dict.fromkeys(range(len(plan.layout.frames)), 0)
    places = {v.place for v in layout.values.values() if v.place is not None and v.place.dtype is not None}
    for place in places:
        if place.base > len(layout.frames):
            found[layout.frame_of(place)] += bytes_of(place) + 64  # each array begins at a multiple of this
    return list(found.values())


def _bytes(column: np.ndarray, n: int) -> np.ndarray:
    return column.reshape(n, -1).view(np.uint8) if column.dtype.kind != "O" else column
