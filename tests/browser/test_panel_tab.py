"""The JupyterLab extension: a panel in a tab of its own, and the commands of the palette."""

from __future__ import annotations

import pytest

from tests.browser.cells import NEWTON
from tests.browser.lab import write_notebook
from tests.browser.panel import Panel
from tests.browser.waits import at_rest, until

#: two panels in one cell, below a printed line
TWO = """
print("before the panels")
first = wb.debug(graph, {"a": 3.0, "start": 2.0})
second = wb.debug(graph, {"a": 5.0, "start": 2.0})
display(first, second)
"""
CELLS = [NEWTON, TWO]
LABELS = {
    "workbench:open-panel-in-tab": "Open panel in a tab",
    "workbench:step": "Step",
    "workbench:step-back": "Step back",
    "workbench:run": "Run",
    "workbench:pause": "Pause",
    "workbench:next-iteration": "Next iteration",
    "workbench:previous-iteration": "Previous iteration",
    "workbench:restart": "Restart",
    "workbench:open-file": "Open a model, trace or saved panel ...",
    "workbench:debug-in-a-notebook": "Debug in a notebook",
    "workbench:show-live-runs": "Show live runs",
    "workbench:first-loop": "First loop (5 minutes): open the first lesson",
}
TABS = "[...jupyterapp.shell.widgets('main')].filter(w => w.node.querySelector('.workbench-tab'))"
NOTICES = "[...document.querySelectorAll('.Toastify__toast-body, .Toastify__toast')].map(n => n.innerText).join()"
OWNER = "[...jupyterapp.shell.widgets('main')].find(w => w.sessionContext && w.content.widgets)"


class Tabs:
    """The tabs with a panel, beside the notebook that ``opened`` shows."""

    def __init__(self, page):
        self.page = page

    def open(self, panel: Panel) -> bool:
        """Ask for the panel's tab as the panel's own script does."""
        return panel.ask("return globalThis.__workbenchLab.openInTab(panel.querySelector('button'))")

    def titles(self) -> list[str]:
        return self.page.evaluate(f"{TABS}.map(w => w.title.label)")

    def in_front(self) -> str:
        return self.page.evaluate("jupyterapp.shell.currentWidget.title.label")

    def wait(self, condition: str, arg=None) -> None:
        """Until something is true of ``tabs``, the tabs' elements."""
        self.page.wait_for_function(
            f"arg => {{ const tabs = {TABS}.map(w => w.node); return {condition}; }}", arg=arg, timeout=120_000
        )

    def state_in_sight(self, k: int) -> str:
        """Bring a tab to the front; the state of the panel that is seen in it."""
        self.page.evaluate(f"k => jupyterapp.shell.activateById({TABS}[k].id)", k)
        seen = "[...tabs[arg].querySelectorAll('.workbench-state')].find(s => s.getClientRects().length)"
        self.wait(f"{seen}?.dataset.state", k)
        return self.page.evaluate(f"arg => {{ const tabs = {TABS}.map(w => w.node); return {seen}.dataset.state; }}", k)

    def notebook(self, body: str):
        """Evaluate with ``notebook`` bound to the notebook's content."""
        return self.page.evaluate(f"async () => {{ const notebook = {OWNER}.content; {body} }}")

    def close_all(self) -> None:
        self.page.evaluate(f"{TABS}.forEach(w => w.close())")
        self.page.evaluate(f"jupyterapp.shell.activateById({OWNER}.id)")


@pytest.fixture
def tabs(opened):
    found = Tabs(opened.page)
    yield found
    found.close_all()


@pytest.fixture
def newton(opened):
    return Panel.fresh(opened.page, 0)


def command(page, name: str) -> None:
    page.evaluate("name => jupyterapp.commands.execute(name)", name)


def told(page, words: str) -> None:
    """Until a notification says this; then it is put away."""
    page.wait_for_function(f"words => {NOTICES}.includes(words)", arg=words, timeout=120_000)
    page.evaluate("jupyterapp.commands.execute('apputils:dismiss-notification', {})")


