"""Helpers of the loop families: a loop written once gives what the black box sees, or a graph, and its true length.

The truth is found by running the loop in NumPy's arithmetic, or is passed where mathematics knows it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.evaluation.families.base import Rng, family
from tests.evaluation.heldout.ending import OPS
from tests.evaluation.heldout.machines import State, brute, graph
from tests.evaluation.scoring.cases import GraphLoop, Watched

#: evaluations that are recorded of a loop that never ends
RECORDED = 80
#: a loop that ends is recorded up to here; one that takes longer is drawn again
LONGEST = 6000
#: fewer true evaluations than this are drawn again: 30 % of them must be a record
SHORTEST = 20

Clause = tuple[str, Any, str, Any]
Logic = Callable[[list[bool]], bool]
LOGICS: dict[str, Logic] = {"single": all, "and": all, "or": any, "not": lambda held: not held[0]}


class DrawAgain(Exception):
    """The drawn loop is too short or too long to be asked about."""


class FailingLoop(GraphLoop):
    """A loop whose body fails: ``n`` is the number of whole iterations before that.

    It is ``impure`` for the white box: neither an end nor "never" can be proved of it.
    """


def loop_family(kind: str, *, new: int = 0) -> Callable[[Callable[[Rng], Any]], Callable[[Rng], Any]]:
    """Registers a family of loops that draws again where a loop is too short or too long."""

    def register(generate: Callable[[Rng], Any]) -> Callable[[Rng], Any]:
        @functools.wraps(generate)
        def redraw(rng: Rng) -> Any:
            for _ in range(200):
                try:
                    return generate(rng)
                except DrawAgain:
                    continue
            raise AssertionError(f"no draw of {generate.__name__} can be asked about: widen the family's bounds")

        return family(kind, new=new)(redraw)

    return register


def watched(
    clauses: list[Clause],
    logic: str = "single",
    *,
    exact: bool = True,
    ends: bool = True,
    trip_limit: int | None = None,
) -> Watched:
    """A loop by the operands of its clauses; sequences, or one number on the right.

    ``ends=False``: the condition stays true for ever, which the caller knows from mathematics; the record must agree.
    """
    held = [np.asarray(OPS[op](np.asarray(a), np.asarray(b) if np.ndim(b) else b)) for _, a, op, b in clauses]
    whole = ~held[0] if logic == "not" else np.logical_or.reduce(held) if logic == "or" else np.logical_and.reduce(held)
    wrong = np.flatnonzero(~whole)
    n = int(wrong[0]) if wrong.size else None
    if trip_limit is not None and (n is None or trip_limit < n):
        n = trip_limit
    if not ends:
        assert n is None, "a loop that never ends has a false condition in its record"
        return Watched("", [_first(c, RECORDED) for c in clauses], None, logic, False)
    if n is None or not SHORTEST <= n <= LONGEST:
        raise DrawAgain
    return Watched("", [_first(c, n + 1) for c in clauses], n, logic, exact, trip_limit)


def _first(clause: Clause, count: int) -> Clause:
    name, left, op, right = clause
    return name, left[:count], op, right[:count] if np.ndim(right) else right


def observed(
    state: State,
    step: Callable[..., State],
    clauses: Callable[..., list[tuple[str, Any, str, Any]]],
    logic: str = "single",
    *,
    exact: bool = True,
    ends: bool = True,
) -> Watched:
    """A loop by its state, its update and its clauses: run until its condition is false, with the operands recorded.

    Values keep the dtype that they start with, as the variables of a graph do.
    """
    kinds = {name: np.asarray(v).dtype for name, v in state.items()}
    rows: list[list[tuple[str, Any, str, Any]]] = []
    with np.errstate(all="ignore"):
        for k in range(LONGEST + 2 if ends else RECORDED):
            rows.append(clauses(**state))
            if ends and not LOGICS[logic]([bool(OPS[op](a, b)) for _, a, op, b in rows[-1]]):
                break
            state = {name: np.asarray(v, kinds[name])[()] for name, v in step(k=k, **state).items()}
    columns = [
        (row[0][0], np.array([r[1] for r in row]), row[0][2], np.array([r[3] for r in row]))
        for row in zip(*rows, strict=True)
    ]
    return watched(columns, logic, exact=exact, ends=ends)


def in_graph(
    rng: Rng,
    init: State,
    cond: Callable[..., Any],
    body: Callable[..., State],
    roots: str = "",
    reason: str = "",
    *,
    n: int | None | str = "run",
    max_trips: int | None = None,
    cap: int = 100_000,
) -> GraphLoop:
    """A loop in a graph; in half of the draws it is asked in mid-run.

    ``n="run"``: its length is found by running it on NumPy's scalars and arrays (None: its whole state recurs).
    """
    if n == "run":
        try:
            n = brute(init, cond, body, cap)
        except AssertionError:
            raise DrawAgain from None
    if max_trips is not None:
        n = max_trips if n is None else min(int(n), max_trips)
    if n == 0:
        raise DrawAgain
    most = 12 if n is None else min(int(n) - 1, 12)
    done = int(rng.integers(0, most + 1)) if rng.random() < 0.5 else 0
    loop = graph(init, cond, body, max_trips)
    return GraphLoop("", loop, n if n is None else int(n), tuple(roots.split()), reason, done=done)
