"""Basins: points that lead to the same values. Attractors are found, counted and named."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from workbench.errors import SweepError
from workbench.sweep.chunk import ENDED, WAITING
from workbench.text import facts_html, harmless

if TYPE_CHECKING:
    from workbench.sweep.result import Sweep

#: maximum number of attractors with a separate name, and of numbers in a name
MAX_ATTRACTORS, MAX_NUMBERS = 6, 4
#: minimum share of the points that lead to an attractor; fewer points have not reached one
LEAST = 1e-3
#: maximum number of points of a sweep in which a single point is enough for an attractor
FEW = 20
#: name for points that lead to none of them
ELSEWHERE = "elsewhere"
#: a group wider than this many tolerances is a range of values, not a single value
WIDE = 8


@dataclass(frozen=True)
class Basins:
    """Attractors of a sweep, and the points that lead to each; made by :meth:`Sweep.basins`.

    Attributes
    ----------
    names : list of str
        The attractors, named by their values and sorted by them.
    values : list of ndarray
        Their values, (period, numbers); the period is 1 for a fixed point.
    counts : list of int
        Number of points that lead to each.
    column : ndarray of str
        The name for each point: an attractor, "elsewhere", or the outcome of a point that reached none.

    Examples
    --------
    >>> b = wb.GraphBuilder("square root")
    >>> start = b.placeholder("start")
    >>> x = b.while_loop(lambda x: abs(x * x - 4.0) > 1e-9, lambda x: (x + 4.0 / x) * 0.5, {"x": start})
    >>> found = wb.sweep(b.build(x), {"start": np.linspace(-5.0, 5.0, 10)}).basins()
    >>> found.names, found.counts
    (['x = -2', 'x = 2'], [5, 5])
    """

    names: list[str]
    values: list[np.ndarray]
    counts: list[int]
    column: np.ndarray

    @harmless
    def __str__(self) -> str:
        width = max((len(name) for name in self.names), default=0)
        rows = [f"  {n:<{width}}  {self._share(k)}" for n, k in zip(self.names, self.counts, strict=True)]
        return "\n".join([repr(self).strip("<>"), *rows])

    @harmless
    def __repr__(self) -> str:
        return f"<Basins: {len(self.names)} attractors of {sum(self.counts):,} of {len(self.column):,} points>"

    @harmless
    def _repr_html_(self) -> str:
        rows = [(name, self._share(count)) for name, count in zip(self.names, self.counts, strict=True)]
        return facts_html(repr(self).strip("<>"), rows)

    def _share(self, count: int) -> str:
        return f"{count:,} points, {count / max(1, len(self.column)):.1%}"


def columns_for(sweep: Sweep) -> list[str]:
    """The columns that can distinguish attractors: newest values of loop variables, else numeric outputs."""
    whole = sweep.columns.all
    series = [f"{name}[-{c.shape[1]}:]" for name, c in whole.series.items() if c.ndim == 2 and c.dtype.kind in "iuf"]
    outputs = [name for name, c in whole.values.items() if c.ndim == 1 and c.dtype.kind in "iufc"]
    return series or outputs


def find_basins(sweep: Sweep, by: Sequence[str] | None, tolerance: float) -> Basins:
    """The basins of a sweep, as :meth:`Sweep.basins` describes them."""
    known = columns_for(sweep)
    names = [by] if isinstance(by, str) else list(by) if by is not None else known
    all_known = {*known, *(n for n, c in sweep.columns.all.values.items() if c.ndim == 1 and c.dtype.kind in "iufc")}
    newest = [name for name in names if name.endswith(":]")]
    if not names or not set(names) <= all_known or (newest and len(newest) < len(names)):
        raise SweepError(
            f"basins: attractors cannot be told by {', '.join(map(repr, names)) or 'this sweep'}.",
            slug="no-column",
            fix="name outputs that are single numbers, or newest values of loop variables of the same loop: "
            f"{', '.join(known) or 'collect some'}.",
        )
    if not tolerance > 0:
        raise SweepError(
            f"basins: expected a tolerance above zero, got {tolerance!r}.",
            slug="bad-tolerance",
            fix="leave it out: 1e-3.",
        )
    column = sweep["outcome"].astype(object)
    column[sweep.columns.all.status == ENDED] = ELSEWHERE
    if newest:
        rows, cycles = _cycles(sweep, names, tolerance)
        labels = [name[: name.rindex("[")] for name in names]
    else:
        rows, cycles, labels = _outputs(sweep, names)
    found: list[tuple[np.ndarray, np.ndarray, bool]] = []
    for period in sorted({len(c) for c in cycles}):
        at = np.flatnonzero([len(c) == period for c in cycles])
        values = np.array([cycles[k] for k in at]).reshape(len(at), -1)
        group = groups(np.arcsinh(values), tolerance)
        for g in range(int(group.max(initial=-1)) + 1):
            mine = values[group == g]
            wide = bool((np.ptp(np.arcsinh(mine), axis=0) > WIDE * tolerance).any())
            ends = np.stack([mine.min(axis=0), mine.max(axis=0)]) if wide else np.median(mine, axis=0)[None]
            found.append((rows[at[group == g]], ends.reshape(len(ends), period, len(labels)), wide))
    column[rows] = ELSEWHERE
    largest = sorted(found, key=lambda f: -len(f[0]))[:MAX_ATTRACTORS]
    least = max(LEAST * len(column), 2 if len(column) > FEW else 1)
    largest = sorted((f for f in largest if len(f[0]) >= least), key=lambda f: f[1].ravel().tolist())
    basin_names = _names(labels, [ends for _, ends, _ in largest], tolerance)
    for name, (places, _, _) in zip(basin_names, largest, strict=True):
        column[places] = name
    return Basins(basin_names, [ends.mean(axis=0) for _, ends, _ in largest], [len(f[0]) for f in largest], column)


def groups(values: np.ndarray, tolerance: float) -> np.ndarray:
    """Group index of each row: two groups differ by a gap above the tolerance in at least one column."""
    label = np.zeros(len(values), np.int64)
    count = 0
    while len(values) and int(label.max()) + 1 != count:
        count = int(label.max()) + 1
        for column in values.T:
            order = np.lexsort((column, label))
            new = (np.diff(label[order]) != 0) | (np.diff(column[order]) > tolerance)
            label[order] = np.concatenate([[0], np.cumsum(new)])
    return label


def _outputs(sweep: Sweep, names: Sequence[str]) -> tuple[np.ndarray, list[np.ndarray], list[str]]:
    """Points that ended with finite numbers, these numbers as cycles of period one, and a label for each number."""
    whole = sweep.columns.all
    there = whole.status == ENDED
    parts: dict[str, np.ndarray] = {}
    for name in names:
        column = whole.values[name]
        there = there & whole.alive[name] & np.isfinite(column)
        if column.dtype.kind == "c":
            parts |= {f"Re {name}": column.real, f"Im {name}": column.imag}
        else:
            parts[name] = column
    rows = np.flatnonzero(there)
    table = np.stack([column[rows].astype(np.float64) for column in parts.values()], axis=1)
    return rows, list(table[:, None, :]), list(parts)


def _cycles(sweep: Sweep, names: Sequence[str], tolerance: float) -> tuple[np.ndarray, list[np.ndarray]]:
    """Points whose newest values return, and one round of each cycle, from its smallest state on."""
    whole = sweep.columns.all
    columns = [whole.series[name[: name.rindex("[")]] for name in names]
    counts = np.min([whole.counts[name[: name.rindex("[")]] for name in names], axis=0)
    length = min(column.shape[1] for column in columns)
    values = np.stack([c[:, c.shape[1] - length :].astype(np.float64) for c in columns], axis=2)
    scaled = np.arcsinh(values)
    ready = (whole.status != WAITING) & (counts >= length) & np.isfinite(values).all(axis=(1, 2))
    period = np.zeros(len(values), np.int64)
    for p in range(1, length // 2 + 1):
        open_ = np.flatnonzero(ready & (period == 0))
        part = scaled[open_]
        period[open_[np.abs(part[:, p:] - part[:, :-p]).max(axis=(1, 2), initial=0.0) <= tolerance]] = p
    rows = np.flatnonzero(period)
    turns = []
    for k in rows:
        turn = values[k, length - period[k] :]
        turns.append(np.roll(turn, -int(np.lexsort(turn.T[::-1])[0]), axis=0))
    return rows, turns


def _names(labels: Sequence[str], attractors: Sequence[np.ndarray], tolerance: float) -> list[str]:
    """Names of attractors with as few digits as distinguish them."""
    for digits in range(4, 18):
        names = [_name(labels, ends, digits, tolerance) for ends in attractors]
        if len(set(names)) == len(names):
            break
    return names if attractors else []


def _name(labels: Sequence[str], ends: np.ndarray, digits: int, tolerance: float) -> str:
    """The name of one attractor: ``ends`` has its values, or the least and the greatest of a range."""

    def number(v: float) -> str:
        return f"{0.0 if abs(v) < 1e-2 * tolerance else v:.{digits}g}"

    period = ends.shape[1]
    parts = []
    for k, label in enumerate(labels):
        shown = [" to ".join(dict.fromkeys(number(v) for v in ends[:, p, k])) for p in range(min(period, MAX_NUMBERS))]
        parts.append(f"{label} = {', '.join(shown)}{', …' if period > MAX_NUMBERS else ''}")
    return (f"cycle of {period}: " if period > 1 else "") + ("; " if period > 1 else ", ").join(parts)
