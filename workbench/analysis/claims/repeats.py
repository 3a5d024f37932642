"""Claims about recurrence: the period of a loop, and its beginning."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any, ClassVar

from workbench.analysis.claims.claim import Claim, checked

#: maximum bytes of a state that is kept unchanged
LARGE = 4096


@dataclass(frozen=True, kw_only=True)
class Period(Claim):
    """The state on which the condition depends recurs bit for bit every ``n`` iterations, from ``since`` on.

    Asserts: the state on which the condition depends has the same bits at the conditions of iterations ``since``,
    ``since + n`` and ``since + 2 n``; no smaller period does; the condition is true in all these iterations.
    Evidence: the states by the number of iterations after ``since``, up to the last at which the condition was true.
    """

    kind: ClassVar[str] = "period"
    n: int
    since: int

    def _holds(self, run: Any) -> bool:
        return all(turn in run and (run[turn] == run[0]) == (turn >= self.n) for turn in turns(self.n))


def period(runner: Any, n: int, since: int) -> list[Claim]:
    """The claim of the period ``n`` of a slice at the condition of iteration ``since``, if it holds."""
    ahead, states = runner.fork(), {0: _kept(runner.state())}
    for turn in turns(n):
        left = turn - max(states)
        if not ahead.cond() or _advance(ahead, left) != left or not ahead.cond():
            break
        states[turn] = _kept(ahead.state())
    return checked([Period(n=n, since=since, evidence=states)])


def turns(n: int) -> list[int]:
    """The iterations after which states are compared.

    A shorter period would divide this one, and therefore one of its largest proper divisors.
    """
    return sorted({n // q for q in prime_factors(n)} | {n, 2 * n})


def _kept(state: bytes) -> bytes:
    """A state, or the digest of a large one."""
    return state if len(state) <= LARGE else hashlib.sha256(state).digest()


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

    Asserts: together they have, in ``iteration``, the values of one of the repeating iterations, but not in the
    iteration before (iteration 0 has none before it).
    Evidence: (the tuples of values of the repeating iterations as bytes, iteration -> tuple for the first of them and
    the one before).
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
