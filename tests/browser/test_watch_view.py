"""The live view of a watch: it shows the loop while its cell runs, and its button stops it."""

from __future__ import annotations

from tests.browser.lab import write_notebook
from tests.browser.page import NOTEBOOK

CELLS = [
    """
import time
import workbench as wb
error = 1.0
with wb.watch("slow", until={"error": ("<", 1e-6)}) as watch:
    while error > 1e-6:
        error *= 0.9999
        if watch(error=error, step=error * 0.001):
            break
        time.sleep(0.002)
print("after", watch.state, watch.iteration > 0)
"""
]
RUNS = f"{NOTEBOOK}.content.widgets[0].inputArea.promptNode.innerText.includes('*')"
SEEN = """() => { const view = document.querySelector('.workbench-watch');
  const figure = view?.querySelector('.workbench-figure');
  return figure?._fullLayout && view.querySelectorAll('.workbench-head-strip').length === 2
    && figure.layout.meta.heads.every(head => figure.data[head.lines[0].trace].y.length > 20)
    && view.querySelector('.workbench-watch-outlook').innerText.includes('more iterations'); }"""


def test_the_view_follows_a_loop_while_its_cell_runs_and_stops_it(desk):
    write_notebook(desk.notebooks / "watch_view.ipynb", CELLS)
    with desk.page() as page:
        page.open("watch_view.ipynb")
        page.page.evaluate("() => { jupyterapp.commands.execute('notebook:run-all-cells'); }")
        page.page.wait_for_function(SEEN, timeout=120_000)
        assert page.page.evaluate(RUNS)
        page.page.click(".workbench-watch button")
        page.page.wait_for_selector("text=after stopped True", timeout=120_000)
        page.page.wait_for_function(
            "() => document.querySelector('.workbench-watch-state').innerText === 'stopped'", timeout=120_000
        )
