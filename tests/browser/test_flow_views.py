"""Timeline, call stack, control flow, value and breakpoints alone in a notebook, without the panel, in JupyterLab.

Stories of users: an expected NaN is ignored and the others are logged without a halt (4), values inside of loops and
branches (5), why a token is dead (8), inspect and edit while paused, while other cells run (13). Screenshots (light and
dark) go to pytest's temporary folder.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.browser.cells import NESTED_GRAPH
from tests.browser.waits import again_until, at_rest, until

SETUP = f"""{NESTED_GRAPH}
import numpy as np
from workbench.widgets import BreakpointTable, CallStackView, ControlFlowView, FrameTimeline, ValueInspector
from workbench.widgets.live.selection import Selection, Moment
session = wb.Session(graph, {{"n": 12}})
selection = Selection()
"""
STORY_4 = """
c = wb.GraphBuilder("expected")
x0 = c.placeholder("x0", "float64", ())
x, y, _ = c.while_loop(lambda x, y, i: i < 5, lambda x, y, i: (x - 1.0, np.log(x) * 0.0 + np.sqrt(x), i + 1),
                       (x0, x0, c.constant(0, "int64")), name="loop")
noisy = wb.Session(c.build({"x": x, "y": y}), {"x0": 2.5})
BreakpointTable(noisy)
"""
STORY_13 = """
d = wb.GraphBuilder("grid")
m0 = d.placeholder("m0", "float64", (4, 5))
m, _ = d.while_loop(lambda m, i: i < 20, lambda m, i: (m * 0.5, i + 1), (m0, d.constant(0, "int64")))
grid = wb.Session(d.build({"m": m}), {"m0": np.arange(20.0).reshape(4, 5)})
grid.run_to("while/multiply", iteration=3)
ValueInspector(grid)
"""
CELLS = [
    SETUP,
    "FrameTimeline(session, selection=selection)",
    "CallStackView(session, selection=selection)",
    "ControlFlowView(session, selection=selection)",
    "ValueInspector(session, 't', selection=selection)",
    "BreakpointTable(session, selection=selection)",
    STORY_4,
    STORY_13,
    "session.run_to('inner/add', iteration=(11, 5))",
]
TIMELINE, STACK, FLOW, VALUE, TABLE, NOISY, GRID = range(1, 8)
WAIT_MS = 120_000
#: what two tabs of a value are spoken as
FIRST, CHANGE = "The value as it is", "Before, now, and the difference"


class Views:
    """The views of the notebook, each in the output of its cell."""

    def __init__(self, opened: Any) -> None:
        self.opened, self.page = opened, opened.page
        self.page.wait_for_function(
            """() => [...document.querySelectorAll('.jp-OutputArea .workbench-figure')].length >= 4 &&
                     [...document.querySelectorAll('.jp-OutputArea .workbench-figure')].every(g => g._fullLayout) &&
                     document.querySelectorAll('.jp-OutputArea .workbench-flow').length >= 6""",
            timeout=120_000,
        )

    def cell(self, number: int) -> Any:
        return self.page.locator(".jp-Notebook .jp-Cell").nth(number)

    def shows(self, number: int, text: str) -> None:
        """Wait until the output of a cell shows a text."""
        self.page.wait_for_function(
            """([k, text]) => document.querySelectorAll('.jp-Notebook .jp-Cell')[k]
                 .querySelector('.jp-OutputArea').textContent.includes(text)""",
            arg=[number, text],
            timeout=WAIT_MS,
        )

    def attribute(self, number: int, selector: str, name: str, value: str) -> None:
        """Wait until an attribute of an element in the output of a cell has a value."""
        self.page.wait_for_function(
            """([k, selector, name, value]) => document.querySelectorAll('.jp-Notebook .jp-Cell')[k]
                 .querySelector(selector)?.getAttribute(name) === value""",
            arg=[number, selector, name, value],
            timeout=WAIT_MS,
        )

    def figure(self, number: int, condition: str, wait_ms: float = WAIT_MS) -> Any:
        """Wait until an expression over the figure ``g`` (bare between two updates) of a cell is true; its value."""
        handle = self.page.wait_for_function(
            f"""k => {{ const g = document.querySelectorAll('.jp-Notebook .jp-Cell')[k]
                      .querySelector('.workbench-figure');
                      try {{ return {condition}; }} catch {{ return null; }} }}""",
            arg=number,
            timeout=wait_ms,
        )
        return handle.json_value()

    def place(self, number: int, x: str, y: str) -> tuple[float, float]:
        """Position of a figure's point on the page."""
        self.cell(number).locator(".workbench-figure").scroll_into_view_if_needed()
        place = f"""[g.getBoundingClientRect().x + g._fullLayout._size.l + g._fullLayout.xaxis.l2p({x}),
                     g.getBoundingClientRect().y + g._fullLayout._size.t + g._fullLayout.yaxis.l2p({y})]"""
        left, top = at_rest(lambda: self.figure(number, place))
        return left, top

    def python(self, code: str) -> str:
        """Output of a line run in the kernel."""
        return self.opened.kernel(code)


