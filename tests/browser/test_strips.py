"""Strips in a real JupyterLab: axes, ticks, wheel, one crosshair for all views, square portraits, no text on text."""

from __future__ import annotations

from typing import Any

import pytest

from tests.browser.waits import at_rest, until
from workbench.widgets.text.numerals import numeral

WAIT_MS = 120_000
CELLS = [
    """
import numpy as np, workbench as wb
from workbench.widgets import EvolutionView, TerminationView
from workbench.widgets.live.selection import Selection
b = wb.GraphBuilder("newton")
a = b.placeholder("a", "float64")
x = b.while_loop(lambda x: abs(x * x - a) > 1e-9, lambda x: (x + a / x) * 0.5, {"x": b.placeholder("start", "float64")})
newton = wb.Session(b.build(x), {"a": 2.0, "start": 20.0})
newton.next_iteration(6)
newton.step(3)
selection = Selection()
curves = EvolutionView(newton, selection=selection)
curves
""",
    "condition = TerminationView(newton, selection=selection)\ncondition",
    """
b = wb.GraphBuilder("mixed")
k, x, y, w = b.while_loop(
    lambda k, x, y, w: k < 20_000,
    lambda k, x, y, w: (k + 1, x * 0.999 + 1.0, np.log(y - 0.5), w * 0.99),
    (b.constant(0, "int64"), b.constant(5.0), b.constant(3.0), b.constant(np.array([1.0, -2.0, 0.5]))))
mixed = wb.Session(b.build({"x": x, "y": y, "w": w}))
mixed.run()
strips = EvolutionView(mixed)
strips
""",
    """
b = wb.GraphBuilder("logistic")
_, x = b.while_loop(lambda k, x: k < 60, lambda k, x: (k + 1, 3.7 * x * (1.0 - x)),
                    (b.constant(0, "int64"), b.constant(0.3)))
logistic = wb.Session(b.build({"x": x}))
logistic.run()
cobweb = EvolutionView(logistic, ["x"], kind="cobweb")
cobweb
""",
]
CURVES, CONDITION, STRIPS, COBWEB = range(4)
OVERLAPS = """(() => {
  const view = document.querySelectorAll('.workbench-view')[%d];
  const box = e => ({t: e.textContent.trim(), r: e.getBoundingClientRect()});
  const parts = [...view.querySelectorAll('.main-svg text, .workbench-head > *')].filter(
    e => e.textContent.trim() && e.getBoundingClientRect().width > 0 && !e.closest('.hoverlayer')).map(box);
  const found = [];
  parts.forEach((a, i) => parts.slice(i + 1).forEach(b => {
    const x = Math.min(a.r.right, b.r.right) - Math.max(a.r.left, b.r.left);
    const y = Math.min(a.r.bottom, b.r.bottom) - Math.max(a.r.top, b.r.top);
    if (x > 2 && y > 3) found.push([a.t, b.t]);
  }));
  return found;
})()"""


class Views:
    """The views of the notebook, in order."""

    def __init__(self, opened: Any) -> None:
        self.opened, self.page = opened, opened.page
        self.until("[0, 1, 2, 3].every(k => figure(k)._fullLayout)")

    def expression(self, body: str) -> str:
        return f"""() => {{ const view = k => document.querySelectorAll('.workbench-view')[k];
                            const figure = k => view(k).querySelector('.workbench-figure');
                            const text = (k, name) => view(k).querySelector(name)?.textContent ?? '';
                            return ({body}); }}"""

    def ask(self, body: str) -> Any:
        return self.page.evaluate(self.expression(body))

    def until(self, body: str) -> None:
        body = f"(() => {{ try {{ return {body}; }} catch {{ return false; }} }})()"
        self.page.wait_for_function(self.expression(body), timeout=WAIT_MS)

    def point(self, k: int, share: float) -> tuple[float, float]:
        """The middle of the first strip, at a share of the iteration axis."""
        figure = self.page.locator(".workbench-view").nth(k).locator(".workbench-figure")
        figure.scroll_into_view_if_needed()
        box = at_rest(figure.locator(".nsewdrag").first.bounding_box)
        return box["x"] + share * box["width"], box["y"] + box["height"] / 2

    def away(self) -> None:
        self.page.mouse.move(5, 5)


@pytest.fixture(scope="module")
def views(opened):
    assert opened.failed_cells() == []
    return Views(opened)


