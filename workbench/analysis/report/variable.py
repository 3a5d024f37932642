"""One variable of a report, with its evolution; and the table of all variables, filled on demand."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

import numpy as np

from workbench.analysis.forecast.convergence_curve import Convergence, convergence
from workbench.analysis.live.histories import HistoryColumn, coarse
from workbench.analysis.report.growth import Growth
from workbench.analysis.report.loop_dataflow import Link
from workbench.analysis.series.result import Evolution, Pattern
from workbench.errors import WorkbenchError
from workbench.text import harmless


@dataclass
class Variable:
    """A variable: ``evolution``, and also each field of it (``variable.label``, ``variable.limit`` ...).

    ``frame`` is the path of its loop, () outside of loops; ``carried`` is True for a loop variable; ``chain`` are the
    nodes that update it, ``update`` the same as an expression if it is short, ``statement`` the right-hand side of the
    Python line that computes it, ``outline`` the outer part of an expression that is too long; ``role`` is its role in
    the loop (:mod:`.roles`); ``count`` the number of its firings; ``last`` its newest value if it is one number;
    ``notes`` say which parts of its history are missing. ``growth`` is the growth of a tensor or list, if it grows.
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
        """True for a counter, whose growth is expected and not a finding."""
        return (
            self.role.startswith("counter") and self.evolution.label is Pattern.DIVERGING and not self.evolution.issues
        )

    @property
    def line(self) -> np.ndarray:
        """(n,) float64: the values that the verdict describes (for an array, the component or norm that decided)."""
        values = self.column.values
        if values.ndim == 1:
            return values.astype(np.float64)
        return values[:, self._index].astype(np.float64)

    @property
    def part(self) -> str:
        """The part of an array that ``line`` shows; empty for a number."""
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
        """(x, y): a coarse picture of the values that the verdict describes; for a number, of the whole activation."""
        if self.column.values.ndim == 1:
            return self.column.x, self.column.y
        keep = coarse(len(self.column))
        return self.column.iterations[keep].astype(np.float64), self.line[keep]

    def convergence(self, tolerance: float | None = None) -> Convergence | None:
        """``|x - limit|`` over the iterations with its forecast; None for a variable that does not converge."""
        return convergence(self.evolution, self.line, self.column.iterations, tolerance, step=self.column.step)

    @harmless
    def __str__(self) -> str:
        return f"{self.name}: {self.evolution}"


EVOLUTION = frozenset(f.name for f in fields(Evolution))


class Variables(Mapping[str, Variable]):
    """Name -> :class:`Variable`. Loop variables come first; the others are classified on demand.

    ``classified`` lists the variables classified so far; ``names`` are the loop variables. Any other value of the graph
    can also be looked up by name.
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
        """The variables classified so far."""
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
    """The requested variable or loop is not in the graph."""

    slug = "unknown-variable"
    __str__ = Exception.__str__  # KeyError would show the message in quotes


def no_variable(name: str, near: str) -> NotInAnalysis:
    return NotInAnalysis(
        f"There is no variable {name!r} in this analysis.",
        slug="unknown-variable",
        fix=near or "list(analysis.variables) names what there is.",
    )
