"""The copy in which a fix was tried opens below its panel, takes its place, or is discarded."""

from __future__ import annotations

import threading

import ipywidgets
import pytest

import workbench as wb
from tests.widgets.browser_side import until
from workbench.widgets import Debugger


def comms() -> int:
    return len(ipywidgets.widgets.widget._instances)


@pytest.fixture
def panel():
    b = wb.GraphBuilder("endless")
    limit, step = b.placeholder("limit"), b.constant(-1.0)
    i = b.while_loop(lambda i: i < limit, lambda i: i + step, {"i": b.constant(0.0)})
    before, threads = comms(), threading.active_count()
    panel = wb.debug(b.build(i), {"limit": 20.0})
    yield panel
    panel.close()
    assert comms() == before
    assert until(lambda: threading.active_count() <= threads)


def tried(panel: Debugger, number: int = 0) -> dict:
    view = panel.termination
    view.try_fix(number)
    assert until(lambda: view.verdict.status["fixes"][number]["state"] in ("works", "fails"), 30)
    view.update_now()
    return view.verdict.status["fixes"][number]


def test_the_copy_opens_below_and_is_discarded(panel):
    panel.session.next_iteration(3)
    row = tried(panel)
    assert row["state"] == "works" and row["copy"]
    panel.termination._acted("open", 0)
    (copy,) = panel.copies.panels
    assert copy.session.wait(60).reason is wb.StopReason.FINISHED
    assert len(panel.copies.box.children) == 3 and panel.copies.box.children[0] is panel
    panel.termination._acted("open", 0)
    assert panel.copies.panels == (copy,), "it is open already"
    assert panel.session.state == "paused", "this run stays"
    assert "wb.debug(session.apply_fix(0" in panel.selection.lines[-1]
    panel.termination._acted("discard", 0)
    assert copy.comm is None and copy.session.state == "closed" and panel.copies.box.children == (panel,)
    assert not panel.termination.verdict.status["fixes"][0]["copy"]


def test_the_fix_is_used_in_the_place_of_the_panel_and_the_panel_comes_back(panel):
    tried(panel)
    panel.termination._acted("use", 0)
    (copy,) = panel.copies.panels
    assert panel not in panel.copies.box.children and copy in panel.copies.box.children
    head = panel.copies.box.children[0]
    head.children[1].click()
    assert panel.copies.box.children == (panel,) and copy.session.state == "closed"


def test_a_copy_that_was_not_opened_is_discarded(panel):
    tried(panel)
    (fork,) = panel.termination.forks
    panel.termination._acted("discard", 0)
    assert fork.state == "closed" and panel.termination.forks == ()
    panel.termination._acted("open", 0)
    assert panel.copies.panels == ()


def test_a_panel_is_shown_with_what_stands_around_it(panel):
    shown = panel._repr_mimebundle_()
    view = shown["application/vnd.jupyter.widget-view+json"]
    assert view["model_id"] == panel.copies.box.model_id and shown["text/plain"] == repr(panel)
