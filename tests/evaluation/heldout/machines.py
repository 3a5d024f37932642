"""A loop written once, with operators only: as a graph by the builder, and as NumPy scalars for the truth."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import workbench as wb
from tests.evaluation.scoring.cases import GraphLoop

State = dict[str, Any]


def brute(init: State, cond: Callable[..., Any], body: Callable[..., State], cap: int = 400_000) -> int | None:
    """Iterations until the condition is false; None if the state returns; an error if neither within ``cap``."""
    state, seen = dict(init), set()
    with np.errstate(all="ignore"):
        for n in range(cap):
            if not bool(cond(**state)):
                return n
            key = b"".join(np.asarray(v).tobytes() for v in state.values())
            if key in seen:
                return None
            seen.add(key)
            kinds = {name: np.asarray(v).dtype for name, v in state.items()}
            state = {name: np.asarray(v, kinds[name])[()] for name, v in body(**state).items()}
    raise AssertionError("neither the end nor a recurrence within the cap")


def graph(init: State, cond: Callable[..., Any], body: Callable[..., State], max_trips: int | None = None) -> Any:
    def build() -> tuple[Any, State]:
        b = wb.GraphBuilder("heldout")
        start = {name: b.constant(np.asarray(v)) for name, v in init.items()}
        out = b.while_loop(lambda **v: cond(**v), lambda **v: body(**v), start, max_trips=max_trips)
        return b.build(out), {}

    return build


def case(
    family: str,
    init: State,
    cond: Callable[..., Any],
    body: Callable[..., State],
    roots: str = "",
    reason: str = "",
    *,
    n: int | None | str = "brute",
    done: int = 0,
    max_trips: int | None = None,
) -> GraphLoop:
    """A graph loop, with the truth from running it on NumPy scalars, unless ``n`` says it."""
    total = brute(init, cond, body) if n == "brute" else n
    if max_trips is not None:
        total = max_trips if total is None else min(total, max_trips)
    assert not isinstance(total, str)
    return GraphLoop(family, graph(init, cond, body, max_trips), total, tuple(roots.split()), reason, done=done)
