"""Computes with small arrays of moving numbers: each item is a separate number (:mod:`moving_values`) or a constant.

Elementwise ops are computed number by number, with broadcasting; ops that only rearrange items act on their indices.
Sums of floats are known exactly if they are exact or have two items (so that the order of additions does not matter),
and otherwise between bounds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from workbench.analysis.proof.rays.horizon import (
    COMPARE,
    INTEGERS,
    PRECISION,
    Between,
    Horizon,
    Moving,
    Symbol,
    Unfollowed,
    earlier,
)
from workbench.analysis.proof.rays.moving_values import (
    KnownPeriods,
    as_array,
    compute,
    in_range,
    known,
    rounded,
    settled,
)
from workbench.analysis.proof.rays.polynomials import Polynomial, added, at, differences, later, power_of_two
from workbench.analysis.proof.rays.roundings import sum_between

#: maximum number of items in an array
ITEMS = 32
#: ops that only rearrange items, with their number of operands (None: any), which all have the same dtype
PLACES = {"stack": None, "concat": None, "setitem": 2} | dict.fromkeys(
    "getitem reshape flatten ravel roll flip transpose squeeze expand_dims broadcast_to".split(), 1
)
ITEMWISE = frozenset("add subtract multiply divide negative abs square minimum maximum cast".split())
Evaluate = Callable[[list[Any]], Any]


@dataclass(frozen=True, eq=False, slots=True)
class MovingArray(Symbol):
    """An array with some moving numbers; its other items are arrays without axes."""

    dtype: str
    items: np.ndarray

    def at(self, k: int) -> np.ndarray:
        """The array after k periods."""
        out = np.empty(self.items.shape, self.dtype)
        for i in np.ndindex(out.shape):
            out[i] = value_at(self.items[i], k)
        return out

    def moves(self) -> dict[tuple[int, ...], Moving]:
        """The items that move, by their index."""
        known: Iterator[tuple[tuple[int, ...], Any]] = ((i, self.items[i]) for i in np.ndindex(self.items.shape))
        return {i: x for i, x in known if isinstance(x, Moving)}


def array_of(dtype: str, items: np.ndarray) -> Any:
    """The array of these items; a plain array if none of them moves, the item itself if the array has no axes."""
    if not items.ndim:
        return items[()]
    found = MovingArray(dtype, items)
    return found if any(isinstance(x, Symbol) for x in items.flat) else found.at(0)


def fitted(values: Sequence[np.ndarray], fit: Callable[[list[np.ndarray]], Any]) -> Any:
    """The array whose items are fitted one by one through those of ``values``; None if an item cannot be fitted."""
    last = values[-1]
    if not 0 < last.size <= ITEMS or any(v.shape != last.shape or v.dtype != last.dtype for v in values):
        return None
    items = np.empty(last.shape, object)
    for i in np.ndindex(last.shape):
        items[i] = fit([np.asarray(v[i]) for v in values])
        if items[i] is None:
            return None
    return array_of(last.dtype.name, items)


def same_one_later(begin: Any, end: Any) -> bool:
    """True if ``end`` equals ``begin`` one period later: the same polynomials of k + 1, or the same bits."""
    if isinstance(begin, MovingArray):
        if not isinstance(end, MovingArray) or end.items.shape != begin.items.shape:
            return False
        return all(same_one_later(a, b) for a, b in zip(begin.items.flat, end.items.flat, strict=True))
    if isinstance(begin, Moving):
        return isinstance(end, Moving) and end.dtype == begin.dtype and end.of == later(begin.of)
    if isinstance(end, Symbol) or end.dtype == object:
        return False
    return bool(end.dtype == begin.dtype and end.shape == begin.shape and end.tobytes() == begin.tobytes())


def value_at(value: Any, k: int) -> Any:
    """A number, an array, or a constant, after k periods."""
    if isinstance(value, MovingArray):
        return value.at(k)
    return as_array(value.dtype, at(value.of, k)) if isinstance(value, Moving) else value


def compute_arrays(
    op: str, given: list[Any], dtype: str, attrs: Mapping[str, Any], evaluate: Evaluate, horizon: KnownPeriods
) -> Any:
    """The result of an op with such an array among its inputs; ``evaluate`` is the op on plain arrays."""
    if op in PLACES and PLACES[op] in (None, len(given)):
        return _placed(given, dtype, evaluate)
    items = [_items(x) for x in given]
    if op == "where":
        chosen = _paired(lambda p, a, b: a if bool(p) else b, items)
        if any(isinstance(x, Symbol) and _kind(x) != dtype for x in chosen.flat):
            raise Unfollowed
        return array_of(dtype, _paired(lambda x: x if isinstance(x, Symbol) else x.astype(dtype), [chosen]))
    if op in COMPARE or op in ITEMWISE:
        return array_of(dtype, _paired(lambda *xs: _one(op, list(xs), dtype, attrs, evaluate, horizon), items))
    if len(given) == 1 and not any(k for k in attrs if not k.startswith("_")):
        if op in ("sum", "mean"):
            return _sum(op, list(items[0].flat), dtype, attrs, horizon)
        if op in ("max", "min"):
            best, *others = items[0].flat
            for x in others:
                best = _one({"max": "maximum", "min": "minimum"}[op], [best, x], dtype, attrs, None, horizon)
            return best
    raise Unfollowed


def _items(value: Any) -> np.ndarray:
    """The items of any value."""
    if isinstance(value, MovingArray):
        return value.items
    out = np.empty(np.shape(value) if isinstance(value, np.ndarray) else (), object)
    if out.size > ITEMS:
        raise Unfollowed
    for i in np.ndindex(out.shape):
        out[i] = np.asarray(value[i]) if isinstance(value, np.ndarray) else value
    return out


def _paired(function: Callable[..., Any], items: Sequence[np.ndarray]) -> np.ndarray:
    both = np.broadcast_arrays(*items)
    out = np.empty(both[0].shape, object)
    if out.size > ITEMS:
        raise Unfollowed
    for i in np.ndindex(out.shape):
        out[i] = function(*(x[i] for x in both))
    return out


def _one(
    op: str, xs: list[Any], dtype: str, attrs: Mapping[str, Any], evaluate: Evaluate | None, horizon: KnownPeriods
) -> Any:
    if evaluate is not None and not any(isinstance(x, Symbol) for x in xs):
        return np.asarray(evaluate(xs))
    return compute(op, xs, dtype, attrs, horizon)


def _placed(given: list[Any], dtype: str, evaluate: Evaluate) -> Any:
    """Run an op that only rearranges items on the indices of the items."""
    known: list[Any] = []
    places = []
    for x in given:
        items = _items(x)
        if any(_kind(v) != dtype for v in items.flat):
            raise Unfollowed  # a value that is cast by the op
        places.append(np.arange(len(known), len(known) + items.size).reshape(items.shape))
        known += list(items.flat)
    found = np.asarray(evaluate(places))
    out = np.empty(found.shape, object)
    for i in np.ndindex(found.shape):
        out[i] = known[int(found[i])]
    return array_of(dtype, out)


def _kind(value: Any) -> str:
    return value.dtype if isinstance(value, Moving | Between) else str(value.dtype.name)


def _sum(op: str, xs: list[Any], dtype: str, attrs: Mapping[str, Any], horizon: KnownPeriods) -> Any:
    """The sum, if it is exact or has two items (so that the order of additions does not matter); else its bounds."""
    found = [known(x) for x in xs]
    if any(t.dtype != dtype for t in found):
        raise Unfollowed
    terms = [t for t in found if isinstance(t, Moving)]
    total: Polynomial = ()
    for t in terms:
        total = added(total, t.of)
    if dtype in INTEGERS:
        if op == "mean":
            raise Unfollowed
        return settled(in_range(Moving(dtype, total), horizon))
    if dtype not in PRECISION:
        raise Unfollowed
    if len(terms) == len(found):
        exact = KnownPeriods()
        try:
            if len(terms) > 2:
                _exact(terms, dtype, exact)
            out = settled(rounded(total, dtype, exact))
            horizon.turn = earlier(horizon.turn, exact.turn)
            return out if op == "sum" else compute("divide", [out, np.asarray(len(xs), dtype)], dtype, attrs, horizon)
        except Unfollowed:
            pass
    return sum_between(found, dtype, horizon, op == "mean")


def _exact(terms: Sequence[Moving], dtype: str, horizon: Horizon) -> None:
    """True if all terms are multiples of one power of two, and so small that no partial sum is rounded."""
    bits, lowest, _ = PRECISION[dtype]
    fine = min((power_of_two(Fraction(d)) for t in terms for d in differences(t.of) if d), default=0)
    if fine < lowest - bits + 1:
        raise Unfollowed
    limit = Fraction(2) ** (fine + bits) / len(terms)
    for t in terms:
        horizon.within(t.of, -limit, limit)


__all__ = ["MovingArray", "array_of", "compute_arrays", "fitted", "same_one_later", "value_at"]