@pytest.fixture
def views(opened):
    views = Views(opened)
    views.python("selection.look_at(None, node=None)")
    return views


def test_the_stack_tells_where_it_stands(views):
    views.shows(STACK, "Paused before j + 1")
    views.shows(STACK, "iteration 11")
    rows = views.cell(STACK).locator(".workbench-flow-stack button")
    until(rows.count, 3)
    rows.nth(1).click()
    views.shows(STACK, "Looking at outer 11")
    views.cell(STACK).get_by_text("Back to newest").click()
    views.shows(STACK, "Paused before j + 1")


def test_a_click_on_the_timeline_moves_all_views(views):
    views.figure(TIMELINE, "g.data[1].x.length > 60")
    k = views.figure(TIMELINE, "g.data[1].customdata.findIndex(d => d[0] === 'outer' && d[1][0] === 7) + 1") - 1
    place = views.place(TIMELINE, f"g.data[1].base[{k}] + g.data[1].x[{k}] / 2", f"g.data[1].y[{k}]")
    views.page.mouse.move(*place)
    views.page.wait_for_timeout(200)
    views.page.mouse.click(*place)
    views.shows(STACK, "Looking at outer 7")
    views.shows(VALUE, "outer 7 \u203a inner 7")
    views.figure(TIMELINE, "(g.layout.shapes || []).some(s => s.type === 'rect')")
    views.opened.tells("print(selection.moment)", "outer 7")


def test_zooming_reads_the_part_anew(views):
    bars = "g.data.reduce((n, t) => n + t.x.length, 0)"
    assert views.figure(TIMELINE, bars) <= 1000
    assert views.figure(TIMELINE, "g.data[3].x.length + 1") == 1, "single firings only close up"
    start, end = (views.place(TIMELINE, x, "0.9") for x in ("300", "380"))
    views.page.mouse.move(*start)
    views.page.mouse.down()
    views.page.mouse.move((start[0] + end[0]) / 2, start[1], steps=3)
    views.page.mouse.move(*end, steps=3)
    views.page.mouse.up()
    views.figure(TIMELINE, "g.data[3].x.length > 60 && g.data[3].x.length < 120")  # as wide as the mouse was drawn

    def press_twice():
        views.page.wait_for_timeout(1000)  # keep the earlier press out of the double click
        views.page.mouse.dblclick(*views.place(TIMELINE, "340", "0.9"))

    out = "g.data[3].x.length === 0 && g.layout.xaxis.range[0] === 0"
    again_until(press_twice, lambda: views.figure(TIMELINE, out, 1_000))
    views.cell(TIMELINE).locator("button", has_text="+").first.click()
    views.figure(TIMELINE, "g.layout.xaxis.range[0] > 300")
    views.cell(TIMELINE).locator("button", has_text="all").click()
    views.figure(TIMELINE, "g.data[3].x.length === 0")
    views.cell(TIMELINE).locator("button", has_text="+").first.click()
    views.figure(TIMELINE, "g.layout.xaxis.range[0] > 300")
    views.cell(TIMELINE).locator("button", has_text="all").click()
    views.figure(TIMELINE, "g.layout.xaxis.range[0] === 0")


