"""The panel's layout: columns by its width, dividers, tabs, one area alone, text sizes, and what is kept."""

from __future__ import annotations

import pytest

from tests.browser.cells import NEWTON
from tests.browser.panel import Panel
from tests.browser.waits import at_rest, until

FLAT = """
b = wb.GraphBuilder("flat")
x = b.placeholder("x", "float32", (8,))
flat = wb.debug(b.build({"y": np.tanh(x * 2.0)}), {"x": np.ones(8, "f4")})
flat
"""
CELLS = [NEWTON, FLAT]
IN_SIGHT = """[...panel.querySelectorAll('.workbench-area')].filter(a => a.offsetWidth)
  .map(a => a.className.match(/area-(\\w+)/)[1]).join()"""
COLUMNS = (
    "getComputedStyle(panel.querySelector('.workbench-body')).gridTemplateColumns.split(' ').map(Number.parseFloat)"
)


@pytest.fixture
def newton(opened):
    opened.page.set_viewport_size({"width": 1440, "height": 900})
    panel = Panel(opened.page, 0)
    panel.show()
    panel.until("return panel.dataset.mode === 'three'")
    return panel


@pytest.mark.parametrize(
    ("width", "mode", "areas"),
    [
        (700, "one", "graph"),
        (1024, "two", "graph,iterations,value"),
        (1440, "three", "graph,iterations,ending,value"),
        (1920, "wide", "graph,iterations,ending,value"),
    ],
)
def test_columns_by_the_width_of_the_panel(opened, newton, width, mode, areas):
    opened.page.set_viewport_size({"width": width, "height": 900})
    newton.until("return panel.dataset.mode === args[0]", mode)
    if mode != "three":
        newton.ask("panel.querySelector(args[0] === 'one' ? '[data-tab=graph]' : '[data-tab=value]').click()", mode)
    newton.until(f"return {IN_SIGHT} === args[0]", areas)
    for part in (".workbench-toolbar", ".workbench-body"):
        newton.until(f"const p = panel.querySelector('{part}'); return p.scrollWidth <= p.clientWidth + 1")
    high = "panel.closest('.jp-WindowedPanel-outer').clientHeight"
    newton.until(f"return panel.offsetHeight <= {high} && panel.scrollHeight <= panel.clientHeight + 1")


def test_a_divider_is_dragged_moved_by_keys_and_reset_and_its_place_is_kept(opened, newton):
    before = at_rest(lambda: newton.ask(f"return {COLUMNS}"))
    bar = opened.page.locator(".workbench-divider[data-divider=columns]").first
    box = at_rest(bar.bounding_box)
    opened.page.mouse.move(box["x"] + 3, box["y"] + 100)
    opened.page.mouse.down()
    opened.page.mouse.move(box["x"] + 63, box["y"] + 100, steps=4)
    opened.page.mouse.up()
    after = until(
        lambda: newton.ask(f"return {COLUMNS}"),
        lambda after: abs(after[0] - before[0] - 60) < 3 and abs(after[4] - before[4]) < 3,
    )
    bar.press("ArrowLeft")
    newton.until(f"return Math.abs({COLUMNS}[0] - args[0]) < 3", after[0] - 24)
    newton.until("return localStorage.getItem('workbench:layout')?.includes('three-loop')")
    bar.dblclick()
    newton.until(f"return Math.abs({COLUMNS}[0] - args[0]) < 3", before[0])


def test_one_area_alone_and_back_with_escape(opened, newton):
    for area in ("graph", "iterations", "ending", "value"):
        newton.ask("panel.querySelector(`.workbench-area-${args[0]} [data-maximise]`).click()", area)
        newton.until(f"return {IN_SIGHT} === args[0]", area)
        newton.until("return panel.querySelector('.workbench-toolbar').offsetHeight > 0")
        opened.page.locator(f".workbench-area-{area} [data-maximise]").first.press("Escape")
        newton.until(f"return {IN_SIGHT} === 'graph,iterations,ending,value'")


def test_tools_alone_stand_below_their_tabs(opened, newton):
    newton.ask("panel.querySelector('.workbench-panes [data-maximise]').click()")
    newton.until("return panel.dataset.maximised === 'tools'")
    newton.until(  # the legend is of what is not in sight
        """const box = name => [...panel.querySelectorAll(name)].find(e => e.offsetHeight)?.getBoundingClientRect();
           return box('.workbench-tool')?.top >= box('.workbench-tabs')?.bottom - 1 &&
                  getComputedStyle(panel.querySelector('.workbench-legend-signs')).visibility === 'hidden'"""
    )
    opened.page.locator(".workbench-debugger").first.locator(".workbench-panes [data-maximise]").press("Escape")
    newton.until("return !panel.dataset.maximised")