def ticks(views, k):
    return views.ask(f"[...figure({k}).querySelectorAll('.xtick text')].map(t => t.textContent)")


def test_each_variable_has_a_strip_whose_axis_ascends(views):
    views.until(f"view({STRIPS}).querySelectorAll('.workbench-head').length === 4")  # and the line above them
    names = f"[...view({STRIPS}).querySelectorAll('.workbench-head > b')].map(b => b.textContent)"
    until(lambda: views.ask(names)[1:], ["x", "y", "w"])  # the counter is closed
    for k in (CURVES, CONDITION, STRIPS):
        axes = f"Object.entries(figure({k})._fullLayout).filter(([name]) => /^yaxis/.test(name))"
        ranges = f"{axes}.map(([, axis]) => axis.range)"
        until(lambda r=ranges: views.ask(r), lambda found: found and all(low < high for low, high in found))
        count = f"{axes}.map(([, axis]) => axis.tickvals.length)"
        until(lambda count=count: views.ask(count), lambda found: max(found) <= 4)
        places = "[...e.attributes].some(a => /NaN/.test(a.value) && /^(d|x|y|width|height|transform)$/.test(a.name))"
        assert views.ask(f"[...figure({k}).querySelectorAll('svg *')].filter(e => {places}).length") == 0
    until(lambda: views.ask(f"text({STRIPS}, '.workbench-heads')"), lambda text: "NaN from 3 to 20\u202f000" in text)
    until(
        lambda: views.ask(f"figure({CURVES}).getAttribute('aria-label')"),
        lambda told: told.startswith("iteration 5; x, 1.444943, ") and told.endswith("ends in iteration 8: proved"),
    )


def test_ticks_of_iterations_are_whole_numbers_however_near(views):
    for k in (CURVES, CONDITION, STRIPS):
        found = until(lambda k=k: ticks(views, k), lambda found: len(found) > 2)
        assert all(float(t.replace("\u202f", "")).is_integer() for t in found)
    x, y = views.point(STRIPS, 0.5)
    views.page.mouse.move(x, y)
    views.page.wait_for_timeout(500)
    for _ in range(40):
        views.page.mouse.wheel(0, -300)
        views.page.wait_for_timeout(20)
    views.until(f"(([a, b]) => b - a < 6)(figure({STRIPS})._fullLayout.xaxis.range)")
    found = at_rest(lambda: [int(t.replace("\u202f", "")) for t in ticks(views, STRIPS)])
    assert len(found) >= 3 and found == list(range(found[0], found[0] + len(found)))


def test_y_fits_what_x_shows_and_comes_back(views):
    """Left by the test above: some iterations of 20,000, in the middle; x is near 1000 there, and moves little."""
    views.until(f"(([a, b]) => b - a < 3)(figure({STRIPS})._fullLayout.yaxis.range)")
    views.opened.heard("strips._zoom is not None")
    views.page.locator(".workbench-view").nth(STRIPS).locator(".workbench-head button").click()
    views.until(f"(([a, b]) => a < 5 && b > 990)(figure({STRIPS})._fullLayout.yaxis.range)")
    views.until(f"figure({STRIPS})._fullLayout.xaxis.autorange")
    views.opened.heard("strips._zoom is None")


def test_an_axis_that_people_have_scaled_stays(views):
    views.away()
    figure = views.page.locator(".workbench-view").nth(STRIPS).locator(".workbench-figure")
    box = at_rest(figure.locator(".nsewdrag").first.bounding_box)
    views.page.mouse.move(box["x"] + 0.2 * box["width"], box["y"] + 0.2 * box["height"])
    views.page.mouse.down()
    views.page.mouse.move(box["x"] + 0.5 * box["width"], box["y"] + 0.8 * box["height"], steps=5)
    views.page.mouse.up()
    views.until(f"figure({STRIPS})._fullLayout.yaxis.tickmode === 'auto'")
    scaled = views.ask(f"figure({STRIPS}).layout.yaxis.range")
    views.opened.heard("strips._zoom is not None and not strips.live.in_flight")
    views.opened.kernel("strips.update_now()")
    views.page.wait_for_timeout(1500)
    assert views.ask(f"figure({STRIPS}).layout.yaxis.range") == scaled
    views.page.locator(".workbench-view").nth(STRIPS).locator(".workbench-head button").click()
    views.until(f"(([a, b]) => a < 5 && b > 990)(figure({STRIPS})._fullLayout.yaxis.range)")


