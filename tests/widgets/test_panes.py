"""Panes: each opens, shows something, and closes without leaving anything behind."""

from __future__ import annotations

import gc
import threading
import weakref

import ipywidgets
import pytest

import workbench as wb
from tests.widgets.browser_side import until
from tests.widgets.graphs import EVIL, evil, newton
from tests.widgets.test_escaping import TAG, shown_html
from workbench.widgets import Debugger, Moment
from workbench.widgets.base.excuse import Excuse
from workbench.widgets.panel import pane_kinds, panes


def comms() -> int:
    return len(ipywidgets.widgets.widget._instances)


@pytest.fixture
def panel():
    before, threads = comms(), threading.active_count()
    panel = wb.debug(newton(), {"a": 2.0, "x0": 100.0})
    assert list(panel.panes.views) == ["breakpoints"], "what is open at first"
    panel.panes.hide("breakpoints")
    panel.session.run()
    yield panel
    panel.close()
    assert comms() == before
    assert until(lambda: threading.active_count() <= threads)


@pytest.mark.parametrize("key", [k.key for k in pane_kinds.KINDS])
def test_a_pane_opens_and_closes_with_all_its_comms(panel, key):
    before = comms()
    view = panel.panes.show(key)
    assert panel.panes.show(key) is view and comms() > before
    assert not isinstance(view, Excuse), view.value
    assert [p["open"] for p in panel.panes.bar.status["panes"] if p["key"] == key] == [True]
    panel.panes.hide(key)
    panel.panes.hide(key)
    assert comms() == before


def test_a_view_that_fails_says_why_in_its_pane(panel, monkeypatch):
    broken = pane_kinds.PaneKind("code", "Code", "", lambda p: {}[EVIL])
    monkeypatch.setitem(panel.panes._kinds, "code", broken)
    view = panel.panes.show("code")
    assert "KeyError" in view.value and "<img" not in view.value and "&lt;img" in view.value
    panel.panes.show("stack")


def test_clicks_in_the_row_of_panes(panel):
    bar = panel.panes.bar
    for content in ({"kind": "pane", "key": "code"}, {"kind": "pane", "key": "nonsense"}, {"kind": "pane"}):
        bar._browser_says(bar, content, [])
    assert list(panel.panes.views) == ["code"]
    bar._browser_says(bar, {"kind": "pane", "key": "code"}, [])
    assert not panel.panes.views and bar.status["selected"] == "branches"
    with pytest.raises(wb.WorkbenchError, match="Unknown pane"):
        panel.panes.show("nonsense")


def test_what_was_clicked_is_code(panel):
    code = panel.panes.show("code")
    panel.toolbar.press("step_back")
    panel.time.look(3)
    panel.time.look(4)  # only the last place of a slider matters
    lines = code.text.splitlines()
    assert lines[-2:] == ["session.step_back()", "panel.selection.look_at(wb.widgets.Moment(('while',), (4,)))"]
    exec(lines[-1], {"panel": panel, "wb": wb})  # what is shown can be run
    assert panel.selection.moment == Moment(("while",), (4,))
    code._browser_says(code, {"kind": "forget"}, [])
    assert code.text == "" and code.status == {"lines": []}


def test_two_moments_are_compared(panel):
    pane = panel.panes.show("compare")
    for value in (2, 5):
        panel.time.look(value)
        pane.remember()
    pane.compare("at iteration 2", "at iteration 5")
    assert "differ" in pane.words.value and len(pane.holder.children) == 1
    pane.compare("at iteration 2", "at iteration 2")
    assert "equal" in pane.words.value
    pane.compare("at iteration 2", "this run")
    assert "cannot be compared" in pane.words.value
    pane.path.value = f"{EVIL}.trace"
    pane.compare("this run", "a saved trace")
    assert "<img" not in pane.words.value and "no file" in pane.words.value


def test_the_moment_at_which_the_run_stands_can_be_remembered(panel):
    pane = panel.panes.show("compare")
    panel.session.run()
    pane.remember()
    assert "no iteration to remember" in pane.words.value
    panel.session.run_to("x", 3)
    assert panel.selection.moment is None
    pane.remember()
    assert "at iteration 3" in pane.left.options and "at iteration 3" in pane.words.value
    pane._swap()
    assert "iteration 3" not in pane.words.value, "what was said is over"
    pane.compare("this run", "a saved trace")
    assert "No trace file is given." in pane.words.value


def test_a_fork_stands_beside_its_run(panel):
    panel.session.run_to("x" if "x" in panel.session.trace else "while/x/Merge", 3)
    pane = panel.panes.show("compare")
    pane._fork()
    fork = panel.session.forks[0]
    assert "copy 1" in pane.left.options
    panel.session.run()
    fork.run()
    pane.compare("this run", "copy 1")
    assert "equal" in pane.words.value
    fork.close()


def test_names_are_shown_and_not_obeyed():
    panel = wb.debug(evil(), {f"x{EVIL}": 0.0})
    panel.session.run()
    shown = [html for key in panel.panes.names for html in shown_html(panel.panes.show(key))]
    shown += [html for part in panel.parts for html in shown_html(part)]
    assert len(shown) > 3 and not [html for html in shown if TAG.search(html)]
    statuses = [str(getattr(panel.panes.show(key), "status", "")) for key in panel.panes.names]
    assert any(EVIL in status for status in statuses)  # where scripts show names, they get them as data
    panel.close()


def test_a_recorded_run_has_a_panel_without_buttons():
    with wb.Session(newton(), {"a": 2.0, "x0": 100.0}) as session:
        session.run()
        panel = Debugger(session.trace)
        assert panel.toolbar is None and "breakpoints" not in panel.panes.names
        for key in panel.panes.names:
            assert not isinstance(panel.panes.show(key), ipywidgets.HTML), key
        panel.time.look(3)
        assert "recorded" in repr(panel)
        panel.close()


def test_the_module_says_what_there_is():
    assert [k.key for k in pane_kinds.KINDS] and panes.KINDS is pane_kinds.KINDS


def test_another_frameworks_run_is_a_side_of_compare(panel):
    view = panel.panes.show("compare")
    view.add("elsewhere", {"x": [100.0, 7.0]})
    assert "elsewhere" in view.right.options
    with pytest.raises(wb.WorkbenchError, match="already"):
        view.add("elsewhere", {})
    for k in range(20):
        view.add(f"run {k}", {})
    assert "elsewhere" not in view.sides() and "run 19" in view.sides()


def test_closed_panes_and_panels_are_collected():
    panel = wb.debug(newton(), {"a": 2.0, "x0": 100.0})
    kept = [weakref.ref(panel.panes.show(name)) for name in panel.panes.names]
    kept += [weakref.ref(ref().live) for ref in kept if hasattr(ref(), "live")]
    for name in panel.panes.names:
        panel.panes.hide(name)
    gc.collect()
    assert [ref() for ref in kept if ref() is not None] == []
    kept = [weakref.ref(part) for part in (panel, panel.toolbar, panel.time, *panel.parts)]
    panel.close()
    del panel
    gc.collect()
    assert [type(ref()).__name__ for ref in kept if ref() is not None] == []
