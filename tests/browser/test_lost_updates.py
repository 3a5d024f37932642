"""A figure in the browser that lost an update is drawn anew, and still answers afterwards."""

from __future__ import annotations

from tests.browser.waits import at_rest

CELL = """
import workbench as wb
b = wb.GraphBuilder("newton")
a = b.placeholder("a", "float64")
x = b.while_loop(lambda x: abs(x * x - a) > 1e-9, lambda x: (x + a / x) * 0.5, {"x": a})
session = wb.Session(b.build(x), {"a": 2.0})
session.run()
view = wb.widgets.EvolutionView(session)
view
"""
AGAIN = "view.live.push({0: {'legendgroup': 'meanwhile'}})\nview"
CELLS = [CELL, AGAIN]
FIGURE = "document.querySelector('.workbench-figure')"


def lose(opened, name):
    """The kernel loses one update on its way to the browser, and the next one shows it."""
    opened.kernel(
        f"send = view.live.send; view.live.send = lambda *_: None; view.live.push({{0: {{'name': {name!r}}}}})\n"
        "view.live.send = send; view.live.push({1: {'name': 'next'}})"
    )
    opened.page.wait_for_function(
        f"() => {FIGURE}.data[0].name === '{name}' && {FIGURE}.data[1].name === 'next'", timeout=120_000
    )


def test_a_lost_update_is_found_and_drawn(opened):
    count = int(opened.kernel("print(len(view.live.figure.data))"))
    opened.page.wait_for_function(f"() => {FIGURE}?.data?.length === {count}", timeout=120_000)
    opened.heard("not view.live.in_flight")
    lose(opened, "lost")
    points = opened.page.evaluate(f"{FIGURE}.data.map(t => (t.x ?? []).length)")
    assert len(points) == count and max(points) >= 5
    opened.heard("not view.live.in_flight")
    # updates that follow are drawn as such
    opened.kernel("view.live.push({0: {'name': 'again'}}, {'height': 300})")
    opened.page.wait_for_function(f"() => {FIGURE}.data[0].name === 'again'", timeout=120_000)
    assert opened.page.evaluate(f"{FIGURE}.data[1].name") == "next"
    # what people have zoomed into stays
    box = at_rest(opened.page.locator(".workbench-figure .nsewdrag").first.bounding_box)
    y = box["y"] + box["height"] / 2
    opened.page.mouse.move(box["x"] + 0.3 * box["width"], y)
    opened.page.mouse.down()
    opened.page.mouse.move(box["x"] + 0.6 * box["width"], y, steps=4)
    opened.page.mouse.up()
    opened.heard("view._zoom is not None and not view.live.in_flight")
    shown = opened.page.evaluate(f"{FIGURE}.layout.xaxis.range")
    lose(opened, "redrawn")
    assert opened.page.evaluate(f"{FIGURE}.layout.xaxis.range") == shown
    assert opened.page.evaluate(f"{FIGURE}.layout.xaxis.autorange") is False


def test_a_view_that_opens_later_shows_what_has_come_meanwhile(opened):
    figures = "[...document.querySelectorAll('.workbench-figure')]"
    shown = "every(f => f.data?.[0]?.legendgroup === 'meanwhile')"
    opened.page.wait_for_function(f"() => {figures}.length === 2 && {figures}.{shown}", timeout=120_000)
    opened.heard("view.views == 2")
    lose(opened, "in both")
    opened.page.wait_for_function(f"() => {figures}.every(f => f.data[0].name === 'in both')", timeout=120_000)


def test_plotly_is_once_in_the_page_and_leaves_no_name_there(opened):
    assert opened.page.evaluate("Object.keys(globalThis.__workbenchPlotly).length") == 1
    assert opened.page.evaluate("typeof globalThis.Plotly") == "undefined"


def test_nothing_went_wrong_on_the_page(opened):
    opened.kernel("view.close(); session.close()")
    assert opened.script_errors() == []
