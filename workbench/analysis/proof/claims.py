"""The claims of proofs: bounds, rays, overflows of Python ints in a graph, and identities."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from workbench.analysis.claims.claim import Claim, checked
from workbench.analysis.intervals.interval import Interval, int_range
from workbench.analysis.proof.identities.identity import Kept, identity
from workbench.analysis.proof.rays.iteration import LoopBody, NodeFailed
from workbench.analysis.proof.rays.moving_values import KnownPeriods
from workbench.analysis.proof.rays.ray import Continuation, Ray, proves
from workbench.analysis.proof.symbolic import encloses
from workbench.analysis.slicing.formulas import SliceProgram

#: number of claimed rays (the last ones), and number of iterations in which an identity is checked
MAX_RAYS, RUN = 3, 16
#: maximum number of variables whose bounds are claimed
MAX_BOUNDS = 3


@dataclass(frozen=True, kw_only=True)
class SameSteps(Claim):
    """From iteration ``since`` on, every ``period`` iterations change the variables by ``steps``, ``periods`` times.

    Asserts that a period, computed with polynomials along its path, takes the polynomials of k to those of k + 1, with
    the condition true, for all k < ``periods`` (None: all k); both ends are also run with numbers. Evidence: (the loop,
    the ray).
    """

    kind: ClassVar[str] = "ray"
    since: int
    period: int
    periods: int | None
    steps: dict[str, Any]

    def _holds(self, run: Any) -> bool:
        body, ray = run
        steps = _numbers(ray.steps())
        return self.period == ray.period and self.periods == ray.periods and self.steps == steps and proves(body, ray)


@dataclass(frozen=True, kw_only=True)
class Bounded(Claim):
    """From iteration ``since`` on, the variables stay within ``bounds`` for ever, and the condition is true there.

    ``or_nan`` names those that may also be NaN; None means no bound. Asserts that the state lies in the boxes, that an
    iteration maps them into themselves (or closed forms of counters and sums give the same boxes), that the condition
    is true on all of them, and that the recorded later states lie in them. Evidence: (the formulas, a state, the states
    that follow, the boxes).
    """

    kind: ClassVar[str] = "bounded"
    since: int
    bounds: dict[str, tuple[Any, Any]]
    or_nan: tuple[str, ...] = ()

    def _holds(self, run: Any) -> bool:
        program, state, following, boxes = run
        if (self.bounds, self.or_nan) != _named_bounds(boxes, self.bounds) or not self.bounds:
            return False
        for later in (state, *following):
            for name, (low, high) in self.bounds.items():
                value = np.asarray(later[name])
                inside = (low is None or value >= low) & (high is None or value <= high)
                if not np.all(inside | (value != value) if name in self.or_nan else inside):
                    return False
        return encloses(program, state, boxes)


def _named_bounds(boxes: Mapping[str, Interval | None], names: Iterable[str]) -> tuple[dict[str, tuple[Any, Any]], Any]:
    """The bounds of these variables (None for a variable without bounds), and the names of those that may be NaN."""
    out, nan = {}, []
    for name in names:
        x = boxes.get(name)
        if x is None or x.lo[0] > x.hi[0]:
            continue
        least, most = int_range(x.dtype) if x.integral else (-np.inf, np.inf)
        low, high = None if x.lo[0] == least else x.lo[0], None if x.hi[0] == most else x.hi[0]
        if (low, high) != (None, None) and x.dtype != "bool":
            out[name] = low, high
            nan += [name] * bool(x.nan[0])
    return out, tuple(nan)


def of_bounds(
    program: SliceProgram, boxes: Mapping[str, Interval | None], states: list[Mapping[str, Any]], since: int, read: Any
) -> list[Claim]:
    """The claim that the variables compared by the condition (``read``) stay in the boxes, if it holds."""
    variables = [n for n in read if n in program.state]
    bounds, nan = _named_bounds(boxes, variables or program.state)
    bounds = dict(list(bounds.items())[:MAX_BOUNDS])
    state, *following = ({n: np.asarray(v) for n, v in s.items()} for s in states)
    evidence = program, state, following, boxes
    return checked(
        [Bounded(since=since, bounds=bounds, or_nan=tuple(n for n in nan if n in bounds), evidence=evidence)]
    )


@dataclass(frozen=True, kw_only=True)
class Overflow(Claim):
    """The result of ``node`` fits in 64 bits until ``iteration``, and exceeds them there.

    Asserts that in a run from the last period of the ray in which all ints fit, no node fails before that iteration,
    and this node fails in it. Evidence: (the loop, the ray, the iteration with which it begins).
    """

    kind: ClassVar[str] = "overflow"
    node: str
    iteration: int

    def _holds(self, run: Any) -> bool:
        body, ray, begin = run
        at = begin + ray.period * ray.full
        state = ray.at(ray.full)
        try:
            while at <= self.iteration:
                holds, env = body.goes_on(state, KnownPeriods())
                if not holds:
                    return False
                state, at = body.advance(env, KnownPeriods()), at + 1
        except NodeFailed as failed:
            return at == self.iteration and _named(body, failed.node) == self.node
        return False


@dataclass(frozen=True, kw_only=True)
class Identity(Claim):
    """``polynomial`` is multiplied by one of ``factors`` in each iteration, so that it stays zero, or stays nonzero.

    Asserts that substituting the updates into the polynomial gives a multiple of it, on every path through the
    iteration, modulo 2^bits or ``modulus`` if these are given, and that its values in sampled iterations agree.
    Evidence: (the formulas, the loop, a state).
    """

    kind: ClassVar[str] = "identity"
    polynomial: str
    factors: tuple[str, ...]
    zero: bool
    modulus: int
    bits: int | None

    def _holds(self, run: Any) -> bool:
        program, body, state = run
        for _ in range(RUN):
            found = identity(program, body, state) or []
            if all(_identity_of(k, run) != self for k in found):
                return False
            holds, env = body.goes_on(state, KnownPeriods())
            if not holds:
                return False
            state = body.advance(env, KnownPeriods())
        return True


def _identity_of(kept: Kept, evidence: Any) -> Identity:
    return Identity(
        polynomial=kept.polynomial,
        factors=kept.written_factors,
        zero=kept.holds == (kept.op == "equal"),
        modulus=kept.modulus,
        bits=kept.bits,
        evidence=evidence,
    )


def _named(body: LoopBody, name: str) -> str:
    """A node by its op and source line: ``add (model.py:4)``."""
    node = body.graph.nodes[name]
    return name if node.source is None else f"{node.op} ({node.source.place})"


def of_rays(found: Continuation, body: LoopBody, at: int) -> list[Claim]:
    """The claims about the last rays that hold; the iterations of the rays are counted from iteration ``at``."""
    out: list[Claim] = [_same_steps(body, ray, at) for ray in found.stretches[-MAX_RAYS:]]
    if found.full is not None and found.node is not None:
        last = found.stretches[-1]
        evidence = body, last, at + last.begin
        out.append(Overflow(node=_named(body, found.node), iteration=at + found.full, evidence=evidence))
    return checked(out)


def _numbers(steps: dict[str, Any]) -> dict[str, int | float]:
    return {name: int(step) if step.denominator == 1 else float(step) for name, step in steps.items()}


def _same_steps(body: LoopBody, ray: Ray, at: int) -> SameSteps:
    steps = _numbers(ray.steps())
    return SameSteps(since=at + ray.begin, period=ray.period, periods=ray.periods, steps=steps, evidence=(body, ray))


def of_identities(kept: list[Kept], program: SliceProgram, body: LoopBody, state: dict[str, np.ndarray]) -> list[Claim]:
    """The claims that hold about polynomials that stay zero, or stay nonzero."""
    return checked([_identity_of(k, (program, body, state)) for k in kept])
