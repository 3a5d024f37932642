"""The stories of finding something in a run, in a real JupyterLab, each with the most actions that it takes.

The others are in test_stories.py.
"""

from __future__ import annotations

import json

from tests.browser.actions import Actions, typed
from tests.browser.audit import audit
from tests.browser.cells import NEWTON, PLATE
from tests.browser.panel import Panel
from tests.browser.waits import at_rest, until

NAN = """
b = wb.GraphBuilder("roots")
start = b.placeholder("start", "float64", ())
_, y = b.while_loop(lambda k, y: k < 20, lambda k, y: (k + 1, np.sqrt(y - 1.0)), (b.constant(0, "int64"), start))
nan = wb.debug(b.build({"y": y}), {"start": 30.0})
nan.session.run()
nan
"""
CHAOS = """
b = wb.GraphBuilder("chaos")
x = b.placeholder("x", "float64", ())
k, y = b.while_loop(lambda k, x: k < 1_000_000, lambda k, x: (k + 1, 3.9 * x * (1.0 - x)), (b.constant(0, "int64"), x))
chaos = wb.debug(b.build({"y": y}), {"x": 0.3})
chaos.session.run()
chaos
"""
HEAT = f"""{PLATE}
heat = wb.debug(graph, {{"u": spot}})
heat.session.next_iteration(30)
heat
"""
MANY = """
b = wb.GraphBuilder("many")
x = b.placeholder("x", "float64", ())
for k in range(1000):
    x = b.tanh(b.multiply(x, x, name=f"net/part_{k}/square"), name=f"net/part_{k}/squash")
many = wb.debug(b.build({"y": x}), {"x": 0.5})
many.session.run()
many
"""
CELLS = [NEWTON, NAN, CHAOS, HEAT, MANY]
FIRST, BAD, LONG, FIELD, LARGE = range(5)


def test_b_the_first_nan_with_its_operand_in_one_action(opened):
    panel = Panel(opened.page, BAD)
    panel.show()
    told = opened.kernel("o = wb.nan_origin(nan.session); print(o.iteration[0])")
    with Actions(1) as act:
        # at the first sight, without an action: node, iteration and operand
        panel.card("health", f"y has been NaN since iteration {int(told) + 1}", "sqrt(", f"in iteration {told}")
        act(panel.ask("panel.querySelector('.workbench-health button').click()"))
        panel.until(
            "return panel.querySelector('.workbench-time-told').textContent === args[0]", f"looking at iteration {told}"
        )
    opened.tells("print(nan.selection.node)", "while/sqrt")
    operand = opened.kernel(f"print(float(nan.session.trace['while/subtract'].values[{told}]) < 0)")
    assert operand == "True"
    panel.until("return [...panel.querySelectorAll('.workbench-is-value input')].some(e => e.value === 'while/sqrt')")
    panel.says("value", "NaN")


def test_d_a_condition_by_the_name_of_the_variable_in_four_actions(opened):
    panel = Panel.fresh(opened.page, FIRST)
    with Actions(4) as act:
        panel.pane("breakpoints")
        act()
        typed(opened, panel, ".workbench-is-breakpoints input[name=where]", "x < 1.42 and iteration > 1")
        act()
        panel.says("breakpoints", "stops when")
        act(panel.click("run", "paused"))
    x, k = opened.kernel("t = panel.session.trace['x']; print(float(t.values[-1]), len(t.values) - 1)").split()
    assert float(x) < 1.42 and int(k) > 1
    assert opened.kernel("print(all(v >= 1.42 for v in panel.session.trace['x'].values[2:-1]))") == "True"
    opened.kernel("panel.session.breakpoints.clear()")


def test_g_a_million_iterations_down_to_single_ones_in_two_actions(opened):
    panel = Panel(opened.page, LONG)
    panel.show()
    figure = opened.page.locator(".workbench-debugger").nth(LONG).locator(".workbench-is-evolution .workbench-figure")
    shown = """const g = panel.querySelector('.workbench-is-evolution .workbench-figure');
               const [a, b] = g._fullLayout.xaxis.range;"""
    panel.until(f"{shown} return b > 900_000 && g._fullLayout.yaxis.range[1] < 1.5")

    def turn() -> None:
        """The wheel, turned once by a hand: some steps of it one after the other."""
        for _ in range(25):
            opened.page.mouse.wheel(0, -300)
            opened.page.wait_for_timeout(20)

    box = at_rest(figure.locator(".nsewdrag").first.bounding_box)
    opened.page.mouse.move(box["x"] + 0.4 * box["width"], box["y"] + box["height"] / 2)
    opened.page.wait_for_timeout(500)
    with Actions(2) as act:
        act(turn())
        opened.page.wait_for_timeout(800)
        act(turn())
        panel.until(f"{shown} return b - a < 60", seconds=60)
    points = f"""{shown} const t = g.data.find(t => t.name === 'y' || t.mode?.includes('lines'));
        const at = [...t.x].flatMap((x, i) => x >= a && x <= b ? [[x, t.y[i]]] : []);"""
    panel.until(f"{points} return at.length > 3 && at.every(([x], i) => !i || x - at[i - 1][0] === 1)", seconds=60)
    found = json.loads(panel.ask(f"{points} return JSON.stringify(at)"))
    assert [x for x, _ in found] == list(range(int(found[0][0]), int(found[-1][0]) + 1)), "each iteration"
    kept = opened.kernel(
        f"print([float(v) for v in chaos.session.trace['x'].values[{found[0][0]}:{found[-1][0] + 1}]])"
    )
    assert [y for _, y in found] == json.loads(kept)
    opened.page.mouse.move(5, 5)


