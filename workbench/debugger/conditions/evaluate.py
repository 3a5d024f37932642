"""Evaluates breakpoint conditions, for one firing or for many.

Names: ``value``, ``previous`` (of the previous iteration), ``delta`` (their difference), ``iteration`` (of the
innermost loop), ``shape``, ``dtype``, ``size``, ``ndim``, and ``min``, ``max``, ``mean``, ``std``, ``sum``, ``norm``,
``any``, ``all`` of the value or, as functions, of any term; for each item ``abs``, ``isnan``, ``isinf``, ``isfinite``,
``sqrt``, ``log``, ``exp``, ``sign``. Any other value of the graph, by its name, as ``y`` or ``value("y")``, is that of
the same iteration. A condition on an array holds if it holds for any item. Comparisons with a missing value are False.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from workbench.debugger.conditions.batch import Batch
from workbench.debugger.conditions.grammar import ELEMENTWISE, REDUCTIONS, Term, is_number, looks_back, others, refuse
from workbench.debugger.conditions.parser import parse
from workbench.errors import SessionError
from workbench.text import harmless

#: (array whose first axis is the firings, mask of missing firings or None)
Cell = tuple[Any, "np.ndarray | None"]

_BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
}
_COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
_MAPS: dict[str, Callable[[Any], Any]] = {
    "abs": np.abs,
    "isnan": np.isnan,
    "isinf": np.isinf,
    "isfinite": np.isfinite,
    "sqrt": np.sqrt,
    "log": np.log,
    "exp": np.exp,
    "sign": np.sign,
}
_REDUCE: dict[str, Callable[..., Any]] = {
    "min": np.min,
    "max": np.max,
    "mean": np.mean,
    "std": np.std,
    "sum": np.sum,
    "any": np.any,
    "all": np.all,
}


class Predicate:
    """A condition: ``Predicate("abs(value) > 1e6")(value, iteration)`` -> bool; ``over(batch)`` for many firings.

    ``named`` decides which words are names of values. SessionError (``bad-condition``) if the text is not in the
    language, or evaluates to a number.
    """

    #: what error messages call the text
    what = "condition"

    def __init__(self, text: str, named: Callable[[str], bool] | None = None) -> None:
        self.tree = parse(text, named, self.what)
        self.text = text.strip()
        if is_number(self.tree):
            raise self._refuse("it gives a number, not a bool")

    def seen_from(self, own: Callable[[str], bool]) -> None:
        """Treat names for which ``own`` is True as the breakpoint's own value, which needs no lookup."""
        self.tree = _own(self.tree, own)

    @property
    def others(self) -> list[str]:
        """Names of other values in the condition."""
        return others(self.tree)

    @property
    def looks_back(self) -> bool:
        """True if it reads the previous iteration."""
        return looks_back(self.tree)

    @property
    def truths(self) -> list[str | None]:
        """Names of values used directly as bools; None is the breakpoint's own value."""
        return _truths(self.tree)

    def __call__(self, value: Any, iteration: int = 0, previous: Any = None) -> bool:
        batch = Batch.of_one(value, (iteration,))
        if previous is not None:
            batch._previous = np.asarray(previous)[None], np.ones(1, bool)
        return bool(self.over(batch)[0])

    def over(self, batch: Batch) -> np.ndarray:
        """(n,) mask of firings for which it holds."""
        with np.errstate(all="ignore"):
            try:
                found, missing = self._value(self.tree, batch)
                found = np.asarray(found)
                if found.dtype != bool:
                    raise self._refuse(f"it gives a {found.dtype}, not a bool")
                found = found.reshape(len(found), -1).any(1)
            except SessionError:
                raise
            except (TypeError, ValueError, ArithmeticError, IndexError) as error:
                dtype = getattr(batch.values, "dtype", "object")
                raise self._refuse(f"it does not fit a value of dtype {dtype} ({str(error)[:200]})") from error
        found = found if missing is None else found & ~missing
        return np.broadcast_to(found, (len(batch),))

    @harmless
    def __repr__(self) -> str:
        return f"Predicate({self.text!r})"

    def _refuse(self, why: str) -> SessionError:
        return refuse(self.text, why, self.what)

    # -- parts -----------------------------------------------------------------------------------------------------
    def _value(self, term: Term, batch: Batch) -> Cell:
        return getattr(self, f"_{term.kind}")(term, batch)  # type: ignore[no-any-return]

    def _number(self, term: Term, batch: Batch) -> Cell:
        return np.asarray([term.what]), None

    def _text(self, term: Term, batch: Batch) -> Cell:
        return np.asarray([term.what]), None

    def _tuple(self, term: Term, batch: Batch) -> Cell:
        return term.what, None

    def _name(self, term: Term, batch: Batch) -> Cell:
        if term.what == "value":
            return batch.values, None
        if term.what == "iteration":
            return batch.iteration, None
        if term.what in ("previous", "delta"):
            before, there = batch.previous
            missing = None if there.all() else ~there
            if term.what == "delta":
                before = _numeric(batch.values) - _numeric(before)
            return before, missing
        inner = batch.values.shape[1:]
        if term.what == "shape":
            return inner, None
        if term.what == "dtype":
            return np.asarray([str(batch.values.dtype)]), None
        return np.asarray([len(inner) if term.what == "ndim" else int(np.prod(inner, dtype=np.int64))]), None

    def _other(self, term: Term, batch: Batch) -> Cell:
        word, name = term.what
        found, there = batch.lookup(name, int(word == "previous"))
        return found, None if there.all() else ~there

    def _index(self, term: Term, batch: Batch) -> Cell:
        found, missing = self._value(term.parts[0], batch)
        if isinstance(found, tuple):  # a shape
            if len(term.what) != 1 or not isinstance(term.what[0], int):
                raise self._refuse("a shape is indexed by one whole number")
            return np.asarray([found[term.what[0]]]), None
        return found[(slice(None), *term.what)], missing

    def _neg(self, term: Term, batch: Batch) -> Cell:
        found, missing = self._value(term.parts[0], batch)
        return (-_numeric(found) if term.what == "-" else _numeric(found)), missing

    def _binary(self, term: Term, batch: Batch) -> Cell:
        (left, one), (right, two) = (self._value(p, batch) for p in term.parts)
        left, right = _aligned(_numeric(left), _numeric(right))
        if term.what == "**":
            left = left if left.dtype.kind == "c" else np.asarray(left, np.float64)
            return np.power(left, right), _either(one, two)
        return _BINARY[term.what](left, right), _either(one, two)

    def _call(self, term: Term, batch: Batch) -> Cell:
        found, missing = self._value(term.parts[0], batch)
        if isinstance(found, tuple):
            raise self._refuse(f"{term.what} takes a value")
        if term.what in ELEMENTWISE:
            return _MAPS[term.what](_numeric(found)), missing
        assert term.what in REDUCTIONS
        flat = np.asarray(found).reshape(len(found), -1)
        if term.what == "norm":
            return np.sqrt(np.square(np.abs(_numeric(flat)).astype(np.float64)).sum(1)), missing
        if flat.shape[1] == 0 and term.what in ("min", "max", "mean", "std"):
            return np.zeros(len(flat)), np.ones(len(flat), bool)  # an empty array has no largest item and no mean
        return _REDUCE[term.what](flat, axis=1), missing

    def _not(self, term: Term, batch: Batch) -> Cell:
        found, missing = self._truth(term.parts[0], batch)
        return ~found, missing

    def _and(self, term: Term, batch: Batch) -> Cell:
        return self._joined(np.logical_and, term, batch)

    def _or(self, term: Term, batch: Batch) -> Cell:
        return self._joined(np.logical_or, term, batch)

    def _joined(self, how: Any, term: Term, batch: Batch) -> Cell:
        result: Any = None
        for part in term.parts:
            found, missing = self._truth(part, batch)
            if missing is not None:
                found, there = _aligned(found, ~missing)
                found = found & there
            result = found if result is None else how(*_aligned(result, found))
        return result, None

    def _truth(self, term: Term, batch: Batch) -> Cell:
        found, missing = self._value(term, batch)
        if isinstance(found, tuple) or np.asarray(found).dtype != bool:
            raise self._refuse(
                f"{term.kind!r} is not a bool" if term.kind != "name" else f"{term.what!r} is not a bool"
            )
        return found, missing

    def _compare(self, term: Term, batch: Batch) -> Cell:
        cells = [self._value(p, batch) for p in term.parts]
        result: Any = None
        missing: np.ndarray | None = None
        for sign, (left, one), (right, two) in zip(term.what, cells, cells[1:], strict=False):
            missing = _either(_either(missing, one), two)
            if isinstance(left, tuple) or isinstance(right, tuple):
                if not (isinstance(left, tuple) and isinstance(right, tuple)) or sign not in ("==", "!="):
                    raise self._refuse("a shape is compared with a shape, by == or !=")
                found = np.asarray([(left == right) == (sign == "==")])
            else:
                left, right = _aligned(np.asarray(left), np.asarray(right))
                if (left.dtype.kind in "US") != (right.dtype.kind in "US"):
                    raise self._refuse("a text can only be compared with dtype")
                found = np.asarray(_COMPARE[sign](left, right))
                if found.dtype != bool:
                    found = found.astype(bool)
            result = found if result is None else np.logical_and(*_aligned(result, found))
        return result, missing