def test_story_8_why_a_token_is_dead(views):
    cell = views.cell(FLOW)
    views.figure(FLOW, "g.data.length === 3 && g.data[0].text.some(t => t.startsWith('T'))")
    cell.locator("button", has_text="tokens").click()
    views.figure(FLOW, "g.data[0].type === 'sankey' && g.querySelectorAll('.sankey-link').length > 6")
    cell.locator("button", has_text="dead paths").click()
    views.figure(FLOW, "g.data.length === 2 && g.data[0].type === 'bar' && !(g.layout.annotations || []).length")
    views.python("selection.look_at(Moment(('outer',), (1,)), node='outer/cond/subtract')")
    views.shows(FLOW, "outer/cond/subtract is dead at outer 1: greater is false, so Switch")
    views.shows(FLOW, "on the true side are dead")
    cell.locator(".workbench-flow-paths button", has_text="subtract").first.click()
    cell.get_by_text("What is a dead token?").click()
    views.shows(FLOW, "up to a Merge")
    views.shows(VALUE, "dead")
    cell.locator("button", has_text="decisions").click()
    views.figure(FLOW, "g.data.length === 3")
    place = views.place(FLOW, "g.data[1].base[0] + 0.5", "g.data[1].y[0]")
    views.page.mouse.move(*place)
    views.page.wait_for_timeout(200)
    views.page.mouse.click(*place)
    views.figure(FLOW, "g.layout.shapes.length >= 1")


def test_story_5_values_inside_of_loops(views):
    cell = views.cell(VALUE)
    field = cell.locator("input[data-field=name]")
    field.fill("inner/add")
    field.press("Enter")
    cell.get_by_text("Part and time").click()
    time = cell.locator("input[data-field=time]")
    time.fill("4, 2")
    time.press("Enter")
    views.shows(VALUE, "outer 4 \u203a inner 2")
    time.fill("9, :")
    time.press("Enter")
    views.shows(VALUE, "9 iterations")
    views.figure(VALUE, "g.data[0].type === 'scatter' && g.data[0].x.length === 9")
    time.fill("import os")
    time.press("Enter")
    views.shows(VALUE, "is not an index")
    time.fill("")
    time.press("Enter")
    field.fill("outer/cond/subtract")
    field.press("Enter")
    cell.get_by_role("tab", name=CHANGE).click()
    views.shows(VALUE, "\u2212")


def test_a_press_counts_although_the_page_moves_under_it(views):
    """The kernel's answer to a name may change what stands above a button that is being pressed."""
    cell, page = views.cell(VALUE), views.page
    move = """([k, height]) => { document.querySelectorAll('.jp-Notebook .jp-Cell')[k]
                .querySelector('.jp-OutputArea').style.paddingTop = `${height}px`; }"""
    for name, pressed in ((CHANGE, "true"), (FIRST, "true")):
        button = cell.get_by_role("tab", name=name, exact=True)
        button.scroll_into_view_if_needed()
        button.hover()
        page.mouse.down()
        page.evaluate(move, [VALUE, 90])
        page.mouse.up()
        page.evaluate(move, [VALUE, 0])
        views.attribute(VALUE, f'button[title="{name}"]', "aria-selected", pressed)
    button = cell.get_by_role("tab", name=CHANGE, exact=True)
    button.hover()
    page.mouse.down()
    page.mouse.move(5, 5, steps=3)  # away from it: no press
    page.mouse.up()
    assert views.python("print(1 + 1)") == "2"
    views.attribute(VALUE, f'button[title="{FIRST}"]', "aria-selected", "true")


