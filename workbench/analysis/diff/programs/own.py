"""The own error of a part of a program: that of its result on the inputs that the *reference* has there.

The reference is the first program, the candidate the second. Both parts, between one value and the paired values before
it, are evaluated on the same inputs, in their dtypes and in float64:

====================  ==================================================================================================
``own``               candidate's result on the reference's inputs - reference's result
``function``          the same in float64, almost without rounding: do the two parts compute the same?
``condition``         how far the reference's result moves in float64 if its inputs move by one rounding each
====================  ==================================================================================================

The candidate errs if ``function`` exceeds FUNCTION roundings, or ``own`` exceeds ROUNDED roundings, of the largest
number in the value and of ``condition``. A rounding is that of the dtype in which the coarser of both programs computes
most of its values, or of a coarser dtype that occurs in both parts: a cast to float16 that one side lacks is not
rounding. The tolerance of the comparison is added.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.analysis.diff.dtypes import in_dtype
from workbench.analysis.diff.error_source import value_at
from workbench.analysis.diff.metrics import sqnr_of
from workbench.analysis.diff.programs.cones import REFUSED, Cone, NoCone
from workbench.analysis.diff.programs.steps import HALVES, IntegerSteps
from workbench.analysis.diff.side import Path
from workbench.analysis.diff.tolerance import Tolerance
from workbench.analysis.diff.trace_side import TraceSide
from workbench.errors import WorkbenchError
from workbench.ir.graph import Graph
from workbench.ir.node import Ref
from workbench.text import harmless, number

#: roundings by which the functions of two parts may differ (constants are rounded before they are stored), and by which
#: their computed results may differ
FUNCTION, ROUNDED = 8, 64
#: roundings up to which no evaluation in float64 is needed
_SURE = 2
_EPS = {"float64": 2.0**-52, "float32": 2.0**-23, "float16": 2.0**-10, "bfloat16": 2.0**-7}


@dataclass(frozen=True)
class OwnError:
    """Own error of one value of the candidate in one firing; each error is the maximum over its items.

    ``own`` and ``function`` are described in the module. ``allowed`` is the bound with which ``own`` or ``function``
    was compared, ``size`` the largest number of the reference's value, ``total`` the distance of the value in the two
    runs, ``sqnr`` the ratio of the value to its own error in decibels. ``fault`` is "" or the kind of fault: ``shape``,
    ``kind`` (on one side NaN, infinite or not a number), ``function``, ``rounding``, or ``steps`` for more than
    quantisation explains. ``nodes`` are those of the candidate's part, ``reference`` those of the other part.
    """

    own: float
    function: float | None
    allowed: float
    size: float
    total: float
    sqnr: float | None
    fault: str = ""
    path: Path = ()
    nodes: tuple[str, ...] = ()
    reference: tuple[str, ...] = ()
    used: frozenset[Ref] = frozenset()

    @property
    def share(self) -> float | None:
        """Own error relative to the largest number of the value."""
        return self.own / self.size if self.size > 0 else None

    @property
    @harmless
    def sentence(self) -> str:
        """The verdict in words, with its numbers."""
        if self.fault == "shape":
            return "on the inputs of a it gives a different shape"
        if self.fault == "kind":
            odd = not np.isfinite(self.own)
            what = "NaN or an infinity where a does not" if odd else "a different whole number or truth value"
            return f"on the inputs of a it gives {what}"
        wide = self.fault == "function" and self.function is not None
        error = self.function if wide and self.function is not None else self.own
        where = ", evaluated in float64," if wide else ""
        share = "" if not self.size else f" ({error / self.size:.2g} of the largest number)"
        why = "quantisation" if self.fault == "steps" else "rounding"
        sentence = f"on the inputs of a its result{where} is {number(error, 3)} apart{share}, of which {why} explains "
        return sentence + number(self.allowed, 3)

    @harmless
    def __str__(self) -> str:
        return self.sentence


class PartErrors:
    """Own errors of the values of ``candidate``. ``back`` maps each of its paired values to that of ``reference``,
    ``shifts`` those whose last iteration index differs there to the difference (see :func:`~.names.shifts`).
    """

    def __init__(
        self,
        reference: TraceSide,
        candidate: TraceSide,
        back: Mapping[Ref, Ref],
        shifts: Mapping[Ref, int],
        tolerance: Tolerance,
    ) -> None:
        self.a, self.b, self.back, self.shifts, self.tolerance = reference, candidate, back, shifts, tolerance
        self.steps = IntegerSteps(reference, candidate)
        self._graphs = reference.trace.graph, candidate.trace.graph
        self._wide = _widened(self._graphs[0]), _widened(self._graphs[1])
        #: the rounding of the program that is coarser as a whole
        self.eps = max(_eps_of(graph) for graph in self._graphs)

    @property
    def rule(self) -> str:
        """The bounds, as a sentence."""
        more = str(self.tolerance) if self.tolerance.atol or self.tolerance.rtol else ""
        return (
            f"A node of b is wrong where its result on the inputs of a is off by more than {FUNCTION} roundings in "
            f"float64, or {ROUNDED} as computed, of the largest number there (1 rounding: {self.eps:.2g})"
            f"{f', and more than {more}' if more else ''}."
            + (f" Quantised tensors may be off by {HALVES} times the effect of half a step." if self.steps.on else "")
        )

    def of(self, theirs: Ref, path: Path, through: Collection[Ref] = ()) -> OwnError | None:
        """The own error of a value of the candidate in one firing, given by the iteration path of the reference; None
        if it cannot be evaluated. ``through`` are paired values at which parts do not end.
        """
        mine = self.back[theirs]
        try:
            exact = np.asarray(value_at(self.a.trace, mine, path))
            cone = self._cone(1, through)
            there = self.there(theirs, path)
            given = np.asarray(self.steps.real(theirs, cone.value(theirs, there), there))
        except (NoCone, *REFUSED):
            return None
        try:
            actual = self.steps.real(theirs, value_at(self.b.trace, theirs, there), there)
            total = _apart(exact, np.asarray(actual))
        except REFUSED:
            total = float("nan")
        reference: tuple[str, ...] = ()
        try:
            own_part = self._cone(0, {self.back[r] for r in through if r in self.back})
            own_part.value(mine, path)
            reference = tuple(own_part.nodes)
        except (NoCone, *REFUSED):
            pass
        parts = (reference, exact), (tuple(cone.nodes), given)
        coarse = (_coarsest(graph, *part) for graph, part in zip(self._graphs, parts, strict=True))
        eps = max(min(coarse), self.eps) if {exact.dtype.name, given.dtype.name} & _EPS.keys() else 0.0
        levels = self.steps.levels(cone.nodes)
        if levels and exact.shape == given.shape and np.isfinite(_apart(exact, given)):
            fault, own, function, allowed = self._stepped(exact, given, mine, theirs, path, through, levels, eps)
        else:
            fault, own, function, allowed = self._judged(exact, given, mine, theirs, path, through, eps)
        size = _size(exact)
        return OwnError(
            own,
            function,
            allowed,
            size,
            total,
            sqnr_of(exact, given) if exact.shape == given.shape else None,
            fault,
            path,
            tuple(cone.nodes),
            reference,
            frozenset(cone.used),
        )

    def there(self, theirs: Ref, path: Path) -> Path:
        """The iteration path of the candidate for one of the reference."""
        return moved(path, -self.shifts.get(theirs, 0))

    def _cone(self, side: int, through: Collection[Ref], wide: bool = False, noise: float = 0.0) -> Cone:
        of = self.b if side else self.a
        graph = self._wide[side] if wide else of.trace.graph
        if graph is None:
            raise NoCone
        ends = set(self.back) if side else set(self.back.values())
        return Cone(of.trace, graph, ends - set(through), self._end_b if side else self._end_a, noise)

    def _end_a(self, ref: Ref, path: Path) -> Any:
        return value_at(self.a.trace, ref, path[: self.a.depth(ref)])

    def _end_b(self, ref: Ref, path: Path) -> Any:
        mine = self.back[ref]
        given = value_at(self.a.trace, mine, moved(path, self.shifts.get(ref, 0))[: self.a.depth(mine)])
        return self.steps.quantised(ref, given, path)

    def _judged(
        self,
        exact: np.ndarray,
        given: np.ndarray,
        mine: Ref,
        theirs: Ref,
        path: Path,
        through: Collection[Ref],
        eps: float,
    ) -> tuple[str, float, float | None, float]:
        """(the fault or "", own error, difference in float64, allowed error)."""
        if exact.shape != given.shape:
            return "shape", float("inf"), None, 0.0
        own, size = _apart(exact, given), _size(exact)
        through_a = {self.back[r] for r in through if r in self.back}
        more = self.tolerance.atol + self.tolerance.rtol * size
        if not own > _SURE * eps * size + more:
            return "", own, None, _SURE * eps * size + more
        function = self._function(mine, theirs, path, through, through_a)
        if not eps or not np.isfinite(own):  # truth values, integers, and values that are NaN or infinite on one side
            if function is not None and function == 0.0 and not eps:
                return "", own, function, 0.0
            return "kind", own, function, more
        bound = FUNCTION * eps * size + more
        wide = function is not None and eps > _EPS["float64"]
        if not (wide and function is not None and function > bound) and own <= ROUNDED * eps * size + more:
            return "", own, function, ROUNDED * eps * size + more
        condition = self._condition(mine, path, through_a, eps)
        if wide and function is not None and function > bound + FUNCTION * condition:
            return "function", own, function, bound + FUNCTION * condition
        allowed = ROUNDED * (eps * size + condition) + more
        return ("rounding" if own > allowed else ""), own, function, allowed

    def _stepped(
        self,
        exact: np.ndarray,
        given: np.ndarray,
        mine: Ref,
        theirs: Ref,
        path: Path,
        through: Collection[Ref],
        levels: float,
        eps: float,
    ) -> tuple[str, float, float | None, float]:
        """The judgement for a part with quantised tensors."""
        own, size = _apart(exact, given), _size(exact)
        half = 1.0 / levels
        through_a = {self.back[r] for r in through if r in self.back}
        moves = self._condition(mine, path, through_a, -half)
        half_step = 1.001 * self.steps.half_step(theirs, self.there(theirs, path))
        allowed = (
            HALVES * moves
            + max(half * size, half_step)
            + ROUNDED * eps * size
            + self.tolerance.atol
            + self.tolerance.rtol * size
        )
        return ("steps" if own > allowed else ""), own, None, allowed

    def _function(
        self, mine: Ref, theirs: Ref, path: Path, through: Collection[Ref], through_a: Collection[Ref]
    ) -> float | None:
        try:
            one = self._cone(0, through_a, wide=True).value(mine, path)
            other = self._cone(1, through, wide=True).value(theirs, self.there(theirs, path))
        except (NoCone, *REFUSED):
            return None
        one, other = np.asarray(one), np.asarray(other)
        return _apart(one, other) if one.shape == other.shape else float("inf")

    def _condition(self, mine: Ref, path: Path, through: Collection[Ref], eps: float) -> float:
        try:
            still = self._cone(0, through, wide=True).value(mine, path)
            moved = self._cone(0, through, wide=True, noise=eps).value(mine, path)
        except (NoCone, *REFUSED):
            return 0.0
        found = _apart(np.asarray(still), np.asarray(moved))
        return found if np.isfinite(found) else 0.0


def _eps_of(graph: Graph) -> float:
    """The rounding of the most frequent float dtype of a graph."""
    dtypes = (t.dtype for n in graph.nodes.values() if n.op not in ("Const", "Placeholder") for t in n.types)
    counts = Counter(d for d in dtypes if d in _EPS)
    return max(((n, -_EPS[d]) for d, n in counts.items()), default=(0, -_EPS["float32"]))[1] * -1.0


def _coarsest(graph: Graph, nodes: Collection[str], value: np.ndarray) -> float:
    """The largest rounding of the dtypes in a part."""
    dtypes = {t.dtype for name in nodes if name in graph.nodes for t in graph.nodes[name].types}
    return max((_EPS[d] for d in (*dtypes, value.dtype.name) if d in _EPS), default=0.0)


def _widened(graph: Graph) -> Graph | None:
    try:
        return in_dtype(graph, "float64")
    except WorkbenchError:
        return None


def moved(path: Path, by: int) -> Path:
    """An iteration path with ``by`` added to its last index."""
    return (*path[:-1], path[-1] + by) if path and by else path


def _numbers(array: np.ndarray) -> np.ndarray | None:
    if array.dtype.kind in "biuf" or array.dtype.isbuiltin == 2:
        return array.astype(np.float64)
    return None


def _apart(one: np.ndarray, other: np.ndarray) -> float:
    """The largest distance between two items; infinite if only one is NaN or infinite, or for unequal non-numbers."""
    x, y = _numbers(one), _numbers(other)
    if x is None or y is None or x.shape != y.shape:
        return 0.0 if one.shape == other.shape and bool(np.all(one == other)) else float("inf")
    with np.errstate(all="ignore"):
        same = (x == y) | (np.isnan(x) & np.isnan(y))
        distance = np.where(same, 0.0, np.abs(x - y))
    distance = np.where(np.isnan(distance), np.inf, distance)
    return float(distance.max(initial=0.0))


def _size(value: Any) -> float:
    numbers = _numbers(np.asarray(value))
    if numbers is None:
        return 0.0
    finite = np.abs(numbers[np.isfinite(numbers)])
    return float(finite.max(initial=0.0))


__all__ = ["FUNCTION", "ROUNDED", "OwnError", "PartErrors"]
