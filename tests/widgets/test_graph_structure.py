"""The structured picture: loops with rows of variables, branches with two sides, ops of dataflow control on demand."""

from __future__ import annotations

from itertools import combinations, pairwise
from pathlib import Path

import numpy as np
import pytest

import workbench as wb
from tests.widgets.graphs import chaotic, nested, newton, quotients
from tests.widgets.test_graph_view import passes
from workbench.widgets import GraphView
from workbench.widgets.graph import graph_spec as spec
from workbench.widgets.graph.graph_control import LEGIBLE
from workbench.widgets.graph.model.picture import draw, graph_model
from workbench.widgets.graph.model.scene import Scene

MODELS = sorted((Path(__file__).parents[2] / "notebooks" / "models").glob("savings.*"))
HIDDEN = ("Switch", "Exit", "LoopCond")


@wb.graph
def longest(up_to):
    number = 1
    best = 0
    while number <= up_to:
        n = number
        steps = 0
        while n > 1:
            if n % 2 == 0:
                n = n // 2
            else:
                n = 3 * n + 1
            steps = steps + 1
        if steps > best:
            best = steps
        number = number + 1
    return best


@pytest.fixture(scope="module")
def graph():
    return longest.graph_for(12)


@pytest.fixture(scope="module")
def picture(graph):
    return graph_model(graph)


def loops(graph):
    return [frame for path, frame in graph.frames.items() if path]


def row_of(picture, names):
    return {round(box["y"], 3) for box in picture["nodes"] if box["id"] in names}


@pytest.mark.parametrize("make", [newton, nested, lambda: longest.graph_for(12)])
def test_each_variable_is_a_box_in_three_rows(make):
    graph = make()
    picture = graph_model(graph)
    for frame in loops(graph):
        start, now, after = (
            row_of(picture, {getattr(v, part) for v in frame.variables})
            for part in ("enter", "merge", "next_iteration")
        )
        assert len(start) == len(now) == len(after) == 1, frame.path
        inside = [b["y"] for b in picture["nodes"] if graph.frame_of(b["id"]) == frame.path and b["kind"] == "op"]
        assert max(start) < max(now) < min(inside) and max(inside) < min(after) + 1.0


def test_the_ops_of_dataflow_control_have_no_box_and_the_switch_shows_them(graph):
    plain, ops = graph_model(graph), graph_model(graph, dataflow_ops=True)
    decisions = [b for b in plain["nodes"] if b["op"] == "Switch"]
    assert [b["title"] for b in decisions] == ["n mod 2 = 0 ?", "steps > best ?"], (
        "one box for all Switches of a branch"
    )
    assert [b["op"] for b in plain["nodes"] if b["op"] in HIDDEN] == ["Switch", "Switch", "Exit"], "an output is shown"
    for op in (*HIDDEN, "Enter", "Merge", "NextIteration"):
        drawn = [b for b in ops["nodes"] if b["op"] == op]
        assert drawn and all(b["title"] == op for b in drawn)
    boxes = {b["id"] for b in plain["nodes"]}
    assert set(plain["home"]) == set(graph.nodes) and set(plain["home"].values()) <= boxes
    assert len(plain["nodes"]) < len(ops["nodes"]) and len(plain["edges"]) < len(ops["edges"])


def test_loops_and_branches_are_named_by_their_source(picture):
    captions = [f["caption"] for f in picture["frames"]]
    assert captions.count("then") == captions.count("else") == 1, "both sides of the other branch pass a value on"
    assert {"while n > 1", "if n mod 2 = 0", "if steps > best"} <= set(captions)
    assert "while number \u2264 up_to \u00b7 invariant: up_to" in captions
    titles = {b["title"] for b in picture["nodes"]}
    assert {"number = 1", "number", "next number", "3 \u00d7 n + 1", "n // 2", "steps > best"} <= titles


def test_the_sides_of_a_branch_stand_beside_each_other(picture):
    then, other = (next(f for f in picture["frames"] if f["caption"] == side) for side in ("then", "else"))
    assert abs(then["x"] - other["x"]) >= (then["w"] + other["w"]) / 2
    assert abs(then["y"] - other["y"]) < (then["h"] + other["h"]) / 2


def test_edges_lead_from_what_a_value_is_computed_by(graph):
    picture = graph_model(graph)
    found = {(e["source"], e["target"]) for e in picture["edges"]}
    name = {b["title"]: b["id"] for b in picture["nodes"]}
    for one, two in (("n", "n > 1"), ("n = number", "n"), ("3 \u00d7 n", "3 \u00d7 n + 1"), ("steps", "steps > best")):
        assert (name[one], name[two]) in found, (one, two)
    assert (name["next n"], name["n"]) in {(e["source"], e["target"]) for e in picture["edges"] if e["kind"] == "back"}


