"""Claims about numbers that are bad or cannot improve: NaN, infinity, wraps, last digits, overshooting steps."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from workbench.analysis.claims.claim import Claim
from workbench.analysis.claims.recompute import exact, holds, item_of, recomputed, same


@dataclass(frozen=True, kw_only=True)
class NanCompared(Claim):
    """One side of the comparison is NaN, so that it keeps its value.

    Asserts: in ``last`` an operand of the comparison ``node`` is NaN, and the truth of the comparison is ``holds``; if
    ``since`` is known, the operand is NaN from ``since`` on, and was not in the iteration before.
    Evidence: the firings of the loop.
    """

    kind: ClassVar[str] = "nan"
    node: str
    side: str
    text: str
    op: str
    holds: bool
    last: int
    since: int | None = None
    item: tuple[int, ...] | None = None
    clause: Any = None
    line: int | None = None

    def _holds(self, run: Any) -> bool:
        left, right = (item_of(v, self.item) for v in run.operands(self.node, self.last))
        if not (_nan(left) or _nan(right)) or holds(left, self.op, right) != self.holds:
            return False
        if self.since is None or self.since == 0:
            return True
        before = [item_of(v, self.item) for v in run.operands(self.node, self.since - 1)]
        now = [item_of(v, self.item) for v in run.operands(self.node, self.since)]
        return any(map(_nan, now)) and not any(map(_nan, before))


@dataclass(frozen=True, kw_only=True)
class MadeBad(Claim):
    """The node that computed NaN or an infinity from operands that are not NaN.

    Asserts: the result of ``node`` in ``iteration`` is not finite, and none of its operands is NaN; if the op is in the
    table, the result recomputed with NumPy has the same bits.
    Evidence: (op, operands, result) of that firing.
    """

    kind: ClassVar[str] = "origin"
    node: str
    text: str
    line: int | None
    what: str
    iteration: int
    operands: tuple[float, ...]
    op: str
    clause: Any = None

    def _holds(self, run: Any) -> bool:
        op, operands, result = run
        if op != self.op:
            return False
        bad = np.isnan(result).any() if self.what == "NaN" else np.isinf(result).any()
        if not bad or any(np.asarray(v).dtype.kind == "f" and np.isnan(v).any() for v in operands):
            return False
        if tuple(map(largest, operands)) != self.operands:
            return False
        try:
            return same(recomputed(op, list(operands)), result)
        except KeyError:
            return True


@dataclass(frozen=True, kw_only=True)
class WrittenBad(Claim):
    """NaN or infinity was set by an edit of the value of ``node``.

    Asserts: the written value holds a NaN, or an infinity if ``what`` says so.
    Evidence: that value.
    """

    kind: ClassVar[str] = "edited"
    node: str
    name: str
    what: str
    clause: Any = None

    def _holds(self, run: Any) -> bool:
        values = np.asarray(run, np.float64)
        return bool(np.isnan(values).any() if self.what == "NaN" else np.isinf(values).any())


def _nan(value: Any) -> bool:
    return np.asarray(value).dtype.kind == "f" and bool(np.isnan(value))


def largest(value: Any) -> float:
    flat = np.asarray(value, np.float64).ravel()
    return float(flat[np.abs(flat).argmax()])


@dataclass(frozen=True, kw_only=True)
class Infinite(Claim):
    """The moving side is infinite from ``since`` on.

    Asserts: it is infinite in ``last``; if ``since`` is known, it is infinite in ``since`` and finite in the iteration
    before.
    Evidence: the firings of the loop.
    """

    kind: ClassVar[str] = "infinite"
    clause: Any
    ref: Any
    last: int
    since: int | None = None

    def _holds(self, run: Any) -> bool:
        if not math.isinf(item_of(run.value(self.ref, self.last), self.clause.item)):
            return False
        if not self.since:
            return True
        return math.isinf(item_of(run.value(self.ref, self.since), self.clause.item)) and math.isfinite(
            item_of(run.value(self.ref, self.since - 1), self.clause.item)
        )


@dataclass(frozen=True, kw_only=True)
class Wraps(Claim):
    """An integer result differs from the exact one.

    Asserts: the operands of ``node`` in ``iteration`` are ``operands`` and its result is ``result``; in unbounded
    integers it would be ``exact``, which differs by a multiple of 2^bits.
    Evidence: the firings of the loop.
    """

    kind: ClassVar[str] = "wraps"
    node: str
    variable: str
    text: str
    line: int | None
    iteration: int
    operands: tuple[int, ...]
    result: int
    exact: int
    dtype: str
    op: str
    always: bool = False
    item: tuple[int, ...] | None = None
    clause: Any = None

    def _holds(self, run: Any) -> bool:
        operands = [item_of(v, self.item) for v in run.operands(self.node, self.iteration)]
        result = int(item_of(run.output(self.node, self.iteration), self.item))
        wide = exact(run.op(self.node), operands)
        bits = 8 * np.dtype(self.dtype).itemsize
        numbers = tuple(int(v) for v in operands) == tuple(self.operands) and result == self.result
        return numbers and wide == self.exact != result and (wide - result) % (1 << bits) == 0


@dataclass(frozen=True, kw_only=True)
class LastDigits(Claim):
    """The moving side is computed from a difference of numbers that differ only in their last digits.

    Asserts: the operands of the subtraction ``node`` in ``iteration`` are ``left`` and ``right``, at most ``ulps``
    spacings of ``dtype`` apart, and not equal.
    Evidence: the firings of the loop.
    """

    kind: ClassVar[str] = "last-digits"
    node: str
    text: str
    line: int | None
    iteration: int
    left: Any
    right: Any
    ulps: int
    dtype: str
    item: tuple[int, ...] | None = None
    clause: Any = None
    variable: str = ""
    value: Any = None

    def _holds(self, run: Any) -> bool:
        left, right = (item_of(v, self.item) for v in run.operands(self.node, self.iteration))
        return same(left, self.left) and same(right, self.right) and 0 < spacings(left, right) <= self.ulps


def spacings(a: Any, b: Any) -> float:
    """Distance between two floats, in units of the spacing at the larger one; infinite for anything else."""
    a, b = np.asarray(a), np.asarray(b)
    if a.dtype.kind != "f" or a.dtype != b.dtype or a.shape or b.shape or not (np.isfinite(a) and np.isfinite(b)):
        return math.inf
    return float(abs(float(a) - float(b)) / float(np.spacing(np.maximum(abs(a), abs(b)))))


@dataclass(frozen=True, kw_only=True)
class Overshoots(Claim):
    """The steps of ``variable`` change sign in each iteration and do not get smaller.

    Asserts: in iterations ``first`` to ``last`` consecutive steps have opposite signs, and the last one is at least
    0.9 times as large as the first; with ``grows`` it is more than 1.5 times as large.
    Evidence: the firings of the loop.
    """

    kind: ClassVar[str] = "overshoots"
    variable: str
    first: int
    last: int
    grows: bool
    factor: float | None = None
    period: int | None = None
    item: tuple[int, ...] | None = None
    clause: Any = None

    def _holds(self, run: Any) -> bool:
        merge = run.merge(self.variable)
        values = [item_of(run.value(merge, k), self.item) for k in range(self.first, self.last + 1)]
        return overshoots(values) == ("grows" if self.grows else "keeps")


def overshoots(values: list[Any]) -> str:
    """``keeps`` or ``grows`` for values whose steps alternate and do not shrink; else empty."""
    x = np.array(values, np.float64)
    d = np.diff(x)
    if len(d) < 3 or not np.isfinite(d).all() or not np.all(d[1:] * d[:-1] < 0) or abs(d[-1]) < 0.9 * abs(d[0]):
        return ""
    return "grows" if abs(d[-1]) > 1.5 * abs(d[0]) else "keeps"


@dataclass(frozen=True, kw_only=True)
class FlipsSign(Claim):
    """The variables become their negatives in each iteration, up to rounding.

    Asserts: for each, the sum of the values in ``iteration`` and in the one before is at most 1e-6 of their magnitude.
    Evidence: the firings of the loop.
    """

    kind: ClassVar[str] = "sign-flips"
    names: tuple[str, ...]
    iteration: int
    clause: Any = None

    def _holds(self, run: Any) -> bool:
        for name in self.names:
            now, before = (np.asarray(run.value(run.merge(name), self.iteration - k), np.float64) for k in (0, 1))
            size = float(np.abs(now).max(initial=0.0))
            if not 0.0 < size < math.inf or float(np.abs(now + before).max()) > 1e-6 * size:
                return False
        return bool(self.names)


@dataclass(frozen=True, kw_only=True)
class StallsAt(Claim):
    """A counter will reach ``value`` and stay there, because adding ``step`` to it changes nothing.

    Asserts: ``value + step`` is ``value`` in ``dtype``, while the neighbour of ``value`` towards the current one
    changes when the step is added; the update of ``variable`` adds ``step`` in iterations ``first`` to ``last``.
    Evidence: the firings of the loop.
    """

    kind: ClassVar[str] = "stalls"
    node: str
    variable: str
    value: Any
    step: Any
    dtype: str
    first: int
    last: int
    iteration: int | None = None
    whole: bool = False
    item: tuple[int, ...] | None = None
    clause: Any = None
    line: int | None = None

    def _holds(self, run: Any) -> bool:
        op, sums = run.op(self.node), []
        for k in range(self.first, self.last + 1):
            operands = [item_of(v, self.item) for v in run.operands(self.node, k)]
            if not any(same(v, self.step) for v in operands):
                return False
            sums.append(operands)
        sign = -1.0 if op == "subtract" else 1.0
        kind = np.dtype(self.dtype).type
        value, step = kind(self.value), kind(sign * float(self.step))
        present = item_of(run.value(run.merge(self.variable), self.last), self.item)
        inner = np.nextafter(value, kind(present))
        return bool(sums) and same(value + step, value) and (same(present, value) or bool(inner + step != inner))


def stall(present: Any, step: Any) -> Any:
    """The number at which a float counter stalls that adds ``step`` to ``present``; None if it is beyond the dtype's
    range.

    From the power of two on whose spacing is at least twice the step, rounding to nearest (ties to even) gives the
    number itself; in the binade before it the steps are whole spacings, so that they reach that power.
    """
    kind = type(present)
    for _ in range(3):
        if same(present + step, present):
            return present
        present = present + step
    size, eps = abs(float(step)), float(np.finfo(kind).eps)
    power = 2.0 ** math.ceil(math.log2(2.0 * size / eps))
    if math.copysign(1.0, float(step)) * float(present) >= power or power > float(np.finfo(kind).max):
        return None
    return kind(math.copysign(power, float(step)))
