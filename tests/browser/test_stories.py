"""The stories of working with a run, in a real JupyterLab, each with the number of actions that it takes at most."""

from __future__ import annotations

from tests.browser.actions import Actions, typed
from tests.browser.cells import ENDLESS, NEWTON
from tests.browser.lab import patient
from tests.browser.panel import Panel
from tests.browser.waits import until

SECOND = """
other = wb.debug(graph, {"a": 2.0, "start": 100.0})
other
"""
COUNT = """
b = wb.GraphBuilder("away")
limit = b.placeholder("limit")
i = b.while_loop(lambda i: i < limit, lambda i: i - 1.0, {"i": b.constant(0.0)})
away = wb.debug(b.build(i), {"limit": 20.0})
away
"""
CELLS = [NEWTON, SECOND, ENDLESS, COUNT]
FIRST, INPUTS, NEVER, AWAY = range(4)


def test_a_why_it_never_ends_without_an_action_and_the_fixed_copy_opens(opened):
    with Actions(0):
        panel = Panel(opened.page, AWAY)
        panel.show()
        panel.card("verdict", "never stops", "moves away from limit (20")
    with Actions(3) as act:
        act(panel.why("verdict"))
        panel.press("why", "Try beside")
        act()
        panel.says("why", "ends now")
        panel.press("why", "Open the copy")
        act()
        opened.page.wait_for_function("() => document.querySelectorAll('.workbench-debugger').length === 5")
    opened.tells("print(away.session.state, away.copies.panels[0].session.wait().reason.name)", "ready FINISHED")
    copy = Panel(opened.page, AWAY + 1)
    copy.until("return panel.querySelector('.workbench-state').dataset.state === 'finished'", seconds=60)
    # the page has scrolled to it
    copy.until("const { top } = panel.getBoundingClientRect(); return top >= 0 && top < window.innerHeight / 2")
    panel.press("why", "Discard the copy")
    panels = "() => document.querySelectorAll('.workbench-debugger').length"
    opened.page.wait_for_function(f"{panels} === 4", timeout=120_000)


def test_c_back_three_edit_and_compare_in_six_actions(opened):
    panel = Panel.fresh(opened.page, FIRST)
    panel.click("run", "finished")
    panel.says("value", "1.414")
    with Actions(6) as act:
        for _ in range(3):
            act(panel.click("previous_iteration"))
        panel.until_drawn()
        at = opened.kernel("print(panel.session.position.iteration[0])")
        button = opened.page.locator(".workbench-debugger").nth(FIRST).locator(".workbench-is-value .workbench-set")
        until(lambda: button.get_attribute("title"), lambda title: title.endswith(f" {at}"))  # where it is set
        button.click()
        typed(
            opened,
            panel,
            ".workbench-is-value .workbench-flow-editable input, .workbench-is-value input.workbench-flow-edit",
            "3.0",
        )
        act()
        panel.says("value", "3")
        act(panel.click("run", "finished"))
        panel.pane("compare")
        act()
        panel.says("compare", "was set by hand")
    panel.says("compare", "First difference:", f"in iteration {at}", "No node is to blame", "before edit 1", "same")
    panel.until(
        """const found = panel.querySelector('.workbench-is-compare .workbench-figure')?.data;
           return found && found[0].x?.length && found[1].x?.length && found[0].name !== found[1].name""",
        seconds=60,
    )
    # undo: by its button, which is there while there is an edit; the old run has its future
    panel.press("compare", "Undo this edit")
    panel.until("return panel.querySelector('.workbench-state').dataset.state === 'paused'")
    opened.tells("print(panel.session.can_undo, len(panel.session.histories))", "False 0")
    panel.click("run", "finished")


def test_ctrl_z_undoes_an_edit(opened):
    panel = Panel.fresh(opened.page, FIRST)
    panel.click("run", "finished")
    told = opened.kernel(
        "panel.session.previous_iteration(3); before = str(panel.session.position); "
        "print(panel.session.set_value('x', 5.0).reason.name)"
    )
    assert told == "EDITED"
    panel.until("return panel.querySelector('button[data-command=undo_edit]:not([disabled])')", seconds=60)
    panel.ask("panel.querySelector('.workbench-toolbar').focus()")
    opened.page.keyboard.press("Control+z")
    panel.until("return !panel.querySelector('button[data-command=undo_edit]:not([disabled])')", seconds=60)
    opened.heard("str(panel.session.position) == before")


