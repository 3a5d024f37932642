"""How values develop over the iterations, as plain data: thinned lines, limit and label.

Scalars give one line, small arrays (up to 8 elements) a line for each element, larger ones the line of their 2-norm.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from workbench.analysis.convergence import convergence, forecast_values
from workbench.analysis.evolution import Evolution
from workbench.errors import WorkbenchError
from workbench.widgets.models.convergence_model import ahead_model
from workbench.widgets.models.follow import Follower
from workbench.widgets.models.labels import number, short_name
from workbench.widgets.models.thinning import BUDGET, Thinned

MAX_COMPONENTS = 8
#: how lines are drawn: as they are, their magnitude or their distance to the limit on a logarithmic axis
SCALES = ("linear", "log", "error")
#: points of a forecast
AHEAD = 60
TAIL = 4096


def lines_of(values: np.ndarray) -> dict[str, np.ndarray]:
    """Suffix of the line's name -> (n,) float64; complex values give their magnitude, text gives nothing."""
    values = np.asarray(values)
    if values.dtype.kind in "OSUV":
        return {}
    if values.dtype.kind == "c":
        values = np.abs(values)
    flat = values.reshape(len(values), -1).astype(np.float64)
    if values.ndim == 1:
        return {"": flat[:, 0]} if flat.shape[1] else {"": np.empty(0)}
    if flat.shape[1] <= MAX_COMPONENTS:
        places = list(np.ndindex(values.shape[1:]))
        return {f"[{','.join(map(str, p))}]": flat[:, k] for k, p in enumerate(places)}
    with np.errstate(over="ignore", invalid="ignore"):
        return {" (2-norm)": np.sqrt((flat * flat).sum(axis=1))}


