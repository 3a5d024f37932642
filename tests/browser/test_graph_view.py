"""The picture of a graph in a real JupyterLab: clicks, keys, search, boxes that open, breakpoints, a large graph."""

from __future__ import annotations

import json

import pytest

from tests.browser.lab import TESTS
from tests.browser.waits import at_rest, until

WAIT_MS = 120_000

CELLS = (
    TESTS,
    "import workbench as wb\n"
    "from tests.benchmarks.big_graph import layers\n"
    "from tests.widgets.graphs import evil, nested\n"
    "from workbench.widgets import GraphView\n"
    "session = wb.Session(nested(), {'n': 6}); session.step(60)\n"
    "view = GraphView(session); view",
    "large = GraphView(layers(3000)); large",
    "hostile = wb.Session(evil(), {n: 0.0 for n in evil().inputs}); hostile.run()\n"
    "strange = GraphView(hostile); strange",
)


class Graph:
    """The ``index``-th view of the page."""

    def __init__(self, page, index):
        self.page, self.index = page.page, index
        self.page.wait_for_function(
            """() => { const g = [...document.querySelectorAll('.workbench-graph .workbench-figure')];
                       return g.length === 3 && g.every(f => f._fullLayout?.xaxis?.l2p); }""",
            timeout=WAIT_MS,
        )
        self.home = page.page.locator(".workbench-graph").nth(index)
        self.home.scroll_into_view_if_needed()

    def ask(self, body, *args):
        return self.page.evaluate(
            f"""([i, ...args]) => {{ const home = document.querySelectorAll('.workbench-graph')[i];
                const figure = home.querySelector('.workbench-figure'); {body} }}""",
            [self.index, *args],
        )

    def until(self, body, *args):
        self.page.wait_for_function(
            f"""([i, ...args]) => {{ const home = document.querySelectorAll('.workbench-graph')[i];
                const figure = home.querySelector('.workbench-figure'); {body} }}""",
            arg=[self.index, *args],
            timeout=WAIT_MS,
        )

    def titled(self, part):
        """Wait until the bar shows a selection whose title holds this."""
        self.until("return home.querySelector('.workbench-facts b').textContent.includes(args[0])", part)

    def place(self, key):
        """Pixels of the box or caption with this key, scrolled into sight; at rest, when all presses are drawn."""
        at = """const hit = figure.data[figure.data.length - 1], scroller = home.querySelector('.workbench-scroll');
               const k = hit.customdata.findIndex(d => d[1] === args[0]), l = figure._fullLayout;
               const at = () => { const box = figure.getBoundingClientRect();
                 return [box.x + l._size.l + l.xaxis.l2p(hit.x[k]), box.y + l._size.t + l.yaxis.l2p(hit.y[k])]; };
               const room = scroller.getBoundingClientRect();
               scroller.scrollTop += at()[1] - room.y - room.height / 2;
               scroller.scrollLeft += at()[0] - room.x - room.width / 2;
               return at();"""
        return at_rest(lambda: self.ask(at, key))

    def click(self, key, **how):
        x, y = self.place(key)
        self.page.mouse.move(x, y)
        self.page.wait_for_timeout(150)  # plotly clicks what it hovers over
        for modifier in how.get("modifiers", ()):
            self.page.keyboard.down(modifier)
        self.page.mouse.click(x, y)
        for modifier in how.get("modifiers", ()):
            self.page.keyboard.up(modifier)

    def keys(self):
        return self.ask("return figure.data[figure.data.length - 1].customdata.map(d => d[1])")

    def press(self, command):
        self.home.locator(f"button[data-command={command}]").click()


@pytest.fixture
def small(opened):
    graph = Graph(opened, 0)
    graph.press("all-open")
    graph.until("return home.querySelector('.workbench-boxes').textContent.startsWith(args[0])", "24 boxes")
    return graph


@pytest.fixture
def large(opened):
    return Graph(opened, 1)


