"""Comparison of one value in all of its firings: first difference, largest difference, and number of differences."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from workbench.analysis.diff.alignment import Alignment, align, picked, position
from workbench.analysis.diff.measure import BLOCK_ITEMS, Measured, measure
from workbench.analysis.diff.metrics import cosine, range_error, sqnr_of
from workbench.analysis.diff.side import Column, Path, Side
from workbench.analysis.diff.tolerance import Kind, Tolerance, kind_of
from workbench.ir.node import Source
from workbench.trace.series import as_value

#: maximum number of firings without a partner for which the reason is determined
_MAX_REASONS = 64


@dataclass(frozen=True)
class Row:
    """One value that differs, at its first differing firing.

    ``name``, ``node``, ``op``, ``frame`` and ``source`` are those of a; ``other`` is its name in b. ``kind`` is the
    kind of the difference. ``max_abs``, ``max_rel`` and ``ulp`` are the largest distances in that firing, and ``index``
    is the item furthest beyond the tolerance (None if there is none). ``worst_iteration``, ``worst_abs``, ``worst_rel``
    and ``worst_ulp`` are those of the whole run; ``differing`` of ``compared`` firings are beyond the tolerance.
    ``nan`` and ``inf`` count such items on both sides. ``decides``: the branch or loop that this value decides.
    ``introduces``: the inputs of the node agree at that firing but its output does not; None if that is unknown.
    ``edited``: the edit that wrote the value on one of the sides, with the value before it. ``quantised``: for a
    quantised run compared with its float run, the step, the own error and the inherited error. ``range_error`` (the
    largest distance relative to the range of a), ``cosine`` and ``sqnr`` (in decibels) also describe that firing.
    ``own``: for two programs, the own error of b there; ``other_node``, ``other_op`` and ``other_source`` are those of
    b.
    """

    name: str
    other: str
    node: str
    op: str
    frame: tuple[str, ...]
    iteration: Path
    kind: Kind
    value_a: Any = None
    value_b: Any = None
    max_abs: float | None = None
    max_rel: float | None = None
    ulp: int | None = None
    index: tuple[int, ...] | None = None
    dtypes: tuple[str, str] = ("", "")
    shapes: tuple[tuple[int, ...] | None, tuple[int, ...] | None] = (None, None)
    nan: tuple[int, int] = (0, 0)
    inf: tuple[int, int] = (0, 0)
    differing: int = 1
    compared: int = 0
    worst_iteration: Path = ()
    worst_abs: float | None = None
    worst_rel: float | None = None
    worst_ulp: int | None = None
    decides: str = ""
    introduces: bool | None = None
    source: Source | None = None
    key: Any = None
    edited: str = ""
    quantised: str = ""
    range_error: float | None = None
    cosine: float | None = None
    sqnr: float | None = None
    own: Any = None
    other_node: str = ""
    other_op: str = ""
    other_source: Source | None = None

    @property
    def where(self) -> str:
        """The iteration in words, such as ``while 3, inner 0``."""
        return ", ".join(f"{f} {i}" for f, i in zip(self.frame, self.iteration, strict=False))


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result of comparing one pair of columns: ``row`` is None if all compared firings agree. ``within``: some differ,
    all within the tolerance. ``unpaired`` counts the firings of each side without a partner.
    """

    row: Row | None
    order: tuple[int, ...]
    compared: int
    within: bool
    unpaired: tuple[int, int]