def test_one_crosshair_for_all_views_without_the_kernel(views):
    views.page.mouse.move(*views.point(CURVES, 0.1))
    views.until(f"text({CONDITION}, '.workbench-head-now') === 'iteration 1'")
    views.page.wait_for_timeout(2000)  # what has come into sight is refreshed
    views.opened.heard("not curves.live.in_flight and not condition.live.in_flight")
    read = lambda: views.opened.kernel("print(curves.live.sent, condition.live.sent)")  # noqa: E731
    sent = at_rest(read, pause=1.0)
    spot = views.ask(f"figure({CURVES})._fullLayout.xaxis.d2p(3) / figure({CURVES})._fullLayout.xaxis._length")
    views.page.mouse.move(*views.point(CURVES, spot))
    for k in (CURVES, CONDITION):
        views.until(f"text({k}, '.workbench-head-now') === 'iteration 3'")
        views.until(f"!view({k}).querySelector('.workbench-crosshair').hidden")
    value = float(views.opened.kernel("print(newton.trace['x'].values[3])"))
    until(lambda: views.ask(f"text({CURVES}, '.workbench-head-values code')"), lambda text: numeral(value) in text)
    assert "\u202f" not in numeral(value)
    views.until(f"text({CONDITION}, '.workbench-head-values code') !== ''")
    assert views.ask(f"text({STRIPS}, '.workbench-head-now')") != "iteration 3", "another run has its own"
    views.page.mouse.move(*views.point(CURVES, 0.99))
    views.until(f"/ahead/.test(text({CURVES}, '.workbench-head-values code'))")
    views.away()
    for k in (CURVES, CONDITION):
        views.until(f"text({k}, '.workbench-head-now') === 'iteration 5'")
        views.until(f"view({k}).querySelector('.workbench-crosshair').hidden")
    assert read() == sent
    assert views.opened.kernel("print(selection.moment)") == "None"


def test_a_click_anywhere_in_a_strip_looks_at_that_iteration(views):
    spot = views.ask(f"figure({CURVES})._fullLayout.xaxis.d2p(2) / figure({CURVES})._fullLayout.xaxis._length")
    x, y = views.point(CURVES, spot)
    views.page.mouse.move(x, y + 20)
    views.page.wait_for_timeout(300)
    views.page.mouse.click(x, y + 20)
    views.opened.heard("selection.moment is not None and selection.moment.iteration == (2,)")
    views.away()
    for k in (CURVES, CONDITION):
        views.until(f"text({k}, '.workbench-head-now') === 'iteration 2'")
    views.opened.kernel("selection.look_at(None)")


def test_a_cobweb_is_square_and_has_the_map(views):
    views.page.locator(".workbench-view").nth(COBWEB).scroll_into_view_if_needed()
    views.until(f"figure({COBWEB})._fullLayout.yaxis._length > 0")
    lengths = "(l => [l.xaxis, l.yaxis].map(a => a._length / (a.range[1] - a.range[0])))"
    until(  # 45 degrees are 45 degrees
        lambda: views.ask(f"{lengths}(figure({COBWEB})._fullLayout)"), lambda found: abs(found[0] / found[1] - 1) < 0.01
    )
    curve = f"(t => [[...t.x], [...t.y]])(figure({COBWEB}).data.find(t => t.name === 'what one iteration does'))"
    curve = until(lambda: views.ask(curve), lambda curve: len(curve[0]) > 50)
    assert all(abs(3.7 * x * (1 - x) - y) < 1e-12 for x, y in zip(*curve, strict=True))


@pytest.mark.parametrize("width", [300, 520, 1100])
def test_no_text_lies_on_another_one(views, width):
    views.opened.kernel(f"for v in (curves, condition, strips): v.layout.width = '{width}px'")
    for k in (CURVES, CONDITION, STRIPS):
        views.page.locator(".workbench-view").nth(k).scroll_into_view_if_needed()
        views.until(f"Math.abs(figure({k})._fullLayout.width - figure({k}).clientWidth) < 2")
        views.until(f"figure({k}).clientWidth <= {width}")
        until(lambda k=k: views.page.evaluate(OVERLAPS % k), [])
    views.opened.kernel("for v in (curves, condition, strips): v.layout.width = None")


def test_nothing_went_wrong_on_the_page(views):
    assert views.opened.script_errors() == []
    assert views.opened.kernel("print(sum((v.pump.errors for v in (curves, condition, strips, cobweb)), []))") == "[]"
