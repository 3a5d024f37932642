"""Rays: stretches of a loop in which each variable is a polynomial of the number of periods.

Consecutive periods with the same path and the same increments are detected among the computed states. One period is
then computed with the variables as polynomials in k, the number of periods: if it gives the same polynomials at k + 1,
they hold, by induction, for all k up to the first at which a comparison on the path, a wrap or a rounding may change
(:mod:`moving_values`). If there is none, the loop never ends; otherwise the state at that k is known, and the search
continues there. A loop of 10^15 iterations thus takes about a hundred rays.

Source: J. Leike and M. Heizmann, "Geometric nontermination arguments", TACAS 2018,
https://doi.org/10.1007/978-3-319-89963-3_16, and their "Ranking templates for linear loops", TACAS 2014; acceleration
of counters as in S. Bardin et al., "FAST: acceleration from theory to practice", STTT 10, 2008.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from workbench.analysis.proof.rays.horizon import INTEGERS, PRECISION, Moving, Unfollowed
from workbench.analysis.proof.rays.iteration import LoopBody, NodeFailed
from workbench.analysis.proof.rays.moving_arrays import MovingArray, fitted, same_one_later, value_at
from workbench.analysis.proof.rays.moving_values import KnownPeriods
from workbench.analysis.proof.rays.polynomials import later, through, trimmed
from workbench.analysis.slicing import work

#: numbers of iterations that are run before each search for a ray, and degrees of the polynomials that are tried
LENGTHS, DEGREES = (12, 48, 192, 768), (1, 2, 3, 4)
#: maximum number of consecutive rays, nominal seconds of all, and of one comparison of states
RAYS, SECONDS, FIT = 160, 0.1, 4e-6
#: minimum number of periods that a ray covers
LEAST = 3
#: minimum number of iterations that it covers for each iteration run to find it; otherwise more are run
PROGRESS = 4


@dataclass(frozen=True)
class Ray:
    """From iteration ``begin`` on, for ``periods`` periods (None: for ever) of ``period`` iterations, each variable is
    a polynomial of the number of periods; ``full`` is the period in which an int no longer fits 64 bits."""

    begin: int
    period: int
    periods: int | None
    variables: dict[str, Moving | MovingArray | np.ndarray]
    full: int | None = None

    def at(self, k: int) -> dict[str, np.ndarray]:
        """The state after k periods."""
        return {name: value_at(v, k) for name, v in self.variables.items()}

    def steps(self) -> dict[str, Any]:
        """The increments per period of the variables, and of the items of arrays, that are the same in every period."""
        moving = {n: v for n, v in self.variables.items() if isinstance(v, Moving)}
        for name, v in self.variables.items():
            if isinstance(v, MovingArray):
                moving.update({f"{name}[{', '.join(map(str, i))}]": x for i, x in v.moves().items()})
        return {n: v.of[1] for n, v in moving.items() if len(v.of) == 2}


@dataclass
class Continuation:
    """The continuation of a loop from a given state.

    ``kind`` is "never", "recurs" (the state of iteration ``begin`` returns at iteration ``after``), "ends" or "fails"
    after ``after`` whole iterations, or "open": known up to ``after`` iterations. For a loop that never ends, ``full``
    is the number of whole iterations after which ``node`` overflows the 64 bits of its ints, None if no node does.
    """

    kind: str
    after: int = 0
    begin: int = 0
    full: int | None = None
    node: str | None = None
    error: Exception | None = None
    stretches: list[Ray] = field(default_factory=list)


def follow(
    body: LoopBody, state: Mapping[str, Any], seconds: float = SECONDS, length: int = LENGTHS[-1]
) -> Continuation:
    """Follow a loop from a state at its condition, along rays, for at most ``seconds`` nominal seconds.

    Each ray is searched for in at most ``length`` iterations.
    """
    with np.errstate(all="ignore"):
        return _Following(body, seconds, length).run(dict(state))


class _Following:
    def __init__(self, body: LoopBody, seconds: float, length: int) -> None:
        self.body, self.lengths = body, [n for n in LENGTHS if n <= length]
        self.deadline = work.now() + seconds
        self.count = 0
        self.out = Continuation("open")
        self.seen: dict[bytes, int] = {}
        self.states: list[dict[str, Any]] = []

    def run(self, state: dict[str, Any]) -> Continuation:
        try:
            self._follow(state)
        except (Unfollowed, RecursionError):
            pass
        if self.out.kind == "open":
            self.out.after = self.count
        return self.out

    def _follow(self, state: dict[str, Any]) -> None:
        for _ in range(RAYS):
            self.states = [state]
            found: Ray | None = None
            for length in self.lengths:
                if self._walk(length):
                    return
                found = self._ray()
                # a short ray may be part of a longer period
                if found is not None and (found.periods is None or found.period * found.periods > PROGRESS * length):
                    break
            if found is None:
                return
            self.out.stretches.append(found)
            if found.periods is None:
                self.out.kind = "never"
                if found.full is not None:
                    self._overflow(found)
                return
            self.count += found.period * found.periods
            state = found.at(found.periods)

    def _walk(self, length: int) -> bool:
        """Run iterations one by one until ``length`` further states are known; True if the loop ends, fails or recurs
        in them.
        """
        while len(self.states) <= length:
            if work.now() > self.deadline:
                raise Unfollowed
            key = _bytes(self.states[-1])
            if key in self.seen:
                self.out.kind, self.out.after, self.out.begin = "recurs", self.count, self.seen[key]
                return True
            if len(self.seen) < 4096:
                self.seen[key] = self.count
            try:
                holds, env = self.body.goes_on(self.states[-1], KnownPeriods())
                if not holds:
                    self.out.kind, self.out.after = "ends", self.count
                    return True
                self.states.append(self.body.advance(env, KnownPeriods()))
            except NodeFailed as failed:
                self.out.kind, self.out.after = "fails", self.count
                self.out.node, self.out.error = failed.node, failed.error
                return True
            self.count += 1
        return False

    def _ray(self) -> Ray | None:
        """The ray that begins at the last state, with the shortest period."""
        best: Ray | None = None
        for period in range(1, (len(self.states) - 1) // 2 + 1):
            for degree in DEGREES:
                if (degree + 1) * period >= len(self.states):
                    break
                variables = self._fitted(period, degree)
                if variables is None:
                    continue
                found = self._proved(period, variables)
                if found is not None:
                    if found.periods is None:
                        return found
                    if best is None or found.period * found.periods > (best.period * (best.periods or 0)):
                        best = found
                break
            if best is not None and best.period * (best.periods or 0) > PROGRESS * len(self.states):
                break
        return best

    def _fitted(self, period: int, degree: int) -> dict[str, Any] | None:
        """Each variable as a polynomial through the states at the ends of the last periods, or None."""
        work.charge(FIT * len(self.body.variables))
        points = [self.states[-1 - j * period] for j in range(degree + 1, -1, -1)]
        out: dict[str, Any] = {}
        for name in self.body.variables:
            values = [p[name] for p in points]
            out[name] = fitted(values, lambda v: _fit(v, degree)) if values[-1].ndim else _fit(values, degree)
            if out[name] is None:
                return None
        return out

    def _proved(self, period: int, variables: dict[str, Any]) -> Ray | None:
        """Compute the period once with polynomials, and return the ray if they are the same at k + 1."""
        horizon, now = KnownPeriods(), dict(variables)
        try:
            for _ in range(period):
                if work.now() > self.deadline:
                    raise Unfollowed
                holds, env = self.body.goes_on(now, horizon)
                if not holds:
                    return None
                now = self.body.advance(env, horizon)
        except (Unfollowed, NodeFailed):
            if work.now() > self.deadline:
                raise Unfollowed from None
            return None
        if not all(same_one_later(begin, now[name]) for name, begin in variables.items()):
            return None
        if horizon.turn is not None and horizon.turn < LEAST:
            return None
        if horizon.turn is not None and horizon.full is not None and horizon.full < LEAST:
            return None
        periods = horizon.turn
        if periods is not None and horizon.full is not None:
            periods = min(periods, horizon.full)
        return Ray(self.count, period, periods, variables, horizon.full)

    def _overflow(self, found: Ray) -> None:
        """Find the node that overflows first, and its iteration, by running that period separately."""
        assert found.full is not None
        self.count += found.period * found.full
        self.states = [found.at(found.full)]
        known = self.out.kind
        if self._walk(2 * found.period) and self.out.kind == "fails":
            self.out.full = self.count
        else:
            self.out.full = found.begin + found.period * found.full
        self.out.kind = known


def proves(body: LoopBody, ray: Ray) -> bool:
    """True if the ray is found again when it is recomputed, and when a period is run at each of its ends."""
    with np.errstate(all="ignore"):
        again = _Following(body, math.inf, 0)._proved(ray.period, ray.variables)
        if again is None or (again.periods, again.full) != (ray.periods, ray.full):
            return False
        ends = [k for k in (ray.periods, ray.full) if k is not None]
        for k in {0, min(ends, default=10**6) - 1}:
            state = ray.at(k)
            try:
                for _ in range(ray.period):
                    holds, env = body.goes_on(state, KnownPeriods())
                    if not holds:
                        return False
                    state = body.advance(env, KnownPeriods())
            except NodeFailed:
                return False
            if _bytes(state) != _bytes(ray.at(k + 1)):
                return False
        return True


def _fit(values: list[np.ndarray], degree: int) -> Any:
    """The polynomial through the values of a number at the ends of periods, or the number if it is constant; None if
    neither fits.
    """
    last = values[-1]
    bits = _bytes_of(last)
    if _bytes_of(values[-2]) == bits:
        return last if all(_bytes_of(v) == bits for v in values) else None
    dtype = last.dtype.name
    if any(v.dtype != last.dtype or v.ndim for v in values) or not (dtype in INTEGERS or dtype in PRECISION):
        return None
    if dtype in PRECISION and (degree > 1 or not all(np.isfinite(v) for v in values)):
        return None
    numbers = [int(v) if dtype in INTEGERS else Fraction(float(v)) for v in values]
    steps = numbers
    for _ in range(degree + 1):
        steps = [b - a for a, b in zip(steps, steps[1:], strict=False)]
    if steps != [0]:
        return None
    of = (numbers[-1], numbers[-1] - numbers[-2]) if degree == 1 else later(through(numbers), degree + 1)
    return Moving(dtype, trimmed(of))


def _bytes_of(value: np.ndarray) -> bytes:
    if value.dtype == object:
        raise Unfollowed
    return b"%d%r" % (value.dtype.num, value.shape) + value.tobytes()


def _bytes(state: Mapping[str, np.ndarray]) -> bytes:
    return b"|".join(_bytes_of(v) for v in state.values())


__all__ = ["Continuation", "LoopBody", "Ray", "follow", "proves"]
