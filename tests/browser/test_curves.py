"""Evolution and termination alone in a notebook, without the panel, in a real JupyterLab.

Story 12 of users: "How long until it converges?" Screenshots (light and dark) go to pytest's temporary folder.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.browser.waits import again_until, at_rest, until

WAIT_MS = 120_000


CELLS = [
    """
import numpy as np, workbench as wb
from workbench.widgets import EvolutionView, TerminationView
from workbench.widgets.live.selection import Selection
b = wb.GraphBuilder("relax")
x0 = b.placeholder("x0", "float64", ())
i, x = b.while_loop(lambda i, x: np.logical_and(i < 10_000, np.abs(x - 2.0) > 1e-6),
                    lambda i, x: (i + 1, 0.9 * x + 0.2), (b.constant(0, "int64"), x0))
relax = wb.Session(b.build({"i": i, "x": x}), {"x0": 50.0})
relax.next_iteration(40)
selection = Selection()
evolution = EvolutionView(relax, scale="error", tolerance=1e-6, selection=selection)
evolution
""",
    "termination = TerminationView(relax, selection=selection)\ntermination",
    """
b = wb.GraphBuilder("floor")
n, y = b.while_loop(lambda n, y: np.logical_and(n < 1000, y > 1e-9), lambda n, y: (n, y * 0.5 + 1e-7),
                    (b.constant(0, "int64"), b.constant(1.0)))
floor = wb.Session(b.build({"n": n, "y": y}))
floor.next_iteration(60)
stuck = TerminationView(floor)
stuck
""",
    """
b = wb.GraphBuilder("long")
k, z = b.while_loop(lambda k, z: k < 2_000_000, lambda k, z: (k + 1, b.op("cos", z * 78.233 + 12.9898)),
                    (b.constant(0, "int64"), b.constant(0.5)))
long = wb.Session(b.build({"z": z}))
long.run()
selection2 = Selection()
series = EvolutionView(long, ["z"], selection=selection2)
series
""",
    """
EVIL = "<img src=x onerror='window.hacked = 1'>"
b = wb.GraphBuilder(f"g{EVIL}")
s = b.placeholder(f"s{EVIL}", "float64", ())
v = b.while_loop(lambda v: v < s, lambda v: v + 1.0, b.constant(0.0), name=f"loop{EVIL}")
evil = wb.Session(b.build({f"out{EVIL}": v}), {f"s{EVIL}": 10.0})
evil.next_iteration(5)
TerminationView(evil)
""",
    "EvolutionView(evil)",
    """
b = wb.GraphBuilder("vector")
_, w = b.while_loop(lambda k, w: k < 40, lambda k, w: (k + 1, w * 0.9),
                    (b.constant(0, "int64"), b.constant(np.array([40.0, -20.0, 5.0]))))
vector = wb.Session(b.build({"w": w}))
vector.run()
arrows = EvolutionView(vector, ["w"])
arrows
""",
]
EVOLUTION, TERMINATION, STUCK, SERIES, EVIL, EVIL_EVOLUTION, VECTOR = range(7)


class Views:
    """The views of the notebook, in order."""

    def __init__(self, opened: Any) -> None:
        self.opened, self.page = opened, opened.page
        self.until("[0, 1, 2, 3, 4, 5, 6].every(k => figure(k)._fullLayout && figure(k).layout.title)")

    def expression(self, body: str) -> str:
        return f"""() => {{ const view = k => document.querySelectorAll('.workbench-view')[k];
                            const figure = k => view(k).querySelector('.workbench-figure'); return ({body}); }}"""

    def ask(self, body: str) -> Any:
        return self.page.evaluate(self.expression(body))

    def until(self, body: str) -> None:
        """Wait for a condition; what is not there yet does not fulfil it."""
        body = f"(() => {{ try {{ return {body}; }} catch {{ return false; }} }})()"
        self.page.wait_for_function(self.expression(body), timeout=WAIT_MS)

    def view(self, k: int) -> Any:
        found = self.page.locator(".workbench-view").nth(k)
        found.scroll_into_view_if_needed()
        return found

    def place(self, k: int, x: float, y: float | None = None) -> tuple[float, float]:
        """Position of a figure's point on the page; without ``y`` in the middle of the plot."""
        self.view(k).locator(".workbench-figure").scroll_into_view_if_needed()
        at = "l.yaxis._length / 2" if y is None else f"l.yaxis.d2p({y})"
        place = f"""(() => {{ const g = figure({k}), l = g._fullLayout, box = g.getBoundingClientRect();
                     return [box.x + l._size.l + l.xaxis.d2p({x}), box.y + l._size.t + {at}]; }})()"""
        return tuple(at_rest(lambda: self.ask(place)))


