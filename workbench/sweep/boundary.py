"""``boundary``: the value of a parameter at which the answer about a run changes, by bisection."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.errors import SweepError
from workbench.sweep.answers import Answers
from workbench.sweep.problem import WORK
from workbench.text import harmless

#: the questions whose answer can change
ANSWERS = ("converges", "ends", "fails")
#: maximum width of a range, relative to its ends, in which a point may have no answer
ROUNDING = 1e-13
#: points that are run on each side to find the limits of a range without answers
SIDE_POINTS = 16


@dataclass(frozen=True, slots=True)
class Boundary:
    """The value of a parameter at which an answer changes.

    Attributes
    ----------
    parameter, answer : str
        The parameter, and the question: "converges", "ends" or "fails".
    value : float
        The middle between ``low`` and ``high``.
    low, high : float
        Neighbours on both sides, whose answers differ.
    below, above : str
        The evidence there: the outcome of the run ("ended", "not finite", "failed", "endless" by a recurrence), or
        "steps shrink" or "steps grow" for a run that reached its bound of work.
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

    @harmless
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

    The range is halved until its ends are neighbouring numbers of the parameter's dtype, or closer than ``tolerance``,
    or so close that rounding errors decide. If the answer changes several times, one of these places is found.

    Parameters
    ----------
    graph : Graph or GraphFunction
        The graph.
    parameters : mapping
        The parameter and its range, ``{"lr": (0.1, 3.0)}``; the answers at its ends must differ.
    what : {"converges", "ends", "fails"}, default "converges"
        "converges": the run ends with finite numbers, those of ``variable`` among them; a run that is undecided within
        ``work`` converges if the steps of ``variable`` shrink at a steady rate, which is an observation, not a proof.
        "ends" and "fails": the outcome.
    inputs : mapping, optional
        Inputs that stay the same.
    variable : str, optional
        The loop variable whose steps are examined; by default the first one that is a real number.
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
        ``same-answer`` if the answer is the same at both ends, ``undecided`` if there are points without an answer at
        the boundary, as where a period doubles: the error names the values between which it lies; ``bad-range``,
        ``bad-answer`` and ``bad-tolerance`` for arguments that do not fit.

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
    if not tolerance >= 0:
        raise SweepError(
            f"boundary: expected a tolerance of zero or more, got {tolerance!r}.",
            slug="bad-tolerance",
            fix="leave it out to search to the last digits.",
        )
    ask = Answers(graph, name, what, inputs or {}, variable, work)
    low, high = _fitted(ask, low), _fitted(ask, high)
    below, above = ask(low), ask(high)
    if below[0] == above[0]:
        raise SweepError(
            f"boundary: {what!r} is {'true' if below[0] else 'false'} at both ends: {name} = {low!r} ({below[1]}) and "
            f"{high!r} ({above[1]}).",
            slug="same-answer",
            fix="give a range at whose ends the answers differ; wb.sweep shows where they do.",
        )
    while high - low > tolerance and (middle := _middle(ask, low, high)) is not None:
        try:
            found = ask(middle)
        except SweepError as error:
            if high - low > ROUNDING * max(abs(low), abs(high)):
                raise _between(ask, low, middle, high, below, above, error) from None
            break  # so close to it, rounding errors decide
        if found[0] == below[0]:
            low, below = middle, found
        else:
            high, above = middle, found
    return Boundary(name, what, low + (high - low) / 2, low, high, below[1], above[1], ask.points)


def _fitted(ask: Answers, value: float) -> float:
    """An end of the range in the parameter's dtype; SweepError if an integer is needed and not given."""
    if ask.dtype.kind in "iu" and value != round(value):
        raise SweepError(
            f"boundary: {ask.name!r} is a whole number, got {value!r}.", slug="bad-range", fix="give whole numbers."
        )
    return float(ask.dtype.type(value))


def _middle(ask: Answers, low: float, high: float) -> float | None:
    """A value between two others in the dtype of the parameter; None if they are neighbours."""
    middle = low + (high - low) / 2
    middle = float(ask.dtype.type(np.floor(middle) if ask.dtype.kind in "iu" else middle))
    return middle if low < middle < high else None


def _between(
    ask: Answers,
    low: float,
    middle: float,
    high: float,
    below: tuple[bool, str],
    above: tuple[bool, str],
    error: SweepError,
) -> SweepError:
    """The error for a range with points without an answer, which names the limits of these points."""
    for known, answer in ((low, below), (high, above)):
        unknown = middle
        for _ in range(SIDE_POINTS):
            between = _middle(ask, min(known, unknown), max(known, unknown))
            if between is None:
                break
            try:
                found = ask(between)
            except SweepError:
                unknown = between
                continue
            if found[0] != answer[0]:
                break
            known, answer = between, found
        if known < middle:
            low, below = known, answer
        else:
            high, above = known, answer
    return SweepError(
        f"boundary: {ask.what!r} changes between {ask.name} = {low!r} ({below[1]}) and {high!r} ({above[1]}). "
        f"In between: {error.message.removeprefix('boundary: ')}",
        slug="undecided",
        fix="raise work=, which narrows this range, or ask another question with what=.",
    )


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
