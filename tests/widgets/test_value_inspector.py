"""The inspector: slices of the tensor and of time, previous and difference, displays, editing."""

from __future__ import annotations

import json

import numpy as np
import pytest

import workbench as wb
from tests.widgets.browser_side import until
from tests.widgets.graphs import EVIL, evil, flat, nested, newton
from tests.work import Work
from workbench.widgets import ValueInspector
from workbench.widgets.live.selection import Moment, Selection
from workbench.widgets.values.inspector_model import MAX_POINTS, inspector_model, place_of
from workbench.widgets.values.offered import first_name, offered_names

pytestmark = pytest.mark.usefixtures("nothing_is_left")


def matrices(trips: int = 30) -> wb.Graph:
    """``m`` (3 x 4) grows by one in every iteration."""
    b = wb.GraphBuilder("matrices")
    m0 = b.placeholder("m0", "float64", (3, 4))
    m, _ = b.while_loop(lambda m, i: i < trips, lambda m, i: (m + 1.0, i + 1), (m0, b.constant(0, "int64")))
    return b.build({"m": m})


START = np.arange(12.0).reshape(3, 4)


@pytest.fixture
def session():
    with wb.Session(matrices(), {"m0": START}) as session:
        yield session


@pytest.fixture
def view(session):
    session.run()
    view = ValueInspector(session, "m")
    yield view
    view.close()


def model(view):
    return view.model(view.source.snapshot())


def name_of(session):
    return session.graph.frames[("while",)].variables[0].name


# -- of the tensor and of time ----------------------------------------------------------------------------------------
def test_an_index_of_the_tensor(view):
    view.look("[1, ::-2]")
    found = model(view)
    assert found["cells"] == [["37"], ["35"]] and found["rows"] == ["3", "1"]
    view.look("[0, 0]")
    assert model(view)["kind"] == "scalar" and model(view)["text"] == "30"
    view.look("[7]")
    assert "Index 7 is out of range" in model(view)["errors"]["index"]
    assert model(view)["cells"], "the whole value is shown instead"
    with pytest.raises(wb.WorkbenchError, match="bad-slice"):
        view.look("[oops]")


def test_moments_and_stretches_of_time(session, view):
    view.select(name_of(session))
    for words, expected in (("0", 0.0), ("7", 7.0), ("-1", 30.0), ("-31", 0.0)):
        view.look("[0, 0]", words)
        assert float(model(view)["text"]) == expected
    view.look("[0, 0]", "10:20")
    found = model(view)
    np.testing.assert_array_equal(found["line"]["lines"][0][0], np.arange(10.0, 20.0))
    np.testing.assert_array_equal(found["line"]["lines"][0][1], np.arange(10.0, 20.0))
    assert found["rows"] == [str(i) for i in range(10, 20)] and found["header"].startswith("float64[10,3,4]")
    view.look("", "::-1")
    assert model(view)["cells"][0][0] == "15" and model(view)["rows"][-1] == "0", "rows are time, the last one is 0"
    view.look("", "99")
    assert model(view)["kind"] == "none" and model(view)["text"]
    view.look("", "40:50")
    assert "contains none of the" in model(view)["text"]


def test_time_in_nested_loops():
    with wb.Session(nested(), {"n": 5}) as session:
        session.run()
        view = ValueInspector(session, session.graph.frames[("outer", "inner")].variables[0].name)
        view.look(time="3, 2")
        assert model(view)["text"] == "2" and model(view)["where"] == "outer 3 \u203a inner 2"
        view.look(time="4, 1:4")
        assert [r for r in model(view)["rows"]] == ["4, 1", "4, 2", "4, 3"]
        view.look(time="2:4")
        assert model(view)["rows"] == ["1, 1", "2, 0"], "one part counts firings"
        for words in ("1, 2, 3", ":, 3", "-1, 0", "..."):
            view.look(time=words)
            assert model(view)["kind"] == "none" and model(view)["text"] != "no value yet", words
        view.close()


def test_a_long_history_is_thinned():
    with wb.Session(matrices(5000), {"m0": START}) as session:
        session.run()
        view = ValueInspector(session, name_of(session))
        view.look("[2, 3]", ":")
        with Work() as work:
            found = model(view)
        assert work.calls < 10_000, "each value that is drawn is read, and not each of the run"
        x, y = found["line"]["lines"][0]
        assert 400 < len(x) <= 512 and "every 10th value" in found["note"]
        np.testing.assert_array_equal(y, x + 11.0)
        view.close()