def test_a_click_selects_and_the_edges_can_be_followed(small):
    small.click("outer/greater")
    small.titled("outer/greater")
    small.until("return home.querySelector('.workbench-facts').textContent.includes('bool')")
    producer = small.home.locator("button[data-edge=producer]").first
    name = producer.get_attribute("title").split(",")[0]
    producer.click()
    small.titled(name)
    small.home.locator("button[data-edge=consumer]").first.click()
    small.until("return !home.querySelector('.workbench-facts b').textContent.includes(args[0])", name)


def test_a_caption_closes_its_loop_and_a_box_opens_it(small):
    small.click("frame\nouter\ninner")
    small.until("return !figure.data[figure.data.length - 1].customdata.some(d => d[1] === 'inner/less')")
    until(small.keys, lambda keys: "frame\nouter\ninner" in keys)
    texts = lambda: small.ask("return JSON.stringify(figure.data.map(t => t.text ?? []))")  # noqa: E731
    until(texts, lambda texts: "ended after" in texts or "iteration" in texts)
    small.click("frame\nouter\ninner")
    small.until("return figure.data[figure.data.length - 1].customdata.some(d => d[1] === 'inner/less')")


def test_a_click_with_a_key_sets_a_breakpoint_and_the_button_removes_it(opened, small):
    small.click("outer/greater", modifiers=["Control"])
    marks = "figure.data.find(t => Array.isArray(t.marker?.symbol) && t.marker.symbol.includes('circle'))"
    small.until(f"return ({marks}?.x.length ?? 0) === 1")
    opened.tells("print([p.node for p in session.breakpoints])", "['outer/greater']")
    small.click("outer/greater")
    small.titled("outer/greater")
    small.until("return home.querySelector('button[data-command=breakpoint]')?.ariaPressed === 'true'")
    small.press("breakpoint")
    small.until("return home.querySelector('button[data-command=breakpoint]')?.ariaPressed === 'false'")
    opened.tells("print(len(list(session.breakpoints)))", "0")


def test_keys_move_along_edges_and_only_in_the_view(opened, small):
    small.click("outer/i/Merge")
    small.titled("outer/i/Merge")
    small.page.keyboard.press("ArrowDown")
    small.until("return /less|add/.test(home.querySelector('.workbench-facts b').textContent)")
    small.page.keyboard.press("ArrowUp")
    small.titled("outer/i/Merge")
    small.page.keyboard.press("b")
    small.until("return home.querySelector('button[data-command=breakpoint]')?.ariaPressed === 'true'")
    small.page.keyboard.press("b")
    small.until("return home.querySelector('button[data-command=breakpoint]')?.ariaPressed === 'false'")
    small.page.keyboard.press("/")
    until(lambda: small.page.evaluate("document.activeElement.type"), "search")
    cells = small.page.evaluate("jupyterapp.shell.currentWidget.content.widgets.length")
    small.page.keyboard.press("Escape")
    small.page.keyboard.press("Backspace")
    small.until("return home.querySelector('.workbench-facts b').textContent === 'outer'")
    small.until("return !figure.data[figure.data.length - 1].customdata.some(d => d[1] === 'outer/i/Merge')")
    assert small.page.evaluate("jupyterapp.shell.currentWidget.content.widgets.length") == cells


def test_direction_and_zoom(small):
    small.press("zoom-one")
    small.until("return home.querySelector('button[data-command=zoom-one]').textContent === '100 %'")
    tall = small.ask("return figure._fullLayout.height")
    small.press("direction")
    small.until("return figure._fullLayout.width > 2 * args[0] && figure._fullLayout.height !== args[0]", tall)
    small.press("zoom-in")
    small.until("return home.querySelector('button[data-command=zoom-one]').textContent === '125 %'")
    small.press("fit")
    small.until(
        """const room = home.querySelector('.workbench-scroll');
           return figure._fullLayout.width <= room.clientWidth + 1 && room.scrollWidth <= room.clientWidth + 1;"""
    )
    small.press("direction")
    small.press("zoom-one")
    small.until("return figure._fullLayout.height === args[0]", tall)


