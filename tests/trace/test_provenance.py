"""Dependent values: the chain that a value was computed from, as text and as data."""

from __future__ import annotations

import json

import numpy as np
import pytest

import workbench as wb
from tests.ir.programs import nested
from tests.plan.random_graphs import Maker
from workbench.errors import DeadValueError, TraceError
from workbench.ir.opspec import REGISTRY
from workbench.trace import Trace


def newton() -> wb.Graph:
    b = wb.GraphBuilder("newton")
    a = b.placeholder("a")
    x = b.while_loop(
        lambda x: abs(x * x - a) > 1e-9, lambda x: b.cond(x > 1.9, lambda: x * 0.5, lambda: (x + a / x) * 0.5), {"x": a}
    )
    return b.build(x)


def finished(graph: wb.Graph, feeds) -> wb.Session:
    session = wb.Session(graph, feeds)
    session.run()
    return session


def test_a_loop_variable_comes_from_the_iteration_before():
    session = finished(newton(), {"a": 2.0})
    chain = session.explain("x", 2)
    first = chain.links[0]
    assert first.name == "x" and first.tag.iteration == (2,) and first.value == 1.5
    (source,) = first.sources
    assert chain.links[source].tag == wb.Tag("while/cond/Merge", 0, ("while",), (1,))
    assert "input 0 was alive" in str(chain.links[source])
    assert chain.complete and {r.name for r in chain.roots()} >= {"a"}
    assert str(chain).splitlines()[0] == "x[while 2] = 1.5  <- Merge  (given by iteration 1)"


def test_the_result_of_a_loop_names_the_iteration_in_which_it_ended():
    session = finished(newton(), {"a": 2.0})
    last = len(session.trace["x"]) - 1
    chain = session.explain("while/x/Exit")
    assert chain.links[0].note == f"the loop ended in iteration {last}"
    assert chain.links[chain.links[0].sources[0]].tag.iteration == (last,)


def test_inner_values_lead_to_the_outer_iteration_that_started_them():
    session = finished(nested(), {"start": 1.0})
    inner = next(f for f in session.graph.frames.values() if f.depth == 2)
    chain = session.explain(inner.variables[0].name, max_links=2000)
    tags = {link.tag.iteration for link in chain}
    assert max(map(len, tags)) == 2 and chain.complete
    for link in chain:
        if link.op == "Enter" and len(link.tag.iteration) == 2:
            assert all(chain.links[s].tag.iteration == link.tag.iteration[:1] for s in link.sources)


def test_a_long_chain_is_cut_and_says_so():
    session = finished(newton(), {"a": 2.0})
    chain = session.explain("while/x/Exit", max_links=7)
    assert len(chain) == 7 and not chain.complete and "max_links" in str(chain)
    assert json.loads(json.dumps(chain.to_dict()))["complete"] is False


def test_data_and_html():
    chain = finished(newton(), {"a": 2.0}).explain("x", 1)
    data = chain.to_dict()["links"]
    assert data[0]["name"] == "x" and data[0]["iteration"] == [1]
    assert all(s < len(data) for d in data for s in d["sources"])
    assert chain.find("a")[0].op == "Placeholder" and chain._repr_html_().startswith("<pre>")


def test_a_saved_trace_explains_too(tmp_path):
    session = finished(newton(), {"a": 2.0})
    session.trace.save(tmp_path / "t.wbtrace")
    assert Trace.load(tmp_path / "t.wbtrace").explain("x", 2).text().replace("'", "") == session.explain("x", 2).text()


def test_values_that_are_no_longer_kept_are_recomputed():
    b = wb.GraphBuilder("count")
    x = b.while_loop(lambda x: x < 2_000_000, lambda x: x + 1, {"x": b.constant(0)})
    with wb.Session(b.build(x), trace="off") as session:
        session.run()
        assert session.trace["x"].iterations[0, 0] > 3
        chain = session.explain("x", 3)
        assert [link.value for link in chain.find("x")] == [3, 2, 1, 0] and chain.complete


def test_what_did_not_happen_is_an_error():
    session = finished(newton(), {"a": 2.0})
    for name, iteration, error, slug in [
        ("x", 99, TraceError, "not-recorded"),
        ("x", (1, 1), TraceError, "bad-iteration"),
        ("while/cond/multiply", 3, DeadValueError, "dead-value"),
        ("y", None, TraceError, "unknown-value"),
    ]:
        with pytest.raises(error) as caught:
            session.explain(name, iteration)
        assert caught.value.slug == slug


@pytest.mark.parametrize("seed", range(60))
def test_each_link_is_what_its_op_makes_of_its_sources(seed):
    """On random graphs: evaluating every op of the chain on the values of its sources gives the value of the link."""
    graph, feeds = Maker(seed).make()
    session = finished(graph, feeds)
    name = next(iter(graph.outputs))
    try:
        chain = session.explain(graph.outputs[name], max_links=400)
    except DeadValueError:
        return
    checked = 0
    for link in chain:
        values = [chain.links[s].value for s in link.sources]
        spec = REGISTRY.lookup(link.op, graph.nodes[link.tag.node].attrs)
        if not link.complete or link.value is None or not values:
            continue
        if link.op in ("Enter", "Exit", "Merge", "Identity", "LoopCond", "NextIteration", "Switch"):
            if link.op != "Merge" or link.tag.output == 0:
                assert np.array_equal(values[0], link.value, equal_nan=values[0].dtype.kind == "f")
                checked += 1
            continue
        with np.errstate(all="ignore"):
            again = spec.evaluate(values, graph.nodes[link.tag.node].attrs)[link.tag.output]
        assert np.allclose(again, link.value, rtol=1e-6, equal_nan=np.asarray(again).dtype.kind == "f")
        checked += 1
    assert checked or len(chain) == 1
