"""Repairs of a model are listed below the picture of its graph."""

from __future__ import annotations

import re

import workbench as wb
from tests.widgets.graphs import EVIL
from workbench.widgets.graph.repair_notes import MOST, notes_html


def noted(*notes: str) -> wb.Graph:
    b = wb.GraphBuilder("noted")
    return b.build(b.placeholder("x", "float64") + 1.0).with_notes(notes)


def test_the_panel_shows_notes_and_obeys_nothing_in_them(tmp_path):
    panel = wb.debug(noted(f"The value {EVIL} was repaired.", "Another one."), {"x": 1.0})
    try:
        graph, told = panel.children[-4].children[0].children[0].children
        assert graph is panel.graph and "<summary>2 notes on the model</summary>" in told.value
        assert "<img" not in told.value and "&lt;img" in told.value
        page = panel.to_html(tmp_path / "panel.html").read_text(encoding="utf-8")
        assert "Another one." in page and "<img src=x" not in page
    finally:
        panel.close()
    assert told.comm is None


def test_a_graph_without_notes_has_no_line_for_them():
    panel = wb.debug(noted(), {"x": 1.0})
    try:
        assert len(panel.children[-4].children[0].children[0].children) == 1
    finally:
        panel.close()


def test_of_many_notes_the_first_are_shown():
    html = notes_html([f"note {k}" for k in range(MOST + 7)])
    assert len(re.findall("<li>", html)) == MOST + 1 and "and 7 more in graph.notes" in html
