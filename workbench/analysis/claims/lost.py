"""Claims about the node at which an update is lost: its result is the old value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from workbench.analysis.claims.claim import Claim
from workbench.analysis.claims.recompute import holds, item_of, recomputed, same


@dataclass(frozen=True, kw_only=True)
class NotUpdated(Claim):
    """The body never assigns ``variable``.

    Asserts: by the edges of the graph, the variable's value in the next iteration is the variable itself.
    Evidence: the firings of the loop (``loop`` has the graph).
    """

    kind: ClassVar[str] = "not-updated"
    variable: str
    clause: Any = None

    def _holds(self, run: Any) -> bool:
        return run.loop.direct(run.loop.update(self.variable)) == self.variable


@dataclass(frozen=True, kw_only=True)
class NotRead(Claim):
    """The condition reads no value that the loop changes.

    Asserts: the comparison does not depend on a loop variable, by data or by decisions.
    Evidence: the firings of the loop.
    """

    kind: ClassVar[str] = "not-read"
    ref: Any
    text: str
    names: tuple[str, ...] = ()

    def _holds(self, run: Any) -> bool:
        return not any(run.loop.updated(name) for name in run.loop.reads(self.ref, True))


@dataclass(frozen=True, kw_only=True)
class AtNode(Claim):
    """A node that passes a value through in each of the iterations ``first`` to ``last``.

    ``variable`` is the one to whose update it belongs, ``line`` the source line of the node, ``text`` its expression.
    """

    node: str
    op: str
    variable: str
    text: str
    line: int | None
    first: int
    last: int
    item: tuple[int, ...] | None = None
    clause: Any = None

    def _holds(self, run: Any) -> bool:
        if self.op != run.op(self.node):
            return False
        if self.last < self.first:
            return False
        for k in range(self.first, self.last + 1):
            operands = [item_of(v, self.item) for v in run.operands(self.node, k)]
            if not self._in_one(run.op(self.node), operands, item_of(run.output(self.node, k), self.item)):
                return False
        return True

    def _in_one(self, op: str, operands: list[Any], result: Any) -> bool:
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class Absorbed(AtNode):
    """Adding ``step`` to ``operand`` (or multiplying by it) changes nothing in ``dtype``.

    Asserts: in each iteration the node's result, recomputed in its dtype, equals ``operand`` bit for bit, although the
    other operand, ``step``, is not neutral (not 0 for sums, not 1 for products).
    Evidence: the firings of the loop.
    """

    kind: ClassVar[str] = "absorbed"
    operand: Any
    step: Any
    dtype: str
    whole: bool = False

    def _in_one(self, op: str, operands: list[Any], result: Any) -> bool:
        if not any(same(v, self.operand) for v in operands) or not any(same(v, self.step) for v in operands):
            return False
        again = recomputed(op, operands)
        neutral = 0 if op in ("add", "subtract") else 1
        return same(again, self.operand) and same(result, self.operand) and bool(self.step != neutral)


@dataclass(frozen=True, kw_only=True)
class Neutral(AtNode):
    """The other operand is neutral: 0 is added or subtracted, 1 multiplied or divided by.

    Asserts: in each iteration the operand at ``position`` is exactly ``neutral``, and the result has the bits of the
    other operand, up to the sign of zero.
    Evidence: the firings of the loop.
    """

    kind: ClassVar[str] = "neutral"
    neutral: Any
    position: int
    part: str
    part_line: int | None = None

    def _in_one(self, op: str, operands: list[Any], result: Any) -> bool:
        if op not in ("add", "subtract", "multiply", "divide", "floor_divide", "power"):
            return False
        neutral = 0 if op in ("add", "subtract") else 1
        if op not in ("add", "multiply") and self.position != 1:
            return False
        return bool(operands[self.position] == neutral == self.neutral) and bool(result == operands[1 - self.position])


@dataclass(frozen=True, kw_only=True)
class Zero(AtNode):
    """A product (or quotient) with a factor 0 stays 0.

    Asserts: in each iteration the operand at ``position`` is 0, and so is the result.
    Evidence: the firings of the loop.
    """

    kind: ClassVar[str] = "zero"
    position: int
    part: str
    reached: bool = False

    def _in_one(self, op: str, operands: list[Any], result: Any) -> bool:
        right = op == "multiply" or op in ("divide", "floor_divide", "mod", "remainder") and self.position == 0
        return right and bool(operands[self.position] == 0) and bool(result == 0)


@dataclass(frozen=True, kw_only=True)
class Saturated(AtNode):
    """A minimum, maximum or clip returns its bound.

    Asserts: in each iteration the result has the bits of the bound, which is ``bound``, and another operand lies beyond
    it.
    Evidence: the firings of the loop.
    """

    kind: ClassVar[str] = "saturated"
    bound: Any
    offered: Any

    def _in_one(self, op: str, operands: list[Any], result: Any) -> bool:
        if not any(same(v, self.bound) for v in operands) or not any(same(v, self.offered) for v in operands):
            return False
        beyond = {
            "minimum": operands[0] > self.bound or operands[-1] > self.bound,
            "maximum": operands[0] < self.bound or operands[-1] < self.bound,
        }.get(op, operands[0] != self.bound)
        return same(result, self.bound) and bool(beyond) and not same(self.offered, self.bound)


@dataclass(frozen=True, kw_only=True)
class Truncated(AtNode):
    """A conversion to integers loses the change.

    Asserts: in each iteration the node's operand is ``operand`` and its result ``result``, which differs from it.
    Evidence: the firings of the loop.
    """

    kind: ClassVar[str] = "truncated"
    operand: Any
    result: Any

    def _in_one(self, op: str, operands: list[Any], result: Any) -> bool:
        exact = untruncated(op, operands)
        return exact == self.operand and same(result, self.result) and exact != float(result)


def untruncated(op: str, operands: list[Any]) -> float:
    """The number that a conversion to integers truncates."""
    return float(operands[0]) / float(operands[1]) if op == "floor_divide" else float(operands[0])


@dataclass(frozen=True, kw_only=True)
class FixedPoint(Claim):
    """``variable`` is at a fixed point of its update: ``value`` yields ``value`` again.

    Asserts: in each of the iterations ``first`` to ``last`` it is ``value``, bit for bit, as is the value that the body
    computes for the next one, by an update that is not the variable itself; with ``recursive`` the update reads it.
    Evidence: the firings of the loop.
    """

    kind: ClassVar[str] = "fixed-point"
    variable: str
    text: str
    line: int | None
    value: Any
    first: int
    last: int
    recursive: bool = True
    item: tuple[int, ...] | None = None
    clause: Any = None

    def _holds(self, run: Any) -> bool:
        if self.recursive != run.loop.recursive(self.variable):
            return False
        merge, update = run.merge(self.variable), run.loop.update(self.variable)
        if self.last < self.first or not run.loop.updated(self.variable):
            return False
        begin = item_of(run.value(merge, self.first), self.item)
        span = range(self.first, self.last + 1)
        rests = all(same(item_of(run.value(ref, k), self.item), begin) for ref in (merge, update) for k in span)
        return rests and (self.value is None or same(begin, self.value))


@dataclass(frozen=True, kw_only=True)
class Guard(Claim):
    """``variable`` is only changed if a predicate has the opposite value.

    Asserts: the comparison ``node`` has the truth ``holds`` in each of the iterations ``first`` to ``last``; its
    operands in ``last`` are ``left`` and ``right``; if ``since`` is not None and above 0, it had the opposite truth in
    iteration ``since - 1``, and has the truth ``holds`` from ``since`` to ``last``; the variable keeps its bits from
    ``first`` to ``last``.
    Evidence: the firings of the loop (``since(node, holds)`` runs all iterations in between).
    """

    kind: ClassVar[str] = "guard"
    node: str
    variable: str
    predicate: str
    line: int | None
    update_line: int | None
    op: str
    left: Any
    right: Any
    holds: bool
    since: int | None
    first: int
    last: int
    closed: bool
    item: tuple[int, ...] | None = None
    clause: Any = None

    def _holds(self, run: Any) -> bool:
        if self.last < self.first:
            return False
        merge = run.merge(self.variable)
        begin = item_of(run.value(merge, self.first), self.item)
        for k in range(self.first, self.last + 1):
            left, right = (item_of(v, self.item) for v in run.operands(self.node, k))
            if holds(left, self.op, right) != self.holds or not same(item_of(run.value(merge, k), self.item), begin):
                return False
        if not (same(left, self.left) and same(right, self.right)):
            return False
        return self.since is None or run.since(self.node, self.op, self.holds, self.item) == self.since


@dataclass(frozen=True, kw_only=True)
class BranchGuard(Claim):
    """Like :class:`Guard`, for a predicate that is a flag, not a comparison.

    Asserts: the truth value ``ref`` is ``holds`` in each of the iterations ``first`` to ``last``.
    Evidence: the firings of the loop.
    """

    kind: ClassVar[str] = "flag-guard"
    ref: Any
    variable: str
    predicate: str
    line: int | None
    update_line: int | None
    holds: bool
    first: int
    last: int
    closed: bool
    clause: Any = None

    def _holds(self, run: Any) -> bool:
        return _is_always(run, self.ref, self.first, self.last, self.holds)


@dataclass(frozen=True, kw_only=True)
class FlagWaits(Claim):
    """The loop is only left if ``flag`` changes, which requires the clause to become false.

    Asserts: the flag has the value ``value`` in each of the iterations ``first`` to ``last``.
    Evidence: the firings of the loop.
    """

    kind: ClassVar[str] = "flag"
    flag: str
    value: bool
    clause: Any
    first: int
    last: int
    line: int | None = None
    written: bool = True
    variable: str = ""

    def _holds(self, run: Any) -> bool:
        return _is_always(run, run.merge(self.variable), self.first, self.last, self.value)


def _is_always(run: Any, ref: Any, first: int, last: int, truth: bool) -> bool:
    values = [run.value(ref, k) for k in range(first, last + 1)]
    return bool(values) and all(bool(np.asarray(v).reshape(-1)[0]) == truth for v in values)