@pytest.fixture(scope="module")
def views(opened):
    assert opened.failed_cells() == []
    return Views(opened)


def test_how_long_until_it_converges(views):
    """Story 12: the number of iterations that the views tell is the one that it takes."""
    words = views.view(TERMINATION).locator(".workbench-verdict")
    read = words.locator(".workbench-verdict-head b").inner_text
    head = until(read, lambda head: head.startswith("Proved: stops after "))
    told = int("".join(c for c in head if c.isdigit()))
    until(words.inner_text, lambda text: "PROVED" in text)
    row = words.locator("tr.workbench-verdict-blocks").inner_text
    until(row, lambda row: "|x \u2212 2| > 1e" in row and "decides" in row and "shrinking" in row)
    until(words.locator("dl").inner_text, lambda text: f"exactly {told} iterations" in text)
    views.until(f"/converging to 2, factor 0.9 per iteration/.test({heads(EVOLUTION)})")
    for k in (EVOLUTION, TERMINATION):
        views.until(f"/ends in iteration [0-9]+: proved/.test({heads(k)})")
        ahead = f"Math.max(...figure({k}).data.filter(t => /looked ahead/.test(t.name)).map(t => t.x.length))"
        until(lambda ahead=ahead: views.ask(ahead), told + 2)  # from the last value that was computed to the end
        views.until(f"!figure({k}).data.some(t => /forecast/.test(t.name) && t.x?.length)")
    before = int(views.opened.kernel("print(relax.snapshot().iterations[('while',)])"))
    took = views.opened.kernel("with relax.fork() as fork: fork.run(); print(fork.trace['x'].iterations[-1, 0])")
    assert int(took) == before + told


def test_kinds_are_chosen_by_mouse_and_keyboard(views):
    box = views.view(EVOLUTION)
    box.locator("[data-name=kind] select").select_option(label="Cobweb")
    views.until(f"/Cobweb of/.test(figure({EVOLUTION}).layout.title.text) && figure({EVOLUTION}).data[2].x.length > 30")
    box.locator("[data-name=first] select").select_option(label="x")
    views.until(f"figure({EVOLUTION}).data[2].x[0] === 50 && figure({EVOLUTION}).data[2].y[0] === 45.2")
    box.locator("[data-name=kind] select").focus()
    views.page.keyboard.press("ArrowDown")
    views.until(f"/change of x over x/.test(figure({EVOLUTION}).layout.title.text)")
    views.until("document.activeElement.value === 'phase'")
    views.page.keyboard.press("Home")
    views.until(f"figure({EVOLUTION}).layout.xaxis.title.text === 'iteration'")
    views.until("document.activeElement.value === 'strips'")
    box.locator("button", has_text="log").click()
    views.until(f"figure({EVOLUTION}).layout.yaxis.type === 'log'")
    box.locator("button", has_text="+ i").click()  # a counter is closed at first
    views.until(f"figure({EVOLUTION}).data.some(t => t.name === 'i' && t.yaxis === 'y2')")
    box.locator("summary", has_text="Variables").click()
    box.locator("label", has_text="i").locator("input").first.uncheck()
    views.until(f"!figure({EVOLUTION}).data.some(t => t.name === 'i')")
    views.opened.tells("print(evolution.kind, evolution.scale, evolution.names)", "strips log ['x']")
    box.locator("button", has_text="linear").click()
    views.until(f"figure({EVOLUTION}).layout.yaxis.type === 'linear'")
    views.until(f"figure({EVOLUTION}).querySelectorAll('.ytick').length < 12")  # not those of the log axis


