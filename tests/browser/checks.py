"""Checks of a panel that hold in every application: JupyterLab and Notebook 7."""

from __future__ import annotations

import json

from tests.browser.panel import Panel


def steps_forth_and_back(newton: Panel) -> None:
    """Steps move the picture of the graph; a step back shows what was there before."""
    for _ in range(3):
        newton.until_drawn()  # what changes from here on is the answer
        before = newton.data("graph")
        newton.click("step", "paused")
        newton.wait_for_change("graph", before)
    newton.until_drawn()
    event, graph = newton.event(), newton.data("graph")
    newton.click("step", "paused")
    newton.wait_for_change("graph", graph)
    newton.click("step_back", "paused")
    assert newton.event() == event
    newton.wait_for("graph", lambda traces: json.dumps(traces) == graph)


def runs_to_the_root(newton: Panel) -> None:
    """The whole of Newton's iteration from 100 to the root of 2 is drawn."""
    newton.click("run", "finished")
    x, y, _ = newton.wait_for("evolution", lambda traces: len(traces[0][0]) == 12)[0]
    assert x == list(range(12)) and y[0] == 100 and abs(y[-1] - 2**0.5) < 1e-12


def the_time_slider_moves_the_views(newton: Panel) -> None:
    """They look at the chosen iteration; the button takes the session there."""
    newton.click("run", "finished")
    newton.until_drawn()
    words = newton.words("value")
    newton.time(3)
    newton.until("return panel.querySelector('.workbench-is-value').innerText !== args[0]", words)
    newton.looks_at("looking at iteration 3")
    newton.ask("panel.querySelector('[data-time=go]').click()")
    newton.until("return panel.querySelector('.workbench-state').dataset.state === 'paused'")
    newton.until("return panel.querySelector('.workbench-crumbs').textContent.includes('iteration 3')")
    newton.ask("panel.querySelector('[data-time=newest]').click()")


def keys_work_only_inside(panel: Panel) -> None:
    """F10 steps while something in the panel has the selection."""
    panel.ask("panel.querySelector('.workbench-toolbar').focus()")
    before = panel.event()
    panel.page.keyboard.press("F10")
    panel.until_moved(before)
    panel.ask("document.activeElement.blur()")
    after = panel.event()
    panel.page.keyboard.press("F10")
    panel.page.wait_for_timeout(300)
    assert panel.event() == after