def test_f_other_inputs_in_three_actions(opened):
    panel = Panel.fresh(opened.page, INPUTS)
    panel.click("run", "finished")
    with Actions(3) as act:
        panel.pane("inputs")
        act()
        typed(opened, panel, ".workbench-is-inputs input[data-name=a]", "3")
        act()
        panel.until("return [...panel.querySelectorAll('.workbench-is-inputs button')].some("
                    "b => b.innerText === 'Compare with earlier inputs 1' && !b.disabled)", seconds=60)  # fmt: skip
        panel.press("inputs", "Compare with earlier inputs 1")
        act()
        panel.until("return panel.querySelector('.workbench-is-compare')?.innerText.includes('First difference: a')",
                    seconds=90)  # fmt: skip
    opened.tells("print(round(float(other.session.outputs['root']), 6))", "1.732051")


def test_a_value_that_cannot_be_read_is_said_beside_its_field(opened):
    panel = Panel(opened.page, INPUTS)
    panel.show()
    panel.pane("inputs")
    read = "return panel.querySelector('.workbench-is-inputs input[data-name=a]').value"
    was = until(lambda: panel.ask(read), lambda value: value != "")
    typed(opened, panel, ".workbench-is-inputs input[data-name=a]", "three")
    panel.says("inputs", "is not a valid float64")
    typed(opened, panel, ".workbench-is-inputs input[data-name=a]", was)
    panel.says("inputs", "No input was changed")


def test_e_a_page_in_two_actions_with_the_note_and_readable_on_a_phone(opened, browser, tmp_path):
    panel = Panel(opened.page, INPUTS)
    panel.show()
    opened.kernel("other.note = 'See the <b>first</b> difference.'")
    with Actions(2) as act:
        panel.pane("export")
        act()
        panel.ask("panel.querySelector('[data-write=page]').click()")
        act()
        panel.until("return panel.querySelector('.workbench-is-export [data-file$=html]')", seconds=150)
    path = panel.ask("return panel.querySelector('.workbench-is-export [data-file$=html]').dataset.file")
    page = patient(browser, viewport={"width": 390, "height": 844}, offline=True).new_page()
    page.goto(f"file://{path}")
    page.wait_for_function("() => [...document.querySelectorAll('.workbench-picture')].every(p => p._fullLayout)")
    page.wait_for_function("document.documentElement.scrollWidth <= innerWidth")  # one column
    assert page.locator(".workbench-page-note").inner_text() == "See the <b>first</b> difference."
    cut = """() => [...document.querySelectorAll('.workbench-page-words')].filter(e => e.scrollWidth > e.clientWidth)
                 .map(e => e.innerText)"""
    until(lambda: page.evaluate(cut), [])
    page.screenshot(path=tmp_path / "phone.png", full_page=True)
    page.context.close()


def test_the_kernel_is_gone(opened):
    """Last: after it no panel works any more."""
    Panel(opened.page, FIRST).show()
    opened.page.evaluate("() => jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart()")
    opened.page.wait_for_function(
        "() => document.querySelectorAll('.workbench-gone-words').length === 4", timeout=120_000
    )
    seen = """() => [...document.querySelectorAll('.workbench-debugger')].map(p => ({
            said: p.previousElementSibling.innerText, off: [...p.querySelectorAll('button')].every(b => b.disabled),
            pale: getComputedStyle(p.firstElementChild).opacity,
            drawn: Boolean(p.querySelector('.workbench-figure svg')),
            broken: [...p.querySelectorAll('.jupyter-widgets-disconnected')].filter(
                e => !['none', 'normal'].includes(getComputedStyle(e, '::before').content)).length}))"""
    said = "The kernel of this panel is gone. Run its cell again."
    one = {"said": said, "off": True, "pale": "0.6", "drawn": True, "broken": 0}
    until(lambda: opened.page.evaluate(seen), [one] * 4)
