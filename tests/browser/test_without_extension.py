"""JupyterLab without our extension: panels, magics and live views work as they do with it."""

from __future__ import annotations

import pytest

from tests.browser import checks
from tests.browser.cells import NEWTON
from tests.browser.desk import started
from tests.browser.panel import Panel

WATCH = """
with wb.watch("halving", until={"error": ("<", 1e-3)}) as watch:
    error = 1.0
    while error >= 1e-3:
        error *= 0.5
        watch(error=error)
"""
MAGIC = "%%watch x\nx = 1.0\nfor k in range(5):\n    x = 0.5 * x"


@pytest.fixture(scope="module")
def opened(browser, tmp_path_factory):
    place = tmp_path_factory.mktemp("without")
    with started(browser, place, extension=False) as desk, desk.opened("without.ipynb", [NEWTON, WATCH, MAGIC]) as page:
        yield page


def test_the_extension_is_absent(opened):
    assert opened.page.evaluate("jupyterapp.listPlugins().filter(id => id.startsWith('workbench:'))") == []
    assert not opened.page.evaluate("jupyterapp.commands.hasCommand('workbench:step')")


def test_the_panel_steps_and_runs(opened):
    panel = Panel.fresh(opened.page, 0)
    checks.steps_forth_and_back(panel)
    checks.runs_to_the_root(panel)


def test_watches_are_shown(opened):
    assert opened.failed_cells() == []
    opened.page.wait_for_function("() => document.querySelectorAll('.workbench-watch').length === 2", timeout=120_000)
    opened.page.wait_for_function(
        "() => [...document.querySelectorAll('.workbench-watch-state')].every(s => s.innerText === 'finished')"
    )
    assert opened.script_errors() == [] and opened.outside() == []
