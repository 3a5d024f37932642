"""Images of arrays in a real JupyterLab: square pixels, row 0 on top, fixed colours, and playing without a queue."""

from __future__ import annotations

import json

import pytest

from tests.browser.waits import at_rest, until

CELLS = (
    """
import numpy as np
import workbench as wb

@wb.graph
def heat(u, steps):
    k = 0
    while k < steps:
        around = np.roll(u, 1, axis=0) + np.roll(u, -1, axis=0) + np.roll(u, 1, axis=1) + np.roll(u, -1, axis=1)
        u = u + 0.2 * (around - 4.0 * u)
        k = k + 1
    return u

start = np.zeros((20, 30))
start[2, 3] = 5.0
panel = wb.debug(heat.graph_for(start, 60), {"u": start, "steps": 60})
panel.session.run()
panel.selection.select("u")
panel
""",
    """
from workbench.widgets import ValueInspector
cube = wb.GraphBuilder("cube")
x = cube.placeholder("x", "float64", (4, 3, 8, 8))
small = wb.Session(cube.build({"y": x * 2.0}), {"x": np.arange(768.0).reshape(4, 3, 8, 8)})
small.run()
alone = ValueInspector(small, "x")
alone
""",
)
WAIT_MS = 120_000
ROOT = "document.querySelectorAll('.workbench-image')"
CANVAS = "document.querySelector('.workbench-image-main figure canvas')"
# the colour of a pixel of the large image, as red, green, blue
PIXEL = f"([row, column]) => [...{CANVAS}.getContext('2d').getImageData(column, row, 1, 1).data].slice(0, 3)"


@pytest.fixture
def page(opened):
    page = opened.page
    page.wait_for_function(f"() => {ROOT}.length === 2 && [...{ROOT}].every(r => r.dataset.drawn > 0)", timeout=WAIT_MS)
    page.locator(".workbench-is-value").first.scroll_into_view_if_needed()
    return page


def look(opened, iteration):
    opened.kernel(f"panel.selection.look_at(wb.widgets.Moment(panel.time.frame, ({iteration},)))")
    opened.page.wait_for_function(
        "end => document.querySelector('.workbench-image').dataset.where.endsWith(end)",
        arg=f" {iteration}",
        timeout=WAIT_MS,
    )


@pytest.mark.parametrize("width", [300, 520, 900])
def test_pixels_are_squares_at_every_width(opened, page, width):
    page.evaluate("w => { document.querySelector('.workbench-is-value').style.width = w + 'px'; }", width)

    def look_at_it():
        return page.evaluate(
            f"""() => {{ const c = {CANVAS}, box = c.getBoundingClientRect(), view = c.closest('.workbench-is-value');
                return [c.width, c.height, box.width / c.width, box.height / c.height, box.right,
                        view.getBoundingClientRect().right, view.scrollWidth - view.clientWidth,
                        c.closest('.workbench-area')?.clientHeight ?? 1e9]; }}"""
        )

    def fits(found):
        columns, rows, wide, high, right, edge, over, pane = found
        square = (columns, rows) == (30, 20) and abs(wide - high) < 0.06
        large = wide * 30 > 0.6 * (width - 90) or high * 20 > 0.5 * pane  # as large as its pane allows
        return square and large and right < edge and over <= 1

    until(look_at_it, fits)
    page.evaluate("() => { document.querySelector('.workbench-is-value').style.width = ''; }")


def test_it_takes_the_height_that_a_pane_gives(opened, page):
    page.evaluate(
        """() => { const view = document.querySelector('.workbench-is-value');
             view.style.height = '330px'; view.style.overflow = 'auto'; }"""
    )
    sizes = f"""() => {{ const view = document.querySelector('.workbench-is-value');
        return [view.scrollHeight - view.clientHeight, {CANVAS}.getBoundingClientRect().height]; }}"""
    until(lambda: page.evaluate(sizes), lambda found: found[0] <= 2 and 60 < found[1] < 330)
    page.evaluate(
        """() => { const view = document.querySelector('.workbench-is-value');
             view.style.height = view.style.overflow = ''; }"""
    )


def test_row_0_is_on_top_and_the_colours_are_those_of_the_run(opened, page):
    look(opened, 0)
    ends = json.loads(
        opened.kernel(
            "import json; from workbench.widgets.values.images.colours import palettes; p = palettes()\\n"
            "print(json.dumps([list(p[:3]), list(p[254 * 3:255 * 3])]))".replace("\\n", "\n")
        )
    )
    until(lambda: [page.evaluate(PIXEL, at) for at in ([17, 3], [2, 3])], ends)
    value = page.locator(".workbench-is-value")
    ticks = page.locator(".workbench-image-ticks").first.inner_text()
    value.get_by_text("1 item above the colours").wait_for(timeout=WAIT_MS)
    look(opened, 50)
    assert page.locator(".workbench-image-ticks").first.inner_text() == ticks, "one scale for the newest half"
    assert page.evaluate(PIXEL, [2, 3]) != ends[0], "the spot has faded, and is seen"
    value.get_by_role("button", name="Colours: newest half, 99th percentile").click()
    page.wait_for_function(
        "before => document.querySelector('.workbench-image-ticks').innerText !== before", arg=ticks, timeout=WAIT_MS
    )
    value.get_by_role("button", name="Colours: this iteration").click()
    page.wait_for_function(
        "before => document.querySelector('.workbench-image-ticks').innerText === before", arg=ticks, timeout=WAIT_MS
    )


