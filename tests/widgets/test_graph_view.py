"""The view of a graph: what it shows of a run, what can be pressed in it, and what hostile input does to it."""

from __future__ import annotations

import itertools
import json
import re

import ipywidgets
import numpy as np
import pytest

import workbench as wb
from tests.benchmarks.big_graph import layers, plain
from tests.widgets.browser_side import click, open_view, until
from tests.widgets.graphs import EVIL, counter, evil, nested, newton
from workbench.widgets import GraphView
from workbench.widgets.base import theme
from workbench.widgets.graph import graph_spec as spec
from workbench.widgets.graph.graph_control import LEGIBLE
from workbench.widgets.graph.graph_texts import box_meant
from workbench.widgets.graph.model.captions import caption_box
from workbench.widgets.graph.model.picture import graph_model
from workbench.widgets.live.selection import Moment, Selection
from workbench.widgets.panel.toolbar import Toolbar


def comms() -> list[str]:
    return sorted(type(w).__name__ for w in ipywidgets.widgets.widget._instances.values())


@pytest.fixture(autouse=True)
def no_comm_is_left():
    before = comms()
    yield
    assert comms() == before


@pytest.fixture
def running():
    """A view of a session in the middle of a loop in a loop."""
    with wb.Session(nested(), {"n": 6}) as session:
        session.run_to("outer/less", iteration=4)
        view = GraphView(session)
        yield session, view
        view.close()


def model(view):
    return view.model(view.source.snapshot())


def words(view, trace):
    return " ".join(view.figure.data[trace].text or ())


# -- what is shown ----------------------------------------------------------------------------------------------------
def test_values_stand_at_the_edges_of_the_present(running):
    session, view = running
    values = model(view)["state"]["values"]
    assert values["outer/i/Merge"] == str(session.value("outer/i/Merge", 4)) == "4"
    session.step_back(40)
    assert model(view)["state"]["values"]["outer/i/Merge"] != "4"


def test_an_input_that_stands_in_the_caption_of_its_loop_is_marked_there():
    with wb.Session(newton(), {"a": 2.0, "x0": 100.0}) as session:
        view, toolbar = GraphView(session), Toolbar(session)
        shown = model(view)
        frame = next(f for f in shown["picture"]["frames"] if f["id"] == shown["state"]["caption"])
        assert (
            frame["caption"] == "while |x \u00d7 x \u2212 a| > 1e\u221212 \u00b7 invariant: a"
            and shown["state"]["current"] is None
        )
        assert toolbar.status["step"] == "a (input, invariant of the loop)"
        top = frame["y"] - frame["h"] / 2
        mark = view.figure.data[spec.POINTER]
        assert len(mark.x) == 1 and top < mark.y[0] < top + 24 and mark.x[0] < frame["caption_x"]
        assert shown["legend"][0]["text"] == "next" and shown["status"]["sight"]["y"] == mark.y[0]
        assert shown["status"]["sight"]["x"] == caption_box(frame, "")["x"]
        session.step()
        toolbar.update_now()
        shown = model(view)
        assert shown["state"]["caption"] is None and shown["state"]["current"] == "x0"
        assert toolbar.status["step"] == "x0 (input)"
        toolbar.close()
        view.close()


def test_a_moment_shows_its_own_values_and_branches(running):
    session, view = running
    for iteration in (0, 2, 3):
        view.selection.look_at(Moment(("outer",), (iteration,)))
        shown = model(view)
        assert shown["state"]["values"]["outer/i/Merge"] == str(iteration)
        took = bool(session.value("outer/greater", iteration))
        switch = next(
            n
            for n, node in session.graph.nodes.items()
            if node.op == "Switch" and node.inputs[1].node == "outer/greater"
        )
        assert shown["state"]["taken"][switch] is took
        assert shown["marks"].elsewhere
    assert view.figure.data[spec.POINTER].marker.symbol == "triangle-right-open"
    view.selection.look_at(None)
    assert not model(view)["marks"].elsewhere


def test_the_branch_taken_is_bold_and_the_other_grey(running):
    session, view = running
    session.run()
    state = model(view)["state"]
    assert "outer/add" in state["dead"] and state["taken_edges"]
    figure = view.figure
    assert len(figure.data[spec.TAKEN_EDGES].x) and len(figure.data[spec.DEAD_BOXES].x)
    assert not {i for i in state["taken_edges"]} & set(state["dead_edges"])


