"""Loops for the white box whose body fails before the condition is false; the truth is the iteration that fails."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import workbench as wb
from tests.evaluation.families.base import GRAPH, Rng
from tests.evaluation.families.loop_cases import FailingLoop, loop_family
from tests.evaluation.heldout.machines import graph
from tests.evaluation.scoring.cases import GraphLoop

i64 = np.int64


@wb.graph
def shares(n, at):
    i, s = 0, 0
    while i < n:
        s = s + 1000 // (at - i)
        i = i + 1
    return s


@wb.graph
def multiplied(n, factor):
    i, x = 0, 1
    while i < n:
        x = x * factor
        i = i + 1
    return x


def _failing(rng: Rng, build: Callable[[], Any], after: int) -> FailingLoop:
    done = int(rng.integers(0, min(after, 9))) if rng.random() < 0.5 else 0
    return FailingLoop("", build, after, impure=True, done=done)


@loop_family(GRAPH)
def graph_table_read_too_far(rng: Rng) -> GraphLoop:
    """A table is read beyond its end, before the counter is there; the condition may not read the table at all."""
    size, more = int(rng.integers(2, 60)), int(rng.integers(1, 99))
    beside = rng.random() < 0.5

    def body(i: Any, s: Any, t: Any) -> dict[str, Any]:
        return {"i": i + 1, "s": s + t[i], "t": t}

    start = {"i": i64(0), "s": i64(0), "t": rng.integers(0, 3, size)}
    cond = (lambda i, s, t: i < size + more) if beside else (lambda i, s, t: s < 3 * size + 9)
    return _failing(rng, graph(start, cond, body), size)


@loop_family(GRAPH)
def graph_division_fails(rng: Rng) -> GraphLoop:
    at = int(rng.integers(1, 60))
    feeds = {"n": at + int(rng.integers(1, 50)), "at": at}
    return _failing(rng, lambda: (shares.graph_for(**feeds), feeds), at)


@loop_family(GRAPH)
def graph_overflow_fails(rng: Rng) -> GraphLoop:
    """Python's whole numbers in 64 bits: the product that does not fit fails."""
    factor, after, x = int(rng.integers(2, 9)), 0, 1
    while x * factor < 2**63:
        x, after = x * factor, after + 1
    feeds = {"n": after + int(rng.integers(1, 50)), "factor": factor}
    return _failing(rng, lambda: (multiplied.graph_for(**feeds), feeds), after)
