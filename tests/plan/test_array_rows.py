"""Arrays of known shape in the rows: large ones, small budgets, values written where their reader wants them."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.plan.checks import run_of


def grow(size: int) -> wb.Graph:
    """The loop reads an array that is computed in front of it, so a replay needs that too."""
    b = wb.GraphBuilder("grow")
    x, n = b.placeholder("x", "float64", (size,)), b.placeholder("n", "int64")
    base = b.alias("base", x * 0.5)
    v, _ = b.while_loop(lambda v, i: i < n, lambda v, i: (v * 0.5 + base, i + 1), [x, 0])
    return b.build({"v": v})


def expected(x: np.ndarray, trips: int) -> list[np.ndarray]:
    found = [x]
    for _ in range(trips):
        found.append(found[-1] * 0.5 + x * 0.5)
    return found


@pytest.mark.parametrize("size", [7, 1000, 200_000])
@pytest.mark.parametrize("trace", [{"trace": "off"}, {"memory_budget": 1 << 20}, {"trace": "stats"}])
def test_every_value_can_be_had_whatever_is_kept(size, trace):
    x = np.random.default_rng(0).normal(size=size)
    wanted = expected(x, 40)
    with wb.Session(grow(size), {"x": x, "n": np.int64(40)}, **trace) as session:
        session.run()
        assert np.array_equal(session.outputs["v"], wanted[-1])
        for k in (0, 1, 20, 39, 40):
            assert np.array_equal(session.value("v", k), wanted[k]), k
        session.step_back()
        session.run_to("v", iteration=25)
        assert np.array_equal(session.value("v", 24), wanted[24])
        session.run()
        assert np.array_equal(session.outputs["v"], wanted[-1])


def test_a_value_written_into_its_reader_is_there_for_others_too():
    b = wb.GraphBuilder()
    x = b.placeholder("x", "float64", (6,))
    middle = b.alias("middle", x + 1.0)
    padded = b.op("pad", middle, pad_width=((1, 2),), value=9)
    joined = b.concat(b.alias("left", x * 2.0), b.alias("right", middle * 3.0))
    graph = b.build({"padded": padded, "joined": joined, "sum": middle + x})
    given = np.arange(6.0)
    with wb.Session(graph, {"x": given}) as session:
        session.run()
        out = session.outputs
        assert np.array_equal(out["padded"], np.pad(given + 1, (1, 2), constant_values=9))
        assert np.array_equal(out["joined"], np.concatenate([given * 2, (given + 1) * 3]))
        assert np.array_equal(session.value("middle"), given + 1) and np.array_equal(out["sum"], given + 1 + given)
        assert np.array_equal(session.value("right"), (given + 1) * 3)


@pytest.mark.parametrize("shape", [(5,), (2, 3), (3, 1, 4)])
def test_pads_of_every_axis(shape):
    b = wb.GraphBuilder()
    x = b.placeholder("x", "int32", shape)
    widths = tuple((k + 1, 2 - k) for k in range(len(shape)))
    given = np.arange(np.prod(shape), dtype=np.int32).reshape(shape)
    run = run_of(b.build({"y": b.op("pad", x, pad_width=widths, value=-7)}), {"x": given})
    assert run.go() == "halt"
    assert np.array_equal(run.outputs()["y"], np.pad(given, widths, constant_values=-7))


def test_views_cost_no_instruction_and_no_copy():
    b = wb.GraphBuilder()
    x = b.placeholder("x", "float64", (4, 6))
    views = {"row": x[1], "flat": b.op("flatten", x), "shape": b.op("reshape", x, shape=(6, 4)), "head": x[:2]}
    graph = b.build(views)
    run = run_of(graph, {"x": np.arange(24.0).reshape(4, 6)})
    assert run.go() == "halt"
    given = np.arange(24.0).reshape(4, 6)
    wanted = {"row": given[1], "flat": given.ravel(), "shape": given.reshape(6, 4), "head": given[:2]}
    for name, value in wanted.items():
        assert np.array_equal(run.outputs()[name], value)
        place = run.plan.layout.values[tuple(graph.outputs[name])].place
        assert place.base == run.plan.layout.values["x", 0].place.base


def test_what_a_call_gives_does_not_share_memory_with_the_rows():
    """NumPy's slice is a view of what it reads, and rows are written anew when the budget is small."""
    b = wb.GraphBuilder()
    x, n = b.placeholder("x", "float64", (3000,)), b.placeholder("n", "int64")

    def body(v, i, part):
        return v * 2.0, i + 1, b.op("slice", v, np.array([0]), b.op("reshape", i + 1, shape=(1,)))

    first = b.op("slice", x, np.array([0]), b.op("reshape", n * 0 + 1, shape=(1,)))
    v, _, part = b.while_loop(lambda v, i, part: i < n, body, [x, 0, first])
    feeds = {"x": np.ones(3000), "n": np.int64(40)}
    with wb.Session(b.build({"v": v, "part": part}), feeds, memory_budget=1 << 17) as session:
        session.run()
        kept = session.trace["part"].firings()
        assert len(kept) >= 3
        for k, value in enumerate(kept[-3:], 38):
            assert np.array_equal(value, np.full(k, 2.0 ** (k - 1)))