def test_the_palette_has_the_commands(opened):
    page = opened.page
    command(page, "apputils:activate-command-palette")
    page.locator("#command-palette input, #modal-command-palette input").first.fill("workbench")
    items = page.locator(".lm-CommandPalette-item[data-command^='workbench:']")
    items.first.wait_for(state="visible")
    shown = items.evaluate_all(
        "all => Object.fromEntries(all.map(i => [i.dataset.command, "
        "i.querySelector('.lm-CommandPalette-itemLabel').innerText]))"
    )
    headers = page.locator(".lm-CommandPalette-header").all_inner_texts()
    page.keyboard.press("Escape")
    assert shown == LABELS
    assert [text.lower() for text in headers] == ["workbench"]


def test_a_panel_in_a_tab_and_the_one_in_the_notebook_are_one(tabs, newton):
    assert tabs.open(newton)
    until(lambda: (tabs.titles(), tabs.in_front()), (["Panel: newton"], "Panel: newton"))
    tabs.wait("tabs[0].querySelector('.workbench-status')?.innerText.includes('Ready')")
    newton.click("next_iteration", "paused")
    newton.click("next_iteration", "paused")
    number, event = newton.event(), newton.status("event")
    tabs.wait("tabs[0].querySelector('.workbench-event').textContent === arg", event)
    tabs.wait("tabs[0].querySelector('.workbench-is-evolution .workbench-figure')?.data.some(t => t.x?.length)")
    tabs.page.evaluate("document.querySelector('.workbench-tab button[data-command=step]').click()")
    newton.until_moved(number)
    event = newton.status("event")
    tabs.wait("tabs[0].querySelector('.workbench-event').textContent === arg", event)


def test_the_tab_fills_the_main_area_and_scrolls_by_itself(tabs, newton):
    tabs.open(newton)
    tabs.wait("tabs[0].querySelector('.workbench-status')?.innerText")
    filled = f"""() => {{ const tab = {TABS}[0].node, main = document.querySelector('#jp-main-dock-panel');
             const panel = tab.querySelector('.workbench-debugger');
             return [panel.clientWidth / main.clientWidth, tab.clientHeight / main.clientHeight,
                     getComputedStyle(tab.querySelector('.workbench-tab')).overflowY]; }}"""
    until(lambda: tabs.page.evaluate(filled), lambda found: found[0] > 0.97 and found[1] > 0.9 and found[2] == "auto")


def test_only_the_output_with_the_panel_is_shown_and_each_has_one_tab(tabs, opened):
    second = Panel(opened.page, 2)
    assert tabs.open(second) and tabs.open(second)
    shown = "[...tabs[0].querySelectorAll('.workbench-debugger')].filter(p => p.clientWidth)"
    tabs.wait(f"tabs.length === 1 && {shown}.length === 1")
    assert "before the panels" not in tabs.page.evaluate(f"{TABS}[0].node.innerText")
    assert tabs.open(Panel(opened.page, 1))
    tabs.wait("tabs.length === 2 && tabs.every(t => t.querySelector('.workbench-debugger'))")
    second.click("step", "paused")
    until(lambda: sorted(tabs.state_in_sight(k) for k in range(2)), ["paused", "ready"])
    # asked for from inside a tab, the tab is already there
    inside = f"globalThis.__workbenchLab.openInTab({TABS}[0].node.querySelector('.workbench-debugger'))"
    assert tabs.page.evaluate(inside) and len(tabs.titles()) == 2


def test_an_element_of_no_output_is_refused(tabs):
    for what in ("document.body", "document.createElement('div')", "null", "undefined"):
        assert tabs.page.evaluate(f"globalThis.__workbenchLab.openInTab({what})") is False
    assert tabs.titles() == []