def test_loops_say_their_iteration_open_and_closed(running):
    session, view = running
    assert "iteration 4" in words(view, spec.TITLES)
    view.collapse(("outer", "inner"))
    assert "not reached" in words(view, spec.TITLES), "in iteration 4 of the outer loop"
    session.run()
    assert "ended after 6" in words(view, spec.TITLES)
    session.restart()
    assert "not reached" in words(view, spec.TITLES)


def test_nan_is_told_by_colour_sign_and_word():
    b = wb.GraphBuilder("nan")
    x = b.placeholder("x", "float64", ())
    y = b.while_loop(lambda v: v < 3.0, lambda v: np.sqrt(v), x)
    with wb.Session(b.build({"y": y}), {"x": -1.0}) as session:
        session.run()
        view = GraphView(session)
        assert "\u26a0 NaN" in words(view, spec.BAD_VALUES)
        assert len(view.figure.data[spec.BAD].x)
        bad = next(iter(model(view)["state"]["bad"]))
        view.select(bad)
        fact = model(view)["status"]["facts"][-1]
        assert fact["bad"] and "NaN" in fact["text"]
        view.close()


def test_what_is_not_read_in_time_is_read_at_the_next_look(monkeypatch):
    monkeypatch.setattr("workbench.widgets.graph.model.node_values.SLICE_S", -1.0)
    with wb.Session(newton(), {"a": 2.0, "x0": 100.0}) as session:
        session.run()
        view = GraphView(session)
        assert not model(view)["state"]["values"] and view.behind
        monkeypatch.setattr("workbench.widgets.graph.model.node_values.SLICE_S", 10.0)
        assert model(view)["state"]["values"] and not view.behind
        view.close()


# -- boxes ------------------------------------------------------------------------------------------------------------
def test_the_debugger_opens_what_it_stands_in_but_not_what_was_closed_by_hand():
    with wb.Session(layers(200), {"x": 1.0}) as session:
        view = GraphView(session)
        assert all(b["op"] in ("repeat", "Placeholder") for b in view.picture["nodes"])
        session.run_to("net/layer_3/add_2")
        shown = model(view)
        assert shown["state"]["current"] == "net/layer_3/add_2"
        view.toggle(view.scene.around("net/layer_3/add_2")[-1])
        session.step()
        assert model(view)["state"]["current"] in view.scene.groups
        still = GraphView(session, follow=False)
        assert model(still)["state"]["current"] in still.scene.groups
        still.close()
        view.close()


def test_a_click_opens_selects_or_sets_a_breakpoint(running):
    session, view = running
    keys = [tuple(key[:2]) for key in view.live.figure.data[spec.HIT].customdata]

    def pressed(key, *held):
        click(view, spec.HIT, keys.index(key), keys=list(held))

    pressed(("node", "outer/greater"))
    assert view.selected == "outer/greater"
    pressed(("node", "outer/greater"), "ctrl")
    assert [p.node for p in session.breakpoints] == ["outer/greater"]
    pressed(("node", "outer/greater"), "shift")
    assert not list(session.breakpoints)
    pressed(("frame", "frame\nouter\ninner"))
    assert view.collapsed == (("outer", "inner"),)
    click(view, spec.HIT, len(keys) + 1000)
    click(view, spec.TITLES, 0)
    assert view.collapsed == (("outer", "inner"),)


def test_breakpoints_have_their_own_marks(running):
    session, view = running
    session.breakpoints.add("outer/greater")
    session.breakpoints.add("outer/i/Merge", when="value > 3")
    session.breakpoints.add("outer/less", log="now {value}")
    session.breakpoints.add("outer/s/Merge", watch="change").enabled = False
    marker = view.figure.data[spec.BREAKPOINTS].marker
    assert sorted(marker.symbol) == ["circle", "diamond", "square", "star-open"]
    assert len(set(marker.color)) == 3
    assert any("value &gt; 3" in t for t in view.figure.data[spec.HIT].hovertext)
    view.collapse(("outer",))
    assert len(view.figure.data[spec.BREAKPOINTS].x) == 3  # on the box that holds them


def test_a_breakpoint_on_everything_marks_boxes_and_stays_when_one_node_is_toggled(running):
    session, view = running
    session.breakpoints.add("outer/*")
    assert len(view.figure.data[spec.BREAKPOINTS].x) > 10
    assert view.toggle_breakpoint("outer/greater") is True
    assert view.toggle_breakpoint("outer/greater") is False
    assert len(list(session.breakpoints)) == 1