# -- modes ------------------------------------------------------------------------------------------------------------
def test_previous_difference_and_two_moments(session, view):
    view.select(name_of(session))
    view.look("[0, 0]", "7", mode="previous")
    assert model(view)["text"] == "6"
    view.look(mode="difference")
    assert model(view)["text"] == "1" and model(view)["where"] == "iteration 7 \u2212 iteration 6"
    view.look("", "7", mode="against", against="2")
    found = model(view)
    assert found["cells"][0][0] == "5" and found["statistics"]["largest difference"].startswith("5 at [0, 0]")
    view.look(mode="previous", time="0")
    assert "this is the first iteration" in model(view)["text"]
    view.look(mode="difference", time="0")
    assert "this is the first iteration" in model(view)["text"]
    view.look(mode="previous", time="3:5")
    assert "history" in model(view)["text"]


def test_bools_and_unsigned_numbers_have_differences():
    b = wb.GraphBuilder("unsigned")
    x0 = b.placeholder("x0", "uint8", ())
    x = b.while_loop(lambda x: x > np.uint8(0), lambda x: x - np.uint8(1), x0)
    with wb.Session(b.build({"x": x}), {"x0": np.uint8(3)}) as session:
        session.run()
        view = ValueInspector(session, session.graph.frames[("while",)].variables[0].name)
        view.look(time="2", mode="difference")
        assert model(view)["text"] == "-1" or model(view)["text"] == "\u22121"
        view.close()


def test_the_moment_of_the_selection_is_shown(session):
    session.run()
    selection = Selection()
    view = ValueInspector(session, name_of(session), selection=selection)
    selection.look_at(Moment(("while",), (4,)))
    assert model(view)["cells"][0][0] == "4" and model(view)["where"] == "iteration 4"
    assert not model(view)["editable"], "the past cannot be edited"
    selection.select("m0")
    assert view.name == "m0"
    view.close()


def test_dead_values_say_so():
    with wb.Session(nested(), {"n": 6}) as session:
        session.run()
        view = ValueInspector(session, "outer/cond/subtract")
        view.look(time="0")
        view.look(time="0")
        assert "dead" in model(view)["text"]
        view.close()


# -- displays ---------------------------------------------------------------------------------------------------------
def test_displays(view):
    assert model(view)["display"] == "image" and model(view)["image"].shape == (3, 4)
    for display in ("line", "histogram", "table", "image"):
        view.look(display=display)
        assert model(view)["display"] == display and view.figure.data
    view.look("[0]", display="auto")
    assert model(view)["display"] == "line"
    with pytest.raises(wb.WorkbenchError, match="bad-display"):
        view.look(display="pie")
    with pytest.raises(wb.WorkbenchError, match="bad-mode"):
        view.look(mode="guess")


def test_a_line_of_many_axes_is_answered_in_place(session, view):
    view.select(name_of(session))
    view.look(time="0:3", display="line")
    assert "vector" in model(view)["errors"]["display"]


@pytest.mark.parametrize(
    "value",
    [
        np.zeros(0),
        np.zeros((0, 3)),
        np.zeros((3, 0)),
        np.full(5, np.nan),
        np.full((2, 2), np.inf),
        np.array([1e308, -1e308]),
        np.array([True, False]),
        np.array([1 + 2j, 3]),
        np.array(["a", "b"]),
        np.array([1, 1 + 1e-16] * 20),
        np.arange(24).reshape(2, 3, 4),
        np.float16([6e4, -6e4]),
        np.array([2**63], np.uint64),
        np.array([None, 1], object),
    ],
)
@pytest.mark.parametrize("display", ["auto", "table", "image", "histogram"])
@pytest.mark.filterwarnings("error")
def test_odd_values_in_every_display(value, display):
    found = inspector_model(value, "x", (), display)
    json.dumps({k: v for k, v in found.items() if k not in ("image", "line", "histogram", "origin")})


def test_huge_values_travel_as_summaries():
    value = np.random.default_rng(0).normal(size=3_000_000)
    value[1_234_567] = 1e6
    for display in ("line", "image", "histogram"):
        found = inspector_model(value, "x", (), display)
        assert found["image"] is None or np.shares_memory(found["image"], value), "no copy of all"
        assert found["line"] is None or len(found["line"]["lines"][0][0]) <= 4 * MAX_POINTS
        assert sum(len(row) for row in found["cells"]) <= 200
    assert max(inspector_model(value, "x", (), "line")["line"]["lines"][0][1]) == 1e6, "extremes stay visible"