def test_the_tab_stays_when_its_cell_is_scrolled_away_moved_or_run_again(tabs, newton, opened):
    tabs.open(newton)
    tabs.wait("tabs[0].querySelector('.workbench-status')?.innerText")
    # what a windowed notebook does to a cell that is out of sight
    tabs.notebook("notebook.widgets[0].node.style.display = 'none'")
    command(opened.page, "workbench:next-iteration")
    tabs.wait("tabs[0].querySelector('.workbench-state')?.dataset.state === 'paused'")
    tabs.notebook("notebook.widgets[0].node.style.display = ''")
    tabs.notebook("notebook.moveCell(0, 1)")
    tabs.wait("tabs.length === 1 && tabs[0].querySelector('.workbench-state')?.dataset.state === 'paused'")
    tabs.notebook("notebook.moveCell(1, 0)")
    tabs.wait("tabs.length === 1 && tabs[0].querySelector('.workbench-state')?.dataset.state === 'paused'")
    opened.page.evaluate(f"jupyterapp.shell.activateById({OWNER}.id)")
    opened.run_cell(0)
    tabs.wait("tabs.length === 1 && tabs[0].querySelector('.workbench-state')?.dataset.state === 'ready'")


def test_the_tab_closes_with_its_cell(tabs, newton, opened):
    tabs.open(newton)
    tabs.wait("tabs[0].querySelector('.workbench-status')?.innerText")
    opened.page.evaluate(f"jupyterapp.shell.activateById({OWNER}.id)")
    tabs.notebook("notebook.activeCellIndex = 0")
    opened.delete_cell()
    tabs.wait("tabs.length === 0")
    command(opened.page, "notebook:undo-cell-action")
    opened.run_cell(0)


def test_opening_and_closing_leaves_nothing(tabs, newton):
    panels = "document.querySelectorAll('.workbench-debugger').length"
    newton.until_drawn()
    before, elements = at_rest(
        lambda: tabs.page.evaluate(f"[{panels}, document.querySelectorAll('*').length]"), pause=1.0
    )
    for _ in range(5):
        assert tabs.open(newton)
        tabs.wait("tabs[0].querySelector('.workbench-is-graph .workbench-figure')?._fullLayout")
        tabs.close_all()
        tabs.wait("tabs.length === 0")
    until(lambda: tabs.page.evaluate(panels), before)
    until(lambda: tabs.page.evaluate("document.querySelectorAll('*').length"), lambda now: now < elements + 50)


def test_the_palette_presses_the_buttons_of_the_panel_used_last(tabs, newton, opened):
    second = Panel.fresh(opened.page, 2)
    for panel in (newton, second):
        panel.ask("panel.querySelector('.workbench-toolbar').focus()")
        other = second if panel is newton else newton
        before = other.status("event")
        command(opened.page, "workbench:step")
        panel.until("return panel.querySelector('.workbench-state').dataset.state === 'paused'")
        assert other.status("event") == before
        command(opened.page, "workbench:step-back")
        panel.until("return panel.querySelector('.workbench-event').textContent.startsWith('0 ')")
    command(opened.page, "workbench:open-panel-in-tab")
    tabs.wait("tabs.length === 1")


def test_what_cannot_be_done_is_told_in_words(newton, opened):
    newton.ask("panel.querySelector('.workbench-toolbar').focus()")
    command(opened.page, "workbench:step-back")
    told(opened.page, '"Step back" is not possible now')


def test_no_script_failed_and_nothing_left_the_machine(opened):
    assert opened.script_errors() == [] and opened.outside() == []


def test_tabs_are_there_again_when_the_page_is_loaded_again(tabs, newton, opened, desk):
    page = opened.page
    tabs.open(newton)
    page.evaluate(f"{OWNER}.context.save()")
    kept = lambda: [path.read_text() for path in (desk.folder / "workspaces").glob("*")]  # noqa: E731
    until(kept, lambda texts: any("workbench-panels:" in text for text in texts))  # a second after its last change
    page.goto(f"{opened.url}/lab?token={opened.token}")
    page.wait_for_function("window.jupyterapp !== undefined", timeout=120_000)
    # what is in it are widgets of the kernel, which ipywidgets makes again
    tabs.wait("tabs.length === 1 && tabs[0].querySelector('.jp-OutputArea-output')")
    until(tabs.titles, ["Panel: newton"])


def test_without_a_panel_the_commands_say_so(opened, desk):
    write_notebook(desk.notebooks / "no_panel.ipynb", ["1 + 1"])
    opened.open("no_panel.ipynb")
    for name in ("workbench:open-panel-in-tab", "workbench:run"):
        command(opened.page, name)
        told(opened.page, "No workbench panel is in view")
