"""Symbolic proofs from the formulas of a loop, without running it, by counters in closed form and inductive intervals.

The first attempt bounds the times at which the condition can become false, with counters in closed form and intervals
for the other variables (``affine-counter``); the second looks for an inductive invariant on which the condition is true
(``interval``). Each proof states what it checked; if a formula cannot be bounded, there is no proof.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.analysis.intervals.interval import Interval, box_of
from workbench.analysis.proof import inductive_invariants
from workbench.analysis.proof.absorbed_sums import sums
from workbench.analysis.proof.counter_detection import Counter, counters_of
from workbench.analysis.proof.counters import IntCounter
from workbench.analysis.proof.inductive_invariants import holding, keeps_on
from workbench.analysis.proof.time_bounds import FirstFalse, Timeline
from workbench.analysis.proof.value_partition import by_values
from workbench.analysis.slicing import work
from workbench.analysis.slicing.formulas import Env, Overdue, SliceProgram
from workbench.ir.node import Ref
from workbench.text import number

Seen = Callable[[], Sequence[Mapping[str, Any]]]


@dataclass
class ProvedBound:
    """The condition is true for ``after`` more iterations (None: for ever), and false after ``within`` iterations at
    the latest.

    ``kind`` and ``checked`` are those of the proof; ``counters`` names the counters that it uses. If the condition is
    true for ever, ``boxes`` contain the variables for ever.
    """

    kind: str
    after: int | None
    within: int | None
    checked: str
    counters: list[str]
    boxes: Env | None = None

    @property
    def exact(self) -> bool:
        return self.after is not None and self.after == self.within


def prove(program: SliceProgram, present: Mapping[str, Any], seen: Seen, seconds: float = 1.0) -> ProvedBound | None:
    """The best bound that can be proved from the state ``present``, at which the condition is true, in ``seconds``
    nominal seconds (:mod:`workbench.analysis.slicing.work`).

    ``seen`` returns states of the loop near ``present``, from which the search for an invariant starts. None if nothing
    is known beyond the present value of the condition.
    """
    state = {name: np.asarray(present[name]) for name in program.state}
    program.deadline = work.now() + seconds
    with np.errstate(all="ignore"):
        try:
            return _argue(program, state, seen)
        except (Overdue, RecursionError):  # nested choices may exceed Python's recursion limit
            return None
        finally:
            program.deadline = math.inf


def _argue(program: SliceProgram, state: dict[str, np.ndarray], seen: Seen) -> ProvedBound | None:
    start: dict[str, Interval | None] = {name: box_of(value) for name, value in state.items()}
    plain = _Case(program, state, start, counters_of(program, state))
    turn = plain.turn()
    if turn.after is None or turn.exact:
        kind = "affine-counter" if plain.counters else "interval"
        boxes = plain.timeline.state([(0, None)]) if turn.after is None else None
        return ProvedBound(kind, turn.after, turn.within, plain.sentence(turn), list(plain.counters), boxes)
    try:
        kept = keeps_on(program, start, plain.fixed, seen)
    except Overdue:
        kept = None
    if kept is not None:
        return ProvedBound("interval", None, None, _enclosed(*kept), list(plain.counters), kept[0])
    added = sums(program, state, plain.counters, plain.held)
    if added and bool(program.condition({**plain.held, **plain.fixed, **added})[0].all()):
        boxes = {**plain.held, **plain.fixed, **added}
        return ProvedBound("interval", None, None, _enclosed_sums(added), list(plain.counters), boxes)
    if turn.after == 0 and turn.within is None:
        return None
    return ProvedBound("affine-counter", turn.after, turn.within, plain.sentence(turn), list(plain.counters))


def encloses(program: SliceProgram, state: Mapping[str, np.ndarray], boxes: Env) -> bool:
    """True if the condition stays true from the state on because the variables never leave the boxes."""
    start: dict[str, Interval | None] = {name: box_of(value) for name, value in state.items()}
    with np.errstate(all="ignore"):
        case = _Case(program, state, start, counters_of(program, state))
        if inductive_invariants.encloses(program, state, boxes, case.fixed):
            return True
        again = _argue(program, dict(state), tuple)
    return again is not None and again.after is None and _bounds(again.boxes) == _bounds(boxes)


def _bounds(boxes: Env | None) -> dict[str, tuple[Any, Any]]:
    return {name: (x.lo[0], x.hi[0]) for name, x in (boxes or {}).items() if x is not None}


class _Case:
    """The slice with its counters, whose condition is analysed."""

    def __init__(
        self, program: SliceProgram, state: Mapping[str, np.ndarray], start: Env, counters: Mapping[str, Counter]
    ) -> None:
        self.program, self.counters = program, counters
        self.fixed: dict[str, Interval | None] = {name: counter.box([(0, None)]) for name, counter in counters.items()}
        self.held = holding(program, start, self.fixed)
        self.timeline = Timeline(program, state, counters, self.held)

    def turn(self, about: Ref | None = None, wanted: bool = True) -> FirstFalse:
        """Bounds of the first time at which the condition (or ``about``) is not ``wanted``, by values or by times."""
        found = FirstFalse(0, None)
        for name, counter in self.counters.items():
            if isinstance(counter, IntCounter) and not counter.checked and found.after is not None and not found.exact:
                clauses, always = self.timeline.clauses, {**self.held, **self.fixed}
                found = _both(found, by_values(self.program, name, counter, clauses, always, about, wanted))
        if found.after is not None and not found.exact:
            found = _both(found, self.timeline.turn(about, wanted))
        return self._in_range(found)

    def _in_range(self, found: FirstFalse) -> FirstFalse:
        """The bounds cut to the iterations in which Python int counters fit in 64 bits: an overflow does not end the
        loop.
        """
        ends = [counter.full for counter in self.counters.values() if isinstance(counter, IntCounter)]
        full = min((t for t in ends if t is not None), default=None)
        if full is None or found.after is None or found.exact and found.after < full:
            return found
        within = found.within if found.within is not None and found.within < full else None
        return FirstFalse(min(found.after, full), within, found.evaluations)

    def sentence(self, turn: FirstFalse) -> str:
        return _counted(self.counters, self.held, turn.evaluations)


def _both(x: FirstFalse, y: FirstFalse | None) -> FirstFalse:
    """Both bounds combined: the later lower bound and the earlier upper bound."""
    if y is None:
        return x
    never = x.after is None or y.after is None
    after = None if never else max(x.after or 0, y.after or 0)
    uppers = [t for t in (x.within, y.within) if t is not None]
    return FirstFalse(after, min(uppers, default=None), x.evaluations + y.evaluations)


def _counted(counters: Mapping[str, Counter], held: Mapping[str, Interval | None], evaluations: int) -> str:
    parts = [_form(name, counter) for name, counter in counters.items()]
    rest = [f"{name} in {_shown(box)}" for name, box in held.items() if name not in counters and box is not None]
    bounds = "; ".join((parts + rest)[:8]) + (" ..." if len(parts) + len(rest) > 8 else "")
    times = "1 evaluation" if evaluations == 1 else f"{evaluations} evaluations"
    says = "says" if evaluations == 1 else "say"
    return (
        f"from the present state, {bounds or 'with constants alone'}: {times} over ranges of iterations {says} where "
        "the condition turns."
    )


def _form(name: str, counter: Counter) -> str:
    if not isinstance(counter, IntCounter):
        many = len(counter.times) - 1
        if counter.settles == 0:
            return f"{name} stays {counter.last:.9g} in {counter.dtype}"
        ranges = "a constant" if many == 1 else f"a constant within each of {many} ranges of iterations"
        return (
            f"{name} changes in {counter.dtype} by {ranges}, and stays {counter.last:.9g} after "
            f"{counter.settles:,} more iterations"
        )
    bits = "" if counter.checked else f" modulo 2^{counter.bits}"
    if counter.additive:
        step = "t" if abs(counter.b) == 1 else f"{abs(counter.b)} t"
        return f"{name}(t) = {counter.start} {'-' if counter.b < 0 else '+'} {step}{bits}"
    return f"{name} -> {counter.a} {name} + {counter.b}{bits} from {counter.start}"


def _shown(x: Interval) -> str:
    lo, hi = x.lo[0], x.hi[0]
    if lo > hi:
        return "NaN"
    text = f"[{number(lo)}, {number(hi)}]"
    return text + " or NaN" if x.nan.any() else text


def _enclosed_sums(boxes: Mapping[str, Interval]) -> str:
    bounds = "; ".join(f"{name} in {_shown(x)}" for name, x in boxes.items())
    return (
        f"{bounds}: what is added at each time is bounded by the counters, until rounding absorbs it for good, "
        "and the condition is true all over it."
    )


def _enclosed(boxes: Mapping[str, Interval | None], pieces: int) -> str:
    bounds = [f"{name} in {_shown(x)}" for name, x in boxes.items() if x is not None]
    cut = f", in {pieces} pieces" if pieces > 1 else ""
    shown = "; ".join(bounds[:8]) + (" ..." if len(bounds) > 8 else "")
    return (
        f"the box {shown} holds the present state, is mapped into itself by an iteration{cut}, "
        "and the condition is true all over it."
    )