class EvolutionModel:
    """Follows some values of a trace; ``update`` reads only what is new since the last call.

    ``classify`` is called on the most recent values of each line (at most 4096) and gives a verdict with ``label``,
    ``limit`` and ``confidence``; leave it out to draw lines only.
    """

    def __init__(self, names: Sequence[str], classify: Callable[[np.ndarray], Any] | None = None) -> None:
        self.names = list(names)
        self.classify = classify
        self._lines: dict[str, dict[str, Thinned]] = {name: {} for name in names}
        self._follow = {n: Follower(partial(self._take, n), partial(self._cut, n)) for n in self.names}
        self._trace: Any = None

    @property
    def behind(self) -> bool:
        """Whether recorded values are still to be read; call ``update`` again."""
        return any(f.behind for f in self._follow.values())

    def update(
        self, trace: Any, *, running: bool = False, verdicts: bool = True, log: bool = False
    ) -> dict[str, Any]:
        """The model now: ``lines`` (name, x, y, bad, last, count), ``verdicts`` (name, label, limit, text, and as
        ``forecast`` and ``distance`` x, y, low and high of the values and of their distance to the limit),
        ``x_title``, ``log``."""
        self._trace = trace
        for name, follower in self._follow.items():
            try:
                follower.read([trace[name]], running)
            except (KeyError, TypeError, WorkbenchError):
                continue  # a value that this run does not compute
        lines = []
        for name in self.names:
            for suffix, line in self._lines[name].items():
                y = np.abs(line.y) if log else line.y
                y = np.where(np.isfinite(y) & ((y > 0) | (not log)), y, np.nan)
                lines.append(
                    {
                        "name": short_name(name) + suffix, "x": line.x, "y": y, "bad": line.first_bad,
                        "last": float(line.y[-1]) if len(line.y) else None, "count": self._follow[name].count,
                    }
                )  # fmt: skip
        deep = any(f.depth > 1 for f in self._follow.values())
        return {
            "lines": lines,
            "verdicts": [v for n in self.names if (v := self._verdict(n))] if verdicts else [],
            "x_title": "firing, all activations in order" if deep else "iteration",
            "log": log,
        }

    def _take(self, name: str, x: np.ndarray, columns: list[np.ndarray]) -> None:
        for suffix, y in lines_of(columns[0]).items():
            self._lines[name].setdefault(suffix, Thinned(BUDGET)).extend(x, y)

    def _cut(self, name: str, x: float) -> None:
        lines = self._lines[name]
        for line in lines.values():
            line.cut(x)
        for suffix in [s for s, line in lines.items() if not len(line.x)]:
            del lines[suffix]

    def _tail(self, name: str) -> np.ndarray | None:
        """The newest values, unthinned."""
        count = self._follow[name].count
        if self._trace is None or count < 4:
            return None
        series = self._trace[name]
        if self._follow[name].depth <= 1:
            # negative slices reach the end without a count of the whole
            return np.asarray(series[-min(count, TAIL) :])
        iterations, values = series.window(max(0, count - TAIL), count)
        # of an inner loop the present activation is judged, not the sequence of all of them
        mine = np.all(iterations[:, :-1] == iterations[-1, :-1], axis=1)
        return np.asarray(values)[mine]

    def _verdict(self, name: str) -> dict[str, Any] | None:
        try:
            tail = None if self.classify is None else self._tail(name)
        except (KeyError, IndexError, ValueError, TypeError, WorkbenchError):
            return None
        if self.classify is None or tail is None or len(tail) < 4 or tail.dtype.kind in "OSUVc":
            return None
        flat = tail.reshape(len(tail), -1)
        if flat.shape[1] > MAX_COMPONENTS:
            flat = np.sqrt((flat.astype(np.float64) ** 2).sum(axis=1, keepdims=True))
        try:
            verdict = self.classify(flat[:, 0] if flat.shape[1] == 1 else flat)
        except (WorkbenchError, ValueError, FloatingPointError):
            return None
        ahead = self._ahead(name, verdict, flat)
        label = getattr(verdict.label, "name", str(verdict.label)).lower()
        limit = verdict.limit
        text = f"{short_name(name)}: {'no verdict yet' if label == 'unknown' else label}"
        plain = limit is not None and np.ndim(limit) == 0 and np.isfinite(limit)
        if plain and label in ("converging", "stable"):
            text += f" to {number(limit)}" if label == "converging" else f" at {number(limit)}"
        period = getattr(verdict, "period", None)
        if label == "oscillating" and period:
            text += f", period {number(period)}"
        return {
            "name": short_name(name), "label": label, "limit": float(limit) if plain else None,
            "confidence": getattr(verdict, "confidence", None), "text": text,
            "why": [str(w) for w in (getattr(verdict, "why", None) or ())], **ahead,
        }  # fmt: skip


    def _ahead(self, name: str, verdict: Any, flat: np.ndarray) -> dict[str, Any]:
        """The forecast of a value and of its distance to the limit, where the verdict has a model; ``line`` is the
        number of the line that it belongs to."""
        found: dict[str, Any] = {"forecast": None, "distance": None, "line": 0, "told": ""}
        lines = list(self._lines[name].values())
        if not isinstance(verdict, Evolution) or not lines or not len(lines[0].x):
            return found
        found["line"] = k = verdict.component if verdict.component is not None else 0
        if k >= len(lines) or k >= flat.shape[1]:
            return found
        last, n = int(lines[0].x[-1]), len(flat)
        steps = np.unique(np.rint(np.linspace(1, max(4, n // 3), AHEAD)))
        line = flat[:, k].astype(np.float64)
        found["forecast"] = ahead_model(forecast_values(verdict, last, steps, line), float(line[-1]))
        plot = convergence(verdict, line, np.arange(last + 1 - n, last + 1))
        if plot is not None:
            found["distance"], found["told"] = ahead_model(plot.ahead, float(plot.error[-1])), plot.sentence
        return found


def default_names(graph: Any, limit: int = 6) -> list[str]:
    """The loop variables of all frames, outermost first; without loops the outputs."""
    names = [v.name for path in sorted(graph.frames, key=len) for v in graph.frames[path].variables]
    return (names or list(graph.outputs))[:limit]
