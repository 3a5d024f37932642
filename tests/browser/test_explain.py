"""The chain behind a value in a real JupyterLab: walked by mouse and keyboard, and the NaN at its end."""

from __future__ import annotations

from tests.browser.waits import until

STORY = """
import numpy as np, workbench as wb
from workbench.widgets.live.selection import Selection
b = wb.GraphBuilder("hunt")
start = {"i": np.int64(0), "x": b.placeholder("x")}
graph = b.build(b.while_loop(lambda i, x: i < 6, lambda i, x: {"i": i + 1, "x": b.sqrt(x - 1.0)}, start))
session = wb.Session(graph, {"x": 9.0})
session.run_to("x", 2)
selection = Selection()
view = wb.widgets.ExplainView(session, selection=selection)
selection.select("x")
"""
CELLS = [STORY, "view"]
ITEMS = "[...document.querySelectorAll('.workbench-explain [role=treeitem]')]"
SHOWN = f"{ITEMS}.filter(i => i.style.display !== 'none')"


def test_a_chain_and_the_origin_of_a_nan(opened, tmp_path):
    page = opened.page
    page.wait_for_function(f"() => {ITEMS}.length > 3", timeout=120_000)

    # every link has its own value, those of the session
    values = f"() => {ITEMS}.map(i => i.querySelector('b').textContent)"
    rows = opened.kernel("print([r['value'] for r in view.status['rows']])")
    texts = until(lambda: page.evaluate(values), lambda texts: str(texts) == rows)
    assert "?" not in texts
    assert page.evaluate("() => document.querySelector('.workbench-explain-origin').innerText") == "", "no NaN yet"

    # branches fold: the left arrow closes the first row, the right one opens it
    total = page.evaluate(f"() => {SHOWN}.length")
    page.evaluate(f"() => {ITEMS}[0].focus()")
    page.keyboard.press("ArrowLeft")
    page.wait_for_function(f"() => {SHOWN}.length === 1 && {ITEMS}[0].getAttribute('aria-expanded') === 'false'")
    page.keyboard.press("ArrowRight")
    page.wait_for_function(f"() => {SHOWN}.length === {total}")
    page.keyboard.press("ArrowDown")
    page.wait_for_function(f"() => document.activeElement === {SHOWN}[1]")

    # Enter goes there in all views; the tree stays
    page.keyboard.press("Enter")
    row = "view.status['rows'][1]"
    page.wait_for_function(f"() => {ITEMS}.length > 3")
    there = f"selection.moment is not None and list(selection.moment.iteration) == {row}['iteration']"
    opened.heard(f"selection.node == {row}['node'] and {there}")
    until(lambda: page.evaluate(values), texts)

    # story 3: run on into the NaN; which op, which iteration, which operand
    opened.kernel("session.run(); view.explain('x')")
    page.wait_for_function(
        "() => document.querySelector('.workbench-explain-origin').innerText.includes('sqrt')", timeout=120_000
    )
    told = lambda: page.evaluate("() => document.querySelector('.workbench-explain-origin').innerText")  # noqa: E731
    until(told, lambda told: "gives NaN" in told and "no square root" in told)
    page.wait_for_function(f"() => {ITEMS}[0]?.querySelector('.workbench-bad')")
    page.click(".workbench-explain-origin button")
    opened.heard("selection.node == 'while/sqrt' and selection.moment.iteration == wb.nan_origin(session).iteration")

    # a typed name, and one that is none
    page.fill(".workbench-explain form input", "i")
    page.keyboard.press("Enter")
    page.wait_for_function(f"() => {ITEMS}[0]?.querySelector('code').textContent === 'i'", timeout=120_000)
    page.fill(".workbench-explain form input", "<img src=x onerror='window.obeyed=1'>")
    page.keyboard.press("Enter")
    page.wait_for_function(
        "() => document.querySelector('.workbench-explain .workbench-flow-error').innerText.includes('<img')",
        timeout=120_000,
    )
    assert page.evaluate("() => window.obeyed === undefined && !document.querySelector('.workbench-explain img')")

    opened.kernel("view.explain('x', 4)")
    page.wait_for_function(f"() => {ITEMS}[0]?.querySelector('code').textContent === 'x'", timeout=120_000)
    for theme in ("Light", "Dark"):
        opened.theme(theme)
        page.evaluate("() => document.querySelector('.workbench-explain').scrollIntoView()")
        page.screenshot(path=str(tmp_path / f"explain-{theme}.png"))
    assert opened.script_errors() == [] and opened.outside() == []
    opened.kernel("view.close(); session.close()")
    opened.tells("import ipywidgets; print(len(ipywidgets.widgets.widget._instances))", "0")