def test_a_decision_tells_its_side_and_its_lines_say_which_was_taken(graph):
    with wb.Session(graph, {"up_to": 12}) as session:
        view = GraphView(session)
        for _ in range(40):
            session.step(3)
            model = view.model(session.snapshot())
            boxes = {b["id"]: b for b in model["picture"]["nodes"]}
            state = model["state"]
            for key, side in state["taken"].items():
                edges = [e for e in model["picture"]["edges"] if e["source"] == key]
                index = [
                    model["picture"]["edges"].index(e) for e in edges if {r.index for r in e["refs"]} == {int(not side)}
                ]
                if index and boxes[key]["op"] == "Switch" and key not in state["dead"]:
                    assert set(index) <= set(state["dead_edges"])
                    assert state["values"].get(key, "true" if side else "false") == ("true" if side else "false")
        view.close()


def test_the_condition_stands_for_the_loops_switches_and_a_variable_for_its_exit():
    graph = newton()
    home = graph_model(graph)["home"]
    assert home["while/LoopCond"] == home["while/x/Switch"] == "while/greater"
    outer = nested()
    home = graph_model(outer)["home"]
    assert home["inner/t/Exit"] == "inner/t/Merge"


def test_the_switch_keeps_what_was_closed(graph):
    view = GraphView(graph)
    inner = next(path for path in graph.frames if len(path) == 2)
    view.collapse(inner)
    view.dataflow_ops = True
    assert view.dataflow_ops and view.collapsed == (inner,)
    view.press("ops", {})
    assert not view.dataflow_ops and view.collapsed == (inner,)
    assert view.model(None)["status"]["ops"] is False
    view.close()


def test_it_opens_whole_and_as_unfolded_as_the_room_allows(graph):
    picture = graph_model(graph)
    for width, height in ((388.0, 546.0), (700.0, 600.0), (picture["width"], picture["height"])):
        view = GraphView(graph, height=2000)
        view.zoom_to("start", width, height)
        shown = view.picture
        assert (
            view.zoom >= LEGIBLE
            and shown["width"] * view.zoom <= width + 1
            and shown["height"] * view.zoom <= height + 1
        )
        for key in set(view.scene.groups) - set(view.scene.open):
            if view.scene.groups[key].parent in view.scene.open:
                other = GraphView(graph, height=2000)
                other.zoom_to("start", width, height)
                other.scene.show(key, inside=True)
                other.zoom_to("fit", width, height)
                assert other.zoom < LEGIBLE, key
                other.close()
        view.close()
    assert not set(view.scene.groups) - set(view.scene.open), "with room for all"


def test_the_loop_of_newton_is_whole_in_the_pane_of_a_laptop():
    """388 x 546 pixels are what a panel of 1440 x 900 has for the graph."""
    view = GraphView(newton())
    view.zoom_to("start", 388.0, 546.0)
    assert not view.collapsed and view.picture["width"] * view.zoom <= 388.0
    view.close()


def test_a_loop_that_is_wider_than_the_pane_is_drawn_in_more_rows():
    """1,004 pixels wide and 451 high in 520 x 490, as a panel of 1440 x 900 has them where a loss is NaN."""
    builder = wb.GraphBuilder("train")
    w = builder.placeholder("w", "float64", (2,))
    start = (builder.constant(0, "int64"), w, builder.constant(1.0))
    _, _, loss = builder.while_loop(
        lambda k, w, loss: k < 200, lambda k, w, loss: (k + 1, w * 12.0 * np.arctan(w), np.log(w[0])), start
    )
    view = GraphView(builder.build({"loss": loss}))
    before = view.picture
    assert before["width"] > 1000 > 500 > before["height"]
    view.zoom_to("fit", 520.0, 490.0)
    after = view.picture
    assert view.zoom > 0.7 and after["width"] * view.zoom <= 520 and after["height"] * view.zoom <= 490
    assert {b["id"] for b in before["nodes"]} == {b["id"] for b in after["nodes"]}
    boxes = after["nodes"]
    for edge in after["edges"]:
        for box in boxes:
            if box["id"] not in (edge["source"], edge["target"]):
                assert not passes(edge["points"], box["x"], box["y"], box["w"] - 2, box["h"] - 2), (edge, box["id"])
    for k, one in enumerate(boxes):
        for two in boxes[:k]:
            apart = abs(one["x"] - two["x"]) >= (one["w"] + two["w"]) / 2, abs(one["y"] - two["y"]) >= one["h"]
            assert any(apart), (one["id"], two["id"])
    view.zoom_to("fit", 2000.0, 490.0)
    assert view.picture == before
    view.close()


def test_another_room_opens_other_boxes_until_somebody_opens_one(graph):
    view = GraphView(graph, height=2000)
    view.zoom_to("start", 300.0, 200.0)
    few = view.scene.open
    view.zoom_to("again", 3000.0, 2000.0)
    assert len(view.scene.open) > len(few)
    view.zoom_to("again", 300.0, 200.0)
    assert view.scene.open == few
    closed = next(k for k, g in view.scene.groups.items() if g.parent in few and k not in few)
    view.toggle(closed)
    view.zoom_to("again", 310.0, 210.0)
    assert closed in view.scene.open
    view.close()