def test_h_a_field_is_an_image_without_an_action(opened):
    panel = Panel(opened.page, FIELD)
    with Actions(0):
        panel.show()
        panel.until("return Number(panel.querySelector('.workbench-image')?.dataset.drawn) > 0", seconds=60)
    large = "panel.querySelector('.workbench-image-main figure canvas')"
    sizes = f"const c = {large}, r = c.getBoundingClientRect(); return [c.height, c.width, r.width, r.height]"
    square_and_large = lambda s: s[:2] == [60, 60] and abs(s[2] - s[3]) < 1.5 and s[2] > 150  # noqa: E731
    until(lambda: panel.ask(sizes), square_and_large)
    in_sight = f"""const r = {large}.getBoundingClientRect(), p = panel.getBoundingClientRect();
                   return r.top >= p.top && r.bottom <= Math.min(p.bottom, innerHeight) && r.right <= p.right"""
    panel.until(in_sight)
    panel.until("return [...panel.querySelectorAll('.workbench-is-value table')].every(t => !t.offsetParent)")
    newest = opened.kernel("print('iteration', len(heat.session.trace['u'].values) - 1)")
    until(lambda: panel.ask("return panel.querySelector('.workbench-image').dataset.where"), newest)


def test_i_it_is_readable_at_1024(opened):
    panel = Panel(opened.page, FIRST)
    opened.page.set_viewport_size({"width": 1024, "height": 768})
    try:
        with Actions(0):
            panel.show()
            panel.until("return panel.querySelector('.workbench-card-verdict').textContent.includes('Proved: stops')")
        assert audit(opened.page) == []
        place = "panel.querySelector(`.workbench-card-${c}`).getBoundingClientRect().toJSON()"
        cards = f"return ['state', 'health', 'verdict'].map(c => {place})"
        in_sight = lambda card: card["top"] >= 0 and card["bottom"] < 768 and card["width"] > 60  # noqa: E731
        until(lambda: panel.ask(cards), lambda found: all(map(in_sight, found)))
        small = panel.ask(
            """return [...panel.querySelectorAll('*')].filter(e => e.offsetWidth && [...e.childNodes].some(
                   n => n.nodeType === 3 && n.data.trim()) && parseFloat(getComputedStyle(e).fontSize) < 11.9)
                 .map(e => e.textContent.trim().slice(0, 40))"""
        )
        assert small == [], "nothing below 12 pixels"
        graph = "return panel.querySelector('.workbench-is-graph .workbench-scroll').getBoundingClientRect().top"
        until(lambda: panel.ask(graph), lambda top: top < 420)  # the first picture is not pushed down by controls
    finally:
        opened.page.set_viewport_size({"width": 1400, "height": 1200})


def in_the_middle(panel: Panel) -> None:
    """Until the chosen node lies in the middle of what is seen, unless the picture ends there."""
    panel.until(
        """const room = panel.querySelector('.workbench-is-graph .workbench-scroll');
           const figure = room.querySelector('.workbench-figure'), l = figure._fullLayout, chosen = l.shapes[0];
           if (!chosen) return false;
           const own = room.getBoundingClientRect(), box = figure.getBoundingClientRect();
           const [low, high] = [Math.max(own.top, 0), Math.min(own.bottom, innerHeight)];
           const y = box.y + l._size.t + l.yaxis.l2p((chosen.y0 + chosen.y1) / 2);
           const ends = room.scrollTop < 2 || room.scrollTop > room.scrollHeight - room.clientHeight - 2;
           return y > low + 15 && y < high - 15 && (ends || Math.abs(y - (low + high) / 2) < 60)""",
        seconds=60,
    )


def test_j_a_node_among_two_thousand_in_two_actions(opened):
    panel = Panel(opened.page, LARGE)
    opened.page.set_viewport_size({"width": 1400, "height": 760})
    try:
        panel.show()
        box = opened.page.locator(".workbench-debugger").nth(LARGE).locator(".workbench-is-graph input[type=search]")
        with Actions(2) as act:
            act(box.fill("part_617/squash"))
            act(box.press("Enter"))
            name = "net/part_617/squash"
            panel.until(
                "return panel.querySelector('.workbench-is-graph .workbench-facts b').textContent === args[0]", name
            )
            in_the_middle(panel)
            # and it stays there while nobody moves anything, whatever room the words and the window leave
            opened.page.set_viewport_size({"width": 1400, "height": 560})
            opened.page.wait_for_timeout(500)
            in_the_middle(panel)
        opened.tells("print(many.selection.node)", "net/part_617/squash")
    finally:
        opened.page.set_viewport_size({"width": 1400, "height": 1200})


def test_no_script_failed(opened):
    assert opened.failed_cells() == [] and opened.script_errors() == []
