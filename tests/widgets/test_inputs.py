"""The Inputs pane: what it lists, what can be typed, a second run and the comparison with the one before."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.session.test_edits import by_hand, newton
from tests.widgets.browser_side import until
from tests.widgets.graphs import EVIL, evil
from workbench.widgets.panel.inputs.inputs_model import changed, inputs_model


def graph_of(**types):
    b = wb.GraphBuilder("inputs")
    return b.build({name: b.op("Identity", b.placeholder(name, *declared)) for name, declared in types.items()})


@pytest.fixture
def panel():
    panel = wb.debug(newton(), {"a": 2.0})
    panel.session.run()
    yield panel
    panel.close()


def test_two_inputs_three_actions(panel):
    pane = panel.panes.show("inputs")
    (row,) = pane.status["rows"]
    assert (row["name"], row["type"], row["value"], row["editable"]) == ("a", "number", "2.0", True)
    pane.handle_message("run", {"texts": {"a": "3"}})
    panel.session.wait()
    pane.update_now()
    assert panel.session.trace["x"].values.tolist() == by_hand(3.0, 6, {})
    assert pane.status["before"] == "earlier inputs 1" and "kept as earlier inputs 1" in pane.status["said"]
    assert pane.status["rows"][0]["value"] == "3.0"
    pane.compare()
    compare = panel.panes.views["compare"]
    assert (compare.left.value, compare.right.value) == ("this run", "earlier inputs 1")
    assert until(lambda: compare.holder.children, 30)
    (view,) = compare.holder.children
    assert view._part.status["first"]["title"].startswith("First difference: a")
    assert "session.update({'a': 3.0})" in panel.selection.lines


@pytest.mark.parametrize("words", ["", "abc", "[1, x]", "__import__('os')", "1e", "2j"])
def test_what_is_no_value_is_said_beside_its_field(panel, words):
    pane = panel.panes.show("inputs")
    pane.run_second({"a": words})
    assert set(pane.status["errors"]) == {"a"} and pane.status["errors"]["a"]
    assert panel.session.inputs["a"] == 2.0 and not panel.session.histories
    pane.run_second({"a": "2.0"})
    assert not pane.status["errors"] and "No input was changed" in pane.status["said"]


ARRAYS = {
    "matrix": np.array([[1.5, -2.0], [np.inf, 0.0]]),
    "flags": np.array([True, False]),
    "counts": np.array([3, -4], np.int32),
    "single": np.float32(0.1),
    "unset": np.array([np.nan, -np.inf]),
}


def test_what_is_shown_reads_back_bit_for_bit():
    graph = graph_of(**{n: (str(a.dtype), a.shape) for n, a in ARRAYS.items()})
    rows = {r["name"]: r for r in inputs_model(graph, ARRAYS)}
    assert rows["matrix"]["type"] == "number, 2 \u00d7 2" and rows["counts"]["type"] == "integer, 2"
    for name, array in ARRAYS.items():
        other = np.zeros_like(array)
        values, errors = changed(graph, {name: other}, {name: rows[name]["value"]})
        assert not errors and values[name].tobytes() == np.asarray(array).tobytes(), name
        assert changed(graph, {name: array}, {name: rows[name]["value"]}) == ({}, {})


@pytest.mark.parametrize(
    ("name", "words"), [("counts", "[1.5, 2]"), ("counts", "[99999999999, 1]"), ("matrix", "[1, 2"), ("flags", "[[1]]")]
)
def test_a_list_that_does_not_fit_is_refused(name, words):
    graph = graph_of(**{n: (str(a.dtype), a.shape) for n, a in ARRAYS.items()})
    values, errors = changed(graph, ARRAYS, {name: words})
    assert not values and name in errors and errors[name]


def test_large_arrays_are_told_in_short_and_not_typed():
    big = np.linspace(-1.0, 4.0, 3600).reshape(60, 60)
    (row,) = inputs_model(graph_of(field=("float64", (60, 60))), {"field": big})
    assert row["value"] == "\u22121 to 4" and not row["editable"] and row["type"] == "number, 60 \u00d7 60"


def test_names_are_shown_and_not_obeyed():
    panel = wb.debug(evil(), {f"x{EVIL}": 0.0})
    pane = panel.panes.show("inputs")
    assert "<img" not in str(pane.figure.data[0].cells.values)
    panel.close()