def test_nan_cells_are_marked():
    found = inspector_model(np.array([[1.0, np.nan], [np.inf, 2.0]]))
    assert found["bad"] == [[0, 1], [1, 0]] and found["statistics"]["NaN"] == "1"


# -- editing ----------------------------------------------------------------------------------------------------------
def test_places_of_cells():
    from workbench.widgets.values.slices import parse_index

    value = np.arange(2 * 5 * 6).reshape(2, 5, 6)
    for words in ("", "[1]", "[1, ::-2, 3]", "[:, 4, ::2]", "[1, 2, 3]", "[..., 5]", "[1, 1:3]"):
        found = inspector_model(value, "x", parse_index(words))
        for i, row in enumerate(found["cells"] or [[found["text"]]]):
            for j, cell in enumerate(row):
                assert str(value[place_of(found["origin"], i, j)]) == cell


def test_a_scalar_is_edited_and_the_run_goes_on_from_it():
    with wb.Session(newton(), {"a": 2.0, "x0": 100.0}) as session:
        selection = Selection()
        view = ValueInspector(session, "x", selection=selection)
        session.run_to("while/divide", iteration=3)
        view.update_now()
        assert view.part.status["editable"]
        view.edit("1.5")
        assert session.value("x") == 1.5 and len(session.histories) == 1
        assert "session.set_value('x', 1.5)" in selection.lines
        session.run()
        assert abs(session.outputs["root"] - 2**0.5) < 1e-12
        view.close()


def test_a_cell_is_edited(session):
    view = ValueInspector(session, name_of(session))
    session.run_to("while/add", iteration=3)
    before = session.value(view.name)
    view.look("[2, ::2]")
    view._on_message("edit", {"row": 1, "column": 0, "text": "\u22125"})
    assert until(lambda: "set" in view.part.status["said"])
    after = session.value(view.name)
    assert after[2, 2] == -5.0 and (np.delete(after.ravel(), 10) == np.delete(before.ravel(), 10)).all()
    view.close()


def test_bad_edits_are_answered_in_place(session):
    view = ValueInspector(session, name_of(session))
    with pytest.raises(wb.WorkbenchError, match="not-editable"):
        view.edit("1")
    session.run_to("while/add", iteration=3)
    for text in ("", "one", "__import__('os')", "1" * 400):
        view._errors.clear()
        view._on_message("edit", {"row": 0, "column": 0, "text": text})
        assert until(lambda: "edit" in view.part.status["errors"])
    for nonsense in ({"row": "0"}, {"row": -1}, {"row": 99, "column": 99, "text": "1"}, {"column": None, "text": "2"}):
        view._on_message("edit", {"text": "1", **nonsense})
    assert until(lambda: view.part.status["errors"].get("edit"))
    assert len(session.histories) == 0
    view.close()


def test_fields_of_the_browser(session):
    session.run()
    view = ValueInspector(session, name_of(session))
    view._on_message("set", {"field": "time", "value": "5"})
    assert view.part.status["set_time"] == "5" and view.part.status["cells"][0][0] == "5"
    view._on_message("set", {"field": "index", "value": "["})
    assert view.part.status["errors"]["index"] and view.settings["index"] == ""
    view._on_message("set", {"field": "name", "value": "no such"})
    assert view.part.status["errors"]["name"]
    view._on_message("set", {"field": "__class__", "value": "x"})
    view._on_message("set", {"field": "mode", "value": "difference"})
    assert view.part.status["cells"][0][0] == "1" and not view.part.status["errors"]
    view.close()


def test_what_is_shown_can_be_copied_as_code(session):
    session.run()
    selection = Selection()
    view = ValueInspector(session, name_of(session), selection=selection)
    view._on_message("set", {"field": "index", "value": "[0, :2]"})
    assert selection.lines == (f"session.value({view.name!r})[0, :2]",)
    view._on_message("set", {"field": "time", "value": "5"})
    assert selection.lines == (f"session.value({view.name!r}, iteration=(5,))[0, :2]",), "only the last one matters"
    assert eval(selection.lines[0], {"session": session}).tolist() == [5.0, 6.0]
    view.close()


def test_names_with_tags_are_text():
    with wb.Session(evil(), {f"x{EVIL}": 0.0}) as session:
        session.run()
        view = ValueInspector(session)
        view.look(time=":")
        assert "<img" not in json.dumps(view.figure.to_plotly_json(), default=str)
        view.close()


