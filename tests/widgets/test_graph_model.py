"""The picture of a graph as plain data."""

from __future__ import annotations

import json

import pytest

from tests.widgets.graphs import nested, newton
from workbench.widgets.graph.model.live_state import branch_sides, graph_state
from workbench.widgets.graph.model.picture import frame_id, graph_model
from workbench.widgets.graph.model.scene import Scene


@pytest.fixture(scope="module")
def picture():
    return graph_model(newton())


def by_id(model):
    return {box["id"]: box for box in model["nodes"]}


def test_constants_and_invariants_are_written_in_their_consumers(picture):
    boxes = by_id(picture)
    assert not {box["op"] for box in picture["nodes"]} & {"Const", "Identity"}
    assert boxes["while/subtract"]["title"] == "x \u00d7 x \u2212 a"
    assert boxes["while/multiply_1"]["title"] == "0.5 \u00d7 (x + a \u00f7 x)"
    ops = by_id(graph_model(newton(), dataflow_ops=True))
    assert ops["while/subtract"]["lines"] == ["multiply \u2212 a"]
    assert "a" not in boxes and "invariant: a" in picture["frames"][0]["caption"]


def test_every_node_has_a_box_that_stands_for_it(picture):
    graph = newton()
    assert set(picture["home"]) == set(graph.nodes)
    assert set(picture["home"].values()) <= set(by_id(picture))
    assert picture["home"]["while/Const_1"] == "while/multiply_1"


@pytest.mark.parametrize("closed", [(), (("outer",),), (("outer", "inner"),)])
def test_the_boxes_of_all_nodes_are_those_of_each(closed):
    scene = Scene(nested())
    scene.set_closed_frames(closed)
    assert scene.homes() == {name: scene.box_of(name) for name in scene.graph.nodes}


def test_edges_join_boxes_and_one_leads_back(picture):
    boxes = by_id(picture)
    for edge in picture["edges"]:
        assert edge["source"] in boxes and edge["target"] in boxes
        assert len(edge["points"]) >= 2
    back = [e for e in picture["edges"] if e["kind"] == "back"]
    assert [(e["source"], e["target"]) for e in back] == [("while/x/NextIteration", "while/x/Merge")]


def boxes_overlap(a, b):
    return abs(a["x"] - b["x"]) < (a["w"] + b["w"]) / 2 and abs(a["y"] - b["y"]) < (a["h"] + b["h"]) / 2


@pytest.mark.parametrize("make", [newton, nested])
def test_no_two_boxes_overlap_and_all_lie_inside(make):
    model = graph_model(make())
    boxes = model["nodes"]
    for k, a in enumerate(boxes):
        assert 0 <= a["x"] - a["w"] / 2 and a["x"] + a["w"] / 2 <= model["width"]
        assert 0 <= a["y"] - a["h"] / 2 and a["y"] + a["h"] / 2 <= model["height"]
        assert not any(boxes_overlap(a, b) for b in boxes[k + 1 :])


def test_frames_enclose_their_boxes():
    model = graph_model(nested())
    frames = {f["path"]: f for f in model["frames"] if f["kind"] == "loop"}
    assert set(frames) == {("outer",), ("outer", "inner")}
    for box in model["nodes"]:
        frame = frames.get(box["frame"])
        if frame is not None:
            assert abs(box["x"] - frame["x"]) + box["w"] / 2 <= frame["w"] / 2
            assert abs(box["y"] - frame["y"]) + box["h"] / 2 <= frame["h"] / 2


def test_data_flows_downwards():
    boxes = by_id(model := graph_model(nested()))
    for edge in model["edges"]:
        if edge["kind"] != "back":
            assert boxes[edge["source"]]["y"] < boxes[edge["target"]]["y"], edge


def test_a_collapsed_frame_is_one_box():
    graph = nested()
    model = graph_model(graph, [("outer", "inner")])
    box = by_id(model)[frame_id(("outer", "inner"))]
    assert box["kind"] == "collapsed" and "loop, " in box["lines"][0]
    inside = [n for n in graph.nodes if graph.frame_of(n) == ("outer", "inner")]
    assert {model["home"][n] for n in inside} == {box["id"]}
    assert len(graph_model(graph, [("outer",)])["nodes"]) < len(model["nodes"])


def test_layout_is_the_same_every_time():
    assert repr(graph_model(nested())) == repr(graph_model(nested()))


def test_the_side_not_taken_is_dead():
    graph = newton()
    model = graph_model(graph)
    sides = branch_sides(graph)
    going = graph_state(model, sides, current="while/add", branches={"while/x/Switch": True})
    assert going["current"] == "while/add" and going["dead"] == ["while/x/Exit"]
    ended = graph_state(model, sides, current=None, branches={"while/x/Switch": False})
    assert set(ended["dead"]) == {"while/divide", "while/add", "while/multiply_1", "while/x/NextIteration"}
    assert all(
        model["edges"][k]["target"] in ended["dead"] or model["edges"][k]["source"] in ended["dead"]
        for k in ended["dead_edges"]
    )


def test_a_folded_node_highlights_its_home():
    graph = newton()
    state = graph_state(graph_model(graph), None, current="while/Const_1", branches={})
    assert state["current"] == "while/multiply_1"


def test_values_belong_to_their_own_box_only():
    model = graph_model(newton())
    state = graph_state(model, None, current=None, branches={}, values={"while/add": "3", "while/Const": "1e-12"})
    assert state["values"] == {"while/add": "3"}
    json.dumps(state)
