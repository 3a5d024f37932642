"""Panels that are out of reach close; browsers that do not answer are not talked to for ever."""

from __future__ import annotations

import pytest

import workbench as wb
from tests.widgets.browser_side import open_view
from tests.widgets.graphs import counter, newton
from workbench.widgets.live import acknowledgement
from workbench.widgets.panel import auto_close
from workbench.widgets.panel.auto_close import tidy


def panel():
    made = wb.debug(newton(), {"a": 2.0, "x0": 100.0})
    auto_close._named[made] = False  # as in a notebook
    return made


def test_a_panel_whose_name_means_another_one_is_closed():
    first, second = panel(), panel()
    assert tidy({"p": first}) == []
    assert tidy({"p": second}) == [first]
    assert first.session.state == "closed" and second.session.state != "closed"
    second.close()
    assert tidy({}) == []


def test_one_that_is_kept_somewhere_stays():
    made = panel()
    tidy({"p": made})
    for names in ({"all": [made]}, {"all": {"a": made}}, {"other": made}, {"holder": type("H", (), {})()}):
        if "holder" in names:
            names["holder"].panel = made
        assert tidy(names) == []
    made.close()


def test_one_that_a_browser_shows_or_that_never_had_a_name_stays():
    seen, nameless = panel(), panel()
    tidy({"p": seen})
    open_view(seen.toolbar)
    assert tidy({"_": nameless, "Out": {1: nameless}}) == []
    seen.toolbar._browser_says(seen.toolbar, {"kind": "gone"}, [])
    assert tidy({}) == [seen]
    nameless.close()


def test_a_browser_that_is_gone_is_not_talked_to_for_ever(monkeypatch):
    monkeypatch.setattr(acknowledgement, "PATIENCE_S", 0.0)
    with wb.Session(counter(), {"start": 0.0}) as session:
        view = wb.widgets.EvolutionView(session)
        view.live._views = 1
        view.live._sending()
        assert view.views == 1
        view.live._unanswered_since -= 1.0
        view.live._sending()
        assert view.views == 0  # asleep: the pump's thread may end
        view.live._browser_says(view.live, {"kind": "ack", "push": 0}, [])
        assert view.views == 1
        view.close()


@pytest.mark.parametrize("content", [{}, {"kind": 3}, {"kind": "ack"}, {"kind": "ack", "push": 10**9}])
def test_answers_that_make_no_sense(content):
    with wb.Session(counter(), {"start": 0.0}) as session:
        view = wb.widgets.EvolutionView(session)
        view.live._browser_says(view.live, content, [])
        assert view.in_flight == 0
        view.close()


def test_one_that_a_browser_has_yet_to_draw_stays_until_its_cell_runs_again(monkeypatch):
    cell = "a"
    monkeypatch.setattr(auto_close, "_cell", lambda: cell)
    first = panel()
    first._repr_mimebundle_()
    cell = "b"
    second = panel()
    second._repr_mimebundle_()
    assert tidy({"p": first}) == []
    assert tidy({"p": second}) == [], "all cells run at once, under one name"
    cell = "a"
    assert tidy({"p": second}) == [first], "its output was replaced before it was drawn"
    second.close()
