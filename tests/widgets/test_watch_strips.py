"""The live view of a watch draws its variables as strips of the panel: axis, present iteration, thresholds, the end."""

from __future__ import annotations

import math

import numpy as np

import workbench as wb
from tests.widgets.browser_side import open_view
from workbench.widgets.base.esm import WIDGETS


def shown(watch, values, **more):
    for k, value in enumerate(values):
        watch(r=value, **{name: column[k] for name, column in more.items()})
    view = wb.widgets.WatchView(watch)
    figure = view.live.figure
    return view, figure, {head["name"]: head for head in figure.layout.meta["heads"]}


def curve(figure, head):
    line = figure.data[head["lines"][0]["trace"]]
    return np.asarray(line.x), np.asarray(line.y)


def test_each_strip_draws_what_was_recorded_up_to_the_present_iteration():
    values = [0.5**k for k in range(30)]
    with wb.watch("falls", until={"r": ("<", 1e-20)}, show=False) as watch:
        view, figure, heads = shown(watch, values, step=[k * k for k in range(30)])
    x, y = curve(figure, heads["r"])
    assert x.tolist() == list(range(1, 31)) and y.tolist() == values
    assert curve(figure, heads["step"])[1].tolist() == [k * k for k in range(30)]
    assert figure.layout.meta["now"] == 30 and figure.layout.meta["words"] == "iteration 30"
    assert figure.layout.yaxis.type == "log" and "log scale" in heads["r"]["notes"]
    assert any(shape.y0 == 1e-20 == shape.y1 for shape in figure.layout.shapes), "the bound of until is a line"
    assert figure.layout.meta["end"]["word"].startswith("ends about ") and not figure.layout.meta["end"]["proved"]
    view.close()


def test_values_that_are_not_finite_are_marked_and_no_others():
    values = [4.0, 3.0, math.nan, math.nan, math.nan]
    with wb.watch("lost", show=False) as watch:
        view, figure, heads = shown(watch, values, good=[1.0, 2.0, 3.0, 4.0, 5.0])
    assert heads["r"]["bad"] and "NaN from 3 to 5" in heads["r"]["notes"] and heads["r"]["value"] == "NaN"
    assert not heads["good"]["bad"] and heads["good"]["value"] == "5"
    assert any("NaN: no value to draw" in note.text for note in figure.layout.annotations)
    view.close()


def test_a_value_of_an_earlier_iteration_is_not_shown_as_that_of_the_newest():
    watch = wb.watch("sometimes", show=False)
    for k in range(8):
        watch(**({"r": float(k), "seldom": k * 0.5} if k == 0 or k == 3 else {"r": float(k)}))
    view = wb.widgets.WatchView(watch)
    heads = {head["name"]: head for head in view.live.figure.layout.meta["heads"]}
    assert heads["r"]["value"] == "7" and heads["seldom"]["value"] == ""
    assert "1.5 in iteration 4" in heads["seldom"]["notes"] and not heads["seldom"]["bad"]
    watch.finish()
    view.close()


def test_what_is_recorded_later_reaches_a_browser():
    watch = wb.watch("goes on", show=False)
    view = wb.widgets.WatchView(watch)
    assert view.children == (view.cards,), "no axis without a value"
    for k in range(5):
        watch(r=float(k))
    view.refresh()
    assert view.children == (view.cards, view.live)
    open_view(view)
    for value in (5.0, 6.0):  # the second one while the browser still draws the first
        watch(r=value)
        view.refresh()
    view.live._handle_custom_msg({"kind": "ack", "push": view.live.sent}, [])
    head = view.live.figure.layout.meta["heads"][0]
    assert curve(view.live.figure, head)[1].tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    assert view.live.figure.layout.meta["now"] == 7
    assert view.cards.status["variables"] == ["r"], "the curves travel once"
    watch.finish()
    view.close()


def test_there_is_one_code_for_strips():
    drawn = [path for path in (WIDGETS / "watch").glob("*.js") if "createElementNS" in path.read_text()]
    assert drawn == []


def test_the_cards_of_a_loop_that_is_over_write_numbers_as_the_panel_does():
    with wb.watch("falls", until={"r": ("<", 1e-10)}, show=False) as watch:
        shown(watch, [0.5**k for k in range(40)])[0].close()
    view = wb.widgets.WatchView(watch)
    status = view.cards.status
    words = [status[key] for key in ("headline", "why") if status.get(key)]
    assert any("r \u2265 1e\u221210 became false" in line for line in words), words
    assert not any(sign in " ".join(words) for sign in (">=", "e-")), words
    view.close()
