"""A view that fails while it is live says so in its own place, takes nothing down, and recovers."""

from __future__ import annotations

import dataclasses

import ipywidgets
import pytest

import workbench as wb
from tests.widgets.browser_side import acknowledge, open_view, until
from tests.widgets.graphs import EVIL, newton


@pytest.fixture
def panel():
    before = len(ipywidgets.widgets.widget._instances)
    panel = wb.debug(newton(), {"a": 2.0, "x0": 100.0})
    yield panel
    panel.close()
    assert len(ipywidgets.widgets.widget._instances) == before


def fail(_snapshot):
    raise wb.WorkbenchError(f"{EVIL} is not there.", slug="made-to-fail", fix="wait.")


def words(view) -> str:
    """Error message shown by the view."""
    if hasattr(view, "trouble"):
        return view.trouble
    return "" if view._excuse is None or view._excuse not in view.children else view._excuse.value


@pytest.mark.parametrize("name", ["evolution", "graph", "control_flow", "inspector", "termination"])
def test_a_part_of_the_panel(panel, name, monkeypatch):
    view = getattr(panel, name)
    open_view(view)
    open_view(panel.toolbar)
    ends = [acknowledge(view), acknowledge(panel.toolbar)]
    assert until(lambda: view.pump.alive and view.in_flight == 0)
    comms = len(ipywidgets.widgets.widget._instances)
    with monkeypatch.context() as patched:
        patched.setattr(view, "model", fail)
        panel.session.step()
        assert until(lambda: "made-to-fail" in words(view))
        assert "<img" not in words(view) and "&lt;img" in words(view) and view.children[0] is view._excuse
        assert "could not be drawn" in words(view) and "<details>" in words(view), "the error itself is folded"
        assert until(lambda: panel.toolbar.status["event"] == "1") and panel.toolbar.trouble == ""
    panel.session.step()
    assert until(lambda: words(view) == "")
    assert until(lambda: panel.toolbar.status["event"] == "2")
    # the words leave the view first, then their comms are closed
    assert until(lambda: len(ipywidgets.widgets.widget._instances) <= comms)
    assert any("made-to-fail" in e for e in view.pump.errors)
    for end in ends:
        end()


@pytest.mark.parametrize("key", ["breakpoints", "stack", "explain", "timeline"])
def test_an_open_pane(panel, key, monkeypatch):
    view = panel.panes.show(key)
    open_view(view)
    end = acknowledge(view)
    with monkeypatch.context() as patched:
        patched.setattr(view, "model", lambda snapshot: {}[EVIL])
        panel.session.step()
        assert until(lambda: "KeyError" in words(view) and "[view-failed]" in words(view))
    panel.session.step()
    assert until(lambda: words(view) == "")
    end()


@pytest.mark.parametrize("name", ["toolbar", "time"])
def test_the_toolbar_and_the_slider(panel, name, monkeypatch):
    view = getattr(panel, name)
    open_view(view)
    with monkeypatch.context() as patched:
        patched.setattr(view, "show", fail)
        panel.session.step()
        assert until(lambda: "made-to-fail" in view.trouble)
    panel.session.step()
    assert until(lambda: view.trouble == "")


def test_a_view_that_fails_at_a_click_leaves_the_others_their_turn(panel, monkeypatch):
    """Without a browser, and so without the pump: the selection itself calls the views."""
    panel.session.run()
    with monkeypatch.context() as patched:
        patched.setattr(panel.graph, "model", fail)  # the first that is asked
        panel.selection.look_at(wb.widgets.Moment(("while",), (3,)))
        assert "made-to-fail" in words(panel.graph)
        assert panel.time.status["levels"][0]["value"] == 3
    panel.selection.look_at(None)
    assert words(panel.graph) == ""


def test_try_again_draws_it_again(panel, monkeypatch):
    panel.session.run()
    with monkeypatch.context() as patched:
        patched.setattr(panel.graph, "model", fail)
        panel.selection.look_at(wb.widgets.Moment(("while",), (3,)))
        assert "made-to-fail" in words(panel.graph)
    panel.graph._excuse.children[1].click()
    assert words(panel.graph) == ""


def test_a_pane_that_cannot_be_made_can_be_tried_again(panel, monkeypatch):
    kind = panel.panes._kinds["stack"]
    with monkeypatch.context() as patched:
        patched.setitem(panel.panes._kinds, "stack", dataclasses.replace(kind, make=lambda _panel: {}["gone"]))
        excuse = panel.panes.show("stack")
        assert "could not be drawn" in excuse.value and "KeyError" in excuse.value
    excuse.children[1].click()
    assert type(panel.panes.views["stack"]).__name__ == "CallStackView"


def test_a_panel_is_served_before_the_kernel_can_hear_that_it_is_there(panel):
    """A cell blocks the kernel: no word of the browser comes, and the toolbar shows the run all the same."""
    assert panel.toolbar.views == 0
    panel._repr_mimebundle_()
    assert panel.toolbar.views == 1 and panel.toolbar.drawn == 0
    panel.session.step(3)
    assert until(lambda: panel.toolbar.status["event"] == "3")
    panel.toolbar._handle_custom_msg({"kind": "ack", "push": panel.toolbar.push}, [])
    assert panel.toolbar.views == panel.toolbar.drawn == 1 and panel.graph.live.views == 1
    panel.toolbar._handle_custom_msg({"kind": "view"}, [])
    assert panel.toolbar.views == 1, "one view, the first word of which was late"
    for part in (panel.toolbar, panel.graph.live):
        part._handle_custom_msg({"kind": "view"}, [])
        part._handle_custom_msg({"kind": "gone"}, [])