def test_breakpoints_are_added_edited_and_rechecked(views):
    cell = views.cell(TABLE)
    cell.locator("input[name=where]").fill("inner/add")
    cell.locator("select").first.select_option("when")
    cell.locator("input[name=text]").fill("value == 3")
    cell.locator("button[type=submit]").click()
    views.shows(TABLE, "inner/add")
    condition = cell.locator(".workbench-flow-table input:not([type=checkbox])")
    condition.fill("value == 4")
    condition.press("Enter")
    views.opened.heard("[p.text for p in session.breakpoints] == ['inner/add, when value == 4']")
    cell.get_by_text("Recheck").click()
    views.shows(TABLE, "would have stopped 8 times")
    cell.locator(".workbench-flow-table td button", has_text="inner/add").first.click()
    views.shows(STACK, "Looking at outer 4 \u203a inner 3")
    cell.locator(".workbench-flow-table input[type=checkbox]").click()
    views.page.wait_for_function(
        "k => document.querySelectorAll('.jp-Notebook .jp-Cell')[k].querySelector('.workbench-flow-off')",
        arg=TABLE,
        timeout=WAIT_MS,
    )
    cell.locator("input[name=where]").fill("inner/add")
    cell.locator("input[name=text]").fill("value.__class__")
    cell.locator("button[type=submit]").click()
    views.page.wait_for_function(
        "k => document.querySelectorAll('.jp-Notebook .jp-Cell')[k].querySelector('[role=alert]').textContent",
        arg=TABLE,
        timeout=WAIT_MS,
    )
    cell.get_by_text("Recommended").click()
    cell.locator("details li button").first.wait_for(timeout=WAIT_MS)
    views.opened.heard("[(p.text, p.enabled) for p in session.breakpoints] == [('inner/add, when value == 4', False)]")


def test_what_is_typed_stays_when_the_kernel_answers_late(views):
    views.python("session.breakpoints.clear()")
    cell = views.cell(TABLE)
    where = cell.locator("input[name=where]")
    where.fill("outer/cond/subtract")
    cell.locator("select").first.select_option("always")
    views.page.evaluate(
        "code => { jupyterapp.shell.currentWidget.sessionContext.session.kernel.requestExecute({code}); }",
        "import time; time.sleep(1.5)",
    )
    cell.locator("button[type=submit]").click()
    where.fill("inner/less")  # the next one, before the first is there
    views.shows(TABLE, "outer/cond/subtract")
    assert where.input_value() == "inner/less"
    cell.locator("button[type=submit]").click()
    views.shows(TABLE, "inner/less")
    views.page.wait_for_function(  # what was added, and not changed since, goes
        "k => document.querySelectorAll('.jp-Notebook .jp-Cell')[k].querySelector('input[name=where]').value === ''",
        arg=TABLE,
        timeout=WAIT_MS,
    )
    where.fill("no such node")
    cell.locator("button[type=submit]").click()
    cell.locator("[role=alert]").get_by_text("no such node").wait_for(timeout=WAIT_MS)
    assert where.input_value() == "no such node", "what is refused can be mended"
    where.fill("")

    condition = cell.locator(".workbench-flow-table input:not([type=checkbox])").first
    condition.press_sequentially("value > 4")
    condition.press("ArrowLeft")
    views.python("session.breakpoints.add('inner/add')")
    views.shows(TABLE, "inner/add")
    assert condition.input_value() == "value > 4" and condition.evaluate("e => e === document.activeElement")
    condition.press_sequentially("1")
    condition.press("Enter")
    views.page.wait_for_function(
        "k => document.querySelectorAll('.jp-Notebook .jp-Cell')[k].querySelector('tr[data-kind=conditional]')",
        arg=TABLE,
        timeout=WAIT_MS,
    )
    views.opened.tells("print([p.text for p in session.breakpoints][0])", "outer/cond/subtract, when value > 14")
    views.python("session.breakpoints.clear()")


