"""A figure in the browser that lost an update is drawn anew, and still answers afterwards."""

from __future__ import annotations

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
CELLS = [CELL]
FIGURE = "document.querySelector('.workbench-figure')"
TRACES = f"() => {FIGURE}?.data?.length"


def test_a_lost_update_is_found_and_drawn(opened):
    count = int(opened.kernel("print(len(view.live.data))"))
    opened.page.wait_for_function(f"({TRACES})() === {count}", timeout=60_000)
    # the browser alone drops two traces; the next update tells
    opened.kernel("view.live._send_deleteTraces_msg([0, 1]); view.live.push({0: {'name': 'x'}})")
    opened.page.wait_for_function(f"({TRACES})() === {count}", timeout=60_000)
    assert int(opened.kernel("print(len(view.live.data))")) == count
    points = opened.page.evaluate(f"{FIGURE}.data.map(t => (t.x ?? []).length)")
    assert max(points) >= 5
    # each message is carried out once, also after the redraw
    opened.kernel("view.live.push({0: {'name': 'again'}}, {'height': 300})")
    opened.page.wait_for_function(f"() => {FIGURE}.data[0].name === 'again'", timeout=60_000)
    assert opened.page.evaluate(TRACES) == count
    # what people have zoomed into stays
    box = opened.page.locator(".workbench-figure .nsewdrag").first.bounding_box()
    y = box["y"] + box["height"] / 2
    opened.page.mouse.move(box["x"] + 0.3 * box["width"], y)
    opened.page.mouse.down()
    opened.page.mouse.move(box["x"] + 0.6 * box["width"], y, steps=4)
    opened.page.mouse.up()
    opened.heard("view._zoom is not None")
    shown = opened.page.evaluate(f"{FIGURE}.layout.xaxis.range")
    redrawn = f"{FIGURE}.data[0].name === 'redrawn'"
    opened.kernel("view.live._send_deleteTraces_msg([0, 1]); view.live.push({0: {'name': 'redrawn'}})")
    opened.page.wait_for_function(f"() => {FIGURE}.data.length === {count} && {redrawn}", timeout=60_000)
    assert opened.page.evaluate(f"{FIGURE}.layout.xaxis.range") == shown
    assert opened.page.evaluate(f"{FIGURE}.layout.xaxis.autorange") is False
    opened.kernel("view.close(); session.close()")
    assert [e for e in opened.errors if "Canceled" not in e] == []
