"""Claims about what comes again: the period of a loop, where it began, what its values reach, and their limit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from workbench.analysis.claims.claim import Claim


@dataclass(frozen=True, kw_only=True)
class Period(Claim):
    """The state that decides about the loop returns bit for bit every ``n`` iterations, seen from ``since`` on.

    Asserts: all that the condition depends on has the same bits at the conditions of iterations ``since``,
    ``since + n`` and ``since + 2 n``; no smaller number of iterations does it; the condition is true all the way.
    Evidence: a ``SliceRunner`` that stands at the condition of iteration ``since``.
    """

    kind: ClassVar[str] = "period"
    n: int
    since: int

    def _holds(self, run: Any) -> bool:
        runner, begin, at = run.fork(), run.state(), 0
        # a shorter period would divide this one, and one of its largest proper divisors
        for turn in sorted({self.n // q for q in prime_factors(self.n)} | {self.n, 2 * self.n}):
            if not runner.cond() or _advance(runner, turn - at) != turn - at:
                return False
            at = turn
            if (runner.state() == begin) != (turn >= self.n):
                return False
        return bool(runner.cond())


def prime_factors(n: int) -> list[int]:
    """The primes that divide ``n``."""
    found, k = [], 2
    while k * k <= n:
        if n % k == 0:
            found.append(k)
            while n % k == 0:
                n //= k
        k += 1
    return found + [n] * (n > 1)


def _advance(runner: Any, n: int) -> int:
    done = 0
    while done < n and (more := runner.advance(min(n - done, 4096))):
        done += more
    return done


@dataclass(frozen=True, kw_only=True)
class Reaches(Claim):
    """``name`` takes no value outside of ``lowest`` to ``highest``, and takes both, in ``n`` iterations that repeat.

    Asserts: the minimum and the maximum of the value over the ``n`` iterations.
    Evidence: the values of these iterations, in order, as one array.
    """

    kind: ClassVar[str] = "reaches"
    name: str
    lowest: Any
    highest: Any
    n: int

    def _holds(self, run: Any) -> bool:
        values = np.asarray(run)
        return len(values) == self.n and values.min() == self.lowest and values.max() == self.highest


@dataclass(frozen=True, kw_only=True)
class Limit(Claim):
    """``name`` has the fixed point ``value``.

    Asserts: one iteration that begins with ``value`` gives a value that differs from it by no more than ``error``.
    Evidence: a function that runs one iteration from a value and gives what the iteration comes to.
    """

    kind: ClassVar[str] = "limit"
    name: str
    value: Any
    error: float

    def _holds(self, run: Any) -> bool:
        return bool(abs(run(self.value) - self.value) <= self.error)


@dataclass(frozen=True, kw_only=True)
class FirstBad(Claim):
    """From ``iteration`` on the variables ``names`` have only values that repeat every ``n`` iterations for ever.

    Asserts: together they have, in ``iteration``, the values of one of the repeating iterations, and had none of them
    in the iteration before (there is none before iteration 0).
    Evidence: (the tuples of values of the repeating iterations as bytes, the tuples of the iterations around the first
    of them by their number).
    """

    kind: ClassVar[str] = "first-bad"
    names: tuple[str, ...]
    iteration: int
    n: int

    def _holds(self, run: Any) -> bool:
        pattern, known = run
        if len(pattern) != self.n or known.get(self.iteration) not in pattern:
            return False
        before = known.get(self.iteration - 1)
        return before is None if self.iteration == 0 else before is not None and before not in pattern
