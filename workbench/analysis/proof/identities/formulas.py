"""Expresses an iteration by polynomials of the variables at its start, once for each path through its branches.

Ints that wrap are elements of the ring modulo 2^bits; Python's ints are integers. A value that is not a polynomial (a
quotient, a float) is Unknown, and so is each predicate: both branches are followed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.analysis.proof.identities.terms import Terms, TooLarge, added, constant, multiplied
from workbench.analysis.proof.rays.horizon import COMPARE, INTEGERS, Symbol, Unfollowed
from workbench.analysis.proof.rays.iteration import LoopBody, NodeFailed
from workbench.analysis.slicing import work

#: maximum number of paths through the branches of an iteration, and nominal seconds of an op
WAYS, OP = 32, 30e-6


@dataclass(frozen=True, slots=True)
class Formula(Symbol):
    """A polynomial of the variables; ``bits`` is None for ints that do not wrap."""

    dtype: str
    bits: int | None
    terms: Terms


@dataclass(frozen=True, slots=True, eq=False)
class Unknown(Symbol):
    """An unknown value of a dtype; the same object always has the same value. For a comparison of two formulas,
    ``difference`` is their difference.
    """

    dtype: str
    op: str = ""
    difference: Formula | None = None


class Ways:
    """The arithmetic of one path through the branches: predicates have the values in ``taken``, others False."""

    def __init__(self, taken: list[bool], variables: int, bits: Mapping[str, int | None]) -> None:
        self.taken, self.variables, self.bits = taken, variables, bits
        self.truths: dict[int, bool] = {}
        self._kept: list[Any] = []

    def truth(self, value: Any) -> bool:
        if not isinstance(value, Symbol):
            if np.ndim(value):
                raise Unfollowed
            return bool(value)
        if id(value) not in self.truths:
            if len(self.truths) == len(self.taken):
                self.taken.append(False)
            self._kept.append(value)
            self.truths[id(value)] = self.taken[len(self.truths)]
        return self.truths[id(value)]

    def compute(self, op: str, given: list[Any], dtype: str, attrs: Mapping[str, Any]) -> Any:
        work.charge(OP)
        try:
            return self._computed(op, given, dtype, bool(attrs.get("checked")))
        except TooLarge:
            return Unknown(dtype)

    def _computed(self, op: str, given: list[Any], dtype: str, checked: bool) -> Any:
        if op in COMPARE:
            one, two = (self._formula(x) for x in given)
            if one is None or two is None or one.dtype != two.dtype or one.bits != two.bits:
                return Unknown("bool", op)
            return Unknown("bool", op, Formula(one.dtype, one.bits, added(one.terms, two.terms, one.bits, -1)))
        forms = [self._formula(x) for x in given]
        if dtype not in self.bits or any(f is None or f.dtype != dtype for f in forms):
            return Unknown(dtype)
        bits = self.bits[dtype]
        if bits is None and not checked:  # NumPy ints, which wrap, mixed with Python ints
            return Unknown(dtype)
        p = [f.terms for f in forms if f is not None]
        if op in ("add", "subtract"):
            return Formula(dtype, bits, added(p[0], p[1], bits, 1 if op == "add" else -1))
        if op == "multiply":
            return Formula(dtype, bits, multiplied(p[0], p[1], bits))
        if op == "negative":
            return Formula(dtype, bits, added({}, p[0], bits, -1))
        if op == "square":
            return Formula(dtype, bits, multiplied(p[0], p[0], bits))
        if op in ("power", "whole_power") and not isinstance(given[1], Symbol) and 1 <= int(given[1]) <= 6:
            out = p[0]
            for _ in range(int(given[1]) - 1):
                out = multiplied(out, p[0], bits)
            return Formula(dtype, bits, out)
        return Unknown(dtype)

    def _formula(self, x: Any) -> Formula | None:
        if isinstance(x, Formula):
            return x
        if isinstance(x, Symbol) or x.ndim or x.dtype.name not in self.bits:
            return None
        bits = self.bits[x.dtype.name]
        return Formula(x.dtype.name, bits, constant(int(x), self.variables, bits))


@dataclass(frozen=True)
class Way:
    """The next values of the variables on one path, and all values that are computed on it."""

    next_values: list[Terms | None]
    values: dict[str, Any]

    def compared(self, body: LoopBody) -> dict[str, Unknown]:
        """The comparisons of two polynomials."""
        known = {n: v for n, v in self.values.items() if isinstance(v, Unknown) and v.difference is not None}
        return {n: v for n, v in known.items() if body.compares(n)}


def ways(body: LoopBody, state: Mapping[str, np.ndarray], checked: bool) -> list[Way] | None:
    """Every path through an iteration; None if there are too many, or an op cannot be computed at all.

    If ``checked``, all ints of 64 bits are Python ints, which do not wrap.
    """
    bits: dict[str, int | None] = {d: int(np.iinfo(d).bits) for d in INTEGERS}
    if checked:
        bits["int64"] = None
    names = list(body.variables)
    start: dict[str, Any] = {}
    for i, name in enumerate(names):
        value = state[name]
        dtype = value.dtype.name
        if value.ndim == 0 and dtype in bits:
            start[name] = Formula(dtype, bits[dtype], {tuple(int(j == i) for j in range(len(names))): 1})
        elif value.ndim:
            return None
        else:
            start[name] = Unknown(dtype)
    out: list[Way] = []
    taken: list[bool] = []
    while len(out) < WAYS:
        arithmetic = Ways(taken, len(names), bits)
        try:
            holds, env = body.goes_on(start, arithmetic)
            if holds:
                after = body.advance(env, arithmetic)
                next_values = [_terms(after[name], start[name]) for name in names]
                out.append(Way(next_values, env))
        except (Unfollowed, NodeFailed):
            return None
        taken = taken[: len(arithmetic.truths)]
        while taken and taken[-1]:
            taken.pop()
        if not taken:
            return out
        taken[-1] = True
    return None


def _terms(value: Any, begin: Any) -> Terms | None:
    if isinstance(value, Formula):
        return value.terms if isinstance(begin, Formula) and begin.bits == value.bits else None
    if not isinstance(value, Symbol) and isinstance(begin, Formula) and value.ndim == 0:
        size = len(next(iter(begin.terms)))
        return constant(int(value), size, begin.bits) if value.dtype.name == begin.dtype else None
    return None