def test_what_this_iteration_computes_anew_is_not_offered_for_an_edit():
    with wb.Session(newton(), {"a": 2.0, "x0": 20.0}) as session:
        session.next_iteration(3)
        for name, offered in (("while/divide", False), ("x", True), ("while/multiply_1", True)):
            inspector = ValueInspector(session, name)
            assert inspector.model(session.snapshot())["editable"] is offered, name
            if offered:
                inspector.edit("3.0")
                assert session.undo_edit()
            inspector.close()
        session.run_to("while/divide")
        session.step()
        inspector = ValueInspector(session, "while/divide")
        assert inspector.model(session.snapshot())["editable"], "it has fired"
        inspector.edit("3.0")
        inspector.close()


def test_the_iterations_to_come_are_those_that_come():
    """Looked ahead where the end is proved: of the next three and the last, also before the first step."""
    with wb.Session(newton(), {"a": 2.0, "x0": 20.0}) as session:
        inspector = ValueInspector(session, "x")
        before = inspector.part.status
        assert before["text"] == "no value yet" and [row[0] for row in before["ahead"][:3]] == ["0", "1", "2"]
        session.run_to("x", iteration=3)
        session.step()
        inspector.update_now()
        now = inspector.part.status
        assert now["recent"][-1][0] == "3" and now["now"] and [row[3] for row in now["ahead"][:3]] == ["ahead"] * 3
        assert [row[0] for row in now["ahead"]][3] == "\u22ef" and not any(now["ahead"][3][1:]), (
            "a sign for those between"
        )
        assert now["text"][: now["settled"]] == str(session.value("x", (2,)))[: now["settled"]]
        session.run()
        inspector.update_now()
        after = inspector.part.status
        assert after["ahead"] == []
        for row in (row for row in [*before["ahead"], *now["ahead"]] if row[3]):
            inspector.look(time=row[0])
            assert inspector.part.status["recent"][-1][1] == row[1], row
            assert row[2] in ("", inspector.part.status["recent"][-1][2])
            assert inspector.part.status["ahead"] == [], "the past has no rows ahead"
        inspector.close()


def test_a_forecast_has_the_digits_that_its_error_leaves():
    b = wb.GraphBuilder("slow")
    start = b.placeholder("start", "float64", ())
    x = b.while_loop(
        lambda x: np.abs(x) > 1e-12, lambda x: x - 1e-3 * np.sin(x) * np.cos(x) ** 2 * np.tanh(x), {"x": start}
    )
    with wb.Session(b.build(x), {"start": 0.7}) as session:
        session.next_iteration(200)
        assert session.look_ahead() is None, "else nothing is to be forecast"
        inspector = ValueInspector(session, "x")
        rows = inspector.part.status["ahead"]
        assert [row[3] for row in rows] == ["forecast"] * 3
        last = int(inspector.part.status["recent"][-1][0])
        session.next_iteration(5)
        for k, (iteration, told, change, _) in enumerate(rows):
            value, error = told.split(" \u00b1 ")
            assert iteration == str(last + 1 + k) and change == ""
            error = float(error.replace("\u2212", "-"))
            assert abs(float(value) - float(session.value("x", (last + 1 + k,)))) < 4 * error + 1e-9
            assert len(value.partition(".")[2]) <= max(1, int(np.ceil(-np.log10(error)))) + 1
        inspector.close()


def test_a_counter_is_not_the_first_value():
    b = wb.GraphBuilder("counted")
    k, x = b.while_loop(lambda k, x: k < 5, lambda k, x: (k + 1, x * 0.5), (b.constant(0, "int64"), b.constant(8.0)))
    with wb.Session(b.build({"k": k, "x": x})) as session:
        inspector = ValueInspector(session)
        assert inspector.name == "x" and inspector.names[:2] == ["x", "k"]
        inspector.close()


@wb.graph
def cooling(u, v):
    change = 1.0
    while change > 1e-3:
        new = u * 0.5
        change = np.max(np.abs(new - u))
        u = new
        v = v * 0.5
    return u, v


def test_it_opens_on_the_largest_array_of_a_loop_and_else_on_its_first_variable():
    graph = cooling.graph_for(np.ones((6, 5)), np.ones(7))
    view = ValueInspector(graph)
    assert view.name == "u" != view.names[0], view.names
    view.close()
    for other in (newton(), flat()):
        assert first_name(other, offered_names(other)) == offered_names(other)[0]
