"""Call stack and breakpoints: lists of HTML that share selection and pump with the figures."""

from __future__ import annotations

import json

import numpy as np
import plotly.graph_objects as go
import pytest

import workbench as wb
from tests.widgets.browser_side import open_view, until
from tests.widgets.graphs import EVIL, evil, nested, newton
from workbench.widgets import BreakpointTable, CallStackView, EvolutionView, GraphView
from workbench.widgets.breakpoints.breakpoint_model import arguments, iteration_path, recommended_text, with_place
from workbench.widgets.live.selection import Moment, Selection
from workbench.widgets.text.display_names import Spoken

pytestmark = pytest.mark.usefixtures("nothing_is_left")


@pytest.fixture
def session():
    with wb.Session(nested(), {"n": 5}) as session:
        yield session


@pytest.mark.parametrize(("hits", "nth"), [(2, "2nd"), (11, "11th"), (21, "21st"), (103, "103rd"), (112, "112th")])
def test_the_hit_of_a_recommended_breakpoint_is_an_ordinal(hits, nth):
    words = recommended_text({"where": "x", "health": "nan", "hits": hits}, Spoken(newton()))
    assert words.endswith(f": stop when nan, for the {nth} time")


@pytest.mark.parametrize("kind", [CallStackView, BreakpointTable])
def test_they_take_a_session_a_trace_or_a_graph(kind, session, tmp_path):
    session.run()
    for source in (session, session.trace, session.graph):
        view = kind(source)
        json.dumps(view.status)
        assert type(view.figure) is go.Figure
        page = view.to_html(tmp_path / "view.html").read_text(encoding="utf-8")
        assert "Plotly.newPlot" in page
        assert repr(view).startswith(f"<{kind.__name__}")
        view.close()
        view.close()


# -- call stack -------------------------------------------------------------------------------------------------------
def test_the_stack_is_that_of_the_place_where_the_session_stands(session):
    view = CallStackView(session)
    session.run_to("inner/add", iteration=(3, 1))
    view.update_now()
    rows = view.status["rows"]
    assert [(r["name"], r["iteration"]) for r in rows] == [("top level", []), ("outer", [3]), ("inner", [3, 1])]
    assert rows[-1]["node"] == "inner/add" and rows[-1]["inner"] and rows[-1]["step"] == "j + 1"
    assert rows[1]["node"] == "inner/j/Enter", "the frame above shows where it went in"
    view.close()


def test_the_trip_count_is_told_once_the_loop_is_over(session):
    session.run()
    selection = Selection()
    view = CallStackView(session, selection=selection)
    assert "finished" in view.status["headline"] and len(view.status["rows"]) == 1
    selection.look_at(Moment(("outer", "inner"), (4, 2)))
    assert [r["where"] for r in view.status["rows"]] == ["", "iteration 4 of 5", "iteration 2 of 4"]
    assert view.status["looking"]
    selection.look_at(Moment(("outer",), (5,)))
    assert view.status["rows"][-1]["where"] == "iteration 5 of 5, which ended the loop"
    view.close()


def test_a_click_on_a_row_looks_there_and_back(session):
    selection = Selection()
    view = CallStackView(session, selection=selection)
    session.run_to("inner/add", iteration=(3, 1))
    view.update_now()
    view._browser_says(view, {"kind": "look", "row": 1}, [])
    assert (selection.moment, selection.node) == (Moment(("outer",), (3,)), "inner/j/Enter")
    assert len(view.status["rows"]) == 2
    view._browser_says(view, {"kind": "now"}, [])
    assert selection.moment is None and len(view.status["rows"]) == 3
    for nonsense in (-1, 99, "1", None, True):
        view._browser_says(view, {"kind": "look", "row": nonsense}, [])
    with pytest.raises(wb.WorkbenchError, match="no-row"):
        view.look(99)
    view.close()


