"""Arrays whose shape is known only as they come: what a site remembers of them, and the shapes that are held."""

from __future__ import annotations

import gc

import numpy as np
import pytest

import workbench as wb
from tests.plan.checks import run_of
from workbench.execution import Run
from workbench.kernels import SHAPES


def slices(period: int, size: int = 64, least: int = 1) -> wb.Graph:
    """Each trip takes the first least + i % period items, doubles them and adds them to themselves."""
    b = wb.GraphBuilder("slices")
    x, n = b.placeholder("x", "float64", (size,)), b.placeholder("n", "int64")

    def body(i, total):
        part = b.op("slice", x, np.array([0]), b.op("reshape", i % period + least, shape=(1,)))
        twice = b.alias("twice", part * 2.0 + part)
        return i + 1, total + b.op("sum", twice)

    _, total = b.while_loop(lambda i, total: i < n, body, [0, 0.0])
    return b.build({"total": total})


def finished(graph: wb.Graph, feeds) -> Run:
    run = run_of(graph, feeds)
    while run.go() != "halt":
        pass
    return run


@pytest.mark.parametrize(("period", "least"), [(1, 0.95), (4, 0.9)])
def test_shapes_that_come_back_are_known(period, least):
    x = np.arange(64.0)
    run = finished(slices(period), {"x": x, "n": np.int64(1000)})
    hits, misses = run.machine.cache_hits, run.machine.cache_misses
    assert misses == 2 * period and hits / (hits + misses) > least
    assert run.outputs()["total"] == sum((3 * x[: 1 + k % period]).sum() for k in range(1000))
    assert [r[0] for r in run.plan.reasons.values()].count("dynamic-shape") == 2
    assert [len(v) for v in run.trace["twice"].firings()[:8]] == [1 + k % period for k in range(8)]


def test_a_site_of_ever_new_shapes_gives_up():
    x = np.arange(64.0)
    run = finished(slices(50), {"x": x, "n": np.int64(1000)})
    assert run.machine.cache_misses < 100, "each new shape is looked at again"
    assert run.outputs()["total"] == sum((3 * x[: 1 + k % 50]).sum() for k in range(1000))


def test_shapes_are_given_back():
    """Sizes that nothing else here has."""

    def held() -> list[int]:
        gc.collect()
        return [n for n in range(7001, 7010) if SHAPES.lookup((n,), dtype="float64") is not None]

    assert held() == []
    graph, feeds = slices(9, 7919, 7001), {"x": np.ones(7919), "n": np.int64(20)}
    run = finished(graph, feeds)
    assert held() == list(range(7001, 7010)), "every value carries its shape"
    assert SHAPES.lookup((7919,), dtype="float64") is not None
    plan = run.plan
    del run
    assert held() == [], "a machine gives its shapes back"
    del plan
    gc.collect()
    assert SHAPES.lookup((7919,), dtype="float64") is None, "a program gives its shapes back"


def test_values_in_rows_have_their_shapes_too():
    b = wb.GraphBuilder()
    v = b.placeholder("v", "float32", (3, 41))
    run = finished(b.build({"y": v + v}), {"v": np.ones((3, 41), np.float32)})
    found = SHAPES.lookup((3, 41), dtype="float32")
    assert found is not None and SHAPES.get(found).shape == (3, 41) and run.finished


def test_shapes_that_do_not_fit_fail_with_the_operands():
    b = wb.GraphBuilder()
    x, n = b.placeholder("x", "float64", (8,)), b.placeholder("n", "int64")
    part = b.op("slice", x, np.array([0]), b.op("reshape", n, shape=(1,)))
    graph = b.build({"y": part + x})
    assert np.array_equal(graph.run(x=np.ones(8), n=np.int64(1))["y"], np.full(8, 2.0))
    with pytest.raises(wb.WorkbenchError) as caught:
        graph.run(x=np.ones(8), n=np.int64(3))
    assert "float64[3]" in str(caught.value) and "float64[8]" in str(caught.value)


@pytest.mark.parametrize("trips", [0, 1, 5])
def test_a_decision_whose_shape_nobody_knows_before_the_run(trips):
    """Values of a list have types that are known only at run time; it decides loops and branches all the same."""
    b = wb.GraphBuilder()
    goes = b.placeholder("goes", "bool", (6,))
    listed = b.op("tensor_list_from_tensor", goes, b.constant(-1, "int32"))

    def going(i):
        return b.op("tensor_list_get_item", listed, i, b.constant(-1, "int32"))

    def body(i, n):
        return i + 1, n + b.cond(going(i + 1), lambda: b.constant(10, "int32"), lambda: b.constant(1, "int32"))

    i, n = b.while_loop(lambda i, n: going(i), body, (b.constant(0, "int32"), b.constant(0, "int32")))
    graph = b.build({"i": i, "n": n})
    found = graph.run(goes=np.arange(6) < trips)
    assert (found["i"], found["n"]) == (trips, max(0, 10 * (trips - 1)) + (trips > 0))
    assert {str(graph.type_of(c)) for c in graph.nodes if graph.nodes[c].op == "LoopCond"} == {"bool[]"}


def test_a_decision_that_turns_out_to_be_many():
    b = wb.GraphBuilder()
    goes = b.placeholder("goes", "bool", (2, 2))
    listed = b.op("tensor_list_from_tensor", goes, b.constant(-1, "int32"))
    pred = b.op("tensor_list_get_item", listed, b.constant(0, "int32"), b.constant(-1, "int32"))
    graph = b.build({"y": b.cond(pred, lambda: b.constant(1.0), lambda: b.constant(2.0))})
    with pytest.raises(wb.WorkbenchError) as caught:
        graph.run(goes=np.ones((2, 2), bool))
    assert "tensor_list_get_item" in str(caught.value)


def test_a_constant_index_that_is_out_of_range_for_what_is_fed_fails_its_node():
    b = wb.GraphBuilder("index")
    x = b.placeholder("x", "int64", (2, None, 4))
    graph = b.build({"y": b.op("getitem", x, np.array([0, 1, 2]), index=(("slice", None, 1, None), ("input", 0)))})
    assert graph.run({"x": np.ones((2, 3, 4), np.int64)})["y"].shape == (1, 3, 4)
    with pytest.raises(wb.WorkbenchError) as caught:
        graph.run({"x": np.ones((2, 2, 4), np.int64)})
    assert caught.value.slug == "node-failed" and "out of bounds" in str(caught.value)
