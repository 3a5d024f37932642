"""The notebook on unused arrays in a real JupyterLab: the memory view moves while its cells keep the kernel busy."""

from __future__ import annotations

import pytest

from tests.browser.lab import NOTEBOOKS

NOTEBOOK = "A2_unused_arrays.ipynb"

pytestmark = pytest.mark.skipif(not (NOTEBOOKS / NOTEBOOK).exists(), reason="no notebook; `make notebooks` writes it")

VIEW = "document.querySelector('.workbench-view')"
DONE = """() => [...jupyterapp.shell.currentWidget.content.widgets].every(
  c => c.model.type !== 'code' || !c.model.sharedModel.getSource().trim() || c.model.executionCount !== null)"""
#: keeps everything that the view shows until the cells are done
RECORD = f"""() => {{
  const view = {VIEW}, seen = window.seen = {{ words: new Set(), highest: new Set() }};
  const note = () => {{
    if (({DONE})()) return;
    seen.words.add(view.querySelector('.workbench-words').innerText.split('\\n')[0]);
    seen.highest.add(Math.max(...view.querySelector('.workbench-figure').data[0].y, 0));
  }};
  note();
  new MutationObserver(note).observe(view, {{ childList: true, subtree: true, characterData: true, attributes: true }});
}}"""


def test_the_view_moves_while_the_kernel_is_busy(desk, tmp_path):
    with desk.page() as opened:
        opened.open(NOTEBOOK)
        page = opened.page
        page.evaluate("() => jupyterapp.commands.execute('notebook:clear-all-cell-outputs')")
        page.evaluate("() => { jupyterapp.commands.execute('notebook:run-all-cells') }")
        page.wait_for_function(f"() => {VIEW}?.querySelector('.workbench-figure')?._fullLayout", timeout=120_000)
        page.evaluate(RECORD)
        page.wait_for_function(DONE, timeout=600_000)
        words, highest = page.evaluate("() => [[...seen.words], [...seen.highest]]")
        assert len(words) >= 3 and len(highest) >= 3, (words, highest)
        assert opened.failed_cells() == [] and opened.script_errors() == [] and opened.outside() == []
        for theme in ("Light", "Dark"):
            opened.theme(theme)
            page.evaluate(f"() => {VIEW}.scrollIntoView()")
            ink = "rgb(31, 31, 31)" if theme == "Light" else "rgb(230, 230, 230)"
            page.wait_for_function(f"() => getComputedStyle({VIEW}.querySelector('.gtitle, .xtitle')).fill === '{ink}'")
            page.screenshot(path=str(tmp_path / f"memory-{theme}.png"))
        page.keyboard.press("Escape")
        switch = page.locator(".workbench-view button", has_text="Collect unused arrays").first
        switch.focus()
        page.keyboard.press("Space")  # the switch works from the keyboard
        page.wait_for_function(
            f"() => [...{VIEW}.querySelectorAll('button')].some(b => b.innerText.endsWith('arrays: on'))",
            timeout=120_000,
        )
