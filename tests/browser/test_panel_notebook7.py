"""The same panel in a real Notebook 7: buttons, pause, time slider, keys, panes, narrow pages, light and dark."""

from __future__ import annotations

import importlib.util

import pytest

from tests.browser import checks
from tests.browser.cells import ENDLESS, NEWTON
from tests.browser.desk import started
from tests.browser.lab import write_notebook
from tests.browser.panel import Panel
from tests.browser.waits import until

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("notebook") is None, reason="notebook is not installed, see the extra dev"
)


@pytest.fixture(scope="module")
def opened(browser, tmp_path_factory):
    """The notebook in Notebook 7; ``page.own`` are errors of its scripts on a notebook that has nothing of ours."""
    with started(browser, tmp_path_factory.mktemp("notebook7"), "notebook") as desk, desk.page() as page:
        write_notebook(desk.notebooks / "plain.ipynb", ["1 + 1"])
        write_notebook(desk.notebooks / "panels.ipynb", [NEWTON, ENDLESS])
        page.open("plain.ipynb")
        page.run_all()
        page.own = set(page.errors)
        page.open("panels.ipynb")
        page.run_all()
        yield page


@pytest.fixture
def newton(opened):
    return Panel.fresh(opened.page, 0)


@pytest.fixture
def endless(opened):
    panel = Panel.fresh(opened.page, 1)
    yield panel
    if panel.state() == "running":
        panel.click("pause", "paused")


def test_it_is_notebook_7(opened):
    assert opened.page.evaluate("jupyterapp.name") == "Jupyter Notebook"
    assert opened.page.evaluate("jupyterapp.version").split(".")[0] >= "7"
    assert opened.failed_cells() == []


def test_step_run_and_back(newton):
    checks.steps_forth_and_back(newton)
    checks.runs_to_the_root(newton)


def test_a_loop_that_runs_is_followed_and_paused(opened, endless):
    endless.click("run", "running")
    before = endless.event()
    endless.until_event("event > args[0]", before)
    assert opened.kernel("print(6 * 7, endless.session.state)") == "42 running", "other cells run meanwhile"
    endless.click("pause", "paused")
    endless.card("verdict", "never")


def test_the_time_slider_moves_the_views_and_goes_there(newton):
    checks.the_time_slider_moves_the_views(newton)


def test_keys_work_in_the_panel_and_only_there(newton):
    checks.keys_work_only_inside(newton)


def test_all_panes_open_and_close(opened, newton):
    newton.click("next_iteration", "paused")
    keys = newton.ask("return [...panel.querySelectorAll('[data-pane]')].map(b => b.dataset.pane)")
    assert {"breakpoints", "stack", "timeline", "explain", "compare", "code", "export"} <= set(keys)
    keys.remove("branches")  # that one is there as long as the panel
    for key in keys:
        newton.pane(key)
    bad = "[...panel.querySelectorAll('.workbench-panes .workbench-bad')].map(e => e.innerText)"
    until(lambda: newton.ask(f"return {bad}"), [])
    for key in keys:
        newton.ask("panel.querySelector(`[data-pane=${args[0]}] .workbench-cross`).click()", key)
        newton.until("return !panel.querySelector(`.workbench-is-${args[0]}`)", key)
    newton.until("return panel.dataset.tool === 'branches'")


def test_the_extension_has_commands_and_no_tab(opened, newton):
    names = opened.page.evaluate("jupyterapp.commands.listCommands().filter(c => c.startsWith('workbench:'))")
    assert "workbench:step" in names and "workbench:open-panel-in-tab" not in names
    assert opened.page.evaluate("globalThis.__workbenchLab") is None
    newton.ask("panel.querySelector('.workbench-toolbar').focus()")
    opened.page.evaluate("jupyterapp.commands.execute('workbench:step')")
    newton.until("return panel.querySelector('.workbench-state').dataset.state === 'paused'")


def test_a_narrow_page_has_one_column(opened, newton):
    for width, one in ((700, True), (1400, False)):
        opened.page.set_viewport_size({"width": width, "height": 1200})
        newton.until("return (panel.dataset.mode === 'one') === args[0]", one)
        for part in (".workbench-toolbar", ".workbench-body"):
            newton.until(f"const p = panel.querySelector('{part}'); return p.scrollWidth <= p.clientWidth + 1")


def test_light_and_dark(opened, newton, tmp_path):
    newton.click("run", "finished")
    inks = "[...new Set([...panel.querySelectorAll('.workbench-figure')].map(g => g._fullLayout.font.color))].join()"
    seen = set()
    for theme, ink in (("Dark", "#E6E6E6"), ("Light", "#1F1F1F")):
        opened.theme(theme)
        newton.until(f"return {inks} === args[0]", ink)
        seen.add(newton.ask("return getComputedStyle(panel.querySelector('.workbench-toolbar')).color"))
        opened.page.screenshot(path=tmp_path / f"{theme.lower()}.png")
    print("screenshots:", tmp_path)
    assert len(seen) == 2


def test_no_script_failed_and_nothing_left_the_machine(opened):
    assert [e for e in opened.script_errors() if e not in opened.own] == [] and opened.outside() == []
    assert opened.kernel("print(panel.graph.pump.errors + endless.graph.pump.errors)") == "[]"
    opened.kernel("panel.close(); endless.close()")
    opened.tells("import ipywidgets; print(len(ipywidgets.widgets.widget._instances))", "0")