def test_source_lines_of_a_python_function():
    @wb.graph
    def halve(x):
        while x > 1.0:
            x = x / 2.0
        return x

    graph = halve.graph_for(8.0)
    with wb.Session(graph, dict.fromkeys(graph.inputs, 8.0)) as session:
        session.run_to(next(n for n, node in graph.nodes.items() if node.op == "divide"), iteration=1)
        view = CallStackView(session)
        last = view.status["rows"][-1]
        assert last["source"].startswith("test_flow_lists.py:") and "x / 2.0" in last["expression"]
        view.close()


def test_it_follows_a_run_through_the_pump():
    with wb.Session(newton(), {"a": 2.0, "x0": 100.0}) as session:
        view = CallStackView(session)
        open_view(view)
        session.next_iteration(3)
        assert until(lambda: any(r["iteration"] for r in view.status["rows"]))
        view.close()


def test_names_with_tags_travel_as_plain_text_and_are_escaped_in_figures():
    with wb.Session(evil(), {f"x{EVIL}": 0.0}) as session:
        session.next_iteration(2)
        for view in (CallStackView(session), BreakpointTable(session)):
            assert "<img" not in json.dumps(view.figure.to_plotly_json()["data"], default=str)
            view.close()


# -- breakpoints ------------------------------------------------------------------------------------------------------
def test_what_the_form_says():
    assert arguments({"where": " x ", "as": "always"}) == {"where": "x"}
    assert arguments({"where": "x", "as": "when", "text": "value > 1"}) == {"where": "x", "when": "value > 1"}
    assert arguments({"as": "health", "text": "nan"}) == {"where": "*", "health": "nan"}
    assert arguments({"where": "x", "as": "change", "text": "?"}) == {"where": "x", "watch": "change"}
    assert arguments({"where": "x", "as": "ignore", "hits": "?"}) == {"where": "x"}
    assert arguments({"as": "ignore", "text": "inf"}) == {"where": "*", "health": "inf"}
    assert set(arguments({"as": "log health", "text": "inf"})) == {"where", "health", "log"}
    found = arguments({"where": "x", "as": "log", "text": "x is {value}", "iteration": "1, any", "hits": "3"})
    assert found == {"where": "x", "log": "x is {value}", "iteration": (1, None), "hits": 3}


def test_a_condition_says_its_place_itself():
    graph = newton()
    told = with_place({"where": "x < 1.42 and iteration > 1", "as": "always"}, graph)
    assert arguments(told) == {"where": "x", "when": "x < 1.42 and iteration > 1"}
    told = with_place({"where": "", "as": "when", "text": "a > 1 or x > 2"}, graph)
    assert arguments(told) == {"where": "a", "when": "a > 1 or x > 2"}
    for form in ({"where": "x", "as": "when", "text": "value > 1"}, {"where": "x"}, {"where": "x > 1", "as": "change"}):
        assert with_place(form, graph) is form
    with pytest.raises(wb.WorkbenchError, match="names no value"):
        with_place({"where": "iteration > 3"}, graph)
    with pytest.raises(wb.WorkbenchError, match="condition"):
        with_place({"where": "x < "}, graph)
    name = f"x{EVIL}"
    assert with_place({"where": name}, evil()) == {"where": name}, "a name with < in it is a place"


@pytest.mark.parametrize(
    "form",
    [
        {},
        {"where": "x", "as": "nonsense"},
        {"where": "x", "as": "when"},
        {"where": "x", "hits": "-1"},
        {"where": "x", "hits": "many"},
        {"where": "x", "iteration": "last"},
        {"where": "x" * 10_000},
        {"where": "x", "iteration": "-1"},
        {"where": "x", "iteration": "9" * 400},
        {"where": None},
    ],
)
def test_what_cannot_be_meant_is_refused(form):
    with pytest.raises(wb.WorkbenchError):
        arguments(form)


def test_iteration_paths():
    assert iteration_path("3") == (3,) and iteration_path("(1, *)") == (1, None) and iteration_path("2,") == (2,)


