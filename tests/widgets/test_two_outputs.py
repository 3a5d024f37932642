"""A node with several outputs has each value under its own name, in the graph and among the marks of curves."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from workbench.ir.node import Ref
from workbench.widgets import GraphView
from workbench.widgets.evolution.evolution_marks import breakpoint_marks
from workbench.widgets.graph.model.given_outputs import BETWEEN, output_marks
from workbench.widgets.graph.model.node_values import RunReader
from workbench.widgets.graph.model.picture import graph_model


def branch(outputs: tuple[str, ...]) -> wb.Graph:
    """The graph of the course: a Merge gives the result, and from which input it is."""
    b = wb.GraphBuilder("branch")
    x = b.placeholder("x", "float64", ())
    no, yes = b.Switch(x, x > 0.0)
    result, which = b.Merge(no * -1.0, yes * 3.0, name="merge")
    given = {"result": result, "which": which}
    return b.build({name: given[name] for name in outputs})


def box_of(graph: wb.Graph, node: str) -> dict:
    return next(box for box in graph_model(graph)["nodes"] if box["name"] == node)


@pytest.mark.parametrize("outputs", [("result", "which"), ("which", "result"), ("which",), ("result",)])
def test_names_and_values_are_in_one_order(outputs):
    graph = branch(outputs)
    words = [name for name in ("result", "which") if name in outputs]
    box = box_of(graph, "merge")
    named = box["title"] == "result" and "output" in box["lines"]  # the title is the name of the output
    assert named if words == ["result"] else f"\u2192 {BETWEEN.join(words)}" in box["lines"]
    with wb.Session(graph, {"x": 2.0}) as session:
        session.run()
        view = GraphView(session)
        reader = RunReader(view.source)
        reader.begin(None, False, None, {})
        texts = reader.values([("merge", "Merge")])["merge"].text.split(BETWEEN)
        expected = [float(session.value(name)) for name in words]
        assert [float(t) for t in texts] == expected
        view.close()


def test_every_output_of_the_graph_is_marked_once():
    b = wb.GraphBuilder("parts")
    x = b.placeholder("x", "float64", (6,))
    parts = [x[0:2], x[2:4]]
    graph = b.build({"first": parts[0], "second": parts[1], "again": parts[0]})
    marks = output_marks(graph)
    assert sorted(n for mine in marks.values() for names in mine.values() for n in names) == [
        "again",
        "first",
        "second",
    ]


def test_a_breakpoint_marks_the_curve_of_its_own_output():
    b = wb.GraphBuilder("loop")
    start = b.placeholder("start", "float64", ())

    def body(x):
        no, yes = b.Switch(x, x > 2.0)
        value, which = b.Merge(no + 1.0, yes * 0.5, name="both")
        return {"x": value + 0.0 * b.op("cast", which, dtype="float64")}

    graph = b.build(b.while_loop(lambda x: np.abs(x) < 5.0, body, {"x": start}, max_trips=5))
    both = next(name for name in graph.nodes if name.endswith("both"))
    with wb.Session(graph, {"start": 0.0}) as session:
        session.breakpoints.add(f"{both}:1")
        names = [str(Ref(both, 0)), str(Ref(both, 1))]
        marks = breakpoint_marks(session, graph, names, None)
        assert [mark["of"] for mark in marks] == [names[1]]