def test_dragging_moves_the_picture(small):
    small.click("outer/i/Merge")
    small.titled("outer/i/Merge")
    small.press("zoom-in")
    small.until(
        "const room = home.querySelector('.workbench-scroll'); return room.scrollHeight > room.clientHeight + 150"
    )
    at_rest(lambda: small.ask("return home.querySelector('.workbench-scroll').scrollTop"))
    small.ask("home.querySelector('.workbench-scroll').scrollTop = 0")
    box = at_rest(small.home.locator(".workbench-scroll").bounding_box)
    x, y = box["x"] + 12, min(box["y"] + box["height"] - 40, 1100)
    small.page.mouse.move(x, y)
    small.page.mouse.down()
    small.page.mouse.move(x, y - 60, steps=4)
    small.page.mouse.move(x, y - 120, steps=4)
    small.page.mouse.up()
    small.until("return home.querySelector('.workbench-scroll').scrollTop > 80")


def test_the_picture_follows_the_session(opened, small):
    before = small.ask("return JSON.stringify(figure.data.map(t => [Array.from(t.x ?? []), t.text ?? []]))")
    opened.kernel("session.step(7)")
    small.until(
        "return JSON.stringify(figure.data.map(t => [Array.from(t.x ?? []), t.text ?? []])) !== args[0]", before
    )
    values = json.loads(
        opened.kernel(
            "import json; s = view.model(session.snapshot())['state']\nprint(json.dumps([s['current'], s['values']]))"
        )
    )
    shown = "return JSON.stringify(figure.data.map(t => t.text ?? [])).includes(args[0])"
    small.until(shown, f"<b>{values[1]['outer/i/Merge']}</b>")


def test_a_moment_is_shown_by_itself(opened, small):
    opened.kernel("from workbench.widgets.live.selection import Moment; session.run()")
    opened.kernel("view.selection.look_at(Moment(('outer',), (2,)))")
    said = "return figure.data.some(t => (t.text ?? []).some?.(w => w.includes('outer: while') && w.includes(args[0])))"
    small.until(said, "iteration 2")
    opened.kernel("view.selection.look_at(None)")
    small.until(said, "ended after 6")
    opened.kernel("session.restart(); session.step(60)")


def test_a_large_graph_is_searched_and_opened_from_its_overview(large):
    box = large.home.locator("input")
    box.fill("op:tanh name~layer_21")
    box.press("Enter")
    large.until("return home.querySelector('.workbench-count').textContent === '1 of 11'")
    large.titled("layer_21")
    box.press("Enter")
    large.until("return home.querySelector('.workbench-count').textContent === '2 of 11'")
    crumbs = "return [...home.querySelectorAll('.workbench-crumbs button')].map(b => b.textContent)"
    until(lambda: large.ask(crumbs), lambda crumbs: crumbs[0] == "layers" and len(crumbs) >= 3)
    canvas = large.home.locator("canvas")
    size = at_rest(canvas.bounding_box)
    title = large.ask("return home.querySelector('.workbench-facts b').textContent")
    canvas.click(position={"x": size["width"] * 0.9, "y": size["height"] / 2})
    large.until("return home.querySelector('.workbench-facts b').textContent !== args[0]", title)
    large.titled("layer_2")
    large.until(
        """const room = home.querySelector('.workbench-scroll').getBoundingClientRect();
           const l = figure._fullLayout, chosen = l.shapes[0], box = figure.getBoundingClientRect();
           const y = chosen ? box.y + l._size.t + l.yaxis.l2p((chosen.y0 + chosen.y1) / 2) : -1;
           return y > room.y && y < room.y + room.height;"""
    )
    large.until("return figure.data.length < 40")