def test_story_4_expected_nan(views):
    cell = views.cell(NOISY)
    cell.locator("select").first.select_option("log health")
    cell.locator("button[type=submit]").click()
    views.shows(NOISY, "logs")
    cell.locator("select").first.select_option("ignore")
    cell.locator("input[name=where]").fill("loop/log*")
    cell.locator("button[type=submit]").click()
    views.shows(NOISY, "ignore nan of loop/log*")
    assert views.python("print(noisy.run().reason.name)") == "FINISHED"
    views.shows(NOISY, "nan at")
    lines = cell.locator(".workbench-flow-log button").all_text_contents()
    assert lines and not any("loop/log" in line for line in lines)


def test_story_13_inspect_and_edit_while_paused(views):
    cell = views.cell(GRID)
    views.page.wait_for_function(
        """k => Number(document.querySelectorAll('.jp-Notebook .jp-Cell')[k]
                 .querySelector('.workbench-image')?.dataset.drawn) > 0""",
        arg=GRID,
        timeout=WAIT_MS,
    )
    busy = views.page.evaluate(
        """() => { const kernel = jupyterapp.shell.currentWidget.sessionContext.session.kernel;
                   window.busyCell = kernel.requestExecute({code: 'total = sum(range(10**6)); print(total)'}).done; }"""
    )
    assert busy is None
    cell.get_by_text("Part and time").click()
    index = cell.locator("input[data-field=index]")
    index.fill("[1:, ::2]")
    index.press("Enter")
    views.shows(GRID, "of which [3,3] is shown")
    cell.locator("button[data-tab=statistics]").click()
    views.figure(GRID, "g.data[0].type === 'bar'")
    cell.locator("button[data-tab=table]").click()
    first = cell.locator("td.workbench-flow-editable").first
    first.dblclick()
    box = cell.locator("td input")
    box.fill("1000")
    box.press("Enter")
    views.shows(GRID, "Value set")
    views.opened.tells("m = grid.value('m'); print(m[1, 0], len(grid.histories))", "1000.0 1")
    until(first.inner_text, lambda text: "".join(c for c in text if c.isdigit()).startswith("1000"))
    first.focus()
    until(cell.locator("td[tabindex='0']").count, 1)  # one stop for Tab
    views.page.keyboard.press("ArrowRight")
    views.page.keyboard.press("ArrowDown")
    until(lambda: views.page.evaluate("document.activeElement.dataset.place"), "1,1")
    views.page.keyboard.press("Enter")
    box.fill("many")
    box.press("Enter")
    views.shows(GRID, "is not a valid float64")
    index.fill("")
    index.press("Enter")
    assert views.python("print(grid.run().reason.name)") == "FINISHED"


def test_light_and_dark(views, tmp_path):
    for name in ("Dark", "Light"):
        views.opened.theme(name)
        views.page.wait_for_timeout(500)
        for number in (TIMELINE, STACK, FLOW, VALUE, TABLE, NOISY, GRID):
            output = views.cell(number).locator(".jp-OutputArea").first
            output.scroll_into_view_if_needed()
            output.screenshot(path=tmp_path / f"{name.lower()}_{number}.png")
            small = output.evaluate(
                """o => [...o.querySelectorAll('.workbench-flow *')].filter(e => e.offsetParent && e.textContent &&
                       parseFloat(getComputedStyle(e).fontSize) < 12).map(e => e.textContent).slice(0, 5)"""
            )
            assert small == [], "readable on a projector"
    print("screenshots:", tmp_path)


def test_everything_has_a_name_for_screen_readers(views):
    nameless = views.page.evaluate(
        """() => [...document.querySelectorAll('.workbench-flow :is(button, input, select)')]
                 .filter(e => !(e.getAttribute('aria-label') || e.textContent || e.title)).map(e => e.outerHTML)"""
    )
    assert nameless == []


def test_no_script_failed_and_nothing_left_the_machine(views):
    assert views.opened.failed_cells() == [] and views.opened.script_errors() == [] and views.opened.outside() == []
