"""How long a graph of 20,000 nodes takes to open, to search and to move in.

``python -m tests.benchmarks.big_graph [NODES]`` prints the kernel's side, and with ``--browser`` the time from running
the cell to the first drawing in a real JupyterLab, and that of a click with about 500 boxes in sight.
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import workbench as wb
from workbench.widgets import GraphView

NODES = 20_000


def plain(count: int = NODES) -> wb.Graph:
    """A long graph whose names say nothing: each op reads the one before and one of the 30 before that."""
    rng = random.Random(3)
    b = wb.GraphBuilder("plain")
    values: list[Any] = [b.placeholder("x", "float64", ())]
    ops = ("add", "multiply", "subtract", "maximum")
    for _ in range(count - 1):
        other = values[max(0, len(values) - rng.randint(1, 30))]
        values.append(getattr(b, rng.choice(ops))(values[-1], other))
    return b.build({"y": values[-1]})


def layers(count: int = NODES) -> wb.Graph:
    """Equal blocks one after the other, in scopes by name."""
    b = wb.GraphBuilder("layers")
    x = b.placeholder("x", "float64", ())
    size = 10
    for layer in range(count // size):
        y = x
        for k in range(size // 2 - 1):
            y = b.add(b.multiply(y, x, name=f"net/layer_{layer}/mul_{k}"), y, name=f"net/layer_{layer}/add_{k}")
        x = b.maximum(b.tanh(y, name=f"net/layer_{layer}/tanh"), y, name=f"net/layer_{layer}/max")
    return b.build({"y": x})


def loops(count: int = NODES) -> wb.Graph:
    """Many loops side by side, some inside others, and a branch in each."""
    b = wb.GraphBuilder("loops")
    x = b.placeholder("x", "float64", ())
    found = []
    for k in range(max(1, count // 60)):

        def body(v: Any, k: int = k) -> Any:
            inner = b.while_loop(lambda u: u < 3.0, lambda u: u + 1.0, v * 0.0, name=f"inner_{k}")
            return b.cond(v > 5.0, lambda: v + inner, lambda: v + 2.0)

        found.append(b.while_loop(lambda v: v < 20.0, body, x, name=f"loop_{k}"))
    return b.build({f"y{k}": value for k, value in enumerate(found)})


def loop(count: int = NODES) -> wb.Graph:
    """One loop with nearly all nodes in its body, each of which reads two of those before it."""
    rng = random.Random(3)
    b = wb.GraphBuilder("loop")
    ops = (b.add, b.maximum, b.subtract, b.minimum)

    def body(v: Any) -> Any:
        values = [v]
        for _ in range(count):
            values.append(rng.choice(ops)(values[-1], values[-min(len(values), rng.randint(1, 30))]))
        return b.add(v, b.minimum(1.0, b.abs(values[-1])))

    x = b.placeholder("x", "float64", ())
    return b.build({"y": b.while_loop(lambda v: v < 100.0, body, x, name="loop")})


MAKERS: dict[str, Callable[[int], wb.Graph]] = {"plain": plain, "layers": layers, "loops": loops, "loop": loop}


def timed(work: Callable[[], Any]) -> float:
    """Milliseconds."""
    started = time.perf_counter()
    work()
    return 1e3 * (time.perf_counter() - started)


def kernel_side(graph: wb.Graph) -> dict[str, float]:
    """Milliseconds of the kernel for what a user does with a view of ``graph``."""
    views: list[GraphView] = []
    figures = {"open": timed(lambda: views.append(GraphView(graph)))}
    view = views[0]
    try:
        figures["open all"] = timed(view.expand)
        names = list(graph.nodes)
        figures["select"] = min(timed(lambda n=n: view.select(n)) for n in names[5:10])  # type: ignore[misc]
        figures["search"] = timed(lambda: view.search("op:add dtype:float64 name~1"))
        figures["next match"] = min(timed(view.next_match) for _ in range(5))
        figures["direction"] = timed(lambda: setattr(view, "direction", "right"))
        figures["boxes"] = float(view.scene.boxes)
    finally:
        view.close()
    sessions: list[wb.Session] = []
    figures["session"] = timed(lambda: sessions.append(wb.Session(graph, {"x": 1.0})))
    figures["panel"] = timed(lambda: wb.debug(sessions[0]))
    sessions[0].close()
    return figures


def browser_side(name: str, count: int) -> dict[str, float]:
    """Milliseconds until the picture is drawn, and from a click on a box until it is marked."""
    import nbformat

    from tests.browser.lab import browser_page, lab_server

    with tempfile.TemporaryDirectory() as folder, lab_server(Path(folder)) as (url, token):
        root = Path(__file__).resolve().parents[2]
        cells = [
            f"import sys; sys.path.insert(0, {str(root)!r})\nfrom tests.benchmarks.big_graph import MAKERS\n"
            f"from workbench.widgets import GraphView\ngraph = MAKERS[{name!r}]({count})",
            "view = GraphView(graph); view",
        ]
        book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in cells])
        book.metadata["kernelspec"] = {"display_name": "Python 3", "language": "python", "name": "python3"}
        nbformat.write(book, Path(folder) / "notebooks" / "big.ipynb")
        with browser_page(url, token) as page:
            page.open("big.ipynb")
            page.page.evaluate(RUN_CELL, 0)
            figures = {"open in the browser": page.page.evaluate(RUN_CELL, 1)}
            page.page.click("button[data-command=all-open]")
            page.page.wait_for_function(
                "() => /^(4\\d\\d|500) boxes/.test(document.querySelector('.workbench-boxes').textContent)"
            )
            page.page.wait_for_timeout(1500)
            page.page.evaluate(MOVE, "ArrowDown")  # nothing is selected yet
            times = [page.page.evaluate(MOVE, key) for key in ("ArrowDown", "ArrowUp") * 4]
            figures["move at 500 boxes"] = sorted(times)[len(times) // 2]
            return figures


RUN_CELL = """async (index) => {
  const panel = jupyterapp.shell.currentWidget, book = panel.content;
  book.activeCellIndex = index;
  const started = performance.now();
  await jupyterapp.commands.execute('notebook:run-cell');
  const drawn = () => index === 0 || document.querySelector('.workbench-figure')?._fullLayout?.xaxis?.l2p;
  while (!drawn()) {
    if (performance.now() - started > 60000) throw new Error('nothing was drawn');
    await new Promise(r => setTimeout(r, 5));
  }
  return performance.now() - started;
}"""

# An arrow key: it goes to the kernel, and comes back as the outline of another box and as words. Down and up in turn: a
# path down the edges may end.
MOVE = """async (key) => {
  const home = document.querySelector('.workbench-graph'), figure = home.querySelector('.workbench-figure');
  const shown = () => JSON.stringify(figure._fullLayout.shapes.map(s => [s.x0, s.y0]));
  const before = shown(), started = performance.now();
  home.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true}));
  while (shown() === before) {
    if (performance.now() - started > 20000) throw new Error(`${key}: nothing moved`);
    await new Promise(r => setTimeout(r, 2));
  }
  await new Promise(r => requestAnimationFrame(() => setTimeout(r, 0)));
  return performance.now() - started;
}"""


def main(arguments: list[str]) -> None:
    count = next((int(a) for a in arguments if a.isdigit()), NODES)
    for name, make in MAKERS.items():
        graph = make(count)
        figures = kernel_side(graph)
        if "--browser" in arguments:
            figures |= browser_side(name, count)
        boxes = int(figures.pop("boxes"))
        words = ", ".join(f"{what} {value:.0f} ms" for what, value in figures.items())
        print(f"{name}: {len(graph.nodes)} nodes, {boxes} boxes open; {words}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
