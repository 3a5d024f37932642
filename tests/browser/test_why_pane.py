"""The pane behind a card in a real JupyterLab: a press opens it, it says what the card does not, and Esc closes it."""

from __future__ import annotations

from tests.browser.audit import AUDIT
from tests.browser.panel import Panel
from tests.browser.waits import until

NAN = """
import numpy as np
import workbench as wb
b = wb.GraphBuilder("overflow")
start = b.placeholder("start", "float64", (3,))
_, y = b.while_loop(
    lambda k, y: k < 4, lambda k, y: (k + 1, np.exp(y) - np.exp(y * 1.5)), (b.constant(0, "int64"), start))
nan = wb.debug(b.build({"y": y}), {"start": np.array([0.0, 800.0, 1.0])})
nan.session.run()
nan
"""
NEVER = """
b = wb.GraphBuilder("away")
limit = b.placeholder("limit")
i = b.while_loop(lambda i: i < limit, lambda i: i - 1.0, {"i": b.constant(0.0)})
away = wb.debug(b.build(i), {"limit": 20.0})
away
"""
CELLS = [NAN, NEVER]
SICK, ENDLESS = range(2)


def test_behind_an_alarm_stands_the_chain_from_its_cause_and_a_row_leads_there(opened):
    panel = Panel(opened.page, SICK)
    panel.show()
    panel.card("health", "y has been NaN since iteration 1", "subtract(")
    panel.why("health")
    panel.says("why", "where it comes from", "exp(y \u00d7 1.5 = 1200)", "both infinite, and cancel", "line 6")
    rows = lambda: panel.ask("return panel.querySelectorAll('.workbench-why-chain li').length")  # noqa: E731
    until(rows, 2)
    panel.press("why", "exp(y \u00d7 1.5 = 1200)")
    opened.heard("nan.selection.node == wb.nan_origin(nan.session).because.node")
    panel.press("why", "Stop at the first NaN")
    opened.heard("[b.health for b in nan.session.breakpoints] == [('nan', 'inf')]")
    panel.until("return panel.dataset.why === ''")


def test_behind_a_verdict_stand_cause_and_fixes_that_nothing_else_says(opened):
    panel = Panel(opened.page, ENDLESS)
    panel.show()
    panel.card("verdict", "never stops", "moves away from limit (20")
    panel.says("termination", "i < limit")
    assert "never stops" not in panel.words("termination").lower(), "the card says it"
    # a press on the card beside its button opens the pane, too
    panel.ask("panel.querySelector('.workbench-card-verdict .workbench-card-title').click()")
    panel.says("why", "cause", "to fix it", "try beside")
    panel.until(  # it has slid in, and lies within the panel
        """const w = panel.querySelector('.workbench-why').getBoundingClientRect(), p = panel.getBoundingClientRect();
           return w.left >= p.left && w.right <= p.right + 1 && w.bottom <= p.bottom + 1"""
    )
    panel.says("why", "checked: both sides of the comparison, read in iteration")
    assert "moves away from limit" not in panel.words("why"), "the card says it"
    panel.page.keyboard.press("Escape")
    panel.until("return panel.dataset.why === ''")
    until(lambda: panel.ask("return document.activeElement.dataset.card"), "verdict")  # the focus goes back
    panel.until("return getComputedStyle(panel.querySelector('.workbench-why')).visibility === 'hidden'")


def test_at_1024_the_pane_covers_the_tools_and_nothing_of_it_is_cut(opened):
    opened.page.set_viewport_size({"width": 1024, "height": 768})
    for index, card in ((SICK, "health"), (ENDLESS, "verdict")):
        panel = Panel(opened.page, index)
        panel.show()
        panel.until("return panel.dataset.mode === 'two'")
        panel.why(card)
        panel.until(
            """const [w, p] = [panel.querySelector('.workbench-why'), panel].map(e => e.getBoundingClientRect());
               return w.left > p.left && w.right <= p.right + 1 && w.bottom <= p.bottom + 1 && w.width >= 300"""
        )
        until(lambda: [fault for fault in opened.page.evaluate(AUDIT) if fault.startswith("cut")], [])
        panel.page.keyboard.press("Escape")
        panel.until("return panel.dataset.why === ''")
    opened.page.set_viewport_size({"width": 1400, "height": 1200})
