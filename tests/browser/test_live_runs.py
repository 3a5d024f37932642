"""The sidebar of JupyterLab that lists the live sessions and watches of all kernels."""

from __future__ import annotations

import pytest

from tests.browser.cells import NEWTON
from tests.browser.lab import write_notebook
from tests.browser.waits import until

WATCH = """
import workbench as wb
descent = wb.watch("descent <b>", until={"error": ("<", 1e-6)})
for k in range(7):
    descent(error=0.5**k)
"""
BUSY = """
import time
at_work = wb.watch("at work")
with at_work:
    while not at_work(error=1.0):
        time.sleep(0.01)
"""
LIVE = "[...document.querySelectorAll('.workbench-live-run')].map(r => r.innerText).join('\\n')"
SHOWN = "[...document.querySelectorAll('.workbench-watch')]"
IDLE = "() => jupyterapp.shell.currentWidget?.sessionContext?.session?.kernel?.status === 'idle'"


@pytest.fixture(scope="module")
def page(desk):
    """Three notebooks in three kernels: a session, a watch, and one that does not import the package."""
    write_notebook(desk.notebooks / "one.ipynb", [NEWTON])
    write_notebook(desk.notebooks / "two.ipynb", [WATCH])
    write_notebook(desk.notebooks / "none.ipynb", ["import sys"])
    with desk.page() as page:
        page.page.goto(f"{page.url}/lab?token={page.token}&reset")
        page.page.wait_for_function("window.jupyterapp !== undefined", timeout=120_000)
        page.page.evaluate("jupyterapp.restored.then(() => undefined)")
        for name in ("one", "two", "none"):
            page.page.evaluate(f"void jupyterapp.commands.execute('docmanager:open', {{path: '{name}.ipynb'}})")
            page.page.wait_for_function(
                f"() => jupyterapp.shell.currentWidget?.title.label === '{name}.ipynb'", timeout=120_000
            )
            page.page.wait_for_function(IDLE, timeout=120_000)
            page.run_all()
            assert page.failed_cells() == []
        page.page.evaluate("void jupyterapp.commands.execute('workbench:show-live-runs')")
        yield page


def waits_for(page, *texts: str) -> None:
    until(lambda: page.page.evaluate(LIVE), lambda told: all(text in told for text in texts))


def test_the_runs_of_two_kernels_are_listed_with_state_iteration_and_verdict(page):
    waits_for(page, "newton", "descent <b>", "iteration 7", "session", "watch", "ready", "more iterations")
    headings = "[...document.querySelectorAll('.workbench-live-path')].map(h => h.innerText)"
    until(lambda: sorted(page.page.evaluate(headings)), ["one.ipynb", "two.ipynb"])
    # asking has loaded nothing in the kernel that has nothing of ours
    assert page.kernel("print('workbench' in sys.modules)") == "False"


def run_cell(page, code: str) -> None:
    page.page.evaluate(
        """async code => {
          const notebook = jupyterapp.shell.currentWidget;
          await jupyterapp.commands.execute('notebook:insert-cell-below');
          notebook.content.activeCell.model.sharedModel.setSource(code);
          void jupyterapp.commands.execute('notebook:run-cell');
        }""",
        code,
    )


def test_the_runs_of_a_busy_kernel_that_has_reported_none_are_not_known(page):
    """The notebook opened last is in front: the one without the package."""
    run_cell(page, "import time\nwhile True:\n    time.sleep(0.01)")
    note = "document.querySelector('.workbench-live-none')?.innerText ?? ''"
    until(lambda: page.page.evaluate(note), "Not known yet: the runs of none.ipynb.")
    page.page.evaluate("void jupyterapp.shell.currentWidget.sessionContext.session.kernel.interrupt()")
    until(lambda: page.page.evaluate(note), "")


def test_go_to_brings_the_notebook_of_a_run_to_the_front(page):
    page.page.locator(".workbench-live-go", has_text="newton").click()
    page.page.wait_for_function("() => jupyterapp.shell.currentWidget.title.label === 'one.ipynb'")
    page.page.locator(".workbench-live-go", has_text="descent").click()
    page.page.wait_for_function("() => jupyterapp.shell.currentWidget.title.label === 'two.ipynb'")


def test_a_kernel_at_work_tells_its_runs_too(page):
    notebook = "jupyterapp.shell.currentWidget"
    run_cell(page, BUSY)
    waits_for(page, "at work", "running")
    # JupyterLab has had its subshell for the messages of widgets since the first view of this kernel
    page.page.wait_for_function(f"() => {SHOWN}.some(v => v.innerText.includes('at work'))", timeout=120_000)
    until(lambda: page.page.evaluate(f"{notebook}.sessionContext.session.kernel.status"), "busy")
    page.page.evaluate(f"void {notebook}.sessionContext.session.kernel.interrupt()")
    waits_for(page, "It was interrupted")


def test_the_runs_of_a_kernel_that_ends_leave_the_list(page):
    page.page.evaluate("void jupyterapp.shell.currentWidget.sessionContext.shutdown()")
    page.page.wait_for_function(f"() => {LIVE}.includes('newton') && !{LIVE}.includes('descent')", timeout=120_000)
    assert page.script_errors() == [] and page.outside() == []