def test_tabs_open_choose_and_close_tools(newton):
    newton.until("return panel.dataset.tool === 'breakpoints'")
    newton.pane("stack")
    newton.until("return panel.dataset.tool === 'stack'")
    hidden = "return panel.querySelector('.workbench-is-breakpoints').offsetHeight"
    until(lambda: newton.ask(hidden), 0)
    newton.ask("panel.querySelector('[data-tab=breakpoints]').click()")
    newton.until(hidden)
    newton.ask("panel.querySelector('[data-tab=stack] .workbench-cross').click()")
    newton.until("return !panel.querySelector('.workbench-is-stack') && panel.dataset.tool === 'breakpoints'")


def test_the_text_grows_the_layout_follows_and_it_is_kept(opened, newton):
    try:
        for scale in (1.15, 1.3, 1.54):
            newton.ask("panel.querySelector('[data-view=larger]').click()")
            newton.until("return panel.style.transform === `scale(${args[0]})`", scale)
            inside = "panel.getBoundingClientRect(), page = panel.parentElement.getBoundingClientRect()"
            newton.until(f"const box = {inside}; return box.right <= page.right + 1 && box.bottom <= page.bottom + 1")
        until(lambda: newton.ask("return panel.dataset.mode"), "two")  # larger letters, fewer columns
        newton.until("return localStorage.getItem('workbench:layout')?.includes('\"scale\":1.54')")
    finally:
        newton.ask("panel.querySelector('[data-view=larger]').click()")
    newton.until("return panel.dataset.mode === 'three' && !panel.style.transform")


def test_a_graph_without_a_loop_has_its_nodes_in_place_of_iterations(opened):
    flat = Panel(opened.page, 1)
    flat.show()
    flat.until(f"return {IN_SIGHT} === 'graph,nodes,value'")
    widths = "return ['graph', 'nodes', 'value'].map(k => panel.querySelector(`.workbench-area-${k}`).offsetWidth)"
    until(lambda: flat.ask(widths), lambda w: w[1] > w[0] > w[2] > 200)
    heads = "const heads = [...panel.querySelectorAll('.workbench-nodes th')]"
    fits = "heads.every(h => h.querySelector('button').scrollWidth <= h.clientWidth + 1)"
    flat.until(f"{heads}; return heads.length && {fits}")
    until(lambda: flat.ask("return panel.querySelector('.workbench-card-verdict').offsetHeight"), 0)
    flat.click("run")
    row = "[...panel.querySelectorAll('.workbench-nodes tbody tr')].find(r => r.dataset.node === 'tanh')"
    flat.until(f"return {row}?.cells[4].textContent === '0.964'")
    flat.ask(f"{row}.click()")
    flat.until(f"return {row}.getAttribute('aria-selected') === 'true'")
    flat.until("return [...panel.querySelectorAll('.workbench-is-value input')].some(e => e.value === 'tanh')")
    head = "[...panel.querySelectorAll('.workbench-nodes th button')].find(b => b.textContent === 'op')"
    flat.ask(f"{head}.click()")
    flat.until("return panel.querySelector('.workbench-nodes th[aria-sort=ascending]')?.textContent === 'op'")
    field = "panel.querySelector('.workbench-nodes input')"
    write = f"const field = {field}; field.value = args[0]; field.dispatchEvent(new Event('input'))"
    flat.ask(write, "op:tanh")
    flat.until("return panel.querySelectorAll('.workbench-nodes tbody tr').length === 1")
    flat.ask(write, "")
    flat.until("return panel.querySelectorAll('.workbench-nodes tbody tr').length > 1")


def test_the_slider_stays_above_the_iterations_of_the_strips_in_another_theme(opened, newton):
    opened.page.set_viewport_size({"width": 1440, "height": 900})
    opened.kernel("panel.session.next_iteration(4)")
    above = """const row = [...panel.querySelectorAll('.workbench-time-level')].at(-1);
               const range = row.querySelector('input');
               const plot = panel.querySelector('.workbench-area-iterations').workbenchPlot;
               if (!plot || row.dataset.aligned !== 'true') return false;
               const [left, knob] = [range.getBoundingClientRect().left, 8];
               return Math.abs(left + knob - plot.el.getBoundingClientRect().left - plot.place(0)) < 4"""
    for theme in ("Dark", "Light"):
        newton.until(above)
        opened.theme(theme)
        opened.page.wait_for_timeout(1500)  # where it was exchanged, nothing moves it any more
    newton.until(above, seconds=5)


def test_no_script_failed(opened):
    assert opened.script_errors() == []
