"""How values develop over the iterations, as plain data: thinned lines, limit and label.

Scalars give one line, small arrays (up to 8 elements) a line for each element, larger ones the line of their 2-norm.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from workbench.errors import WorkbenchError
from workbench.widgets.models.labels import number, short_name
from workbench.widgets.models.thinning import BUDGET, Thinned

MAX_COMPONENTS = 8
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
        self._lines: dict[str, dict[str, Thinned]] = {}
        self._tails: dict[str, np.ndarray] = {}
        self._seen: dict[str, int] = {}
        self._depth = 1

    def update(self, trace: Any, *, verdicts: bool = True, log: bool = False) -> dict[str, Any]:
        """The model now: ``lines`` (name, x, y, bad, last), ``verdicts`` (name, label, limit, text), ``x_title``, ``log``."""
        for name in self.names:
            self._read(trace, name)
        lines = []
        for name in self.names:
            for suffix, line in self._lines.get(name, {}).items():
                y = np.abs(line.y) if log else line.y
                y = np.where(np.isfinite(y) & ((y > 0) | (not log)), y, np.nan)
                lines.append(
                    {
                        "name": short_name(name) + suffix, "x": line.x, "y": y, "bad": line.first_bad,
                        "last": float(line.y[-1]) if len(line.y) else None, "count": line.seen,
                    }
                )  # fmt: skip
        return {
            "lines": lines,
            "verdicts": [v for n in self.names if (v := self._verdict(n))] if verdicts else [],
            "x_title": "iteration" if self._depth <= 1 else "firing, all activations in order",
            "log": log,
        }

    def _read(self, trace: Any, name: str) -> None:
        try:
            series = trace[name]
            count = len(series)
        except (KeyError, WorkbenchError):
            return
        seen = self._seen.get(name, 0)
        if count < seen:  # a step back or a restart
            self._lines.pop(name, None)
            self._tails.pop(name, None)
            seen = 0
        if count > seen:
            iterations, values = series.window(seen, count)
            depth = iterations.shape[1] if getattr(iterations, "ndim", 1) == 2 else 1
            self._depth = max(1, depth)
            x = iterations[:, 0] if depth == 1 and iterations.ndim == 2 else np.arange(seen, seen + len(values))
            for suffix, y in lines_of(values).items():
                self._lines.setdefault(name, {}).setdefault(suffix, Thinned(BUDGET)).extend(x, y)
            tail = values[-TAIL:]
            old = self._tails.get(name)
            if old is not None and old.shape[1:] == tail.shape[1:] and len(tail) < TAIL:
                tail = np.concatenate([old[-(TAIL - len(tail)) :], tail])
            self._tails[name] = tail
        self._seen[name] = count

    def _verdict(self, name: str) -> dict[str, Any] | None:
        tail = self._tails.get(name)
        if self.classify is None or tail is None or len(tail) < 4 or tail.dtype.kind in "OSUVc":
            return None
        flat = tail.reshape(len(tail), -1)
        if flat.shape[1] > MAX_COMPONENTS:
            flat = np.sqrt((flat.astype(np.float64) ** 2).sum(axis=1, keepdims=True))
        try:
            verdict = self.classify(flat[:, 0] if flat.shape[1] == 1 else flat)
        except (WorkbenchError, ValueError, FloatingPointError):
            return None
        label = getattr(verdict.label, "name", str(verdict.label)).lower()
        limit = verdict.limit
        text = f"{short_name(name)}: {label}"
        plain = limit is not None and np.ndim(limit) == 0 and np.isfinite(limit)
        if plain and label in ("converging", "stable"):
            text += f" to {number(limit)}" if label == "converging" else f" at {number(limit)}"
        period = getattr(verdict, "period", None)
        if label == "oscillating" and period:
            text += f", period {number(period)}"
        return {
            "name": short_name(name), "label": label, "limit": float(limit) if plain else None,
            "confidence": getattr(verdict, "confidence", None), "text": text,
            "why": [str(w) for w in (getattr(verdict, "why", None) or ())],
        }  # fmt: skip


def default_names(graph: Any, limit: int = 6) -> list[str]:
    """The loop variables of all frames, outermost first; without loops the outputs."""
    names = [v.name for path in sorted(graph.frames, key=len) for v in graph.frames[path].variables]
    return (names or list(graph.outputs))[:limit]
