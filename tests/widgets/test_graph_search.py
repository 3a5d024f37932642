"""Search, moves along edges, and the overview of a large graph."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.benchmarks.big_graph import plain
from tests.widgets.graphs import nested, newton, one
from workbench.widgets.graph.model.moves import consumers, node_of, producers, step
from workbench.widgets.graph.model.overview import ROWS, Overview
from workbench.widgets.graph.model.picture import draw
from workbench.widgets.graph.model.scene import Scene
from workbench.widgets.graph.model.search import GraphSearch


@pytest.fixture(scope="module")
def mixed():
    b = wb.GraphBuilder("mixed")
    a = b.placeholder("a", "float32", (3, 3))
    w = b.placeholder("w", "float64", (None, 4))
    y = b.matmul(a, a, name="net/conv_1/mul")
    z = b.add(y, a, name="net/conv_2/Sum")
    return b.build({"y": z, "w2": b.multiply(w, w, name="other")})


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("", []),
        ("   ", []),
        ("op:matmul", ["net/conv_1/mul"]),
        ("op:MATMUL", ["net/conv_1/mul"]),
        ("op:m*", ["net/conv_1/mul", "other"]),
        ("op~dd", ["net/conv_2/Sum"]),
        ("name~conv", ["net/conv_1/mul", "net/conv_2/Sum"]),
        ("name:conv_*sum", ["net/conv_2/Sum"]),
        ("shape:3,3", ["a", "net/conv_1/mul", "net/conv_2/Sum"]),
        ("shape:(?,4)", ["w", "other"]),
        ("shape:3x3 op:add", ["net/conv_2/Sum"]),
        ("shape:3,*", ["a", "net/conv_1/mul", "net/conv_2/Sum"]),
        ("dtype:float64", ["w", "other"]),
        ("dtype~64 name~oth", ["other"]),
        ("conv_2", ["net/conv_2/Sum"]),
        ("net/conv_1/mul:0", ["net/conv_1/mul"]),
        ("conv matmul", ["net/conv_1/mul"]),
        ("<img", []),
        ("[", []),
        ("name:[", []),
    ],
)
def test_queries(mixed, query, found):
    assert sorted(GraphSearch(mixed).find(query)) == sorted(found)


@pytest.mark.parametrize("query", ["opp:MatMul", "colour=red", "op:", "x" * 501])
def test_a_mistake_says_what_there_is(mixed, query):
    with pytest.raises(wb.WorkbenchError, match="bad-search"):
        GraphSearch(mixed).find(query)


def test_frames_lines_and_public_names():
    search = GraphSearch(nested())
    assert all(search.graph.frame_of(n)[-1:] == ("inner",) for n in search.find("frame:inner"))
    assert len(search.find("frame:inner")) > 5
    assert search.find("line:graphs.py")
    graph = newton()
    assert graph.outputs["root"].node in GraphSearch(graph).find("name:root")


def test_many_stars_are_matched_without_trying_all_ways():
    """One by one the ways to spread 200 stars over 300 letters would never be through."""
    b = wb.GraphBuilder()
    names = ["a" * 300, "a" * 199, "a" * 300 + "b"]
    graph = b.build([b.op("negative", b.constant(1.0), name=name) for name in names])
    search = GraphSearch(graph)
    assert search.find("name:" + "*a" * 200) == [names[0], names[2]]
    assert search.find("name:" + "*a" * 200 + "*b") == [names[2]]
    assert search.find("name:" + "*a" * 200 + "*c") == []


@pytest.mark.parametrize(("direction", "along"), [("down", "y"), ("right", "x")])
def test_moves_follow_edges_and_rows(direction, along):
    scene = Scene(newton())
    scene.direction = direction
    picture = draw(scene)
    boxes = {b["id"]: b for b in picture["nodes"]}
    first = step(picture, None, "with")
    assert first == picture["nodes"][0]["id"]
    path = [first]
    while (nxt := step(picture, path[-1], "with")) is not None and nxt not in path:
        assert any({e["source"], e["target"]} == {path[-1], nxt} for e in picture["edges"])
        path.append(nxt)
    assert len(path) > 5
    assert boxes[path[1]][along] > boxes[path[0]][along]
    assert step(picture, path[1], "against") is not None
    for box in boxes:
        other = step(picture, box, "after")
        if other is not None:
            assert step(picture, other, "before") is not None
    assert step(picture, "gone", "with") == picture["nodes"][0]["id"]


def test_producers_and_consumers_follow_the_graph():
    graph = newton()
    for name in graph.nodes:
        assert all(name in consumers(graph, source) for source in producers(graph, name))
    assert node_of(graph, "x") == "while/x/Merge" == node_of(graph, "while/x/Merge:0")
    assert node_of(graph, "no such value") is node_of(graph, None) is node_of(graph, "") is None


def test_the_overview_has_every_node_in_order():
    graph = plain(3000)
    overview = Overview(graph)
    assert overview.cells.dtype == np.uint8 and overview.cells.shape[0] == ROWS
    names = list(graph.nodes)
    for k in (0, 17, 1500, 2999):
        column, row = overview.place(names[k])
        assert overview.cells[row, column] > 0
        assert overview.column[overview.number[overview.nearest(column, row)]] == column
    for node in graph.nodes.values():
        here = overview.place(node.name)[0]
        assert all(overview.place(r.node)[0] <= here for r in node.inputs)
    assert overview.place("no such node") is None
    assert overview.span(["no such node"]) is None
    assert overview.span(names)[0] == 0
    smallest = Overview(one())
    assert smallest.cells.shape == (ROWS, 1) and smallest.nearest(9.0, 9.0) is not None
