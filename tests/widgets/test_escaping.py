"""Names from a graph are data: wherever HTML is made of them, tags are shown and not obeyed."""

from __future__ import annotations

import re

import ipywidgets
import numpy as np
import pytest

import workbench as wb
from tests.widgets.graphs import EVIL, evil
from workbench.widgets import Debugger, GraphView
from workbench.widgets.base.spec import text
from workbench.widgets.termination.termination_spec import termination_spec
from workbench.widgets.termination.termination_words import UNKNOWN
from workbench.widgets.values.inspector_model import inspector_model
from workbench.widgets.values.inspector_spec import inspector_spec

TAG = re.compile(r"<\s*(img|script|a|svg|iframe)\b", re.IGNORECASE)


def texts(tree):
    """All strings in a figure's dict."""
    if isinstance(tree, dict):
        for value in tree.values():
            yield from texts(value)
    elif isinstance(tree, (list, tuple)):
        for value in tree:
            yield from texts(value)
    elif isinstance(tree, str):
        yield tree


def shown_html(widget):
    """HTML that each widget inside a widget sends to the browser."""
    if isinstance(widget, ipywidgets.HTML):
        yield widget.value
    for child in getattr(widget, "children", ()):
        yield from shown_html(child)


@pytest.fixture
def panel():
    with wb.Session(evil(), {f"x{EVIL}": 0.0}) as session:
        session.run()
        panel = Debugger(session)
        yield panel
        panel.close()


def test_no_figure_holds_a_tag(panel):
    for view in panel.parts:
        data = view.figure.to_plotly_json()
        for trace in data["data"]:
            trace.pop("customdata", None)  # goes back to the kernel, is never shown
        found = [t for t in texts(data) if TAG.search(t)]
        assert not found, (view, found)


def test_the_names_are_still_there(panel):
    shown = " ".join(texts(panel.graph.figure.to_plotly_json()["data"]))
    assert "&lt;img" in shown


def test_no_html_widget_holds_a_tag(panel):
    for view in panel.parts:
        view.show(panel.session.snapshot())
    shown = [html for view in panel.parts for html in shown_html(view)]
    assert shown and not [html for html in shown if TAG.search(html)]


def test_html_of_hostile_models():
    model = {**inspector_model(EVIL, EVIL), "header": EVIL, "text": EVIL, "statistics": {EVIL: EVIL}}
    assert not [t for t in texts(inspector_spec(model)) if TAG.search(t)]
    told = {**UNKNOWN, "headline": EVIL, "reason": EVIL, "proof": f"p{EVIL}", "root": [EVIL], "fix": [EVIL]}
    clause = {"text": EVIL, "node": EVIL, "op": EVIL, "left_text": EVIL, "right_text": EVIL, "refs": [EVIL, EVIL]}
    clause |= {"gap": None, "holds": None, "trend": EVIL, "fixed": [None, None]}
    clause["sides"] = [(np.arange(3.0), np.arange(3.0))] * 2
    model = {"loop": EVIL, "verdict": told, "clauses": [clause], "words": EVIL, "x_title": EVIL, "now": 2.0}
    for plain in (False, True):
        spec = termination_spec(model, plain=plain)
        assert len(spec["data"]) > 4 and not [t for t in texts(spec) if TAG.search(t)]


def test_files_hold_no_tag(panel, tmp_path):
    page = panel.to_html(tmp_path / "panel.html").read_text(encoding="utf-8")
    assert "<img src=x" not in page
    alone = GraphView(panel.session.graph)
    assert "<img src=x" not in alone.to_html(tmp_path / "graph.html").read_text(encoding="utf-8")
    alone.close()


def test_text_escapes_quotes_too():
    assert text("\"'<&") == "&#34;&#x27;&lt;&amp;"  # plotly.js knows no &quot;