def test_a_click_on_a_point_looks_at_it_in_all_views(views):
    x, y = views.ask(f"(t => [t.x[20], t.y[20]])(figure({EVOLUTION}).data.find(t => t.name === 'x'))")
    place = views.place(EVOLUTION, x, y)
    views.page.mouse.move(*place)
    views.page.wait_for_timeout(200)
    views.page.mouse.click(*place)
    for k in (EVOLUTION, TERMINATION):
        views.until(
            f"/iteration 20/.test({heads(k)}) && figure({k}).layout.shapes.some(s => s.x0 === 20 && s.x1 === 20)"
        )
    views.opened.tells("print(selection.moment, selection.node)", "while 20 x")
    verdict = views.view(TERMINATION).locator(".workbench-verdict").inner_text
    until(verdict, lambda text: "; the verdict is on iteration " in text)


def heads(k: int) -> str:
    """The texts over the strips of a view."""
    return f"(view({k}).querySelector('.workbench-heads')?.textContent ?? '')"


INSIDE = f"(([a, b]) => figure({SERIES}).data[0].x.filter(x => x >= a && x <= b))(figure({SERIES}).layout.xaxis.range)"


@pytest.fixture
def whole(views):
    """The number of points of the long series, none of it zoomed into; and again so after the test."""
    views.until(f"figure({SERIES}).data[0].x.length > 1000")
    views.opened.heard("not series.behind")
    whole = int(views.opened.kernel("print(len(series.live.figure.data[0].x))"))
    views.until(f"figure({SERIES}).data[0].x.length === {whole}")
    yield whole
    zoom_out(views, whole)


def zoom_in(views, wide, pause=0.0):
    """Zoom from a million on. What holds when the browser shows that, with what was read anew."""
    left, right = views.place(SERIES, 1_000_000), views.place(SERIES, 1_000_000 + wide)
    views.page.mouse.move(*left)
    views.page.mouse.down()
    views.page.mouse.move(*right, steps=4)
    views.page.wait_for_timeout(pause)
    views.page.mouse.up()
    return f"(figure({SERIES}).layout.xaxis.range[1] < {1_000_000 + 1.5 * wide}) && {INSIDE}.length >= 500"


def zoom_out(views, whole):
    def press_twice():
        views.page.wait_for_timeout(1000)  # keep the earlier press out of the double click
        views.opened.heard("not series.live.in_flight")
        views.page.mouse.dblclick(*views.place(SERIES, 1_000_500))

    out = f"figure({SERIES}).data[0].x.length === {whole} && figure({SERIES}).layout.xaxis.range[1] > 1.9e6"
    again_until(press_twice, lambda: views.ask(out))


def test_larger_is_higher_after_an_image(views):
    """A heat map has its first row on top; the curves that follow it do not, and none of its colours stay."""
    for kind in ("heat", "phase", "statistics", "line", "strips"):
        views.opened.kernel(f"arrows.kind = {kind!r}; arrows.update_now()")
        views.until(f"figure({VECTOR})._fullData[0].type === '{'heatmap' if kind == 'heat' else 'scatter'}'")
        axis = f"figure({VECTOR})._fullLayout.yaxis"
        views.until(f"{axis}.range[0] {'>' if kind == 'heat' else '<'} {axis}.range[1]")
        views.until(
            f"figure({VECTOR}).querySelectorAll('.colorbar').length === {1 if kind in ('heat', 'phase') else 0}"
        )


def test_zooming_shows_every_value_of_the_stretch(views, whole):
    for wide in (200_000, 20_000, 1_500):  # deeper and deeper
        views.until(zoom_in(views, wide))
    views.until(f"(f => f.every((x, k) => !k || x - f[k - 1] === 1))(Array.from({INSIDE}))")
    until(lambda: views.ask(f"Array.from({INSIDE}).length"), lambda zoomed: 500 <= zoomed <= 4_000)


def test_the_same_stretch_can_be_zoomed_into_again(views, whole):
    views.until(zoom_in(views, 200_000))
    zoom_out(views, whole)
    views.until(zoom_in(views, 200_000))


def test_what_is_zoomed_into_stays_when_the_view_was_out_of_sight(views, whole):
    zoomed = zoom_in(views, 200_000)
    views.until(zoomed)
    views.view(EVIL_EVOLUTION)
    views.opened.heard("series.live.hidden")
    before = int(views.opened.kernel("print(series.live.sent)"))
    views.view(SERIES)
    views.opened.heard(f"not series.live.hidden and series.live.sent > {before} and not series.live.in_flight")
    assert views.ask(zoomed) and not views.ask(f"figure({SERIES}).layout.xaxis.autorange")