def test_rows_are_added_and_removed(session):
    view = BreakpointTable(session)
    view._browser_says(view, {"kind": "add", "where": "outer/add", "as": "always"}, [])
    view._browser_says(view, {"kind": "add", "where": "outer/less", "as": "when", "text": "value == False"}, [])
    rows = view.status["rows"]
    assert [r["kind"] for r in rows] == ["break", "conditional"] and view.status["error"] == ""
    assert session.run().reason is wb.StopReason.BREAKPOINT
    view._browser_says(view, {"kind": "remove", "number": rows[0]["number"]}, [])
    assert len(view.status["rows"]) == len(session.breakpoints) == 1
    view.close()


def test_errors_are_answered_in_place(session):
    view = BreakpointTable(session)
    for form in ({"where": "no such"}, {"where": "outer/add", "as": "when", "text": "__import__('os')"}, {"where": ""}):
        view._browser_says(view, {"kind": "add", **form}, [])
        assert view.status["error"] and not view.status["rows"]
    view._browser_says(view, {"kind": "remove", "number": 12}, [])
    assert view.status["error"]
    view._browser_says(view, {"kind": "add", "where": "outer/add"}, [])
    assert view.status["error"] == "" and len(view.status["rows"]) == 1
    view.close()


def test_switching_editing_and_copying_as_code(session):
    selection = Selection()
    view = BreakpointTable(session, selection=selection)
    point = view.add("outer/less", when="value == True", hits=2)
    (row,) = view.status["rows"]
    assert (row["field"], row["condition"], row["also"]) == ("when", "value == True", "at hit 2")
    view._browser_says(view, {"kind": "toggle", "number": point.number}, [])
    assert not view.status["rows"][0]["enabled"] and not point.enabled
    view._browser_says(view, {"kind": "edit", "number": point.number, "text": "value =="}, [])
    assert view.status["error"] and view.status["rows"][0]["condition"] == "value == True", "the old one stays"
    view._browser_says(view, {"kind": "edit", "number": point.number, "text": "value == False"}, [])
    (row,) = view.status["rows"]
    assert (row["condition"], row["also"], row["enabled"], view.status["error"]) == (
        "value == False",
        "at hit 2",
        False,
        "",
    )
    view._browser_says(view, {"kind": "edit", "number": row["number"], "text": ""}, [])
    assert view.status["rows"][0]["kind"] == "break", "without a condition it always stops"
    with wb.Session(session.graph, {"n": 5}) as other:
        for line in selection.lines[:1]:
            exec(line, {"session": other})
        assert other.breakpoints.table()[0]["text"] == point.text
    view.close()


def test_where_a_breakpoint_would_have_hit(session):
    session.run()
    selection = Selection()
    view = BreakpointTable(session, selection=selection)
    point = view.add("inner/add", when="value == 2")
    event = session.snapshot().event
    view._browser_says(view, {"kind": "recheck", "number": point.number}, [])
    assert until(lambda: view.status["rows"][0]["recheck"] is not None)
    found = view.status["rows"][0]["recheck"]
    assert found["count"] == "3" and [t["iteration"] for t in found["tags"]] == [[2, 1], [3, 1], [4, 1]]
    assert session.snapshot().event == event, "nothing was run"
    view._browser_says(view, {"kind": "look", "number": point.number, "hit": 1}, [])
    assert selection.moment == Moment(("outer", "inner"), (3, 1)) and selection.node == "inner/add"
    for nonsense in ({"number": 99, "hit": 0}, {"number": point.number, "hit": 99}, {"number": None}, {"hit": "1"}):
        view._browser_says(view, {"kind": "look", **nonsense}, [])
    assert selection.moment == Moment(("outer", "inner"), (3, 1))
    view.close()


def test_recommended_ones_are_added_with_one_click(session):
    view = BreakpointTable(session)
    view._browser_says(view, {"kind": "recommend"}, [])
    assert until(lambda: view.status["asked"])
    found = view.status["recommended"]
    assert found and all(r["why"] and ": stop when " in r["text"] for r in found)
    view._browser_says(view, {"kind": "take", "number": 0}, [])
    assert len(view.status["rows"]) == 1 and view.status["recommended"] == found[1:]
    for nonsense in (99, -1, "0", None):
        view._browser_says(view, {"kind": "take", "number": nonsense}, [])
    assert len(view.status["rows"]) == 1
    view.close()


