"""The strip of all nodes in a real JupyterLab: what is drawn is what the values are, by pixels, in light and dark."""

from __future__ import annotations

from typing import Any

import pytest

from tests.browser.panel import Panel

CELLS = [
    """
import numpy as np
import workbench as wb
b = wb.GraphBuilder("roots")
x = b.placeholder("x", "float64", (3,))
y = np.sqrt(x)
graph = b.build({"y": y, "z": 1.0 / y, "w": np.exp(x * 1e4), "u": np.tanh(x)})
roots = wb.debug(graph, {"x": np.array([-1.0, 1.0, 4.0])})
roots
""",
    """
b = wb.GraphBuilder("long")
h = b.placeholder("x", "float64", ())
for k in range(3000):
    h = np.log(h - 1e9) if k == 2000 else h + 1.0
long = wb.debug(b.build({"y": h}), {"x": 0.0})
long
""",
]
ROOTS, LONG = range(2)
# For each cell the share of the strip's height that its bar takes, and its colour, in the middle of the cell.
BARS = """
const canvas = panel.querySelector('.workbench-allnodes canvas');
const cells = args[0], wide = canvas.width / cells, ratio = canvas.height / 30;
const pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
const found = [];
for (let k = 0; k < cells; k++) {
  const x = Math.min(canvas.width - 1, Math.floor((k + 0.97 - Math.min(0.3, 2 * ratio / wide)) * wide));
  const at = y => pixels.slice(4 * (y * canvas.width + x), 4 * (y * canvas.width + x) + 4);
  let tall = 0;
  for (let y = Math.round(26 * ratio) - 1; y >= Math.round(6 * ratio) && at(y)[3] > 250; y--) tall++;
  found.push([tall / (20 * ratio), [...at(Math.round(26 * ratio) - 1)].slice(0, 3).join()]);
}
return found;
"""
AT = "return panel.querySelector('.workbench-allnodes-strip').ariaValueNow === String(args[0] + 1)"
TOLD = """
strip = {name}.strip
print(strip.status["cells"])
"""


def bars(panel: Panel, count: int) -> list[tuple[float, str]]:
    found: list[tuple[float, str]] = panel.ask(BARS, count)
    return found


def shown(opened: Any, panel: Panel, name: str) -> str:
    """The levels that the kernel has sent, when the page has drawn them."""
    panel.until_drawn()
    return opened.kernel(TOLD.format(name=name))


@pytest.mark.parametrize("theme", ["Light", "Dark"])
def test_the_height_and_the_colour_of_each_bar_tell_what_the_value_is(opened, theme):
    opened.theme(theme)
    panel = Panel.fresh(opened.page, ROOTS)
    cells = shown(opened, panel, "roots")
    assert set(cells) == {"0"}
    panel.click("run", "finished")
    cells = shown(opened, panel, "roots")
    values = opened.kernel(
        "for name in strip._facts.places.names:\n"
        "    v = roots.session.trace[name + ':0'][-1]\n"
        "    print('6' if np.isnan(v).any() else '4' if np.isinf(v).any() else '2', end='')"
    )
    assert cells == values, "the values of the trace"
    height = {"2": 0.45, "4": 0.72, "6": 1.0}
    drawn = f"""const draw = () => {{ {BARS} }};
                const h = draw().map(one => one[0]);
                return h.every((one, k) => Math.abs(one - args[1][args[2][k]]) < 0.12);"""
    panel.until(drawn, len(cells), height, cells)
    colours: dict[str, set[str]] = {}
    for level, (_, colour) in zip(cells, bars(panel, len(cells)), strict=True):
        colours.setdefault(level, set()).add(colour)
    assert all(len(found) == 1 for found in colours.values()), "one colour for each kind"
    assert len(set.union(*colours.values())) == len(colours) == 3
    opened.theme("Light")


def test_a_click_and_the_arrow_keys_select_nodes_in_all_views(opened):
    panel = Panel.fresh(opened.page, ROOTS)
    panel.click("run", "finished")
    cells = shown(opened, panel, "roots")
    strip = opened.page.locator(".workbench-debugger").nth(ROOTS).locator(".workbench-allnodes-strip")
    box = strip.bounding_box()
    at = cells.index("6")
    strip.click(position={"x": (at + 0.5) * box["width"] / len(cells), "y": 15})
    panel.until(AT, at)
    opened.heard(f"roots.selection.node == strip._facts.places.names[{at}]")
    assert strip.get_attribute("role") == "slider" and "NaN" in strip.get_attribute("aria-valuetext")
    for key, to in (("ArrowRight", at + 1), ("ArrowLeft", at), ("End", len(cells) - 1), ("Home", 0)):
        strip.press(key)
        panel.until(AT, to)
        opened.heard(f"roots.selection.node == strip._facts.places.names[{to}]")


def test_of_a_long_graph_it_shows_where_the_first_NaN_is_and_where_the_run_stands(opened):
    panel = Panel.fresh(opened.page, LONG)
    opened.kernel("long.session.step(2500)")
    panel.until("return panel.querySelector('.workbench-allnodes-wrong').textContent.endsWith('NaN')")
    panel.until_drawn()
    found = opened.kernel(
        "first = long.strip._facts.places.number[next(n for n, v in graph.nodes.items() if v.op == 'log')]\n"
        "print(first)".replace("graph.", "long.session.graph.")
    )
    opened.page.locator(".workbench-debugger").nth(LONG).locator(".workbench-allnodes-wrong").first.click()
    panel.until(AT, int(found))
    opened.heard("long.session.graph.nodes[long.selection.node].op == 'log'")
    # the strip is whole, in sight and above the legend
    low, high, legend, bottom = panel.ask(
        """const box = panel.querySelector('.workbench-allnodes').getBoundingClientRect();
           const legend = panel.querySelector('.workbench-legend').getBoundingClientRect();
           return [box.top, box.bottom, legend.top, panel.getBoundingClientRect().bottom];"""
    )
    assert low < high <= legend + 1 <= bottom
