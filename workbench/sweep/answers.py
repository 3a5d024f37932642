"""Answers about single points: whether a run converges, ends or fails, and how that is known."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from workbench.errors import SweepError
from workbench.sweep.chunk import ENDED, FAILED, NOT_FINITE, OUTCOMES, OVER, UNDECIDED, Chunk
from workbench.sweep.problem import make_problem
from workbench.sweep.runners import make_runner

#: number of newest values that are kept for an undecided point, and length of the two windows in which its steps are
#: compared
NEWEST, WINDOW = 8192, 64
#: minimum growth of the steps above rounding errors, minimum growth in standard errors, and maximum relative difference
#: between the windows: in a run that approaches a cycle, or slows down critically, the steps shrink ever less
GROWTH, SURE, STEADY = 1e-15, 5.0, 0.02


class Answers:
    """Answers about single points."""

    def __init__(
        self, graph: Any, name: str, what: str, inputs: Mapping[str, Any], variable: str | None, work: int
    ) -> None:
        self.name, self.what, self.points = name, what, 0
        columns = {name: np.zeros(1)}
        wanted = None
        loops = getattr(graph, "frames", None)
        if what == "converges" and loops is not None and not any(loops):
            raise SweepError(
                f"boundary: 'converges' is about a loop, and {graph.name!r} has none.",
                slug="no-variable",
                fix='ask what="fails".',
            )
        if what == "converges":  # it needs the newest values of the variable
            found, _ = make_problem(graph, columns, inputs, ["rate"], variable, work, 0.0)
            variable = found.variable
            wanted = [*found.graph.outputs, f"{variable}[-{NEWEST}:]"]
            graph = found.graph
        self.problem, columns = make_problem(graph, columns, inputs, wanted, variable, work, 0.0)
        self.dtype = columns[name].dtype
        self._runner = make_runner(self.problem, {name: columns[name][0]})

    def __call__(self, value: float) -> tuple[bool, str]:
        """(answer, its evidence)."""
        self.points += 1
        chunk = self._runner.run({self.name: np.array([value], self.dtype)})
        status = int(chunk.status[0])
        if status == UNDECIDED and self.what == "converges":
            return self._by_steps(chunk, value)
        if status == UNDECIDED:
            raise self._undecided(value, "neither an end nor a proof within its bound of work")
        if self.what == "fails":
            return status == FAILED, OUTCOMES[status]
        if self.what == "ends" or status != ENDED:
            return self.what == "ends" and status in OVER, OUTCOMES[status]
        return (True, OUTCOMES[ENDED]) if self._finite(chunk) else (False, OUTCOMES[NOT_FINITE])

    def _finite(self, chunk: Chunk) -> bool:
        """True if all newest values of the variable are finite numbers; values are right-aligned, and a short run
        leaves the first entries empty.
        """
        found = [
            column[0, column.shape[1] - min(int(chunk.counts[name][0]), column.shape[1]) :]
            for name, column in chunk.series.items()
        ]
        return all(bool(np.isfinite(v.astype(complex)).all()) for v in found if v.dtype.kind in "fcV")

    def _by_steps(self, chunk: Chunk, value: float) -> tuple[bool, str]:
        """The answer from the steps of the variable, which shrink or grow over its newest values."""
        (column,) = chunk.series.values()
        count = min(int(chunk.counts[next(iter(chunk.counts))][0]), column.shape[1])
        newest = column[0, column.shape[1] - count :].reshape(count, -1).astype(np.float64)
        half = count // 2
        windows = [steps_of(newest[half : half + WINDOW + 1]), steps_of(newest[-WINDOW - 1 :])]
        if any(len(steps) < 2 or not np.isfinite(steps).all() or not steps.all() for steps in windows):
            raise self._undecided(value, "its newest values do not tell")
        (before, before_error), (rate, error) = map(growth_of, windows)
        if abs(rate) < max(GROWTH, SURE * error):
            raise self._undecided(value, "its steps neither shrink nor grow")
        if abs(rate - before) > max(GROWTH, SURE * (error + before_error), STEADY * abs(rate)):
            raise self._undecided(value, "its steps do not shrink or grow at a steady rate")
        return (True, "steps shrink") if rate < 0 else (False, "steps grow")

    def _undecided(self, value: float, why: str) -> SweepError:
        return SweepError(
            f"boundary: nothing is known about {self.name} = {value!r}: {why}.",
            slug="undecided",
            fix="raise work=, narrow the range, or ask another question with what=.",
        )


def steps_of(values: np.ndarray) -> np.ndarray:
    """Lengths of the steps between rows relative to the largest value, as squares of large numbers overflow."""
    values = values / (np.abs(values).max(initial=0.0) or 1.0)
    return np.asarray(np.linalg.norm(np.diff(values, axis=0), axis=1))


def growth_of(steps: np.ndarray) -> tuple[float, float]:
    """The slope of the logarithms of steps, and its standard error, over all steps, as single ones have rounding
    errors.
    """
    k = np.arange(len(steps)) - (len(steps) - 1) / 2
    logs = np.log(steps) - np.log(steps).mean()
    rate = float(k @ logs / (k @ k))
    return rate, float(np.std(logs - rate * k) / np.sqrt(k @ k))