def _own(term: Term, own: Callable[[str], bool]) -> Term:
    if term.kind == "other" and own(term.what[1]):
        return Term("name", term.what[0])
    return replace(term, parts=tuple(_own(part, own) for part in term.parts))


def _truths(term: Term) -> list[str | None]:
    if term.kind in ("and", "or", "not"):
        return [found for part in term.parts for found in _truths(part)]
    while term.kind == "index":
        term = term.parts[0]
    if term.kind == "other":
        return [str(term.what[1])]
    return [None] if term.kind == "name" else []


def _numeric(found: Any) -> Any:
    """Convert for arithmetic: to float64 or int64, bools to 1 and 0."""
    if isinstance(found, tuple):
        raise TypeError("a shape is not a number")
    kind, size = found.dtype.kind, found.dtype.itemsize
    if kind == "b" or (kind in "iu" and size < 8):
        return found.astype(np.int64)
    return found.astype(np.float64) if kind in "fV" and size < 8 else found


def _aligned(left: Any, right: Any) -> tuple[Any, Any]:
    """Both arrays with the same number of axes; the first axis is the firings."""
    rank = max(left.ndim, right.ndim)

    def wide(x: Any) -> Any:
        """Insert axes after the first."""
        return x.reshape(x.shape[:1] + (1,) * (rank - x.ndim) + x.shape[1:])

    return wide(left), wide(right)


def _either(one: np.ndarray | None, two: np.ndarray | None) -> np.ndarray | None:
    return two if one is None else one if two is None else one | two
