"""A closed box with a branch in it: grey only where all in it is dead, else with the side that was taken."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from workbench.widgets import GraphView
from workbench.widgets.graph import graph_spec as spec

SIDES = {True: "then", False: "else"}


def chooses(second: bool = False) -> wb.Graph:
    """A call "If_0" that holds a branch: one side has a branch of its own, the other is a long call, "right", with
    many nodes without boxes. With ``second`` the call makes another choice after it."""
    b = wb.GraphBuilder("chooses")
    flag, x = b.placeholder("flag", "bool", ()), b.placeholder("x", "float64", ())

    def called(name, make, *given):
        here = b.context
        before = here.prefix, here.region
        given = [here.adopt(v) for v in given]
        here._open(b.reserve("/".join(p for p in (here.prefix, name) if p)))
        try:
            return make(*given)
        finally:
            here.prefix, here.region = before

    def left(x):
        x = np.tanh(np.abs(np.cos(np.exp(x * 0.5))) + x)
        return b.cond(x > 0.0, lambda: x + 1.0, lambda: x - 1.0) * 1.5

    def right(x):
        for k in range(12):
            for _ in range(6):
                x = b.op("Identity", x)
            x = np.sin(x) + np.float64(k)
        return x

    def choice(flag, x):
        y = b.cond(flag, lambda: left(x), lambda: called("right", right, x))
        return b.cond(y > 1.5, lambda: y * 3.0, lambda: y / 3.0) if second else np.exp(y * 0.25)

    return b.build({"y": called("If_0", choice, flag, x) * 2.0})


def closed_view(session):
    """A view in which everything that can be closed is."""
    view = GraphView(session, follow=False)
    view.scene.all(False)
    return view


def drawn(view, session):
    """The model, the texts beside the boxes, and how many grey boxes the figure has."""
    model = view.model(session.snapshot())
    data = view.spec(model)["data"]
    grey = len(data[spec.DEAD_BOXES]["x"])
    return model, " ".join(data[spec.VALUES]["text"]), (grey + 1) // 6


def box(view, title):
    return next(g.id for g in view.scene.groups.values() if g.title.endswith(title))


@pytest.mark.parametrize("flag", [True, False])
def test_a_closed_box_says_which_side_was_taken(flag):
    with wb.Session(chooses(), {"flag": flag, "x": 0.3}) as session:
        session.run()
        view = closed_view(session)
        model, texts, grey = drawn(view, session)
        assert box(view, "If_0") not in model["state"]["dead"] and grey == 0
        assert f"taken: {SIDES[flag]}" in texts
        assert model["state"]["dead_edges"] == [], "no line of the box is one that was not taken"
        hover = view.spec(model)["data"][spec.HIT]["hovertext"]
        assert any(f"taken: {SIDES[flag]}" in h for h in hover) and not any("dead" in h for h in hover)
        assert "not executed" not in [sign["text"] for sign in model["legend"]]
        view.close()


@pytest.mark.parametrize("flag", [True, False])
def test_a_closed_box_is_grey_where_all_in_it_is_dead(flag):
    with wb.Session(chooses(), {"flag": flag, "x": 0.3}) as session:
        session.run()
        view = closed_view(session)
        view.expand(view.scene.groups[box(view, "right")].parent)
        model = view.model(session.snapshot())
        right = box(view, "right")
        place = next(b for b in model["picture"]["nodes"] if b["id"] == right)
        grey = view.spec(model)["data"][spec.DEAD_BOXES]
        corners = set(zip(grey["x"], grey["y"], strict=True))
        assert ((place["x"] - place["w"] / 2, place["y"] - place["h"] / 2) in corners) is flag
        edges = model["picture"]["edges"]
        lost = {side for k in model["state"]["dead_edges"] for side in (edges[k]["source"], edges[k]["target"])}
        assert (right in lost) is flag and (right in model["state"]["dead"]) is flag
        view.close()


def test_of_several_choices_in_one_box_it_says_how_much_was_executed():
    with wb.Session(chooses(second=True), {"flag": True, "x": 0.3}) as session:
        session.run()
        view = closed_view(session)
        model, texts, _ = drawn(view, session)
        inside = [n for n in model["picture"]["drawn"] if model["picture"]["home"][n] == box(view, "If_0")]
        trace, nodes = session.trace, session.graph.nodes
        fired = sum(any(len(trace[f"{n}:{k}"]) for k in range(len(nodes[n].types))) for n in inside)
        assert 0 < fired < len(inside) and f"{fired} of {len(inside)} executed" in texts
        view.close()