def test_what_is_found_lies_in_the_middle_of_what_is_seen(large):
    """Also where the view is higher than the window: what counts is the part of it that is on the screen."""
    large.page.set_viewport_size({"width": 1100, "height": 620})
    try:
        box = large.home.locator("input")
        box.fill("op:tanh name~layer_17")
        box.press("Enter")
        large.titled("layer_17")
        box.press("Enter")
        large.until(
            """const room = home.querySelector('.workbench-scroll'), l = figure._fullLayout, chosen = l.shapes[0];
               if (!chosen) return false;
               const own = room.getBoundingClientRect(), box = figure.getBoundingClientRect();
               const page = document.querySelector('.jp-WindowedPanel-outer').getBoundingClientRect();
               const [low, high] = [Math.max(own.top, page.top), Math.min(own.bottom, page.bottom)];
               const y = box.y + l._size.t + l.yaxis.l2p((chosen.y0 + chosen.y1) / 2);
               const ends = room.scrollTop < 2 || room.scrollTop > room.scrollHeight - room.clientHeight - 2;
               return y > low + 15 && y < high - 15 && (ends || Math.abs(y - (low + high) / 2) < 60);"""
        )
    finally:
        large.page.set_viewport_size({"width": 1400, "height": 1200})
        large.home.locator("input").fill("")
        large.home.locator("input").press("Escape")


def test_words_stand_beside_the_node_and_go_with_a_click(small):
    words = small.page.locator(".workbench-hover:visible")

    def seen() -> bool:
        """The window has just got its size back: the picture may move below the pointer."""
        at = small.place("outer/greater")
        small.page.mouse.move(at[0] + 1, at[1])
        small.page.mouse.move(*at)
        small.page.wait_for_timeout(300)
        return words.is_visible() and at == small.place("outer/greater")

    until(seen, True)
    x, y = small.place("outer/greater")
    lines = until(lambda: words.inner_text().split("\n"), lambda lines: lines[0] == "outer/greater")
    assert max(map(len, lines)) <= 60
    box = words.bounding_box()
    assert not box["y"] <= y <= box["y"] + box["height"], "never on the node"
    top = small.ask("return figure.getBoundingClientRect().y")
    small.page.mouse.click(x, y)
    words.wait_for(state="hidden", timeout=WAIT_MS)
    small.titled("outer/greater")
    assert at_rest(lambda: small.ask("return figure.getBoundingClientRect().y")) == top, "the graph stays where it is"


def test_the_legend_names_what_is_on_the_screen(opened, small):
    opened.kernel("session.restart(); session.step(60)")
    legend = "return home.querySelector('.workbench-legend').innerText"
    small.until(f"{legend}.includes('next') && {legend[7:]}.includes('loop variable')")
    assert "foreign" not in small.ask(legend) and "another library" not in small.ask(legend)
    small.press("all-close")
    small.until(f"{legend}.includes('closed box') && !{legend[7:]}.includes('way back')")
    small.press("all-open")
    small.until(f"{legend}.includes('way back')")


def test_a_bad_search_is_answered_in_place(large):
    box = large.home.locator("input")
    box.fill("op:")
    box.press("Enter")
    large.until("return home.querySelector('.workbench-trouble').textContent.includes('has no value')")
    box.fill("")
    box.press("Escape")
    large.until("return home.querySelector('.workbench-trouble').textContent === ''")


def test_hostile_names_are_shown(opened):
    strange = Graph(opened, 2)
    assert strange.ask("return home.querySelectorAll('img, script').length") == 0
    strange.until("return figure.textContent.includes('<img')")
    strange.home.locator("button[data-command=fit]").wait_for()
    strange.home.locator("input").fill("op:Merge")
    strange.home.locator("input").press("Enter")
    strange.titled("<img")
    assert strange.ask("return document.querySelectorAll('.workbench-graph img').length") == 0


def test_light_and_dark(opened, small, tmp_path):
    small.click("outer/greater")
    for name in ("Dark", "Light"):
        before = small.ask("return figure._fullLayout.font.color")
        opened.theme(name)
        small.until("return figure._fullLayout.font.color !== args[0]", before)
        opened.page.screenshot(path=tmp_path / f"graph_{name.lower()}.png")
    print("screenshots:", tmp_path)


def test_nothing_failed(opened):
    assert opened.failed_cells() == [] and opened.script_errors() == [] and opened.outside() == []
