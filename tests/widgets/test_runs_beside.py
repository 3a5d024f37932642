"""Runs beside a run: which there are, what is drawn of them, and that each drawn number is one of their records."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.widgets.browser_side import open_view, until
from tests.widgets.graphs import newton
from workbench.errors import WorkbenchError
from workbench.widgets.evolution.beside import differences


@pytest.fixture
def panel():
    made = wb.debug(newton(), {"a": 2.0, "x0": 100.0})
    open_view(made.evolution)
    open_view(made.chips)
    yield made
    made.close()


def edited(panel):
    session = panel.session
    session.run()
    before = session.trace["x"].values.copy()
    session.run_to("x", iteration=6)
    session.step()
    session.set_value("x", 3.0)
    session.run()
    assert until(lambda: len(panel.runs.traces()) == 1)
    panel.evolution.show(session.snapshot())
    panel.chips.show(session.snapshot())
    return before


def line(panel, name):
    return next(t for t in panel.evolution.figure.data if t.name == name)


def notes(panel):
    """All texts beside the strips, as drawn."""
    return " ".join(str(a.text) for a in panel.evolution.figure.layout.annotations)


def test_what_was_before_an_edit_is_a_chip_and_its_line_is_its_record(panel):
    before = edited(panel)
    (chip,) = panel.chips.status["runs"]
    assert (chip["label"], chip["on"], chip["added"]) == ("before edit 1", True, False)
    assert np.array_equal(line(panel, "x (before edit 1)").y, before)
    panel.chips.handle_message("draw", {"label": "before edit 1", "on": False})
    panel.evolution.show(panel.session.snapshot())
    assert not any("before edit" in (t.name or "") for t in panel.evolution.figure.data)
    assert panel.runs.drawn() == [] and [run.label for run in panel.runs.all()] == ["before edit 1"]


def test_the_condition_of_the_other_run_is_drawn_too_and_when_it_stopped(panel):
    before = edited(panel)
    drawn = [t for t in panel.evolution.figure.data if (t.name or "").endswith("a| (before edit 1)") and len(t.y)]
    assert len(drawn) == 1 and np.allclose(drawn[0].y, np.abs(before * before - 2.0), rtol=1e-6, atol=1e-12)
    assert f"stops in {len(before) - 1}" in notes(panel)


def test_the_difference_is_zero_up_to_the_edit_and_then_that_of_the_two_records(panel):
    before = edited(panel)
    panel.chips.handle_message("difference", {"on": True})
    panel.evolution.show(panel.session.snapshot())
    mine = panel.session.trace["x"].values
    shared = min(len(mine), len(before))
    drawn = line(panel, "difference in x")
    assert np.array_equal(drawn.y, mine[:shared] - before[:shared]) and not drawn.y[:6].any() and drawn.y[6] != 0.0
    assert "equal before iteration 6" in notes(panel)
    panel.evolution.scale = "log"
    panel.evolution.show(panel.session.snapshot())
    assert not any("difference" in (t.name or "") for t in panel.evolution.figure.data), "magnitudes have no difference"


def test_a_thinned_line_is_not_said_to_be_equal_where_it_is_not_drawn():
    """Every second iteration is drawn, and iteration 4 is the first of these to differ: 3 may be the first of all."""
    x, one, two = np.arange(0, 12, 2), np.zeros(6), np.array([0.0, 0.0, 1.0, 0.0, 0.0, 0.0])

    def strips(x, one, two):
        ghost = {"line": "x", "x": x, "y": two, "words": "copy 1"}
        return differences({"log": False, "lines": [{"name": "x", "x": x, "y": one}], "ghosts": [ghost]})[0].notes

    assert strips(x, one, two) == ["from copy 1", "different in iteration 4"]
    assert strips(x, one, one) == ["from copy 1", "equal in all iterations drawn"]
    assert strips(np.arange(6), one, two) == ["from copy 1", "equal before iteration 2"]
    nothing = np.full(6, np.nan)
    assert strips(np.arange(6), nothing, nothing) == ["from copy 1", "equal in all iterations"]


def test_the_rows_below_a_number_have_the_value_of_the_other_run_and_the_difference(panel):
    before = edited(panel)
    open_view(panel.inspector)
    panel.selection.look_at(wb.widgets.Moment(("while",), (7,)), node="x")
    panel.inspector.show(panel.session.snapshot())
    status = panel.inspector.part.status
    assert status["beside"] == "before edit 1"
    rows = {row[0]: row for row in status["recent"]}
    assert rows["5"][3] == "same" and rows["7"][3] != "same"
    mine = panel.session.trace["x"].values
    assert float(rows["7"][2].replace("\u2212", "-")) == pytest.approx(before[7], rel=1e-6)
    assert float(rows["7"][3].replace("\u2212", "-")) == pytest.approx(mine[7] - before[7], rel=1e-2)


def test_other_inputs_are_called_by_what_they_were(panel):
    panel.session.run()
    panel.session.update(a=9.0)
    panel.session.run()
    panel.chips.show(panel.session.snapshot())
    assert [(c["words"], c["label"]) for c in panel.chips.status["runs"]] == [("a = 2", "earlier inputs 1")]


def test_a_saved_trace_a_copy_and_a_watch_stand_beside_it(panel, tmp_path):
    panel.session.run()
    panel.session.trace.save(tmp_path / "yesterday.wbtrace")
    panel.chips.load(str(tmp_path / "yesterday.wbtrace"))
    panel.chips.copy()
    with wb.watch("other", show=False) as watch:
        for k in range(5):
            watch(x=1.0 + k)
    panel.runs.add("a loop of mine", watch)
    panel.evolution.show(panel.session.snapshot())
    assert [run.label for run in panel.runs.all()] == ["copy 1", "yesterday", "a loop of mine"]
    assert list(line(panel, "x (a loop of mine)").y) == [1.0, 2.0, 3.0, 4.0, 5.0]
    assert np.array_equal(line(panel, "x (yesterday)").y, panel.session.trace["x"].values)
    panel.runs.choose("copy 1", True)
    panel.evolution.show(panel.session.snapshot())
    assert np.array_equal(line(panel, "x (copy 1)").y, panel.session.forks[0].trace["x"].values)
    panel.chips.handle_message("remove", {"label": "yesterday"})
    assert [run.label for run in panel.runs.all()] == ["copy 1", "a loop of mine"]


def test_what_cannot_be_loaded_is_said_below_the_chips(panel, tmp_path):
    panel.chips.load(str(tmp_path / "none.wbtrace"))
    panel.chips.show(panel.session.snapshot())
    assert "none.wbtrace" in panel.chips.status["said"] and panel.runs.all() == []
    panel.chips.copy()
    panel.chips.show(panel.session.snapshot())
    assert panel.chips.status["said"] == ""


def test_a_label_is_given_once_and_of_many_runs_two_are_drawn(panel):
    panel.session.run()
    for k in range(3):
        panel.runs.add(f"run {k}", panel.session.trace)
    assert [run.label for run in panel.runs.drawn()] == ["run 1", "run 2"]
    for label in ("run 0", "this run"):
        with pytest.raises(WorkbenchError, match="exists already") as caught:
            panel.runs.add(label, panel.session.trace)
        assert caught.value.slug == "side-exists"
    assert {"run 0", "run 1", "run 2"} <= set(panel.panes.show("compare").sides())


def test_a_run_of_another_graph_has_no_line_and_breaks_nothing(panel):
    panel.session.run()
    b = wb.GraphBuilder("flat")
    with wb.Session(b.build({"y": b.placeholder("z", "float64", ()) + 1.0}), {"z": 1.0}) as other:
        other.run()
        panel.runs.add("other", other)
        panel.evolution.show(panel.session.snapshot())
        panel.inspector.show(panel.session.snapshot())
        assert not any("(other)" in (t.name or "") for t in panel.evolution.figure.data)
        assert panel.inspector.part.status["beside"] == ""


def test_a_fix_that_ends_the_loop_is_run_to_its_end_beside_it():
    b = wb.GraphBuilder("away")
    limit = b.placeholder("limit")
    i = b.while_loop(lambda i: i < limit, lambda i: i - 1.0, {"i": b.constant(0.0)})
    panel = wb.debug(b.build(i), {"limit": 20.0})
    for view in (panel.termination, panel.chips, panel.evolution):
        open_view(view)
    panel.session.next_iteration(3)
    panel.termination.update_now()
    assert until(lambda: panel.termination.why.status["fixes"])
    panel.termination.try_fix(0)
    assert until(lambda: any(fork.state == "finished" for fork in panel.session.forks))
    assert until(lambda: [chip["words"] for chip in panel.chips.status["runs"]] == ["copy 1"])
    panel.evolution.show(panel.session.snapshot())
    fixed = panel.session.forks[0].trace["i"].values
    assert np.array_equal(line(panel, "i (copy 1)").y, fixed) and fixed[-1] == 20.0
    assert panel.session.state == "paused", "the run itself stays where it is"
    panel.close()
