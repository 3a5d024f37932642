"""One variable of a report: its evolution and its rows; and the table of all, filled in on demand."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

import numpy as np

from workbench.analysis.forecast.convergence_curve import Convergence, convergence
from workbench.analysis.report.growth import Growth
from workbench.analysis.report.histories import HistoryColumn, coarse
from workbench.analysis.report.loop_dataflow import Link
from workbench.analysis.series.classify import classify_history
from workbench.analysis.series.result import Evolution, Pattern
from workbench.analysis.series.value_series import History, HistoryError
from workbench.errors import WorkbenchError
from workbench.text import harmless


@dataclass
class Variable:
    """A variable: ``evolution``, and also each field of it (``variable.label``, ``variable.limit`` ...).

    ``frame`` is the path of its loop, () outside of loops; ``carried`` tells a loop variable from other values;
    ``chain`` are the nodes that update it, ``update`` the same as an expression if it is short, ``statement`` the
    right-hand side of the Python line that made it, ``outline`` the outer part of an expression that is too long;
    ``role`` is its part in the loop (:mod:`.roles`); ``count`` its firings; ``last`` its newest value if it is one
    number; ``notes`` say what of its history is missing. ``growth`` tells by how much a tensor or list grows that does.
    """

    name: str
    node: str
    frame: tuple[str, ...]
    dtype: str
    shape: tuple[int, ...]
    evolution: Evolution
    carried: bool = False
    chain: tuple[Link, ...] = ()
    update: str = ""
    count: int = 0
    last: Any = None
    notes: list[str] = field(default_factory=list)
    column: HistoryColumn = field(repr=False, default_factory=lambda: HistoryColumn(np.empty(0), np.empty(0, np.int64)))
    growth: Growth | None = None
    statement: str = ""
    role: str = ""
    outline: str = ""

    def __getattr__(self, name: str) -> Any:
        if name in EVOLUTION:
            return getattr(self.evolution, name)
        raise AttributeError(f"{type(self).__name__!r} has no attribute {name!r}")

    @property
    def counts(self) -> bool:
        """True for a counter: it grows as it should, and nothing about that is a finding."""
        return (
            self.role.startswith("counter") and self.evolution.label is Pattern.DIVERGING and not self.evolution.issues
        )

    @property
    def line(self) -> np.ndarray:
        """(n,) float64: the values that the verdict is about (of an array the component or norm that decided)."""
        values = self.column.values
        if values.ndim == 1:
            return values.astype(np.float64)
        return values[:, self._index].astype(np.float64)

    @property
    def part(self) -> str:
        """Which part of an array ``line`` is; empty for a number."""
        if self.column.values.ndim == 1:
            return "2-norm" if self.column.of_norms else ""
        place = self.column.components[self._index]
        return "2-norm" if place is None else f"element {list(map(int, np.unravel_index(place, self.shape)))}"

    @property
    def _index(self) -> int:
        at = self.evolution.component
        return self.column.components.index(at) if at in self.column.components else 0

    @property
    def picture(self) -> tuple[np.ndarray, np.ndarray]:
        """(x, y): a coarse picture of the values that the verdict is about; of a number of the whole activation."""
        if self.column.values.ndim == 1:
            return self.column.x, self.column.y
        keep = coarse(len(self.column))
        return self.column.iterations[keep].astype(np.float64), self.line[keep]

    def convergence(self, tolerance: float | None = None) -> Convergence | None:
        """``|x - limit|`` over the iterations with its forecast; None for what does not converge."""
        return convergence(self.evolution, self.line, self.column.iterations, tolerance, step=self.column.step)

    @harmless
    def __str__(self) -> str:
        return f"{self.name}: {self.evolution}"


#: of the components of an array the one with the first of these labels speaks for all
WORST = (Pattern.DIVERGING, Pattern.CHAOTIC, Pattern.OSCILLATING, Pattern.UNKNOWN, Pattern.CONVERGING, Pattern.STABLE)
NO_VALUES = "There are no values."
EVOLUTION = frozenset(f.name for f in fields(Evolution))


def evolution_of(column: HistoryColumn) -> Evolution:
    """The verdict on a column; for an array the worst of its components and its norm."""
    values = column.values
    if not len(values):
        return Evolution(Pattern.UNKNOWN, why=list(column.notes[:1]) or [NO_VALUES], method="few")
    start = int(column.iterations[0]) if column.step == 1 else 0
    try:
        if values.ndim == 1:
            found = _arrived(_spaced(classify_history(History(values, start)), column), column)
            return found.of_norm() if column.of_norms else found
        results = []
        for k, place in enumerate(column.components):
            found = _of_array(classify_history(History(np.ascontiguousarray(values[:, k]), start)), place)
            found.component = place
            results.append(found)
    except (HistoryError, ArithmeticError, LookupError, ValueError) as error:
        why = f"It could not be classified: {getattr(error, 'message', error)}"
        return Evolution(Pattern.UNKNOWN, why=[why], method="failed", count=len(values))
    results = [r for r in results if r.method != "norm"] or results
    worst = min(results, key=lambda r: (WORST.index(r.label), -r.confidence))
    for other in results:
        for slug, at in other.issues.items():
            worst.issues[slug] = min(at, worst.issues.get(slug, at))
    return _spaced(worst, column)


def _of_array(found: Evolution, place: int | None) -> Evolution:
    """Of many components one always moves one way in a short record; a norm is never negative."""
    if found.method == "short" and found.label is Pattern.DIVERGING:
        found.label, found.confidence = Pattern.UNKNOWN, 0.0
    return found.of_norm() if place is None else found


def _arrived(found: Evolution, column: HistoryColumn) -> Evolution:
    """Corrects the label of a variable that is at rest in the window but moved before: CONVERGING, by the whole run."""
    y = column.y[:-1]  # the last point is not evenly spaced
    if found.label is not Pattern.STABLE or column.step != 1 or len(y) < 16 or column.x[0] >= column.iterations[0]:
        return found
    if not np.all(np.isfinite(y)) or np.ptp(y) <= 1e3 * np.ptp(column.values.astype(np.float64)) or np.ptp(y) == 0:
        return found
    whole, k = classify_history(History(y)), float(column.x[1] - column.x[0])
    if whole.label is not Pattern.CONVERGING:
        return found
    found.label, found.confidence = Pattern.CONVERGING, min(found.confidence, whole.confidence)
    if whole.rate is not None and whole.rate > 0:
        found.rate = float(whole.rate ** (1.0 / k))
    found.why = [f"It moved from {y[0]:.6g} and has arrived: {found.why[0] if found.why else ''}".rstrip(": ")]
    return found


def _spaced(found: Evolution, column: HistoryColumn) -> Evolution:
    """Numbers per kept value become numbers per iteration, where only every k-th iteration is kept."""
    k = column.step
    if k == 1:
        return found
    if found.label in (Pattern.OSCILLATING, Pattern.CHAOTIC):
        why = f"Every {k}th iteration alone cannot tell a pattern from its sampling. Of these values: "
        return Evolution(Pattern.UNKNOWN, why=[why + " ".join(found.why)], method="thinned", count=found.count)
    if found.rate is not None and found.rate > 0:
        found.rate = float(found.rate ** (1.0 / k))
    if found.order is not None and found.order > 0:
        found.order = float(found.order ** (1.0 / k))
    found.issues = {slug: int(column.iterations[0]) + k * at for slug, at in found.issues.items()}
    found.why = [sentence.replace("each iteration", f"every {k} iterations") for sentence in found.why]
    found.model = None  # it counts in kept values
    return found


class Variables(Mapping[str, Variable]):
    """Name -> :class:`Variable`. Loop variables come first; what has not been asked for is classified when it is.

    ``classified`` lists what is there already; ``names`` are the loop variables. Any further value of the graph can
    be asked for by its name too.
    """

    def __init__(self, names: list[str], make: Callable[[str], Variable], known: Callable[[], list[str]]) -> None:
        self.names = names
        self._make, self._known = make, known
        self._done: dict[str, Variable] = {}
        self._lock = threading.RLock()

    @cached_property
    def _all(self) -> dict[str, None]:
        return dict.fromkeys([*self.names, *self._known()])

    @property
    def classified(self) -> list[Variable]:
        """The variables that were classified so far."""
        return list(self._done.values())

    def __getitem__(self, name: str) -> Variable:
        with self._lock:
            if name not in self._done:
                self._done[name] = self._make(name)
            return self._done[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)

    def __contains__(self, name: object) -> bool:
        return name in self._all

    @harmless
    def __repr__(self) -> str:
        return f"<{len(self.names)} loop variables, {len(self._done)} classified: {', '.join(self.names[:8])}>"


class NotInAnalysis(WorkbenchError, KeyError):
    """A variable or loop that an analysis was asked for and that its graph does not have."""

    slug = "unknown-variable"
    __str__ = Exception.__str__  # KeyError would show a quoted text


def no_variable(name: str, near: str) -> NotInAnalysis:
    return NotInAnalysis(
        f"There is no variable {name!r} in this analysis.",
        slug="unknown-variable",
        fix=near or "list(analysis.variables) names what there is.",
    )
