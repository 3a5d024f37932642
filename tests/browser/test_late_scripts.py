"""On a busy machine scripts of the widgets come later than anywidget waits for them: the panel works all the same."""

from __future__ import annotations

from tests.browser.cells import NEWTON
from tests.browser.lab import write_notebook
from tests.browser.panel import Panel
from tests.browser.waits import until

# anywidget gives a model 2,000 ms to import its script; no script is imported within one
IMPATIENT = """
const timeout = AbortSignal.timeout.bind(AbortSignal);
globalThis.cut = 0;
AbortSignal.timeout = (ms) => (ms === 2000 && ++globalThis.cut, timeout(ms === 2000 ? 1 : ms));
"""


def test_updates_reach_a_panel_whose_scripts_came_late(desk):
    write_notebook(desk.notebooks / "late.ipynb", [NEWTON])
    with desk.page() as opened:
        opened.page.add_init_script(IMPATIENT)
        opened.open("late.ipynb")
        opened.run_all()
        panel = Panel.fresh(opened.page, 0)
        # if one of these is never reached, anywidget waits otherwise now: is late.js still needed?
        until(lambda: opened.page.evaluate("globalThis.cut"), lambda cut: cut > 5)
        said = lambda: opened.page.evaluate("1") and opened.errors  # noqa: E731
        until(said, lambda errors: any("Failed to initialize model" in error for error in errors))
        panel.click("step", "paused")
        panel.click("run", "finished")
        panel.wait_for("evolution", lambda traces: len(traces[0][0]) > 5)
        panel.pane("breakpoints")
        panel.click("restart", "ready")
        opened.heard("not any(view.live.in_flight for view in panel.parts)")