def test_expected_nan_is_ignored_and_the_rest_is_logged_without_a_stop():
    b = wb.GraphBuilder("expected")
    x0 = b.placeholder("x0", "float64", ())

    def body(x, y, i):
        return x - 1.0, np.log(x) * 0.0 + np.sqrt(x), i + 1

    x, y, _ = b.while_loop(lambda x, y, i: i < 5, body, (x0, x0, b.constant(0, "int64")), name="loop")
    with wb.Session(b.build({"x": x, "y": y}), {"x0": 2.5}) as session:
        selection = Selection()
        view = BreakpointTable(session, selection=selection)
        view._browser_says(view, {"kind": "add", "as": "log health", "text": "nan"}, [])
        view._browser_says(view, {"kind": "add", "as": "ignore", "where": "loop/log*", "text": "nan"}, [])
        assert view.status["error"] == "" and len(view.status["ignored"]) == 1
        assert session.run().reason is wb.StopReason.FINISHED, "nothing halts"
        view.update_now()
        lines = view.status["log"]
        assert lines and not any(line["node"].startswith("loop/log") for line in lines)
        assert view.status["logged"] == len(lines) and "nan at" in lines[0]["text"]
        view._browser_says(view, {"kind": "line", "number": 0}, [])
        assert selection.node == lines[0]["node"] and selection.moment.iteration == tuple(lines[0]["iteration"])
        view._browser_says(view, {"kind": "remove", "number": view.status["ignored"][0]["number"]}, [])
        assert view.status["ignored"] == []
        view.close()


def test_a_record_has_no_breakpoints(session):
    session.run()
    view = BreakpointTable(session.trace)
    assert view.status["live"] is False
    view._browser_says(view, {"kind": "add", "where": "outer/add"}, [])
    with pytest.raises(wb.WorkbenchError, match="no-session"):
        view.add("outer/add")
    view.close()


def test_a_breakpoint_of_another_cell_is_shown_at_once(session):
    def marked():
        return [(m["box"], m["enabled"]) for m in graph._points.marks(graph.picture)]

    session.run_to("inner/add", iteration=(3, 1))
    table, graph = BreakpointTable(session), GraphView(session)  # each with a selection of its own
    lines = EvolutionView(session, ["inner/add"])
    point = session.breakpoints.add("inner/add")
    assert [r["text"] for r in table.status["rows"]] == ["inner/add"] and graph._shown_points == ((point, True),)
    assert len(marked()) == 1
    point.enabled = False
    assert not table.status["rows"][0]["enabled"] and marked()[0][1] is False
    session.breakpoints.edit(1, when="value > 1")
    assert table.status["rows"][0]["condition"] == "value > 1"
    assert any("value &gt; 1" in str(t) or "value > 1" in str(t) for t in graph.live.figure.data), (
        "the mark tells the new one"
    )
    assert "value &gt; 1" in str(lines.live.figure.layout.meta["heads"])
    session.breakpoints.remove(1)
    assert not table.status["rows"] and not marked()
    assert "value &gt; 1" not in str(lines.live.figure.layout.meta["heads"])
    for view in (table, graph, lines):
        view.close()
    session.breakpoints.add("inner/add")
    assert not session.breakpoints._listeners


def test_an_edited_one_keeps_its_number_and_forgets_its_hits(session):
    view = BreakpointTable(session)
    session.breakpoints.add("inner/add", when="value >= 0")
    session.run()
    assert view.points[1].hits_seen == 1
    view.recheck(1)
    view._browser_says(view, {"kind": "edit", "number": 1, "text": "value > 1e9"}, [])
    (row,) = view.status["rows"]
    assert (row["number"], row["condition"], row["hits"], row["recheck"]) == (1, "value > 1e9", 0, None)
    assert view.selection.lines[-1] == "session.breakpoints.edit(1, when='value > 1e9')"
    view.close()