def test_the_end_of_a_drag_is_no_click(views, whole):
    """plotly takes two presses within 500 ms for a double click, also if the first one began a drag."""
    zoomed = zoom_in(views, 200_000, pause=100)
    views.page.mouse.click(*views.place(SERIES, 1_000_500))
    views.opened.heard("selection2.moment is not None")
    views.until(zoomed)
    assert not views.ask(f"figure({SERIES}).layout.xaxis.autorange")


def test_a_fix_is_tried_without_blocking_the_kernel(views):
    box = views.view(STUCK)
    until(box.inner_text, lambda text: "never stops" in text and "Cause" in text)
    box.locator(".workbench-try").first.focus()
    views.page.keyboard.press("Enter")
    views.page.wait_for_function(
        "() => document.querySelector('.workbench-try-result')?.dataset.state === 'works'", timeout=WAIT_MS
    )
    until(box.locator(".workbench-try-result").first.inner_text, lambda text: "The loop ends now" in text)
    views.opened.tells("print(len(stuck.forks), floor.state)", "1 paused")


def test_curves_follow_a_run_and_stop_forecasting_when_it_ends(views):
    views.opened.kernel("relax.run()")
    views.until(
        f"view({TERMINATION}).querySelector('.workbench-verdict-head b').textContent.startsWith('Ended after ')"
    )
    views.until(f"/ended in iteration/.test({heads(TERMINATION)})")
    for k in (EVOLUTION, TERMINATION):
        views.until(f"figure({k}).data.filter(t => /forecast|band|ahead/.test(t.name)).every(t => !t.x.length)")
    until(views.view(TERMINATION).locator("table").inner_text, lambda text: "ended it" in text)
    before = views.ask(f"figure({EVOLUTION}).data.find(t => t.name === 'x').x.length")
    views.opened.kernel("relax.run_to('x', iteration=30)")
    views.until(f"figure({EVOLUTION}).data.find(t => t.name === 'x').x.length < {before}")
    views.until(f"/stops after/.test(view({TERMINATION}).querySelector('.workbench-verdict-head b').textContent)")


def test_names_from_strangers_are_shown_and_not_obeyed(views):
    until(views.view(EVIL).inner_text, lambda text: "<img src=x" in text)
    views.view(EVIL_EVOLUTION)
    assert views.page.evaluate("window.hacked === undefined && !document.querySelector('.workbench-view img')")


def test_light_and_dark(views, tmp_path):
    colours = {}
    for theme in ("Dark", "Light"):
        views.opened.theme(theme)
        names = {"Light": "rgb(31, 31, 31)", "Dark": "rgb(230, 230, 230)"}
        views.until(f"getComputedStyle(figure(0).querySelector('.xtitle')).fill === '{names[theme]}'")
        colours[theme] = views.ask("getComputedStyle(document.querySelector('.workbench-verdict')).color")
        for k in range(4):
            views.view(k).screenshot(path=str(tmp_path / f"{k}-{theme}.png"))
    print("screenshots:", tmp_path)
    assert colours["Light"] != colours["Dark"]


def test_controls_have_names_and_are_large_enough_to_read(views):
    nameless = views.ask(
        """[...document.querySelectorAll('.workbench-view :is(button, select, input)')].filter(e => e.offsetParent &&
             !e.closest('.modebar') && !(e.getAttribute('aria-label') || e.title || e.closest('label')?.textContent))
             .map(e => e.outerHTML)"""
    )
    assert nameless == []
    small = views.ask(
        """[...document.querySelectorAll('.workbench-verdict *, .workbench-controls *')].filter(e => e.offsetParent &&
             e.textContent.trim() && parseFloat(getComputedStyle(e).fontSize) < 12).map(e => e.outerHTML)"""
    )
    assert small == []


def test_nothing_went_wrong_on_the_page(views):
    assert views.opened.script_errors() == [] and views.opened.outside() == []
    errors = "sum((w.pump.errors for w in (evolution, termination, stuck, series)), [])"
    assert views.opened.kernel(f"print({errors})") == "[]"