def test_what_is_done_can_be_copied_as_code(running):
    session, view = running
    view.select("outer/greater")
    view.toggle_breakpoint()
    assert view.selection.lines == (
        "panel.selection.select('outer/greater')",
        "session.breakpoints.add('outer/greater')",
    )


# -- buttons and keys -------------------------------------------------------------------------------------------------
def test_search_marks_and_goes_round(running):
    _, view = running
    found = view.search("op:Switch")
    assert len(found) > 3 and model(view)["status"]["count"] == f"{len(found)} found"
    assert view.next_match() == found[0] and view.selected == found[0]
    hits = model(view)["status"]["hits"]
    assert [row["full"] for row in hits["rows"]] == found[:6] and [row["here"] for row in hits["rows"]][:2] == [
        True,
        False,
    ]
    view.press("hit", {"value": 1})
    assert view.selected == found[1]
    view.press("hit", {"value": 0})
    assert view.previous_match() == found[-1]
    assert model(view)["status"]["count"] == f"{len(found)} of {len(found)}"
    assert len(view.figure.data[spec.MATCHES].x)
    view.search("")
    assert view.next_match() is None and model(view)["status"]["count"] == ""


def test_keys_move_open_close_and_zoom(running):
    _, view = running
    view.select("outer/i/Merge")
    view.key("ArrowDown")
    assert view.selected in ("outer/less", "outer/add")
    view.key("ArrowUp")
    assert view.selected == "outer/i/Merge"
    view.key("Backspace")
    assert ("outer",) in view.collapsed
    assert model(view)["status"]["opens"] == "Open this box"
    view.key("Enter")
    assert ("outer",) not in view.collapsed
    for key, zoom in (("+", 1.25), ("-", 1.0), ("-", 0.85), ("0", 1.0)):
        view.key(key)
        assert view.zoom == zoom
    view.key("no such key")


def test_zoom_changes_sizes_and_leaves_out_what_cannot_be_read(running):
    _, view = running
    tall = view.figure.layout.height
    view.zoom_to(2.0)
    assert view.figure.layout.height == pytest.approx(2 * tall, abs=2)
    view.zoom_to("fit", 400.0)
    assert view.figure.layout.height <= view.height and view.figure.layout.width <= 400
    view.zoom_to(0.3)
    assert not view.figure.data[spec.TITLES].text
    with pytest.raises(wb.WorkbenchError, match="bad-zoom"):
        view.zoom_to("huge")
    with pytest.raises(wb.WorkbenchError, match="bad-direction"):
        view.direction = "up"


def test_the_bar_carries_out_what_is_pressed_and_says_what_went_wrong(running):
    session, view = running
    view.press("search", {"text": "op:"})
    view.press("next", {})  # Enter sends both
    assert "has no value" in model(view)["status"]["error"]
    view.press("search", {"text": "op:Merge"})
    assert model(view)["status"]["error"] == ""
    view.press("next", {})
    view.press("breakpoint", {})
    assert len(list(session.breakpoints)) == 1
    view.press("direction", {})
    assert view.direction == "right" and view.picture["direction"] == "right"
    view.press("go", {"text": "outer/greater"})
    assert view.selected == "outer/greater"
    view.press("all", {"value": "close"})
    assert view.collapsed
    view.press("all", {"value": "open"})
    assert not view.collapsed
    view.press("crumb", {"text": "frame\nouter"})
    assert view.collapsed == (("outer", "inner"),)
    status = model(view)["status"]
    json.dumps(status)
    assert status["title"] == "outer"


@pytest.mark.parametrize(
    ("kind", "content"),
    [
        ("go", {"text": "no such node"}),
        ("crumb", {"text": "no such box"}),
        ("zoom", {"value": None}),
        ("zoom", {"value": "fit", "width": "wide"}),
        ("zoom", {"value": [1]}),
        ("overview", {"x": "a", "y": 2}),
        ("overview", {"x": float("nan"), "y": 0.5}),
        ("key", {"text": "Enter"}),
        ("key", {}),
        ("next", {}),
        ("no such kind", {}),
        ("search", {"text": "x" * 600}),
        ("breakpoint", {}),
    ],
)
def test_nonsense_from_the_browser_does_no_harm(running, kind, content):
    _, view = running
    view.tools._browser_says(view.tools, {"kind": kind, **content}, [])
    view.tools._browser_says(view.tools, {"kind": 7}, [])
    view.tools._browser_says(view.tools, {"kind": "search", "text": 7}, [])
    assert model(view)["picture"]["nodes"]


