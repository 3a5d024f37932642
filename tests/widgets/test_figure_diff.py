"""Updates of a figure that are sent to a browser: the difference, what has gone, and everything if unknown."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.widgets.graphs import newton
from workbench.widgets import EvolutionView
from workbench.widgets.base.figure.figure_diff import FigureDiff


def spec(layout, *traces):
    return {"layout": layout, "data": [{"type": "scatter", **t} for t in traces]}


def test_only_differences_travel_and_what_has_gone_is_taken_away():
    told = FigureDiff(spec({"xaxis": {"visible": False, "dtick": 1}}, {"x": np.arange(3), "name": "a"}))
    assert told.news(spec({"xaxis": {"visible": False, "dtick": 1}}, {"x": np.arange(3), "name": "a"})) == ({}, {})
    traces, layout = told.news(spec({"xaxis": {"dtick": 2}}, {"x": np.arange(3)}))
    assert traces == {0: {"name": None}} and layout == {"xaxis.visible": None, "xaxis.dtick": 2}
    assert told.news(spec({"xaxis": {"dtick": 2}}, {"x": np.arange(3)})) == ({}, {})


@pytest.mark.parametrize("others", [[{"x": [1]}, {"x": [2]}], [], [{"type": "bar", "x": [1]}]])
def test_other_traces_are_exchanged_and_the_layout_still_loses_what_has_gone(others):
    told = FigureDiff(spec({"xaxis": {"visible": False}}, {"x": [1]}))
    assert told.news(spec({"height": 3}, *others)) == (None, {"height": 3, "xaxis.visible": None})
    assert told.news(spec({"height": 3}, *others)) == ({}, {})


def test_a_browser_of_which_nothing_is_known_loses_all_that_was_ever_named():
    told = FigureDiff(spec({"xaxis": {"visible": False}}, {"x": [1], "name": "a"}))
    told.news(spec({"title": "t"}, {"x": [1], "text": ["b"]}))
    told.news(spec({"height": 3}, {"x": [1]}))
    told.forget()
    traces, layout = told.news(spec({"height": 3}, {"x": [1]}))
    assert layout == {"height": 3, "title": None, "xaxis.visible": None}
    assert traces == {0: {"x": [1], "name": None, "text": None}}
    told.forget()
    assert told.news(spec({"height": 4}))[0] is None


def test_axes_that_were_hidden_while_there_was_nothing_to_show_come_back(monkeypatch):
    with wb.Session(newton(), {"a": 2.0, "x0": 100.0}) as session:
        view = EvolutionView(session.trace)
        messages = []
        assert view.live.figure.layout.xaxis.visible is False
        monkeypatch.setattr(view.live, "send", lambda content, buffers=None: messages.append(content))
        session.run()
        view.show(session.snapshot())
        for axis in ("xaxis", "yaxis"):
            assert view.live.figure.layout[axis].visible is True
            assert messages[0]["layout"][axis]["visible"] is True, "nobody has seen the figure: all of it is sent"
        view.close()
