"""Random loops of known truth for the black box: what each evaluation of the condition shows, by family and seed.

A loop is run in its operands' own dtype with plain Python and NumPy arithmetic.  ``kind`` says what can be known
about its end: ``exact`` (the update law shows in the operands, so the exact count can), ``smooth`` (an asymptotic law
without noise), ``noisy`` (the exact count is undecidable in principle, only its distribution is not) and ``endless``.
Loops that end are drawn until they take 20 to 4000 evaluations (5 or more where the order is superlinear), so that
their length is a fact of the run, not of a formula.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.analysis.comparisons import OPS

State = dict[str, Any]
LONGEST = 4000


@dataclass
class RandomLoop:
    """``while logic(clauses(state)): state = step(state)``; ``root`` is the variable to blame (several
    that are equally guilty are joined by |), ``blocking`` its clause.

    ``n`` evaluations of the condition are true; None: it never ends.
    """

    state: State
    step: Callable[[State, int], State]
    clauses: Callable[[State], list[tuple[Any, str, Any]]]
    root: str
    logic: str = "single"
    blocking: int = 0
    family: str = ""
    kind: str = "exact"
    n: int | None = None
    least: int = 20

    def observations(self, upto: int) -> Iterator[tuple[State, bool, list[tuple[Any, str, Any]]]]:
        """(state, condition, clauses) of the first ``upto`` evaluations, or until the condition is false."""
        state = dict(self.state)
        with np.errstate(all="ignore"):
            for k in range(upto):
                shown = self.clauses(state)
                truths = [bool(OPS[op](lhs, rhs)) for lhs, op, rhs in shown]
                cond = {"and": all(truths), "or": any(truths), "single": truths[0], "not": not truths[0]}[self.logic]
                yield state, cond, shown
                if not cond:
                    return
                state = self.step(state, k)

    def length(self, most: int) -> int | None:
        """Number of true evaluations, None if there are more than ``most``."""
        for k, (_, cond, _) in enumerate(self.observations(most + 1)):
            if not cond:
                return k
        return None


Maker = Callable[[np.random.Generator], RandomLoop]
FAMILIES: dict[str, tuple[str, Maker]] = {}


def family(kind: str) -> Callable[[Maker], Maker]:
    """Register a maker of loops under its own name."""

    def register(make: Maker) -> Maker:
        FAMILIES[make.__name__] = (kind, make)
        return make

    return register


def draw(name: str, seed: int) -> RandomLoop:
    """The loop of this family and seed, always the same."""
    kind, make = FAMILIES[name]
    for attempt in range(200):
        rng = np.random.default_rng([zlib.crc32(name.encode()), seed, attempt])
        with np.errstate(all="ignore"):
            loop = make(rng)
        loop.family, loop.kind = name, kind
        if kind == "endless":
            if loop.length(300) is None:
                return loop
            continue
        loop.n = loop.length(LONGEST)
        if loop.n is not None and loop.n >= loop.least:
            return loop
    raise AssertionError(f"family {name} draws no loop of a fitting length")


def log_uniform(rng: np.random.Generator, low: float, high: float) -> float:
    """A number whose logarithm is uniform."""
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


def single(
    rng: np.random.Generator,
    name: str,
    start: Any,
    step: Callable[[Any, int], Any],
    op: str,
    threshold: Any,
    **more: Any,
) -> RandomLoop:
    """One variable compared with a constant; sometimes with an unrelated tensor or counter in the state."""
    extra = int(rng.integers(0, 4))
    state: State = {name: start}
    if extra == 1:
        state["weights"] = rng.normal(size=(3, 2))
    elif extra == 2:
        state["count"] = 0

    def update(s: State, k: int) -> State:
        new = {name: step(s[name], k)}
        if extra == 1:
            new["weights"] = s["weights"] * 0.99
        elif extra == 2:
            new["count"] = s["count"] + 1
        return new

    return RandomLoop(state, update, lambda s: [(s[name], op, threshold)], name, **more)


def all_loops(each: int, seed: int = 0) -> Iterator[RandomLoop]:
    """``each`` loops of every family."""
    from tests.evaluation.random_loops import endless, exact, smooth  # noqa: F401  (they register their families)

    for name in sorted(FAMILIES):
        for i in range(each):
            yield draw(name, 100_000 * seed + i)
