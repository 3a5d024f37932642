"""Plans: the cache's key and counts, what is left out, and the reason for every choice of code."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import workbench as wb
from tests.benchmarks.big_graph import MAKERS
from tests.ir.programs import count, nested
from workbench.errors import FeedError, GraphError
from workbench.ir.infer import infer_types
from workbench.ir.types import TensorType
from workbench.plan import PLANS, PlanCache, choose_outputs, make_plan, signature_of


def signature(graph, **feeds):
    return signature_of(graph, {n: TensorType.of(np.asarray(v)) for n, v in feeds.items()})


def shaped():
    b = wb.GraphBuilder("shaped")
    x = b.placeholder("x", "float32", None)
    return b.build({"double": x + x, "sum": b.sum(x)})


def test_the_key_is_fingerprint_outputs_and_feed_types():
    cache = PlanCache()
    graph, twin = shaped(), wb.parse(shaped().text())
    double, total = choose_outputs(graph, ["double"]), choose_outputs(graph, ["sum"])
    looked_up = [
        (graph, double, np.zeros(2, np.float32), "miss"),
        (graph, double, np.ones(2, np.float32), "hit"),  # the values do not matter
        (twin, double, np.zeros(2, np.float32), "hit"),  # nor which object the graph is
        (graph, total, np.zeros(2, np.float32), "miss"),
        (graph, choose_outputs(graph, None), np.zeros(2, np.float32), "miss"),
        (graph, double, np.zeros(3, np.float32), "miss"),
        (graph, double, np.zeros((), np.float32), "miss"),
        (graph, double, np.zeros(2, np.float32), "hit"),
    ]
    hits = misses = 0
    for which, outputs, x, expected in looked_up:
        plan = cache.get(which, outputs, signature(which, x=x))
        hits, misses = hits + (expected == "hit"), misses + (expected == "miss")
        stats = cache.stats()
        assert (stats.hits, stats.misses, stats.evictions, stats.entries) == (hits, misses, 0, misses)
        assert stats.reason.startswith(expected)
        assert dict(plan.outputs) == outputs
    assert cache.get(graph, double, signature(graph, x=np.zeros(2, np.float32))) is plan


def test_the_first_plan_of_a_graph_takes_no_fingerprint():
    cache, graph = PlanCache(), count(5.0)
    cache.get(graph, graph.outputs, signature(graph, start=0.0))
    cache.get(graph, graph.outputs, signature(graph, start=0.0))
    assert "fingerprint" not in vars(graph) and cache.stats().hits == 1
    other = count(6.0)
    assert len(other.nodes) == len(graph.nodes)
    cache.get(other, other.outputs, signature(other, start=0.0))
    assert "fingerprint" in vars(graph) and cache.stats().misses == 2


def test_the_oldest_plan_goes_first():
    cache = PlanCache(capacity=2)
    graphs = [count(float(k)) for k in range(3)]
    for graph in (graphs[0], graphs[1], graphs[0], graphs[2]):
        cache.get(graph, graph.outputs, signature(graph, start=0.0))
    assert cache.stats().evictions == 1 and cache.stats().entries == 2
    cache.get(graphs[0], graphs[0].outputs, signature(graphs[0], start=0.0))
    assert cache.stats().hits == 2  # used later than graphs[1], so it stayed
    cache.clear()
    assert cache.stats().entries == 0 and cache.stats().hits == 2


def test_runs_and_sessions_share_the_plans():
    graph = count(123.0)
    graph.run(start=0.0)
    before = PLANS.stats()
    graph.run(start=1.0)
    wb.Session(graph, {"start": 2.0}).close()
    wb.Session(graph, {"start": 2.0}, outputs=["while/less"]).close()
    after = PLANS.stats()
    assert (after.hits - before.hits, after.misses - before.misses) == (2, 1)


def test_the_cache_is_safe_under_threads():
    cache, graph = PlanCache(), nested()
    key = signature(graph, start=0.0)
    found = []
    threads = [threading.Thread(target=lambda: found.append(cache.get(graph, graph.outputs, key))) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    stats = cache.stats()
    assert stats.hits + stats.misses == 8 == len(found) and stats.entries == 1 and stats.misses >= 1


def test_what_no_output_needs_is_left_out():
    b = wb.GraphBuilder()
    x, unused = b.placeholder("x"), b.placeholder("unused")
    b.alias("side", unused * 2.0)
    graph = b.build({"y": x + 1.0, "z": unused})
    plan = make_plan(graph, choose_outputs(graph, ["y"]), signature(graph, x=1.0))
    assert "unused" not in plan.needed and {n.name for n in plan.layout.nodes} == plan.needed
    with pytest.raises(FeedError, match="'unused'"):
        make_plan(graph, graph.outputs, signature(graph, x=1.0))
    with wb.Session(graph, {"x": 1.0}, outputs=["y"]) as session, pytest.raises(wb.WorkbenchError) as caught:
        session.value("side")
    assert caught.value.slug == "not-computed" and "'side'" in str(caught.value)


@pytest.mark.parametrize(("outputs", "slug"), [([], "no-outputs"), (["nothing"], "unknown-value")])
def test_bad_outputs(outputs, slug):
    with pytest.raises(GraphError) as caught:
        choose_outputs(count(), outputs)
    assert caught.value.slug == slug
    assert list(choose_outputs(count(), "x")) == ["x"]


def test_every_computing_node_has_its_reason():
    b = wb.GraphBuilder()
    x, v = b.placeholder("x"), b.placeholder("v", "float64", (3,))
    made = {
        "compiled": b.add(x, x),
        "numpy-loop": b.exp(x),
        "compiled-array": b.add(v, v),
        "no-kernel": b.erf(x),
        "arrays": b.sort(v),
    }
    graph = b.build({k.replace("-", "_"): y for k, y in made.items()})
    plan = make_plan(graph, graph.outputs, signature(graph, x=1.0, v=np.zeros(3)))
    for slug, value in made.items():
        assert plan.reasons[value.ref.node][0] == slug
        assert graph.nodes[value.ref.node].op in plan.reasons[value.ref.node][1]
    assert set(plan.reasons) == {v.ref.node for v in made.values()}  # renaming nodes cost nothing


def test_exact_feed_types_make_the_plan_more_precise():
    graph = shaped()
    scalar = make_plan(graph, graph.outputs, signature(graph, x=np.float32(1)))
    vector = make_plan(graph, graph.outputs, signature(graph, x=np.ones(2, np.float32)))
    add = graph.outputs["double"].node
    assert scalar.reasons[add][0] == "compiled" and vector.reasons[add][0] == "compiled-array"
    assert str(scalar.types[add][0]) == "float32[]" and str(vector.types[add][0]) == "float32[2]"
    assert "nodes" in repr(scalar) and scalar.seconds > 0


def test_a_dead_output_says_which_switch_decided():
    b = wb.GraphBuilder()
    x = b.placeholder("x")
    off, on = b.switch(x, b.alias("positive", x > 0.0), name="fork")
    graph = b.build({"off": off * 1.0, "on": on * 2.0})
    with pytest.raises(wb.WorkbenchError) as caught:
        graph.run(x=1.0)
    text = str(caught.value)
    assert caught.value.slug == "dead-value" and "'off'" in text and "'fork'" in text and "positive was True" in text


def test_an_output_that_contradicts_itself_can_never_be_alive():
    b = wb.GraphBuilder()
    x = b.placeholder("x")
    off, on = b.switch(x, x > 0.0, name="fork")
    with pytest.raises(wb.WorkbenchError) as caught:
        b.build({"never": off + on}).run(x=1.0)
    assert (
        caught.value.slug == "dead-value"
        and "'never'" in str(caught.value)
        and "can never be alive" in str(caught.value)
    )


def test_a_plan_has_the_types_that_inference_finds_with_its_feeds():
    for graph in [count(), nested(), *(make(200) for make in MAKERS.values())]:
        feeds = {name: graph.type_of(ref) for name, ref in graph.inputs.items()}
        plan = make_plan(graph, graph.outputs, signature_of(graph, feeds))
        order = tuple(n for n in graph.nodes if n in plan.needed)
        given = {graph.inputs[name].node: type_ for name, type_ in feeds.items()}
        assert plan.types == infer_types(graph.nodes, order, given, plan.needed)
