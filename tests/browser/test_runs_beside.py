"""Runs as chips in a real JupyterLab: what was before an edit stands beside the run, in strips, condition and table."""

from __future__ import annotations

import json

from tests.browser.cells import NEWTON
from tests.browser.panel import Panel
from tests.browser.waits import until

CELLS = [NEWTON]
BEFORE = "before edit 1"


def chips(panel: Panel) -> dict[str, str]:
    """Words of each chip -> whether it is pressed."""
    return panel.ask(
        """return Object.fromEntries([...panel.querySelectorAll('.workbench-run-chip')].map(
             b => [b.textContent, b.getAttribute('aria-pressed')]))"""
    )


def beside(panel: Panel) -> int:
    """How many lines of the run before the edit the strips have, with numbers in them."""
    return panel.ask(
        """const g = panel.querySelector('.workbench-is-evolution .workbench-figure');
           return g.data.filter(t => (t.name ?? '').endsWith(`(${args[0]})`) && t.x?.length).length""",
        BEFORE,
    )


def test_a_run_before_an_edit_is_a_chip_and_stands_in_strips_and_table(opened):
    panel = Panel.fresh(opened.page, 0)
    until(lambda: chips(panel), {"this run": "true"})
    opened.kernel(
        "panel.session.run(); before = panel.session.trace['x'].values.copy(); panel.session.run_to('x', iteration=6);"
        "panel.session.step(); panel.session.set_value('x', 3.0); panel.session.run()"
    )
    until(lambda: chips(panel), {"this run": "true", BEFORE: "true"})
    until(lambda: beside(panel), 2)  # the variable and the condition
    found = panel.ask(
        """const g = panel.querySelector('.workbench-is-evolution .workbench-figure');
           return Array.from(g.data.find(t => t.name === `x (${args[0]})` && t.x?.length).y)""",
        BEFORE,
    )
    assert found == json.loads(opened.kernel("import json; print(json.dumps(before.tolist()))")), (
        "each point as recorded"
    )
    stops = opened.kernel("print(len(before) - 1)")
    heads = lambda: panel.ask("return panel.querySelector('.workbench-is-evolution').innerText")  # noqa: E731
    until(heads, lambda text: f"{BEFORE}: stops in {stops}" in text)
    table = "return [...panel.querySelectorAll('.workbench-is-value .workbench-flow-cells th')].map(h => h.textContent)"
    until(lambda: panel.ask(table), ["iteration", "this run", BEFORE, "difference"])

    panel.ask("[...panel.querySelectorAll('.workbench-runs button')].find(b => b.textContent === 'Difference').click()")
    named = "return panel.querySelector('.workbench-is-evolution .workbench-figure').data.map(t => t.name ?? '')"
    until(lambda: panel.ask(named), lambda names: "difference in x" in names)

    panel.ask("panel.querySelector(`[data-run='${args[0]}']`).click()", BEFORE)
    until(lambda: chips(panel), {"this run": "true", BEFORE: "false"})
    until(lambda: beside(panel), 0)
    until(lambda: panel.ask(table), ["iteration", "value", "change"])


def test_the_menu_adds_a_copy_and_a_saved_trace_and_says_what_it_cannot_load(opened, tmp_path):
    panel = Panel.fresh(opened.page, 0)
    opened.kernel(f"panel.session.run(); panel.session.trace.save({str(tmp_path / 'yesterday.wbtrace')!r})")
    menu = panel.page.locator(".workbench-debugger").nth(0).locator(".workbench-runs")
    for path, shown in ((tmp_path / "none.wbtrace", "none.wbtrace"), (tmp_path / "yesterday.wbtrace", "yesterday")):
        menu.locator("summary").click()
        menu.locator("input").fill(str(path))
        menu.get_by_text("Load", exact=True).click()
        until(
            lambda: panel.ask("return panel.querySelector('.workbench-runs').innerText"),
            lambda text, s=shown: s in text,
        )
    menu.locator("summary").click()
    menu.get_by_text("Copy of this run", exact=True).click()
    opened.heard("len(panel.session.forks) == 1")
    until(lambda: chips(panel), lambda found: {"copy 1", "yesterday"} <= set(found))
    panel.ask("panel.querySelector('.workbench-run-cross').click()")
    until(lambda: chips(panel), lambda found: "yesterday" not in found)
