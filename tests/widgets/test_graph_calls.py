"""Calls of functions are boxes of the picture, closed until they are opened."""

from __future__ import annotations

import pytest

import workbench as wb
from workbench.widgets.graph.model.scene import Scene


@pytest.fixture(scope="module")
def graph():
    """A call in a loop, which calls another function, and a loop in a call."""
    b = wb.GraphBuilder("calls")
    context = lambda: b.context  # noqa: E731

    def called(name, make, *given):
        here = context()
        before = here.prefix, here.region
        given = [here.adopt(v) for v in given]
        here._open(b.reserve("/".join(p for p in (here.prefix, name) if p)))
        try:
            return make(*given)
        finally:
            here.prefix, here.region = before

    def smooth(x):
        return called("inner", lambda x: b.tanh(x) * x, x) + x

    def step(x, k):
        return {"x": called("smooth", smooth, x) * 0.5, "k": k + 1}

    x = b.placeholder("x", "float64", ())
    first = b.while_loop(lambda x, k: k < 3, step, {"x": x, "k": 0}, name="first")
    second = called(
        "solver",
        lambda x: b.while_loop(lambda y: y > 1.0, lambda y: y * 0.5, {"y": b.abs(x)}, name="halve")["y"] + x,
        first["x"],
    )
    return b.build({"y": second})


def test_calls_are_closed_boxes_within_loops_and_each_other(graph):
    scene = Scene(graph)
    calls = {g.title: g for g in scene.groups.values() if g.kind == "call"}
    assert {"smooth", "inner", "solver"} == set(calls)
    assert not {g.id for g in calls.values()} & set(scene.open)
    assert calls["smooth"].frame and scene.groups[calls["inner"].parent] is calls["smooth"]
    (loop,) = (g for g in scene.groups.values() if g.kind == "loop" and calls["solver"].id in scene.around(g.id))
    assert loop.frame and loop.id not in scene.open, "what is in a closed call is closed"


def test_every_node_stands_in_one_box_and_a_call_can_be_opened(graph):
    scene = Scene(graph)
    held = [item for group in scene.groups.values() for item in group.items]
    assert len(held) == len(set(held)) and set(scene.folding.drawn) <= set(held)
    (smooth,) = (g for g in scene.groups.values() if g.title == "smooth")
    inside = scene.nodes_in(smooth.id)
    assert {scene.box_of(n) for n in inside} == {smooth.id} and smooth.words.startswith("call, ")
    scene.toggle(smooth.id)
    (own,) = (item for item in smooth.items if item not in scene.groups)
    (inner,) = (item for item in smooth.items if item in scene.groups)
    assert scene.box_of(own) == own and scene.box_of(scene.nodes_in(inner)[0]) == inner


def test_a_box_whose_name_ends_with_numbers_shows_what_is_numbered():
    b = wb.GraphBuilder("modules")
    x = b.placeholder("x", "float64", ())
    for k in (0, 1):
        b.context._open(f"blocks/0/{k}")
        x = b.tanh(x) * x
        b.context.prefix = b.context.region = None
    titles = [g.title for g in Scene(b.build({"y": x})).groups.values() if g.kind == "call"]
    assert titles == ["blocks/0/0", "blocks/0/1"]
