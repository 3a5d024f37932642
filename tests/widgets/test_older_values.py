"""Values in the graph that were not computed in the present iteration: grey, slanted, with their own iteration."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.widgets.browser_side import open_view
from tests.widgets.graphs import nested, newton
from workbench.widgets.graph.graph_view import GraphView
from workbench.widgets.live.selection import Moment


def look(session, node=None):
    view = GraphView(session)
    open_view(view.live)
    view.selection.select(node)
    view.update_now()
    model = view.model(session.snapshot())
    drawn = [t for trace in view.spec(model)["data"] if trace.get("mode") == "text" for t in trace["text"]]
    words = " ".join(str(f["text"]) for f in model["status"].get("facts", ()))
    view.close()
    return model["state"], drawn, words


def steps(session, graph):
    """Every event of a run: (loop's iteration, the model's state, iteration of the newest firing of each node)."""
    while session.stop.reason is not wb.StopReason.FINISHED:
        session.step()
        yield session.snapshot().iterations, look(session)[0]


def test_what_was_not_computed_in_this_iteration_says_of_which_it_is():
    graph = newton()
    (path,) = [p for p in graph.frames if p]
    with wb.Session(graph, {"a": 2.0, "x0": 100.0} if "x0" in graph.inputs else {n: 2.0 for n in graph.inputs}) as s:
        seen = 0
        for iterations, state in steps(s, graph):
            now = iterations.get(path, -1)
            for name, told in state["values"].items():
                if s.trace[name].frame != path:  # an Exit fires outside
                    assert name not in state["ages"]
                    continue
                node = graph.nodes[name]
                if node.op == "Enter":  # what a loop starts with, or what is the same in every iteration
                    assert name not in state["ages"]
                    continue
                assert len(s.trace[name]), (name, told, node)
                newest = int(s.trace[name].iterations[-1][-1])
                assert state["ages"].get(name) == (str(newest) if newest < now else None), (name, now, told)
                seen += newest < now
        assert seen > 20
        # the body did not run in the last iteration, in which the condition was false
        state = look(s)[0]
        last = int(s.trace[graph.frames[path].loop_cond].iterations[-1][-1])
        assert str(last - 1) in state["ages"].values() and str(last) not in state["ages"].values()


@pytest.mark.slow
def test_an_inner_loop_that_the_outer_one_has_left_is_older():
    graph = nested()
    with wb.Session(graph, {"n": 3}) as session:
        inner = max(graph.frames, key=len)
        seen = 0
        for iterations, state in steps(session, graph):
            for name, age in state["ages"].items():
                if graph.frame_of(name) == inner:
                    at = tuple(int(i) for i in session.trace[name].iterations[-1])
                    assert age == ", ".join(map(str, at))
                    now = [iterations.get(inner[: k + 1], -1) for k in range(len(inner))]
                    assert any(a < b for a, b in zip(at, now, strict=True))
                    seen += 1
        assert seen


def test_how_it_is_drawn_and_told():
    b = wb.GraphBuilder("g")
    x = b.while_loop(lambda x: np.abs(x * x - 2.0) > 1e-9, lambda x: 0.5 * (x + 2.0 / x), {"x": b.constant(3.0)})
    graph = b.build(x)
    with wb.Session(graph, {}) as session:
        session.next_iteration(3)
        state, drawn, _ = look(session)
        name = next(iter(state["ages"]))
        age, value = state["ages"][name], state["values"][name]
        assert any("<i>" in t and f"{value} ({age})</i>" in t for t in drawn)
        assert f"= {value} of iteration {age}" in look(session, name)[2]


@pytest.mark.parametrize("iteration", [0, 1])
def test_a_moment_that_is_looked_at_has_values_of_its_own(iteration):
    graph = newton()
    (path,) = [p for p in graph.frames if p]
    with wb.Session(graph, {n: 2.0 for n in graph.inputs}) as session:
        session.next_iteration(3)
        view = GraphView(session)
        view.selection.look_at(Moment(path, (iteration,)))
        assert view.model(session.snapshot())["state"]["ages"] == {}
        view.close()
