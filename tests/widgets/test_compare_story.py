"""A value is set by hand, the run goes on, and Compare shows both runs in one chart with the edit as the cause."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.session.test_edits import by_hand, newton
from tests.widgets.browser_side import until
from workbench.widgets.compare.beside_model import ROWS, beside_model, first_difference, first_row
from workbench.widgets.compare.compare import outcome


@pytest.fixture
def panel():
    panel = wb.debug(newton(), {"a": 2.0})
    session = panel.session
    session.run()
    session.restart()
    session.run_to("x", iteration=3)
    session.step()
    session.set_value("x", 30.0)
    session.run()
    yield panel
    panel.close()


def test_the_story_of_the_edit(panel):
    pane = panel.panes.show("compare")
    assert (pane.left.value, pane.right.value) == ("this run", "before edit 1"), "the usual choice is what one wants"
    assert until(lambda: pane.holder.children, 30), "it compares them without being asked"
    (view,) = pane.holder.children
    status = view._part.status
    assert status["first"]["title"] == "First difference: x in iteration 3" and status["first"]["edited"]
    assert "was set by hand: 30 (this run), 1.41422 (before edit 1)" in status["first"]["cause"]
    assert "No node is to blame" in status["first"]["cause"] and status["undo"]
    mine, theirs, mark = view.figure.data[1:4]  # behind the table
    assert list(mine.y) == by_hand(2.0, 6, {3: 30.0}) and list(theirs.y) == by_hand(2.0, 6, {})
    assert (mine.name, theirs.name) == ("this run", "before edit 1") and mine.line.dash != theirs.line.dash
    assert mine.yaxis == theirs.yaxis == "y2" and list(mark.x) == [3.0] and list(mark.y) == [30.0]
    view.update_now()
    rows = view._part.status["table"]["table"]
    assert [r["kind"] for r in rows] == ["same"] * 3 + ["edited"] + ["differs"] * 3
    assert rows[3]["where"] == "3 edited" and rows[3]["a"] == "30" and rows[0]["difference"] == "same"
    assert pane.words.value.endswith(f"{len(view.diff.rows)} values differ.</div>")
    assert "view-failed" not in str(status) and "Error" not in pane.words.value


@pytest.mark.parametrize(
    ("one", "other", "rtol", "said"),
    [
        ([1.0], [1.0], 0.0, "The two are equal."),
        ([1.0], [1.0 + 1e-12], 1e-9, "The two agree within the tolerance."),
        ([1.0], [2.0], 0.0, "1 value differs."),
    ],
)
def test_the_outcome_of_a_comparison_is_one_sentence(one, other, rtol, said):
    assert outcome(wb.diff({"x": np.array(one)}, {"x": np.array(other)}, rtol=rtol)) == said


def test_runs_with_nothing_in_common_are_not_called_equal():
    assert outcome(wb.diff({"x": np.ones(1)}, {"y": np.ones(1)})).startswith("Nothing was compared")


def test_the_edit_is_undone_from_the_comparison(panel):
    pane = panel.panes.show("compare")
    assert until(lambda: pane.holder.children, 30), "it compares them without being asked"
    (view,) = pane.holder.children
    view._on_message("next", {})
    assert view.chosen == first_row(view.diff) + 1
    view._undo_edit()
    assert not panel.session.can_undo and not view._part.status["undo"]
    pane.refresh()
    assert "before edit 1" not in pane.left.options


def test_the_run_that_ended_earlier_is_said_to_have_ended():
    def until(limit):
        b = wb.GraphBuilder("count")
        n = b.while_loop(lambda n: n < b.constant(limit), lambda n: n + 1.0, {"n": b.placeholder("start")})
        return b.build(n)

    graph = until(30.0)
    with wb.Session(graph, {"start": 0.0}) as one, wb.Session(graph, {"start": 25.0}) as other:
        one.run()
        other.run()
        found = wb.diff(one, other, labels=("long", "short"))
        row = next(k for k, r in enumerate(found.rows) if r.frame and r.name == "n")
        beside = beside_model(found, row)
        assert len(beside["table"]) == ROWS and beside["table"][-1]["b"] == "ended"
        assert len(beside["lines"][0]["x"]) == 31 and len(beside["lines"][1]["x"]) == 6
        assert first_difference(found)["title"].startswith("First difference: start")


def test_of_an_array_the_item_that_is_furthest_apart():
    b = wb.GraphBuilder("vector")
    v = b.while_loop(
        lambda v, k: k < 4,
        lambda v, k: (v * 2.0, k + 1),
        {"v": b.placeholder("v", "float64", (3,)), "k": b.constant(0)},
    )
    graph = b.build(v)
    with wb.Session(graph, {"v": np.ones(3)}) as one, wb.Session(graph, {"v": np.array([1.0, 5.0, 1.0])}) as other:
        one.run()
        other.run()
        both = wb.diff(one, other).both("while/v/Merge")
        assert both.index == (1,) and both.a[1].tolist() == [1.0, 2.0, 4.0, 8.0, 16.0]
        assert both.b[1].tolist() == [5.0, 10.0, 20.0, 40.0, 80.0] and both.a[0][:, 0].tolist() == [0, 1, 2, 3, 4]


def test_long_runs_are_thinned_and_the_table_stays_short():
    b = wb.GraphBuilder("long")
    n = b.while_loop(lambda n: n < 20_000.0, lambda n: n + 1.0, {"n": b.placeholder("start")})
    graph = b.build(n)
    with wb.Session(graph, {"start": 0.0}) as one, wb.Session(graph, {"start": 0.5}) as other:
        one.run()
        other.run()
        found = wb.diff(one, other)
        beside = beside_model(found, next(k for k, r in enumerate(found.rows) if r.frame and r.name == "n"))
        assert len(beside["lines"][0]["x"]) < 5000 and len(beside["table"]) == ROWS