def blocks(one: Column, other: Column, found: Alignment) -> Any:
    """(first pair, values of a, values of b) for blocks of pairs, whose size bounds the memory."""
    start, length = 0, 256
    while start < found.count:
        stop = min(found.count, start + length)
        a, b = one.take(picked(found.a, start, stop)), other.take(picked(found.b, start, stop))
        yield start, a, b
        items = max(int(getattr(v, "size", 64)) for v in (a[0], b[0]))
        start, length = stop, max(1, BLOCK_ITEMS // max(1, items))


def compare(one: Column, other: Column, sides: tuple[Side, Side], tolerance: Tolerance) -> Outcome:
    """Compare all firings of a value that both sides have."""
    found = align(one, other)
    if one.once and other.once and found.count > 1:  # a constant: one of its firings represents all
        found = Alignment(slice(0, 1), slice(0, 1), 1, found.only_a[:0], found.only_b[:0])
    first = worst = -1
    differing, within = 0, False
    at_first: Measured | None = None
    at_worst = (0.0, 0.0, 0.0)
    values: tuple[Any, Any] = (None, None)
    for start, a, b in blocks(one, other, found):
        seen = measure(a, b, tolerance)
        within = within or bool((seen.absolute > 0).any())
        count = int(seen.differs.sum())
        if not count:
            continue
        differing += count
        if first < 0:
            k = int(seen.differs.argmax())
            first, at_first, values = start + k, _one(seen, k), (as_value(a[k]), as_value(b[k]))
        rank = np.where(seen.differs, np.nan_to_num(seen.absolute, nan=-1.0), -2.0)
        k = int(rank.argmax())
        if worst < 0 or rank[k] > at_worst[0]:
            worst = start + k
            at_worst = (float(rank[k]), float(seen.relative[k]), float(seen.ulp[k]))
    unpaired = (len(found.only_a), len(found.only_b))
    dead = _dead(one, other, found, sides)
    if first < 0 and dead is None:
        return Outcome(None, (), found.count, within, unpaired)
    base = Row(
        one.name,
        other.name,
        one.node,
        one.op,
        one.frame,
        (),
        Kind.VALUE,
        source=one.source,
        key=one.key,
        compared=found.count + (dead is not None),
        decides=one.decides or other.decides,
        differing=differing,
        other_node=other.node,
        other_op=other.op,
        other_source=other.source,
    )
    path = _path(one, other, found, first) if first >= 0 else ()
    if dead is not None and (first < 0 or one.order(dead[1]) < one.order(path)):
        row = replace(base, kind=dead[0], iteration=dead[1], differing=differing + 1)
    else:
        assert at_first is not None
        row = _described(base, values, at_first, path)
        row = replace(
            row,
            worst_iteration=_path(one, other, found, worst),
            worst_abs=_number(max(at_worst[0], 0.0), row.max_abs),
            worst_rel=_number(at_worst[1], row.max_rel),
            worst_ulp=_whole(at_worst[2], row.ulp),
            differing=differing + (dead is not None),
        )
    return Outcome(row, one.order(row.iteration), found.count, within, unpaired)


def _one(seen: Measured, k: int) -> Measured:
    return Measured(*(getattr(seen, name)[k : k + 1] for name in Measured.__slots__))


def _path(one: Column, other: Column, found: Alignment, pair: int) -> Path:
    its = one.iterations()
    if its is not None:
        return tuple(its[position(found.a, pair)].tolist())
    its = other.iterations()
    if its is not None:
        return tuple(its[position(found.b, pair)].tolist())
    return (pair,) if one.frame or other.frame or found.count > 1 else ()


def _described(row: Row, values: tuple[Any, Any], seen: Measured, path: Path) -> Row:
    a, b = values
    kind = kind_of(int(seen.kind[0]))
    if row.decides and kind is Kind.VALUE:
        kind = Kind.BRANCH
    shapes = tuple(tuple(v.shape) if isinstance(v, np.ndarray | np.generic) else None for v in values)
    flat = int(seen.worst[0])
    index = tuple(int(i) for i in np.unravel_index(flat, shapes[0])) if flat >= 0 and shapes[0] else None
    return replace(
        row,
        kind=kind,
        iteration=path,
        value_a=a,
        value_b=b,
        max_abs=_number(seen.absolute[0]),
        max_rel=_number(seen.relative[0]),
        ulp=_whole(seen.ulp[0]),
        index=index,
        dtypes=(_dtype(a), _dtype(b)),
        shapes=(shapes[0], shapes[1]),
        range_error=range_error(a, b),
        cosine=cosine(a, b),
        sqnr=sqnr_of(a, b),
        nan=(_count(a, np.isnan), _count(b, np.isnan)),
        inf=(_count(a, np.isinf), _count(b, np.isinf)),
    )


def _number(value: float, like: Any = 0.0) -> float | None:
    return None if like is None or np.isnan(value) else float(value)


def _whole(value: float, like: Any = 0) -> int | None:
    return None if like is None or np.isnan(value) else int(value)


def _dtype(value: Any) -> str:
    if isinstance(value, np.ndarray | np.generic):
        return "string" if value.dtype == object else value.dtype.name
    return type(value).__name__


def _count(value: Any, test: Any) -> int:
    if not isinstance(value, np.ndarray | np.generic):
        return 0
    if value.dtype.isbuiltin == 2:
        value = value.astype(np.float64)
    return int(test(value).sum()) if value.dtype.kind in "fc" else 0


def _dead(one: Column, other: Column, found: Alignment, sides: tuple[Side, Side]) -> tuple[Kind, Path] | None:
    """The first firing that only one side has because the other did not take its branch. Firings that are missing
    because a loop ended earlier are reported by the lengths of the loops.
    """
    best: tuple[Kind, Path] | None = None
    for mine, only, theirs, side, kind in (
        (one, found.only_a, other, sides[1], Kind.ONLY_A),
        (other, found.only_b, one, sides[0], Kind.ONLY_B),
    ):
        its = mine.iterations()
        if not len(only) or its is None or not (theirs.guarded or not theirs.depth):
            continue
        for at in only[:_MAX_REASONS].tolist():
            path = tuple(its[at].tolist())
            why = side.missing(theirs.key, path)
            if why == "dead" or why == "ended" and sides[side is sides[0]].is_last(mine.key, path):
                if best is None or one.order(path) < one.order(best[1]):
                    best = kind, path
                break
    return best