def test_boxes_that_a_step_opens_are_whole_in_the_pane():
    with wb.Session(nested(), {"n": 4}) as session:
        view = GraphView(session)
        view.zoom_to("start", 395.0, 640.0)
        few, opened = view.scene.open, set()
        for _ in range(60):
            session.step()
            view.update_now()
            opened |= set(view.scene.open)
            assert view.picture["width"] * view.zoom <= 396 and view.picture["height"] * view.zoom <= 641
        assert len(opened) > len(few)
        view.zoom_to("start", 330.0, 520.0)
        held = set()
        for _ in range(60):
            session.step()
            view.update_now()
            held.add(len(view.scene.open))
        assert max(held) < len(opened), "what only earlier positions needed is closed"
        view.close()


def test_values_stand_in_their_boxes(graph):
    with wb.Session(graph, {"up_to": 12}) as session:
        session.step(300)
        view = GraphView(session)
        model = view.model(session.snapshot())
        data = view.spec(model)["data"]
        boxes = {b["id"]: b for b in model["picture"]["nodes"]}
        placed = list(zip(data[spec.VALUES]["x"], data[spec.VALUES]["y"], data[spec.VALUES]["text"], strict=True))
        for key, value in model["state"]["values"].items():
            if key in model["state"]["dead"]:
                continue
            box = boxes[key]
            inside = [
                words for x, y, words in placed if abs(x - box["x"]) < box["w"] / 2 and abs(y - box["y"]) < box["h"] / 2
            ]
            assert len(inside) == 1 and value in inside[0], key
        view.close()


@pytest.mark.parametrize("ops", [True, False])
@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.name)
def test_a_line_from_a_switch_starts_at_the_side_whose_value_it_carries(path, ops):
    graph = wb.load(path)
    scene = Scene(graph, ops)
    scene.all(True)
    picture = draw(scene)
    boxes = {b["id"]: b for b in picture["nodes"]}
    lines = [e for e in picture["edges"] if boxes[e["source"]]["op"] == "Switch"]
    seen = set()
    for edge in lines:
        source = boxes[edge["source"]]
        for side in {side_that_feeds(graph, edge["source"], ref) for ref in edge["refs"]} - {None}:
            seen.add(side)
            if len({r.index for r in edge["refs"]}) == 1:
                assert (edge["points"][0][0] > source["x"]) == bool(side), (edge["source"], edge["target"])
    assert seen == {0, 1} or not any(b["op"] == "Switch" for b in picture["nodes"])


def side_that_feeds(graph, switch, ref):
    """The output of a Switch that a value is, behind ops that pass it on."""
    while ref.node != switch and graph.nodes[ref.node].op in ("Identity", "Enter"):
        ref = graph.nodes[ref.node].inputs[0]
    return ref.index if ref.node == switch else None


def test_a_closed_loop_is_named_by_what_it_asks_where_there_is_no_room_for_its_name():
    graph = wb.load(MODELS[-1])
    titles = [b["title"] for b in graph_model(graph, collapsed=list(graph.frames))["nodes"]]
    assert "\u25b8 while Merge < goal" in titles, titles


def crossings(edges):
    """The pairs of edges that cross, not counting those that meet."""
    parts = [(k, a, b) for k, edge in enumerate(edges) for a, b in pairwise(edge["points"])]

    def side(a, b, c):
        return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])

    return {
        (k, m)
        for (k, a, b), (m, c, d) in combinations(parts, 2)
        if k != m and side(a, b, c) * side(a, b, d) < 0 and side(c, d, a) * side(c, d, b) < 0
    }


@pytest.mark.parametrize("dataflow_ops", [False, True])
@pytest.mark.parametrize(
    ("make", "most"),
    [(newton, 0), (nested, 3), (lambda: longest.graph_for(12), 3), (lambda: chaotic(9), 1), (lambda: quotients(4), 1)],
)
def test_lines_that_lead_back_do_not_cross_each_other(make, most, dataflow_ops):
    picture = graph_model(make(), dataflow_ops=dataflow_ops)
    back = [edge for edge in picture["edges"] if edge["kind"] == "back"]
    inside = {frame["id"]: frame for frame in picture["frames"]}
    assert len(back) >= 1 and not crossings(back)
    assert len(crossings(picture["edges"])) <= most
    for edge in back:
        around = [f for f in inside.values() if f["kind"] == "loop" and within(edge["points"], f)]
        assert around, "a way back stays in its loop"


def within(points, frame):
    return all(abs(x - frame["x"]) <= frame["w"] / 2 and abs(y - frame["y"]) <= frame["h"] / 2 for x, y in points)


@pytest.mark.parametrize("make", [newton, nested, lambda: chaotic(9)])
def test_no_room_is_left_that_nothing_fills(make):
    """From left to right something stands everywhere, but for the gaps between boxes and the borders."""
    picture = graph_model(make())
    spans = sorted((box["x"] - box["w"] / 2, box["x"] + box["w"] / 2) for box in picture["nodes"])
    spans += [(x, x) for edge in picture["edges"] for x, _ in edge["points"]]
    end = 0.0
    for low, high in sorted(spans):
        assert low - end <= 60.0, (end, low)
        end = max(end, high)
