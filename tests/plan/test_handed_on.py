"""Large arrays that a loop hands on unchanged: its rows refer to one array, and compiled code reads it there."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import workbench as wb
from tests.plan.checks import run_of
from workbench.kernels import machine

SIZE = 9_000  # of float64: more than stands in rows whoever makes it
RATES = np.linspace(3.0, 3.9, SIZE)
START = np.linspace(0.1, 0.8, SIZE)


def logistic(trips: int = 6) -> wb.Graph:
    b = wb.GraphBuilder("logistic")
    x, r = b.placeholder("x", "float64", (SIZE,)), b.placeholder("r", "float64", (SIZE,))

    def body(x: wb.Value, r: wb.Value, i: wb.Value) -> tuple[wb.Value, ...]:
        return b.alias("next", b.alias("slope", r * x) * (1.0 - x)), r, i + 1

    x, r, _ = b.while_loop(lambda x, r, i: i < trips, body, [x, r, 0])
    return b.build({"x": x, "r": r})


def plain(x: np.ndarray, r: np.ndarray, n: int) -> np.ndarray:
    for _ in range(n):
        x = r * x * (1.0 - x)
    return x


@pytest.mark.parametrize("trace", ["all", "carried", "stats", "off"])
def test_a_body_with_such_an_array_is_one_group(trace):
    with wb.Session(logistic(), {"x": START, "r": RATES}, trace=trace) as session:
        session.run()
        assert np.array_equal(session.outputs["x"], plain(START, RATES, 6))
        assert np.array_equal(session.outputs["r"], RATES)
        groups = machine.groups_of(machine.Machine(session.plan.program))
        assert [len(left_out) for *_, left_out, _ in groups if left_out] == [2]
        assert np.array_equal(session.value("slope", 4), RATES * plain(START, RATES, 4))
        session.plan.program.verify()


def variable(session: wb.Session) -> str:
    """The Merge of the array that is handed on."""
    layout = session.plan.layout
    return next(n for (n, k), v in layout.values.items() if v.kind == "slot" and k == 0 and _refers(session, n))


def _refers(session: wb.Session, name: str) -> bool:
    node = session.plan.graph.nodes[name]
    place = session.plan.layout.values[name, 0].place
    return node.op == "Merge" and place is not None and place.dtype is None


def test_its_rows_refer_to_one_array():
    run = run_of(logistic(50), {"x": START, "r": RATES})
    assert run.go() == "halt"
    with wb.Session(logistic(), {"x": START, "r": RATES}) as session:
        session.run()
        merge = variable(session)
        assert all(np.array_equal(session.value(merge, k), RATES) for k in range(6))


@pytest.mark.parametrize("trace", ["all", "carried", "off"])
@pytest.mark.parametrize("order", ["C", "reversed"])
def test_an_edit_of_it_counts_from_its_iteration_on(trace, order):
    other = np.full(SIZE, 2.5) if order == "C" else (RATES - 0.5)[::-1]
    with wb.Session(logistic(), {"x": START, "r": RATES}, trace=trace) as session:
        merge = variable(session)
        session.run_to("slope", 3)
        session.set_value(merge, other)
        at = plain(START, RATES, 3)
        session.step()
        assert np.array_equal(session.value("slope", 3), other * at)
        session.run()
        assert np.array_equal(session.outputs["x"], plain(at, other, 3))
        assert np.array_equal(session.outputs["r"], other)
        for k in range(3):
            assert np.array_equal(session.value("slope", k), RATES * plain(START, RATES, k))
            assert np.array_equal(session.value(merge, k), RATES) or k == 2  # what iteration 3 began with
        assert np.array_equal(session.value("slope", 4), other * plain(at, other, 1))
        session.step_back(100)
        session.run()
        assert np.array_equal(session.outputs["x"], plain(at, other, 3)), "a replay includes the edit"
        session.undo_edit()
        session.run()
        assert np.array_equal(session.outputs["x"], plain(START, RATES, 6))


def test_an_edit_behind_its_last_reader_counts_from_the_next_iteration_on():
    other = np.full(SIZE, 2.5)
    with wb.Session(logistic(), {"x": START, "r": RATES}) as session:
        session.run_to("next", 2)
        session.step()
        session.set_value(variable(session), other)
        session.run()
        at = plain(START, RATES, 3)
        assert np.array_equal(session.outputs["x"], plain(at, other, 3))
        assert np.array_equal(session.value("slope", 2), RATES * plain(START, RATES, 2))
        assert np.array_equal(session.value("slope", 3), other * at)


def test_inner_loops_and_views_read_it_too():
    b = wb.GraphBuilder("nested")
    x, r = b.placeholder("x", "float64", (SIZE,)), b.placeholder("r", "float64", (SIZE,))

    def inner(y: wb.Value, q: wb.Value, j: wb.Value) -> tuple[wb.Value, ...]:
        ends = b.concat(q[5:], q[:5])
        return b.alias("inside", y + q * ends), q, j + 1

    def body(x: wb.Value, r: wb.Value, i: wb.Value) -> tuple[wb.Value, ...]:
        y, _, _ = b.while_loop(lambda y, q, j: j < 3, inner, [x, r, 0])
        outside, _ = b.while_loop(lambda z, j: j < 2, lambda z, j: (z - r, j + 1), [y, 0])
        return b.alias("next", outside * 0.5), r, i + 1

    x, _, _ = b.while_loop(lambda x, r, i: i < 4, body, [x, r, 0])
    at, wanted = START, []
    ends = np.concatenate([RATES[5:], RATES[:5]])
    for _ in range(4):
        y = at
        for _ in range(3):
            y = y + RATES * ends
            wanted.append(y)
        at = (y - RATES - RATES) * 0.5
    for trace in ("all", "carried", "stats", "off"):
        with wb.Session(b.build({"x": x}), {"x": START, "r": RATES}, trace=trace) as session:
            session.run()
            assert np.array_equal(session.outputs["x"], at), trace
            assert np.array_equal(session.value("inside", (2, 1)), wanted[7]), trace


def _until(n: wb.Value) -> Callable[..., wb.Value]:
    return lambda x, c, i: i < n


def test_a_large_constant_and_a_transposed_one():
    fixed = np.asfortranarray(np.arange(9_000.0).reshape(90, 100))
    for constant in (fixed, np.ascontiguousarray(fixed)):
        b = wb.GraphBuilder("constant")
        x, n = b.placeholder("x", "float64", (90, 100)), b.placeholder("n", "int64")
        start = [x, b.constant(constant), 0]
        x, _, _ = b.while_loop(_until(n), lambda x, c, i: (x * 0.5 + c, c, i + 1), start)
        run = run_of(b.build({"x": x}), {"x": np.zeros((90, 100)), "n": np.int64(3)})
        assert run.go() == "halt"
        assert np.array_equal(run.outputs()["x"], ((fixed * 0.5 + fixed) * 0.5) + fixed)