def test_a_graph_and_a_trace_have_no_breakpoints_and_say_so(running):
    session, _ = running
    for source in (session.graph, session.trace):
        view = GraphView(source)
        view.select("outer/greater")
        assert model(view)["status"]["breakpoint"] is None
        with pytest.raises(wb.WorkbenchError, match="no-breakpoint-here"):
            view.toggle_breakpoint()
        view.close()


def test_views_of_one_selection_select_together(running):
    session, view = running
    other = GraphView(session, selection=view.selection)
    open_view(other)
    other.select("outer/greater")
    assert view.selected == "outer/greater" and model(view)["marks"].selected == "outer/greater"
    view.selection.select("i")  # a public name of a value
    assert model(other)["status"]["title"] == session.graph.value("i").node
    other.close()


# -- large graphs -----------------------------------------------------------------------------------------------------
def test_a_large_graph_has_an_overview_and_a_click_there_reveals_a_node():
    graph = plain(2000)
    view = GraphView(graph)
    assert view.tools.columns * 40 == len(view.tools.cells) > 0
    view.press("overview", {"x": 0.5, "y": 0.5})
    node = view.selected
    assert node is not None and node in {b["id"] for b in view.picture["nodes"]}
    marks = model(view)["status"]["overview"]
    assert marks["selected"] and marks["span"][0] <= marks["selected"][0] <= marks["span"][1]
    assert [c["text"] for c in model(view)["status"]["crumbs"]][0] == "plain"
    view.close()
    small = GraphView(newton())
    assert small.overview is None and small.tools.columns == 0
    small.close()


# -- hostile names ----------------------------------------------------------------------------------------------------
TAG = re.compile(r"<\s*(img|script|a|svg|iframe)\b", re.IGNORECASE)


def shown_texts(figure):
    for trace in figure.data:
        for what in (trace.text, trace.hovertext):
            yield from [what] if isinstance(what, str) else (what or ())


def test_names_with_tags_are_shown_in_boxes_groups_hover_and_files(tmp_path):
    with wb.Session(evil(), {f"x{EVIL}": 0.0}) as session:
        session.run()
        view = GraphView(session)
        for _ in range(2):
            texts = list(shown_texts(view.figure))
            assert any("&lt;img" in t for t in texts) and not any(TAG.search(t) for t in texts)
            view.collapse(*(p for p in session.graph.frames if p))
        assert "<img src=x" not in view.to_html(tmp_path / "g.html").read_text(encoding="utf-8")
        view.close()


def test_names_of_ten_thousand_characters_travel_once():
    b = wb.GraphBuilder("long" * 2500)
    x = b.placeholder("x", "float64", ())
    long = "n" * 10_000
    y = b.add(x, x, name=long)
    loop = b.while_loop(lambda v: v < 3.0, lambda v: v + 1.0, y, name="f" * 10_000)
    graph = b.build({"y" * 10_000: loop})
    view = GraphView(graph)
    figure = view.figure
    assert len(figure.to_json()) < 200_000
    hit = figure.data[spec.HIT]
    meant = {box_meant(view.picture, key) for kind, key, *_ in hit.customdata if kind == "node"}
    assert long in meant
    view.select(long)
    status = model(view)["status"]
    assert max(len(f["text"]) for f in status["facts"]) < 500 and len(status["title"]) < 500
    assert box_meant(view.picture, "\n99999") is None and box_meant(view.picture, "\nx") is None
    view.close()


def test_a_run_at_full_speed_does_not_wait_for_the_picture():
    with wb.Session(counter(), {"start": 0.0}) as session:
        view = GraphView(session, selection=Selection())
        session.run(wait=False)
        assert until(lambda: session.state == "running")
        for _ in range(5):
            view.show(session.snapshot())
        assert session.state == "running"
        view.selection.look_at(Moment(("while",), (3,)))
        view.show(session.snapshot())
        assert session.state == "running"
        session.pause()
        view.close()