def test_an_image_of_the_film_strip_leads_to_its_iteration(opened, page):
    film = page.locator(".workbench-is-value .workbench-image-film button")
    film.nth(5).wait_for()
    iteration = film.nth(1).get_attribute("data-iteration")
    film.nth(1).click()
    opened.heard(f"panel.selection.moment is not None and panel.selection.moment.iteration == ({iteration},)")
    page.wait_for_function(
        "k => document.querySelector('.workbench-image').dataset.where.endsWith(' ' + k)", arg=iteration
    )
    film.last.click()
    opened.heard("panel.selection.moment is None")


def test_the_number_below_the_pointer_is_told(opened, page):
    look(opened, 0)
    box = at_rest(page.locator(".workbench-image-main figure canvas").first.bounding_box)
    page.mouse.move(box["x"] + box["width"] * 3.5 / 30, box["y"] + box["height"] * 2.5 / 20)
    page.get_by_text("[2, 3] 5").wait_for(timeout=WAIT_MS)


def test_what_is_played_is_drawn_or_left_out_and_ends_with_the_last(opened, page):
    """Work is counted, not seconds: images that were asked for are drawn or left out, none waits in a queue."""
    opened.kernel("panel.selection.look_at(None)")
    opened.kernel("panel.inspector.images.frames.requests = panel.inspector.images.frames.dropped = 0")
    opened.kernel("sent = panel.inspector.images.widget.push")
    page.evaluate("() => { document.querySelector('.workbench-image').dataset.drawn = 0; }")
    page.locator("[data-time=play]").scroll_into_view_if_needed()
    page.locator(".workbench-time select[aria-label=Speed]").select_option("20")
    page.locator("[data-time=play]").click()
    page.wait_for_function(
        "() => document.querySelector('[data-time=play]').getAttribute('aria-pressed') === 'false'", timeout=WAIT_MS
    )
    opened.heard("not panel.inspector.images.frames._waits and not panel.inspector.images.widget.in_flight")
    counts = (
        "f = panel.inspector.images.frames; print([f.requests, f.dropped, panel.inspector.images.widget.push - sent])"
    )
    drawn = "() => Number(document.querySelector('.workbench-image').dataset.drawn)"
    asked, dropped, _, drawn = until(  # each image that was sent was drawn
        lambda: [*json.loads(opened.kernel(counts)), page.evaluate(drawn)], lambda found: found[2] == found[3]
    )
    assert asked >= 2
    assert asked - dropped <= drawn <= asked + 12, "and no more, but for what the pump showed meanwhile"
    assert page.evaluate("() => document.querySelector('.workbench-image').dataset.where").endswith(" 60")


def test_slices_are_chosen_by_sliders(opened, page):
    alone = page.locator(".jp-Cell").nth(1)
    alone.scroll_into_view_if_needed()
    ranges = alone.locator(".workbench-image-slices input")
    until(lambda: [ranges.nth(k).get_attribute("max") for k in range(ranges.count())], ["3", "2"])
    ranges.nth(1).evaluate("e => { e.value = 2; e.dispatchEvent(new Event('input')); }")
    opened.heard("alone.settings['index'] == '[0, 2]'")
    page.wait_for_function(f"() => {ROOT}[1].innerText.includes('min 128')", timeout=WAIT_MS)


def test_tabs_are_one_line_and_remembered(opened, page):
    view = page.locator(".workbench-is-value")
    tabs = view.locator("[role=tab]:visible")
    until(tabs.all_inner_texts, ["Image", "Change", "Table", "Statistics"])
    until(lambda: len({round(tabs.nth(k).bounding_box()["y"]) for k in range(4)}), 1)
    view.locator("[data-tab=table]").click()
    view.locator(".workbench-flow-wide td").first.wait_for(timeout=WAIT_MS)
    view.locator(".workbench-image-main").wait_for(state="hidden")
    until(view.locator(".workbench-flow-wide thead th").first.inner_text, "axis 0 \\ 1")
    opened.kernel("panel.selection.select('start')") if "start" in opened.kernel(
        "print(panel.inspector.names)"
    ) else None
    opened.kernel("panel.selection.select('u')")
    assert view.locator("[data-tab=table]").get_attribute("aria-selected") == "true"
    view.locator("[data-tab=first]").click()
    view.locator(".workbench-image-main").wait_for(timeout=WAIT_MS)


def test_light_and_dark(opened, page, tmp_path):
    inks = []
    for name in ("Dark", "Light"):
        opened.theme(name)
        ink = "getComputedStyle(document.querySelector('.workbench-is-value .workbench-flow')).color"
        inks.append(until(lambda ink=ink: page.evaluate(ink), lambda found: found not in inks))
        page.locator(".workbench-is-value").first.screenshot(path=tmp_path / f"value_{name.lower()}.png")
    print("screenshots:", tmp_path)


def test_nothing_failed(opened, page):
    assert opened.failed_cells() == [] and opened.script_errors() == [] and opened.outside() == []
