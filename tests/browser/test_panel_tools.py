"""The tools of the panel in a real JupyterLab: commands both ways, keys, breadcrumbs, the time slider."""

from __future__ import annotations

import json
import re

import pytest

from tests.browser import checks
from tests.browser.cells import NESTED, NEWTON
from tests.browser.panel import Panel
from tests.browser.waits import until

CELLS = [NEWTON, NESTED]


@pytest.fixture
def newton(opened):
    return Panel.fresh(opened.page, 0)


@pytest.fixture
def nested(opened):
    return Panel.fresh(opened.page, 1)


# a command and the one that takes it back
PAIRS = [
    ("step", "step_back"),
    ("next_iteration", "previous_iteration"),
    ("step_over", "step_back_over"),
    ("step_into", "step_back_out"),
]


@pytest.mark.parametrize(("on", "back"), PAIRS)
def test_every_command_has_its_way_back(nested, on, back):
    there = nested.ask("return [...panel.querySelectorAll('button[data-command]')].map(b => b.dataset.command)")
    if on not in there or back not in there:
        pytest.skip("this session does not have the command")
    nested.click("next_iteration", "paused")
    nested.click("next_iteration", "paused")
    before = nested.event()
    nested.click(on, "paused")
    there = nested.event()
    assert there > before
    nested.click(back, "paused")
    # out of a loop it goes back to where that was entered, which is after the step began
    assert nested.event() < there if back == "step_back_out" else nested.event() == before


def test_the_breadcrumbs_lead_to_the_loops_around(nested):
    nested.click("step_into", "paused")
    for _ in range(5):
        nested.click("next_iteration", "paused")
        if "inner" in nested.status("crumbs"):
            break
        nested.click("step_into", "paused")
    read = "return [...panel.querySelectorAll('.workbench-crumbs button')].map(b => b.textContent)"
    crumbs = until(
        lambda: nested.ask(read), lambda c: c[0] == "top" and c[1].startswith("outer") and c[2].startswith("inner")
    )
    nested.ask("panel.querySelectorAll('.workbench-crumbs button')[1].click()")
    nested.until("return panel.querySelector('.workbench-looking').textContent.includes(args[0])", crumbs[1])
    nested.ask("panel.querySelectorAll('.workbench-crumbs button')[0].click()")
    nested.until("return panel.querySelector('.workbench-time').dataset.live === 'true'")


def test_nested_loops_have_a_slider_each(nested):
    nested.click("run", "finished")
    nested.until(
        """const choice = panel.querySelector('.workbench-time select');
           const at = [...choice.options].findIndex(o => o.textContent.includes('inner'));
           if (at < 0) return false;
           choice.value = at; choice.dispatchEvent(new Event('change'));
           return true"""
    )
    nested.until("return panel.querySelectorAll('.workbench-time input[type=range]').length === 2")
    nested.time(5, level=0)
    nested.until("return panel.querySelectorAll('.workbench-time-count')[1].textContent.endsWith('of 5')")
    nested.time(2, level=1)
    nested.looks_at("looking at outer 5 \u203a inner 2")


def test_the_time_slider_moves_the_views_and_goes_there(newton):
    checks.the_time_slider_moves_the_views(newton)


def test_the_iterations_can_be_played(newton):
    newton.click("run", "finished")
    newton.until_drawn()
    newton.ask("panel.querySelectorAll('.workbench-time select')[1].value = '20'")
    newton.until("return !panel.querySelector('[data-time=play]').disabled")
    newton.ask("panel.querySelector('[data-time=play]').click()")
    newton.until("return panel.querySelector('.workbench-time').dataset.live === 'false'")
    last = newton.ask("return panel.querySelector('.workbench-time input[type=range]').max")
    newton.until("return panel.querySelector('.workbench-time input[type=range]').value === args[0]", last)
    newton.until("return panel.querySelector('[data-time=play]').getAttribute('aria-pressed') === 'false'")
    newton.ask("panel.querySelector('[data-time=newest]').click()")
    newton.until("return panel.querySelector('.workbench-time').dataset.live === 'true'")


