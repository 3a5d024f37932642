"""Interval bounds of the state over ranges of time, and of the first time at which the condition is false.

Counters have a closed form. The other variables may have an interval that always contains them (an inductive
invariant), and from time 1 on their values are the updates of the previous state. All bounds assume that the loop has
continued until then, so that the condition was true at all earlier times.

The search bisects: ranges of times in which the condition is certainly true are skipped as a whole, and the first of
the other ranges is divided until it is a single time. A loop of 10^18 iterations thus takes a dozen evaluations.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from workbench.analysis.intervals.interval import Interval, box, box_of, hull, spread
from workbench.analysis.proof.counter_detection import Clause, Counter, clauses_of
from workbench.analysis.proof.counters import Times
from workbench.analysis.slicing.formulas import Env, SliceProgram
from workbench.ir.node import Ref

#: no counter of 64 bits has a longer period
FAR = 1 << 66
#: number of parts into which a range is divided, and maximum number of evaluations
PARTS, EVALUATIONS = 32, 40


@dataclass
class FirstFalse:
    """Bounds of the first time at which the condition is false.

    That time is ``after`` or later (None: never), and ``within`` at the latest (None: not known).
    """

    after: int | None
    within: int | None
    evaluations: int = 0

    @property
    def exact(self) -> bool:
        return self.after is not None and self.after == self.within


class Timeline:
    """The state of one loop as a function of time."""

    def __init__(
        self,
        program: SliceProgram,
        present: Mapping[str, np.ndarray],
        counters: Mapping[str, Counter],
        held: Env | None = None,
    ) -> None:
        """``held``: boxes that contain the variables other than counters from now on."""
        self.program, self.counters = program, counters
        self.start = {name: box_of(present[name]) for name in program.state}
        self.held = dict(held or {})
        self.clauses: dict[Ref, Clause] = clauses_of(program, counters)
        self.derived = [name for name in program.state if name not in counters]
        self.evaluations = 0
        self.about: Ref | None = None
        self.wanted = True

    def state(self, times: Times) -> Env:
        """Bounds of the state over each of the ranges; None beyond the counters' end."""
        env: dict[str, Interval | None] = {name: self.held.get(name) for name in self.program.state}
        for name, counter in self.counters.items():
            env[name] = counter.box(times)
        known = dict(env)
        if self.derived:
            before = self._before(times)
            for name in self.derived:
                env[name] = self._one_later(name, times, before, known[name])
        return env

    def _before(self, times: Times) -> Env:
        """The state one iteration earlier, at which the condition was true; for times from 1 on."""
        earlier = [(max(t - 1, 0), None if u is None else max(u - 1, 0)) for t, u in times]
        env: dict[str, Interval | None] = {name: self.held.get(name) for name in self.program.state}
        for name, counter in self.counters.items():
            env[name] = counter.box(earlier)
        return self.program.assuming(env, self.program.cond, True)

    def _one_later(self, name: str, times: Times, before: Env, held: Interval | None) -> Interval | None:
        """A variable computed from the previous state; at time 0, its present value."""
        later = self.program.evaluate(self.program.updates[name], before, len(times))
        now = self.start[name]
        if later is None or now is None or later.dtype != now.dtype:
            return held
        n = len(times)
        first, alone = np.array([t == 0 for t, _ in times]), np.array([u == 0 for _, u in times])
        a, b = spread(now, n), spread(later, n)
        present = box(a.dtype, a.lo, a.hi, a.nan, ~first)
        return hull(present, box(b.dtype, b.lo, b.hi, b.nan, b.dead | alone))

    def condition(self, times: Times) -> tuple[np.ndarray, np.ndarray]:
        """(certainly as wanted, certainly not) over each of the ranges."""
        self.evaluations += 1
        known = {ref: clause.box(times) for ref, clause in self.clauses.items()}
        sure, never = self.program.condition(self.state(times), len(times), known, self.about)
        return (sure, never) if self.wanted else (never, sure)

    def turn(self, about: Ref | None = None, wanted: bool = True) -> FirstFalse:
        """Bounds of the first time at which the condition (or ``about``) is not ``wanted``, as narrow as the boxes
        allow.
        """
        self.about, self.wanted, self.evaluations = about, wanted, 0
        sure, _ = self.condition([(0, None)])
        if sure[0]:
            return FirstFalse(None, None, self.evaluations)
        ranges: Times = [(0, 0)]
        while (t := ranges[-1][1]) is not None:
            ranges.append((t + 1, 8 * t + 7) if t < FAR else (t + 1, None))
        after, within = self._search(ranges)
        return FirstFalse(after, within, self.evaluations)

    def _search(self, todo: Times) -> tuple[int | None, int | None]:
        """(the first time at which it is not certainly true, the first at which it is certainly false), as narrow as
        the parts allow.
        """
        while True:
            sure, never = self.condition(todo)
            if sure.all():
                return None, None
            k = int(np.argmin(sure))
            todo, never = todo[k:], never[k:]
            first, last = todo[0]
            if never[0]:
                return first, first
            if first == last or self.evaluations > EVALUATIONS:
                break
            todo = _parts(first, last) + todo[1:]
        after, within = first, None
        while never.any():
            j = int(np.argmax(never))
            within = todo[j][0]
            if j == 0 or todo[j - 1][0] == todo[j - 1][1] or self.evaluations > 2 * EVALUATIONS:
                break
            todo = [*_parts(*todo[j - 1]), todo[j]]
            _, never = self.condition(todo)
        return after, within


def _parts(first: int, last: int | None) -> Times:
    """A range divided into at most :data:`PARTS` parts; an unbounded one is divided at twice its start."""
    if last is None:
        return [(first, 2 * first), (2 * first + 1, None)]
    n = min(PARTS, last - first + 1)
    cuts = [first + (last - first + 1) * k // n for k in range(n + 1)]
    return [(a, b - 1) for a, b in zip(cuts, cuts[1:], strict=False)]
