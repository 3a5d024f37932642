"""A panel is heard while a cell of Run All runs its session and blocks the kernel's main shell."""

from __future__ import annotations

from tests.browser.lab import write_notebook
from tests.browser.page import FAILED, KERNEL, NOTEBOOK
from tests.browser.panel import Panel

ENDLESS = """
import workbench as wb
b = wb.GraphBuilder("endless")
start = b.placeholder("start", "float64", ())
_, y = b.while_loop(lambda k, y: k < 10, lambda k, y: (k * 1, y * 0.5 + 1.0), (b.constant(0, "int64"), start))
panel = wb.debug(b.build({"y": y}), {"start": 100.0})
panel
"""
CELLS = [ENDLESS, "stop = panel.session.run()", "print('after', stop.reason.name)"]
RUNS = f"{NOTEBOOK}.content.widgets[1].inputArea.promptNode.innerText.includes('*')"


def blocked(page) -> Panel:
    """Run all cells; the panel while the second one runs."""
    page.page.evaluate("() => { jupyterapp.commands.execute('notebook:run-all-cells'); }")
    panel = Panel(page.page, 0)
    panel.until("return panel.querySelector('.workbench-state').dataset.state === 'running'", seconds=60)
    panel.until_event("event > 0")
    assert page.page.evaluate(RUNS)
    return panel


def test_pause_and_interrupt_are_heard_while_a_cell_runs_the_session(desk):
    write_notebook(desk.notebooks / "blocked_kernel.ipynb", CELLS)
    with desk.page() as page:
        page.open("blocked_kernel.ipynb")
        for _ in range(3):
            panel = blocked(page)
            panel.ask("panel.querySelector('button[data-command=pause]').click()")
            page.page.wait_for_function(f"() => !({RUNS})", timeout=120_000)
            page.page.wait_for_selector("text=after PAUSED", timeout=120_000)
            panel.until("return panel.querySelector('.workbench-state').dataset.state === 'paused'")
            page.page.evaluate("() => jupyterapp.commands.execute('notebook:clear-all-cell-outputs')")
        panel = blocked(page)
        page.page.evaluate(f"() => {{ {KERNEL}.interrupt(); }}")
        page.page.wait_for_function(f"() => {FAILED}.length", timeout=120_000)
        assert [error.split(":")[0] for error in page.failed_cells()] == ["KeyboardInterrupt"]
        panel.until("return panel.querySelector('.workbench-state').dataset.state === 'paused'")
        assert page.page.query_selector("text=after PAUSED") is None