def test_a_number_jumps_to_that_iteration(newton):
    newton.until("return panel.querySelector('.workbench-time-count').textContent === 'has not run yet'")
    newton.ask("panel.querySelector('.workbench-time-jump').focus()")
    newton.page.keyboard.type("4")
    newton.page.keyboard.press("Enter")  # not there yet: the session runs to it
    newton.until("return panel.querySelector('.workbench-crumbs').textContent.includes('iteration 4')")
    newton.click("run", "finished")
    # the slider follows the status line a moment later, and looks at no iteration that it does not know of
    newton.until("return Number(panel.querySelector('.workbench-time input[type=range]').max) >= 7")
    newton.ask("panel.querySelector('.workbench-time-jump').focus()")
    newton.page.keyboard.type("7")
    newton.page.keyboard.press("Enter")
    newton.until("return panel.querySelector('.workbench-time-told').textContent === 'looking at iteration 7'")
    newton.until(
        "return panel.querySelector('.workbench-time input[type=range]').ariaValueText.startsWith('iteration 7 of ')"
    )
    newton.ask("panel.querySelector('.workbench-time input[type=range]').focus()")
    newton.page.keyboard.press("ArrowLeft")
    newton.until("return panel.querySelector('.workbench-time-told').textContent === 'looking at iteration 6'")
    newton.ask("panel.querySelector('[data-time=newest]').click()")


KEYS = [("F10", "step"), ("Shift+F10", "step back"), ("F8", "next iteration"), ("F11", "into"), ("F9", "run")]


def test_keys_move_the_session_while_the_panel_has_the_focus(nested):
    nested.ask("panel.querySelector('.workbench-toolbar').focus()")
    seen = [nested.event()]
    for key, _ in KEYS:
        nested.page.keyboard.press(key)
        nested.until_moved(seen[-1])
        seen.append(nested.event())
    assert seen[1] > seen[0] and seen[2] == seen[0] and seen[2] < seen[3] < seen[4] < seen[5]


def test_keys_are_listed_and_can_be_changed(newton):
    newton.ask("panel.querySelector('.workbench-toolbar').focus()")
    newton.page.keyboard.press("?")
    newton.until("return !panel.querySelector('.workbench-keys').hidden")
    newton.ask("panel.querySelector('[data-rebind=step]').click()")
    newton.page.keyboard.press("Control+Alt+n")
    newton.until("return panel.querySelector('[data-rebind=step]').textContent === 'Ctrl+Alt+N'")
    newton.page.keyboard.press("Escape")
    before = newton.event()
    newton.page.keyboard.press("Control+Alt+n")
    newton.until_moved(before)
    assert newton.event() > before
    newton.ask("panel.querySelector('.workbench-help').click(); panel.querySelector('[data-rebind=step]').click()")
    newton.page.keyboard.press("F10")
    newton.page.keyboard.press("Escape")
    newton.until("return panel.querySelector('.workbench-keys').hidden")


def test_a_narrow_page_wraps_the_toolbar(opened, newton, tmp_path):
    opened.page.set_viewport_size({"width": 620, "height": 1200})
    newton.until("return panel.clientWidth < 600")
    for part in (".workbench-toolbar", ".workbench-time"):
        newton.until("return panel.querySelector(args[0]).scrollWidth <= panel.clientWidth + 1", part)
    opened.page.screenshot(path=str(tmp_path / "narrow.png"))
    opened.page.set_viewport_size({"width": 1400, "height": 1200})
    newton.until("return panel.clientWidth > 900")


def test_light_and_dark(opened, nested, tmp_path):
    nested.click("run", "finished")
    nested.time(3)
    brightness = lambda: sum(map(int, re.findall(r"\d+", nested.ask("return getComputedStyle(panel).color"))[:3]))  # noqa: E731
    wanted = {"Light": lambda ink: ink < 3 * 100, "Dark": lambda ink: ink > 3 * 155}
    for name, of_ink in wanted.items():  # dark text on light, light text on dark
        opened.theme(name)
        until(brightness, of_ink)
        opened.page.screenshot(path=str(tmp_path / f"{name.lower()}.png"))
    opened.theme("Light")
    print("screenshots:", tmp_path)


def test_no_cell_and_no_script_failed(opened):
    assert opened.failed_cells() == [] and opened.script_errors() == [] and opened.outside() == []
    assert json.loads(opened.kernel("import json; print(json.dumps(panel.graph.pump.errors))")) == []
