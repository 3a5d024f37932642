"""The values of future iterations of a loop whose end is proved: computed rather than forecast.

The loop is run ahead as for the proof, in the slice of its condition together with all of its variables; the session is
not changed. Work and memory are bounded: if there are many iterations, evenly spaced ones are kept, always with the
last.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.analysis.slicing import work
from workbench.analysis.slicing.execution import SliceMachine, slice_of, standing
from workbench.analysis.slicing.protocol import SliceFailed, SliceTimeout
from workbench.analysis.termination.query import place_in
from workbench.analysis.verdict import Status, Termination
from workbench.errors import WorkbenchError
from workbench.execution import Run
from workbench.ir.node import Ref
from workbench.ir.subnormals import arithmetic_of

#: maximum number of kept iterations, their maximum bytes, and number of iterations of a loop that never ends
MOST, BYTES, ENDLESS = 1000, 1 << 24, 64
#: nominal seconds of the work
SECONDS = 0.1


@dataclass(frozen=True)
class LookAhead:
    """Values of later iterations.

    Attributes
    ----------
    outer : tuple of int
        Iterations of the outer loops.
    iterations : ndarray
        (n,) int64: the iterations, ascending; the first is the current one.
    values : dict
        Text of a value's reference (``"merge:0"``) -> (n, ...) array of its values.
    end : int or None
        The iteration in which the condition is false; None if it is not reached.
    """

    outer: tuple[int, ...]
    iterations: np.ndarray
    values: dict[str, np.ndarray]
    end: int | None

    def of(self, name: str) -> tuple[np.ndarray, np.ndarray] | None:
        """(iterations, values) of a reference; None if it was not computed."""
        found = self.values.get(name)
        return None if found is None else (self.iterations, found)

    def after(self, iteration: int) -> LookAhead:
        """The same values from a later iteration on."""
        keep = self.iterations >= iteration
        values = {name: column[keep] for name, column in self.values.items()}
        return LookAhead(self.outer, self.iterations[keep], values, self.end)


def look_ahead(run: Run, path: tuple[str, ...], answer: Termination) -> LookAhead | None:
    """The iterations from the position of ``run`` to the proved end, or the next ones of a loop that provably never
    ends.

    None without such a proof, or if the loop cannot be run ahead.
    """
    if answer.status is not Status.PROVED or answer.outcome is None or run.edits_ahead:
        return None
    left = ENDLESS if answer.outcome == "never" else answer.remaining
    here = place_in(run, path)
    if not left or here is None and (len(path) > 1 or run.finished):
        return None
    try:
        with arithmetic_of(run.plan.graph):
            found = _runner(run, path, here is not None)
    except (WorkbenchError, SliceTimeout, SliceFailed, RuntimeError):
        return None
    if found is None:
        return None
    runner, gone = found
    start = (here[-1] if here is not None else 0) + gone
    return _follow(runner, path, start, max(0, left - gone), here[:-1] if here is not None else ())


def _runner(run: Run, path: tuple[str, ...], inside: bool) -> tuple[SliceMachine, int] | None:
    """The loop at its current condition, with all of its variables if possible."""
    if run.edits:
        found = standing(run, path, inside, SECONDS)
        return found if found is not None and found[0].pure else None
    merges = [v.merge for v in run.plan.graph.frames[path].variables if (v.merge, 0) in run.plan.layout.values]
    for also in (merges, []):
        runner = slice_of(run.plan.graph, path, run.plan, run.feeds, also)
        runner.patience = SECONDS
        if runner.pure and runner.align(run if inside else None):
            return runner, 0
    return None


def _follow(
    runner: SliceMachine, path: tuple[str, ...], start: int, left: int, outer: tuple[int, ...]
) -> LookAhead | None:
    places = _places(runner, path)
    first = {name: runner._at(place) for name, place in places.items()}
    first = {name: value for name, value in first.items() if value.dtype.kind in "biufc"}
    size = max(1, sum(value.nbytes for value in first.values()))
    step = max(1, -(-left // max(2, min(MOST, BYTES // size))))
    columns: dict[str, list[Any]] = {name: [value.copy()] for name, value in first.items()}
    iterations, deadline = [start], work.now() + SECONDS
    end = None if runner.cond() else start
    while end is None and iterations[-1] < start + left and work.now() < deadline:
        work.charge(work.STEP)
        try:
            done = runner.advance(min(step, start + left - iterations[-1]))
        except (SliceTimeout, SliceFailed, RuntimeError):
            break
        if not done:
            break
        now = {name: runner._at(places[name]) for name in first}
        if any(now[name].shape != first[name].shape or now[name].dtype != first[name].dtype for name in first):
            break
        iterations.append(iterations[-1] + done)
        for name, value in now.items():
            columns[name].append(value.copy())
        end = None if runner.cond() else iterations[-1]
    stacked = {name: np.stack(column) for name, column in columns.items()}
    return LookAhead(outer, np.array(iterations, np.int64), stacked, end)


def _places(runner: SliceMachine, path: tuple[str, ...]) -> dict[str, Any]:
    """Places of the loop's variables and of the operands of its clauses, by their references as strings."""
    layout, graph = runner.plan.layout, runner.plan.graph
    wanted = [Ref(v.merge) for v in graph.frames[path].variables]
    for left, _, right in runner._operands:
        wanted += [left, *([right] if isinstance(right, Ref) else [])]
    found = {}
    for ref in wanted:
        value = layout.values.get((ref.node, ref.index))
        if value is not None and value.place is not None and value.kind == "slot":
            found[str(ref)] = value.place
    return found
