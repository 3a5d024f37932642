"""Claims about what comes again: the period of a loop, and where it began."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

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