def test_a_failed_node_is_red_and_has_no_value():
    @wb.graph
    def falling(n):
        x = n
        y = 0
        while x > -5:
            y = 100 // x
            x = x - 1
        return y

    with wb.Session(falling.graph_for(3), {"n": 3}) as session:
        view = GraphView(session)
        session.run()
        assert session.snapshot().state == "failed"
        node = session.position.node
        model = view.model(session.snapshot())
        home = model["picture"]["home"][node]
        assert model["state"]["bad"][home] == "failed" and model["state"]["values"].get(home) in (None, "failed")
        assert {"sign": "box", "colour": theme.BAD, "style": "bold", "text": "failed"} in model["legend"]
        assert any("failed" in words for words in view.figure.data[spec.BAD_VALUES].text)
        view.close()


def test_the_legend_has_the_signs_of_the_picture_and_no_other(running):
    session, view = running
    texts = [sign["text"] for sign in view.model(session.snapshot())["legend"]]
    assert "loop variable" in texts and "control flow" in texts and "run by another library" not in texts
    assert "closed box: click to open" not in texts and "way back" in texts
    view.collapse(("outer",))
    texts = [sign["text"] for sign in view.model(session.snapshot())["legend"]]
    assert "closed box: click to open" in texts and "way back" not in texts
    with_graph_alone = GraphView(session.graph)
    assert "next" not in [sign["text"] for sign in with_graph_alone.model(None)["legend"]]
    with_graph_alone.close()


def test_the_first_zoom_shows_all_where_it_can_be_read():
    view = GraphView(newton())
    tall = view.picture["height"]
    view.zoom_to("start", 900.0, 0.8 * tall)
    assert 0.65 < view.zoom <= 0.8
    view.zoom_to("start", 900.0, 0.3 * tall)
    assert view.collapsed and view.picture["height"] * view.zoom <= 0.3 * tall
    view.expand()
    view.zoom_to("start", 900.0, 0.3 * tall)
    assert view.zoom == LEGIBLE, "smaller words could not be read"
    view.close()


def test_lines_cross_neither_boxes_nor_captions():
    """Counted: lines through boxes that they do not belong to, and through captions."""
    for graph, direction, ops in itertools.product((newton(), nested()), ("down", "right"), (False, True)):
        picture = graph_model(graph, direction=direction, dataflow_ops=ops)
        boxes = {b["id"]: b for b in picture["nodes"]}
        for edge in picture["edges"]:
            for key, box in boxes.items():
                if key not in (edge["source"], edge["target"]):
                    assert not passes(edge["points"], box["x"], box["y"], box["w"] - 2, box["h"] - 2), (edge, key)
        if direction == "down":
            for frame in picture["frames"]:
                words = 7.0 * (len(frame["caption"]) + (18 if frame["kind"] == "loop" else 2))
                at = frame["caption_x"] + words / 2, frame["y"] - frame["h"] / 2 + 12
                assert sum(passes(e["points"], *at, words, 16) for e in picture["edges"]) == 0


def passes(points, x, y, w, h):
    """True if a line runs through the rectangle about (x, y); looked at every half pixel."""
    for (x0, y0), (x1, y1) in zip(points, points[1:], strict=False):
        many = int(2 * max(abs(x1 - x0), abs(y1 - y0))) + 1
        for k in range(many + 1):
            px, py = x0 + (x1 - x0) * k / many, y0 + (y1 - y0) * k / many
            if abs(px - x) < w / 2 and abs(py - y) < h / 2:
                return True
    return False


def test_the_loop_with_the_first_nan_is_open_and_its_bad_op_in_sight():
    b = wb.GraphBuilder("wide")
    w = b.placeholder("w", "float64", (4,))

    def body(k, v):
        z = v
        for _ in range(24):
            z = np.tanh(z) + v
        return k + 1, np.sqrt(z - 40.0)

    _, v = b.while_loop(lambda k, v: k < 3, body, (b.constant(0, "int64"), w))
    panel = wb.debug(b.build({"v": v}), {"w": np.ones(4)})
    open_view(panel.toolbar)
    panel.graph.zoom_to("start", 300, 400)
    panel.session.run()
    panel.toolbar.update_now()
    first_bad = wb.nan_origin(panel.session).node
    assert until(lambda: model(panel.graph)["picture"]["home"][first_bad] == first_bad), panel.toolbar.status
    box = next(n for n in model(panel.graph)["picture"]["nodes"] if n["id"] == first_bad)
    sight = model(panel.graph)["status"]["sight"]
    assert abs(sight["y"] - box["y"]) < 1 and abs(sight["x"] - box["x"]) < 1
    panel.close()
