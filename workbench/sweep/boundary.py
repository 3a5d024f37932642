"""``boundary``: the value of a parameter at which the answer about a run changes, by bisection."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.errors import SweepError
from workbench.sweep.problem import WORK, make_problem
from workbench.sweep.runners import ENDED, FAILED, OUTCOMES, UNDECIDED, Chunk, make_runner

#: answers that can change
ANSWERS = ("converges", "ends", "fails")
#: newest values by which an undecided point is told to shrink or to grow
NEWEST = 64
#: width of a range, relative to its ends, in which a point may stay without an answer
ROUNDING = 1e-13
#: growth of the steps that is above rounding errors, and how many of its standard errors it must exceed
GROWTH, SURE = 1e-15, 5.0


@dataclass(frozen=True, slots=True)
class Boundary:
    """The value of a parameter at which an answer changes.

    Attributes
    ----------
    parameter, answer : str
        The parameter, and the answer: "converges", "ends" or "fails".
    value : float
        The middle between ``low`` and ``high``.
    low, high : float
        Neighbours on both sides, whose answers differ.
    below, above : str
        Answers there, and how they are known: the outcome of the run ("ended", "failed", "endless" by a recurrence), or
        "steps shrink" and "steps grow" of a run that ends only after its bound of work.
    points : int
        Number of points that were run.

    Examples
    --------
    >>> b = wb.GraphBuilder("descent")
    >>> lr = b.placeholder("lr")
    >>> x = b.while_loop(lambda x: abs(x) > 1e-9, lambda x: x - lr * (4.0 * x), {"x": 1.0})
    >>> found = wb.boundary(b.build(x), {"lr": (0.1, 3.0)}, what="converges")
    >>> abs(found.value - 0.5) < 1e-12
    True
    """

    parameter: str
    answer: str
    value: float
    low: float
    high: float
    below: str
    above: str
    points: int

    def __str__(self) -> str:
        return (
            f"{self.answer} changes at {self.parameter} = {self.value:.15g} "
            f"(between {self.low!r}: {self.below}, and {self.high!r}: {self.above}; {self.points} points)."
        )


def boundary(
    graph: Any,
    parameters: Mapping[str, tuple[float, float]],
    *,
    what: str = "converges",
    inputs: Mapping[str, Any] | None = None,
    variable: str | None = None,
    tolerance: float = 0.0,
    work: int = WORK,
) -> Boundary:
    """Find the value of a parameter at which the answer about a run changes.

    The range is halved until its ends are neighbouring numbers, or nearer than ``tolerance``, or so near that rounding
    errors decide. If the answer changes
    several times, one of these places is found.

    Parameters
    ----------
    graph : Graph or GraphFunction
        The graph.
    parameters : mapping
        The parameter and its range, ``{"lr": (0.1, 3.0)}``; the answers at its ends must differ.
    what : {"converges", "ends", "fails"}, default "converges"
        "converges": the run ends, and its outputs and ``variable`` are finite; a run that is not decided within
        ``work`` converges if the steps of ``variable`` shrink, which is an observation and not a proof. "ends" and
        "fails": the outcome.
    inputs : mapping, optional
        Inputs that stay the same.
    variable : str, optional
        The loop variable whose steps are looked at; by default the first one that is a real number.
    tolerance : float, default 0.0
        Width of the range at which the search stops.
    work : int, default 200,000
        Events of one point, as in :func:`workbench.sweep`.

    Returns
    -------
    Boundary

    Raises
    ------
    SweepError
        ``same-answer`` if the answer is the same at both ends, ``undecided`` for a point without an answer,
        ``bad-range`` and ``bad-answer`` for arguments that do not fit.

    Examples
    --------
    >>> b = wb.GraphBuilder("halves")
    >>> factor = b.placeholder("factor")
    >>> x = b.while_loop(lambda x: abs(x) > 1e-9, lambda x: x * -factor, {"x": 1.0})
    >>> found = wb.boundary(b.build(x), {"factor": (0.5, 2.0)})
    >>> abs(found.value - 1.0) < 1e-12
    True
    """
    if what not in ANSWERS:
        raise SweepError(
            f"boundary: there is no answer {what!r}.", slug="bad-answer", fix=f"choose {', '.join(map(repr, ANSWERS))}."
        )
    name, low, high = _range(parameters)
    ask = _Asking(graph, name, what, inputs or {}, variable, work)
    below, above = ask(low), ask(high)
    if below[0] == above[0]:
        raise SweepError(
            f"boundary: {what!r} is {'true' if below[0] else 'false'} at both ends: {name} = {low!r} ({below[1]}) and "
            f"{high!r} ({above[1]}).",
            slug="same-answer",
            fix="give a range at whose ends the answers differ; wb.sweep shows where they do.",
        )
    while high - low > tolerance:
        middle = low + (high - low) / 2
        if not low < middle < high:
            break
        try:
            found = ask(middle)
        except SweepError:
            if high - low > ROUNDING * max(abs(low), abs(high)):
                raise
            break  # so near to it, rounding errors decide
        if found[0] == below[0]:
            low, below = middle, found
        else:
            high, above = middle, found
    return Boundary(name, what, low + (high - low) / 2, low, high, below[1], above[1], ask.points)


def _range(parameters: Mapping[str, tuple[float, float]]) -> tuple[str, float, float]:
    try:
        ((name, (low, high)),) = parameters.items()
        low, high = float(low), float(high)
        good = math.isfinite(low) and math.isfinite(high) and low < high
    except (AttributeError, TypeError, ValueError):
        good = False
    if not good:
        raise SweepError(
            f"boundary: expected one parameter and its range, got {parameters!r}.",
            slug="bad-range",
            fix='write {"lr": (0.1, 3.0)}, the smaller number first.',
        )
    return name, low, high


class _Asking:
    """Answers about single points."""

    def __init__(
        self, graph: Any, name: str, what: str, inputs: Mapping[str, Any], variable: str | None, work: int
    ) -> None:
        self.name, self.what, self.points = name, what, 0
        facts = ["rate"] if what == "converges" else []  # the newest values of the variable are kept for it
        columns = {name: np.zeros(1)}
        wanted = None
        if facts:
            found, _ = make_problem(graph, columns, inputs, ["rate"], variable, work, 0.0)
            variable = found.variable
            wanted = [*found.graph.outputs, f"{variable}[-{NEWEST}:]"]
            graph = found.graph
        self.problem, columns = make_problem(graph, columns, inputs, wanted, variable, work, 0.0)
        self._dtype = columns[name].dtype
        self._runner = make_runner(self.problem, {name: columns[name][0]})

    def __call__(self, value: float) -> tuple[bool, str]:
        """(answer, how it is known)."""
        self.points += 1
        chunk = self._runner.run({self.name: np.array([value], self._dtype)})
        status = int(chunk.status[0])
        if status == UNDECIDED and self.what == "converges":
            return self._by_steps(chunk, value)
        if status == UNDECIDED:
            raise self._undecided(value, "neither an end nor a proof within its bound of work")
        if self.what == "fails":
            return status == FAILED, OUTCOMES[status]
        if self.what == "ends" or status != ENDED:
            return status == ENDED, OUTCOMES[status]
        return (True, "ended") if self._finite(chunk) else (False, "ended with numbers that are not finite")

    def _finite(self, chunk: Chunk) -> bool:
        found = [column[0] for name, column in chunk.values.items() if chunk.alive[name][0]]
        for name, column in chunk.series.items():  # right-aligned: a short run leaves the first entries empty
            found.append(column[0, column.shape[1] - min(int(chunk.counts[name][0]), column.shape[1]) :])
        return all(bool(np.isfinite(v.astype(complex)).all()) for v in found if v.dtype.kind in "fcV")

    def _by_steps(self, chunk: Chunk, value: float) -> tuple[bool, str]:
        """The answer by the steps of the variable, which shrink or grow over its newest values."""
        (column,) = chunk.series.values()
        count = min(int(chunk.counts[next(iter(chunk.counts))][0]), column.shape[1])
        newest = column[0, column.shape[1] - count :].reshape(count, -1).astype(np.float64)
        newest = newest / (np.abs(newest).max(initial=0.0) or 1.0)  # squares of large numbers overflow
        steps = np.linalg.norm(np.diff(newest, axis=0), axis=1)
        if len(steps) < 2 or not np.isfinite(steps).all() or not steps.all():
            raise self._undecided(value, "its newest values do not tell")
        # the slope of the logarithms, over all of them: single steps differ by rounding errors
        k = np.arange(len(steps)) - (len(steps) - 1) / 2
        logs = np.log(steps) - np.log(steps).mean()
        rate = float(k @ logs / (k @ k))
        error = float(np.std(logs - rate * k) / np.sqrt(k @ k))
        if abs(rate) < max(GROWTH, SURE * error):
            raise self._undecided(value, "its steps neither shrink nor grow")
        return (True, "steps shrink") if rate < 0 else (False, "steps grow")

    def _undecided(self, value: float, why: str) -> SweepError:
        return SweepError(
            f"boundary: nothing is known about {self.name} = {value!r}: {why}.",
            slug="undecided",
            fix="raise work=, narrow the range, or ask another question with what=.",
        )
