"""The execution DAG says what a plan does, in an order that respects every dependency; the cache shows its plans."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.ir.programs import nested
from tests.plan.random_graphs import Maker
from workbench.errors import FeedError, GraphError
from workbench.plan import ExecutionNodeType as Kind
from workbench.plan import ForwardExecutionDAGBuilder, PlanCache


def newton() -> wb.Graph:
    b = wb.GraphBuilder("newton")
    a = b.placeholder("a")
    b.alias("unused", a * 3.0)
    x = b.while_loop(lambda x: abs(x * x - a) > 1e-9, lambda x: (x + a / x) * 0.5, {"x": a})
    return b.build(x)


def test_kinds_order_and_what_is_left_out():
    dag = ForwardExecutionDAGBuilder(newton()).build()
    assert dag["a"].kind is Kind.PLACEHOLDER_SET and dag["while/Const"].kind is Kind.VARIABLE_INIT
    assert dag["while/x/Switch"].kind is Kind.CONTROL_FLOW and dag["while/divide"].kind is Kind.OPERATION_EXEC
    assert dag.left_out == ("Const", "multiply") and dag.outputs == ("x",)
    merge = dag["while/x/Merge"]
    assert merge.depends_on == ("while/x/Enter",) and merge.back_edges == ("while/x/NextIteration",)
    assert merge.frame == ("while",) and "while/multiply" in merge.dependents
    assert [n.position for n in dag.frame_aware_order()] == list(range(len(dag)))
    assert "is compiled" in dag["while/divide"].how
    assert "while/divide" in dag.text() and "<table>" in dag._repr_html_()


def test_ready_nodes_come_in_waves():
    dag = ForwardExecutionDAGBuilder(newton()).build()
    done: set[str] = set()
    while len(done) < len(dag):
        wave = dag.ready(done)
        assert wave
        assert all(node.is_ready(done) and not node.missing(done) for node in wave)
        done |= {node.name for node in wave}
    assert dag["while/divide"].missing(()) == dag["while/divide"].depends_on


@pytest.mark.parametrize("seed", range(40))
def test_the_order_respects_every_dependency(seed):
    graph, feeds = Maker(seed).make()
    session = wb.Session(graph, feeds)
    done: set[str] = set()
    for node in session.dag.frame_aware_order():
        assert node.is_ready(done), (node, node.missing(done))
        done.add(node.name)


def test_frames_stand_together():
    dag = ForwardExecutionDAGBuilder(nested()).build()
    frames = [node.frame for node in dag.frame_aware_order()]
    for path in {f for f in frames if f}:
        inside = [i for i, f in enumerate(frames) if f[: len(path)] == path]
        assert inside == list(range(inside[0], inside[-1] + 1))


def test_bad_requests():
    builder = ForwardExecutionDAGBuilder(newton())
    with pytest.raises(GraphError) as caught:
        builder.build(["y"])
    assert caught.value.slug == "unknown-value"
    with pytest.raises(FeedError) as refused:
        builder.build(feeds={})
    assert refused.value.slug == "missing-feed"


def test_the_cache_shows_hits_misses_and_evictions():
    cache = PlanCache(capacity=2)
    graph = newton()
    for outputs in (["x"], ["x"], ["unused"], ["while/divide"]):
        ForwardExecutionDAGBuilder(graph, cache).build(outputs)
    stats = cache.stats()
    assert (stats.entries, stats.hits, stats.misses, stats.evictions) == (2, 1, 3, 1)
    assert "2 of 2 plans, 1 hits, 3 misses, 1 evictions" in str(cache) and "while/divide" in str(cache)
    assert cache.entries().columns()["outputs"] == ["unused", "while/divide"]


def test_a_plan_from_the_cache_names_the_source_lines_of_its_own_graph():
    """Equal graphs written in two places share one plan, but not their source lines."""

    def one() -> wb.Graph:
        b = wb.GraphBuilder("g")
        return b.build({"y": b.reshape(b.placeholder("x", "float64", (None,)), b.placeholder("s", "int64", (1,)))})

    def two() -> wb.Graph:
        b = wb.GraphBuilder("g")
        x = b.placeholder("x", "float64", (None,))
        return b.build({"y": b.reshape(x, b.placeholder("s", "int64", (1,)))})

    assert one() == two()
    lines = []
    for graph in (one(), two()):
        with wb.Session(graph, {"x": np.ones(3), "s": [2]}) as session:
            lines.append(session.run().error.source.line)
    assert lines[0] != lines[1]
