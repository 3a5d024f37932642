"""Loops whose limit moves: where the first iteration that differs is found by arithmetic, or must not be."""

from __future__ import annotations

import operator
import random

import numpy as np
import pytest

import workbench as wb
from tests.session.updates import check_update

COMPARE = {"less": operator.lt, "less_equal": operator.le, "greater": operator.gt, "greater_equal": operator.ge}
OR_EQUAL = ("less_equal", "greater_equal")


def counting(op: str, start: int, by: int, dtype: str, left: bool, subtract: bool) -> wb.Graph:
    """Counts on for 40 iterations; ``hits`` are those in which a comparison of a counter with the limit holds."""
    b = wb.GraphBuilder("counting")
    limit = b.placeholder("limit", dtype, ())
    step = b.constant(np.array(by, dtype))

    def body(i, x, hits):
        hit = b.op(op, *((limit, x) if left else (x, limit)))
        further = b.op("subtract", x, step) if subtract else b.op("add", step, x)
        return i + 1, further, hits + b.op("cast", hit, dtype="int64")

    begin = [b.constant(np.int64(0)), b.constant(np.array(start, dtype)), b.constant(np.int64(0))]
    _, x, hits = b.while_loop(lambda i, x, hits: i < 40, body, begin)
    return b.build({"x": x, "hits": hits})


@pytest.mark.parametrize("op", ["less", "greater", *(pytest.param(o, marks=pytest.mark.slow) for o in OR_EQUAL)])
@pytest.mark.parametrize(
    "start, by, dtype, left, subtract",
    [
        (0, 1, "int64", False, False),
        (-7, 3, "int32", True, False),
        (90, 3, "int64", False, True),
        (90, -2, "int16", True, False),
        (250, 1, "uint8", False, False),  # goes round: has no single turn
        (5, 0, "int64", False, False),
        (2**63 - 90, 5, "int64", True, False),  # goes round
        (3, 2, "uint8", False, False),
    ],
)
def test_a_limit_that_moves(op, start, by, dtype, left, subtract):
    graph, chance = counting(op, start, by, dtype, left, subtract), random.Random(op + dtype)
    signed = -by if subtract else by
    passed = np.array([start + signed * k for k in range(41)], object)
    info = np.iinfo(dtype)
    passed = [int(info.min + (v - info.min) % 2**info.bits) for v in passed]
    limits = [chance.choice(passed) for _ in range(2)] + [info.min, passed[40]]
    feeds = {"limit": np.array(passed[20], dtype)}
    with wb.Session(graph, feeds) as session:
        session.run()
        for value in limits:
            before, feeds = feeds["limit"], {"limit": np.array(value, dtype)}
            update = session.update(feeds)
            check_update(session, update, graph, feeds, chance)
            pairs = [[(int(m), x) if left else (x, int(m)) for x in passed[:40]] for m in (before, value)]
            holds = [[COMPARE[op](*pair) for pair in row] for row in pairs]
            assert session.outputs["hits"] == sum(holds[1])
            first = next((k for k in range(40) if holds[0][k] != holds[1][k]), None)
            if update.changed:
                assert [loop.first for loop in update.loops] == [first]


@pytest.mark.slow
@pytest.mark.parametrize("to", [0, 2, 49, 51, 400])
def test_the_limit_of_the_loop_itself(to):
    b = wb.GraphBuilder("limited")
    limit, s = b.placeholder("n", "int64", ()), b.placeholder("s", "float64", ())
    i, s = b.while_loop(lambda i, s: i < limit, lambda i, s: (i + 1, s * 0.5 + 1.0), [b.constant(np.int64(0)), s])
    graph, feeds = b.build({"i": i, "s": s}), {"n": np.array(50), "s": np.array(1.0)}
    with wb.Session(graph, feeds) as session:
        session.run()
        for value in (to, 50, to):
            feeds["n"] = np.array(value)
            update = session.update(n=value)
            check_update(session, update, graph, feeds, random.Random(to))
            assert [loop.first for loop in update.loops] == [min(to, 50)] and session.outputs["i"] == value
            assert update.compared < 20


def test_a_counter_with_an_uneven_step_is_compared_row_by_row():
    b = wb.GraphBuilder("uneven")
    limit, steps = b.placeholder("n", "int64", ()), b.constant(np.array([1, 1, 1, 30, -25, 1, 1, 1, 1, 1, 1, 1]))

    def body(i, x, hits):
        hit = b.op("cast", b.op("less", x, limit), dtype="int64")
        return i + 1, x + b.op("gather", steps, i), hits + hit

    begin = [b.constant(np.int64(0)), b.constant(np.int64(0)), b.constant(np.int64(0))]
    _, _, hits = b.while_loop(lambda i, x, hits: i < 12, body, begin)
    graph = b.build({"hits": hits})
    with wb.Session(graph, {"n": np.array(20)}) as session:
        session.run()
        update = session.update(n=40)  # one iteration in the middle differs, the first and the last do not
        check_update(session, update, graph, {"n": np.array(40)}, random.Random(0))
        assert [loop.first for loop in update.loops] == [4]


def test_another_shape_keeps_a_session_without_a_trace_lean():
    b = wb.GraphBuilder("lean")
    x = b.placeholder("x", "float64", (None,))
    graph = b.build({"out": b.op("sum", b.op("exp", b.op("sin", x)))})
    small, large = np.arange(3.0), np.arange(1e6)
    with wb.Session(graph, {"x": small}, trace="off") as session:
        session.run()
        session.update(x=large)
        with wb.Session(graph, {"x": large}, trace="off") as fresh:
            fresh.run()
            assert session._run.plan is fresh._run.plan and fresh._run.plan.lean
            assert session.outputs["out"] == fresh.outputs["out"]
