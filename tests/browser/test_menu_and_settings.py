"""The menu Workbench with its keys, and the layout of panels in JupyterLab's settings."""

from __future__ import annotations

import pytest

from tests.browser.cells import NEWTON
from tests.browser.desk import LAYOUT
from tests.browser.lab import patient
from tests.browser.waits import until

CELLS = [NEWTON]
ENTRY = ".lm-Menu-item:not(.lm-mod-hidden):not([data-type=separator])"
ENTRIES = f"[...document.querySelectorAll('{ENTRY}')].map(i => i.innerText)"
SET = """localStorage.setItem('workbench:layout', JSON.stringify({scale: 1.25}));
  dispatchEvent(new Event('workbench:layout'))"""


def test_the_menu_lists_the_commands_with_their_keys(opened):
    opened.page.locator(".lm-MenuBar-item", has_text="Workbench").click()
    opened.page.wait_for_selector(".lm-Menu-item")
    wanted = {"Show live runs", "Debug in a notebook", "Open panel in a tab", "Step", "Restart"}
    told = until(
        lambda: {entry.strip().split("\t")[0].strip(): entry for entry in opened.page.evaluate(ENTRIES)},
        lambda told: wanted <= set(told),
    )
    opened.page.keyboard.press("Escape")
    assert "Alt+F10" in told["Step"] and "Alt+Shift+L" in told["Show live runs"]


def test_the_keys_work_from_anywhere_in_jupyterlab(opened):
    opened.page.keyboard.press("Alt+Shift+L")
    opened.page.wait_for_function("() => document.querySelector('#workbench-live')?.getClientRects().length")
    before = opened.page.evaluate("document.querySelector('.workbench-debugger').innerText")
    opened.page.keyboard.press("Alt+F10")
    opened.page.wait_for_function(
        "before => document.querySelector('.workbench-debugger').innerText !== before", arg=before, timeout=120_000
    )


def test_the_layout_is_kept_in_the_settings_for_another_browser(opened, desk, browser):
    opened.page.evaluate(SET)
    opened.page.wait_for_function("() => !localStorage.getItem('workbench:layout-unsaved')", timeout=120_000)
    until((desk.folder / LAYOUT).read_text, lambda text: '"scale": 1.25' in text)
    context = patient(browser)
    try:
        other = context.new_page()
        other.goto(f"{opened.url}/lab/workspaces/other?token={opened.token}")
        other.wait_for_function(
            "() => localStorage.getItem('workbench:layout') === '{\"scale\":1.25}'", timeout=120_000
        )
    finally:
        context.close()


@pytest.mark.parametrize("theme", ["Dark", "Light"])
def test_no_script_fails(opened, theme):
    opened.theme(theme)
    assert opened.script_errors() == [] and opened.outside() == []
