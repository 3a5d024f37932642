"""Claims about the comparison that keeps a loop running, and about its side that moves or rests."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import gcd
from typing import Any, ClassVar

import numpy as np

from workbench.analysis.claims.claim import Claim
from workbench.analysis.claims.recompute import holds, item_of, same


@dataclass(frozen=True)
class BlockingClause:
    """``name op other``, the comparison that must become false for the loop to end, seen from the side that moves.

    ``threshold`` is the value of the other side and ``node`` the comparison in the graph; ``mirrored`` and ``negated``
    say how the two comparisons differ. ``item`` is the index of the compared item of an array.
    """

    node: str
    name: str
    op: str
    other: str
    threshold: Any
    dtype: str
    frame: tuple[str, ...] = ()
    mirrored: bool = False
    negated: bool = False
    item: tuple[int, ...] | None = None
    fixed: bool = True


@dataclass(frozen=True, kw_only=True)
class Compared(Claim):
    """The comparison ``text``, which is ``left op right``, has the truth ``holds`` in ``iteration``.

    Asserts: the operands of ``node`` have these values there, and the truth of ``left op right`` is ``holds``.
    Evidence: the firings of the loop (``operands(node, iteration)``).
    """

    kind: ClassVar[str] = "compared"
    node: str
    text: str
    left: Any
    op: str
    right: Any
    holds: bool
    iteration: int
    item: tuple[int, ...] | None = None

    def _holds(self, run: Any) -> bool:
        left, right = (item_of(v, self.item) for v in run.operands(self.node, self.iteration))
        return same(left, self.left) and same(right, self.right) and holds(left, self.op, right) == self.holds


@dataclass(frozen=True, kw_only=True)
class OfSides(Claim):
    """A claim about both sides of a clause in several iterations; the moving side comes first.

    Evidence: the firings of the loop.
    """

    clause: BlockingClause
    refs: tuple[Any, Any]

    def pairs(self, run: Any, iterations: Iterable[int]) -> list[tuple[Any, Any]]:
        """The moving side and the other side in each of the iterations."""
        its, item = list(iterations), self.clause.item
        x, t = ([item_of(v, item) for v in run.values(r, its)] for r in self.refs)
        return list(zip(x, t, strict=True))


@dataclass(frozen=True, kw_only=True)
class Rests(OfSides):
    """Both sides of the clause keep their values, and the clause holds, in iterations ``first`` to ``last``.

    ``closed`` says that the state of the loop recurs, so that this is so for ever.
    Asserts: in each of these iterations the moving side is ``value``, the other one ``clause.threshold``, bit for bit,
    and ``value op threshold`` is true.
    """

    kind: ClassVar[str] = "rests"
    value: Any
    first: int
    last: int
    closed: bool
    variable: str = ""
    start: Any = None

    @property
    def moved(self) -> bool:
        """True if the side has moved to its value from another one."""
        return self.start is not None and not same(self.start, self.value)

    def _holds(self, run: Any) -> bool:
        c = self.clause
        if not holds(self.value, c.op, c.threshold):
            return False
        pairs = self.pairs(run, range(self.first, self.last + 1))
        return bool(pairs) and all(same(x, self.value) and same(t, c.threshold) for x, t in pairs)


@dataclass(frozen=True, kw_only=True)
class Circles(OfSides):
    """The clause, or another one in its place, holds with values that repeat every ``n`` iterations.

    Asserts: in iterations ``first`` to ``first + 2 n - 1`` the moving side has the same bits ``n`` iterations apart;
    ``lowest`` and ``highest`` are its extremes; with ``always`` the clause holds in all of them.
    """

    kind: ClassVar[str] = "circles"
    lowest: Any
    highest: Any
    n: int
    first: int
    always: bool
    variable: str = ""
    factor: float | None = None

    def _holds(self, run: Any) -> bool:
        pairs = self.pairs(run, range(self.first, self.first + 2 * self.n))
        xs = np.array([x for x, _ in pairs])
        if not all(same(a, b) for a, b in zip(xs[: self.n], xs[self.n :], strict=True)):
            return False
        held = all(holds(x, self.clause.op, t) for x, t in pairs)
        return bool(xs.min() == self.lowest and xs.max() == self.highest) and (held or not self.always)


@dataclass(frozen=True, kw_only=True)
class Observed(OfSides):
    """The clause holds in the last observed iterations, ``first`` to ``last``, and no more is known.

    Asserts: it does, and the minimum distance between the sides is ``nearest``.
    """

    kind: ClassVar[str] = "observed"
    nearest: float
    first: int
    last: int

    def _holds(self, run: Any) -> bool:
        pairs = self.pairs(run, range(self.first, self.last + 1))
        if not pairs or not all(holds(x, self.clause.op, t) for x, t in pairs):
            return False
        return min(abs(float(x) - float(t)) for x, t in pairs) == self.nearest


@dataclass(frozen=True, kw_only=True)
class StepsOver(OfSides):
    """The moving side passes, between two iterations, the one value at which ``!=`` becomes false.

    Asserts: in ``iteration - 1`` it is ``before`` and on one side of the threshold, in ``iteration`` it is ``after``
    and on the other side.
    """

    kind: ClassVar[str] = "steps-over"
    before: Any
    after: Any
    iteration: int
    step: float | None = None

    def _holds(self, run: Any) -> bool:
        (a, s), (b, t) = self.pairs(run, (self.iteration - 1, self.iteration))
        passed = a < s and b > t or a > s and b < t
        return bool(passed) and same(a, self.before) and same(b, self.after)


@dataclass(frozen=True, kw_only=True)
class Residue(OfSides):
    """The moving side can never equal the other side: its integer steps leave another remainder.

    Asserts: in iterations ``first`` to ``last`` each step is ``step`` (modulo 2^bits of the dtype), and the way to the
    threshold is not a multiple of the greatest common divisor of ``step`` and 2^bits (of ``step`` where ``bits`` is 0).
    """

    kind: ClassVar[str] = "residue"
    step: int
    bits: int
    first: int
    last: int

    def _holds(self, run: Any) -> bool:
        xs = [int(x) for x, _ in self.pairs(run, range(self.first, self.last + 1))]
        whole = 1 << self.bits
        if not all((b - a - self.step) % whole == 0 for a, b in zip(xs, xs[1:], strict=False)):
            return False
        return (int(self.clause.threshold) - xs[-1]) % gcd(self.step, whole) != 0


@dataclass(frozen=True, kw_only=True)
class EveryNumber(Claim):
    """All values of the dtype satisfy the clause.

    Asserts: the smallest and the largest number of the integer dtype satisfy ``x op threshold``.
    Evidence: (smallest, largest).
    """

    kind: ClassVar[str] = "every-number"
    clause: BlockingClause
    variable: str = ""

    def _holds(self, run: Any) -> bool:
        limits = np.iinfo(self.clause.dtype)
        ordered = self.clause.op in ("<", "<=", ">", ">=") and tuple(run) == (int(limits.min), int(limits.max))
        return ordered and all(holds(v, self.clause.op, self.clause.threshold) for v in run)


@dataclass(frozen=True, kw_only=True)
class MovesAway(OfSides):
    """Every step leads away from the threshold.

    Asserts: in iterations ``first`` to ``last`` the moving side changes in the direction in which the clause stays
    true, every time, and by ``step`` if given; the threshold does not change.
    """

    kind: ClassVar[str] = "moves-away"
    step: float | None
    value: Any
    first: int
    last: int
    variable: str = ""

    def _holds(self, run: Any) -> bool:
        c = self.clause
        pairs = self.pairs(run, range(self.first, self.last + 1))
        if len(pairs) < 2 or not same(pairs[-1][0], self.value) or not all(holds(x, c.op, t) for x, t in pairs):
            return False
        gaps = [abs(_difference(x, t)) for x, t in pairs]
        if not all(b > a for a, b in zip(gaps, gaps[1:], strict=False)):
            return False
        steps = {_difference(b[0], a[0]) for a, b in zip(pairs, pairs[1:], strict=False)}
        return self.step is None or steps == {self.step}


def _difference(a: Any, b: Any) -> Any:
    whole = all(np.asarray(v).dtype.kind in "iu" for v in (a, b))
    return int(a) - int(b) if whole else float(a) - float(b)
